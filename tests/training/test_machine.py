import os

import pytest
import torch
from two_corpora import recipe_of_two

from interp.errors import RecipeError, TrainingError
from interp.model import IncrementsConfig, ModelConfig, Transformer
from interp.model.config import LearnedAbsoluteConfig, RelativeBiasConfig, RopeConfig
from interp.training import train
from interp.training.machine import count_weights, explained, require_memory

POSITIONS = [
    IncrementsConfig(d_hidden=12),
    IncrementsConfig(d_hidden=12, per_head=True),
    IncrementsConfig(d_hidden=12, scope="shared", per_head=True),
    LearnedAbsoluteConfig(),
    RelativeBiasConfig(max_distance=7),
    RopeConfig(recency="forget-gate"),
    RopeConfig(unrotated_every=2),
]


@pytest.mark.parametrize("is_tied", [True, False])
@pytest.mark.parametrize("position", POSITIONS)
def test_the_weights_are_counted_without_making_them(position, is_tied):
    sizes = {"d_model": 16, "n_heads": 2, "n_layers": 5, "d_mlp": 24, "n_ctx": 16}
    config = ModelConfig(**sizes, position=position, is_tied=is_tied)
    assert count_weights(config) == sum(p.numel() for p in Transformer(config).parameters())


@pytest.mark.parametrize(
    "config",
    [
        ModelConfig(d_mlp=10**9),
        ModelConfig(n_layers=10**9),
        ModelConfig(position=IncrementsConfig(d_hidden=10**10)),
        ModelConfig(d_mlp=10**400),
        ModelConfig(n_ctx=2**20, d_model=2**20, position=LearnedAbsoluteConfig()),
    ],
)
def test_a_model_larger_than_the_machine_is_refused(config):
    with pytest.raises(RecipeError, match="weights"):
        require_memory(config)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of torch, as it is imported
def test_no_compiler_is_one_line_with_a_way_out(tmp_path, monkeypatch):
    from torch._inductor import config

    (tmp_path / "text").mkdir()
    monkeypatch.setattr(config.cpp, "cxx", (None, os.fspath(tmp_path / "no compiler")))
    monkeypatch.setattr(config, "force_disable_caches", True)
    with pytest.raises(TrainingError, match="cannot be compiled") as caught:
        train(recipe_of_two(tmp_path / "text", compile=True), tmp_path / "run")
    assert len(str(caught.value).splitlines()) == 1
    assert "compile=false" in (caught.value.hint or "")


def test_memory_that_runs_out_is_one_line_with_a_way_out():
    for error in (MemoryError(), torch.OutOfMemoryError("CUDA out of memory\nmore")):
        found = explained(error, micro_batch_size=8, n_ctx=512)
        assert "8 at a time" in str(found)
        assert "micro_batch_size" in (found.hint or "")
    assert explained(RuntimeError("a bug"), micro_batch_size=8, n_ctx=512) is None
