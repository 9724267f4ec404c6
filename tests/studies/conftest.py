from pathlib import Path

import pytest
from saved_checkpoint import save_tiny

from interp import checkpoints


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> checkpoints.Checkpoint:
    return checkpoints.load(save_tiny(tmp_path_factory.mktemp("checkpoints") / "tiny"))


@pytest.fixture
def cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setenv("INTERP_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"
