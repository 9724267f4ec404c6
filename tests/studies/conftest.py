from pathlib import Path

import pandas as pd
import pytest
import torch
from saved_checkpoint import save_tiny

from interp import checkpoints
from interp.corpus.sources import sample_documents
from interp.model import ModelConfig, RopeConfig, Transformer


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> checkpoints.Checkpoint:
    return checkpoints.load(save_tiny(tmp_path_factory.mktemp("checkpoints") / "tiny"))


@pytest.fixture
def cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setenv("INTERP_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture(scope="session")
def study_checkpoints(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with tiny models of the names that studies ask for, three seeds among them."""
    folder = tmp_path_factory.mktemp("study") / "checkpoints"
    for number, suffix in enumerate(["", "-seed0", "-seed1", "-seed2"]):
        torch.manual_seed(number)
        sizes = {"d_model": 32, "n_heads": 2, "n_layers": 2, "d_mlp": 48, "n_ctx": 64}
        rope, name = Transformer(ModelConfig(**sizes, position=RopeConfig())), f"en-zh-rope{suffix}"
        checkpoints.save(folder / name, rope, name=name)
        save_tiny(folder / f"en-zh-shared{suffix}", scope="shared", max_increment=None)
        save_tiny(folder / f"en-zh-per-layer{suffix}")
    save_tiny(folder / "en-zh-per-layer-per-head", per_head=True)
    return folder


@pytest.fixture(scope="session")
def study_corpus(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, ...]:
    """Openings of the sample articles as Parquet, one file per language."""
    folder = tmp_path_factory.mktemp("text")
    specs = []
    for language in ("en", "zh"):
        texts = [
            bytes(document.content[:900]).decode("utf-8", "ignore")
            for document in sample_documents(language)
        ]
        (folder / language).mkdir()
        path = folder / language / "heldout.parquet"
        pd.DataFrame({"id": range(len(texts)), "text": texts}).to_parquet(path)
        specs.append(f"{language}={path}")
    return tuple(specs)
