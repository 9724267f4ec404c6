import importlib
from itertools import count
from pathlib import Path
from types import SimpleNamespace

import pytest
from small_runs import small_recipe, write_text

from interp.training import train


@pytest.fixture(scope="session")
def text(tmp_path_factory) -> Path:
    return write_text(tmp_path_factory.mktemp("text") / "rows.jsonl")


@pytest.fixture(scope="session")
def undisturbed(text, tmp_path_factory) -> Path:
    """A finished run, never interrupted; not to be changed."""
    out = tmp_path_factory.mktemp("runs") / "undisturbed"
    train(small_recipe(text, keeping__keep_steps=[5]), out)
    return out


@pytest.fixture
def recipe(text):
    return small_recipe(text, keeping__keep_steps=[5])


@pytest.fixture
def saves_always(monkeypatch):
    """A clock on which the time to save has always come."""
    ticks = count(step=100_000.0)
    monkeypatch.setattr(
        importlib.import_module("interp.training.train"),
        "time",
        SimpleNamespace(monotonic=lambda: next(ticks)),
    )
