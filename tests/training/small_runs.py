"""Runs that take a second: a tiny model on generated text."""

import json
import random
from pathlib import Path
from typing import Any

import pytest

from interp.errors import InterpError
from interp.training import Recipe, recipe_from_dict, train

WORDS = ("increments", "lie", "between", "bytes", "and", "the", "model", "learns", "字节", "之间")


def write_text(path: Path, *, n_documents: int = 60, seed: int = 0) -> Path:
    """JSON lines of documents that a model can learn a little of."""
    draw = random.Random(seed)
    with path.open("w", encoding="utf-8") as file:
        for number in range(n_documents):
            text = " ".join(draw.choices(WORDS, k=25))
            file.write(json.dumps({"id": number, "text": text}) + "\n")
    return path


def small_recipe(train: Path, **settings: Any) -> Recipe:
    """A recipe of 12 steps; ``settings`` go into the parts that have them, dotted with ``__``."""
    values: dict[str, Any] = {
        "name": "small",
        "compile": False,
        "held_out_fraction": 0.2,
        "corpora": {"text": {"train": [str(train)]}},
        "model": {
            **{"d_model": 32, "n_heads": 2, "n_layers": 2, "d_mlp": 48, "n_ctx": 32},
            "position": {"d_hidden": 8},
        },
        "optimization": {
            **{"steps": 12, "batch_size": 4, "micro_batch_size": 2, "warmup_steps": 2},
            **{"learning_rate": 3e-3, "schedule": "constant", "decay_steps": 4},
        },
        "keeping": {"held_out_every": 5, "held_out_bytes": 500, "save_every_seconds": 10_000},
    }
    for key, value in settings.items():
        part, _, name = key.rpartition("__")
        (values[part] if part else values)[name] = value
    return recipe_from_dict(values)


def weights(out: Path) -> bytes:
    return (out / "model.safetensors").read_bytes()


def config(out: Path) -> dict[str, Any]:
    return json.loads((out / "config.json").read_text("utf-8"))


def metrics(out: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (out / "metrics.jsonl").read_text("utf-8").splitlines()]


def refusal(error: type[InterpError], *arguments: Any, **settings: Any) -> str:
    with pytest.raises(error) as caught:
        train(*arguments, **settings)
    assert len(str(caught.value).splitlines()) == 1
    return str(caught.value)


class Stop(Exception):
    """What a test throws into a run."""


def stop_at(step: int, action=None):
    def progress(at):
        if at.step == step:
            if action is None:
                raise Stop
            action()

    return progress
