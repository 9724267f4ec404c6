"""A run of a second that reads two corpora, for what depends on how its folder is gone on with."""

from pathlib import Path
from typing import Any

from interp.training import Recipe, recipe_from_dict

SECTIONS: dict[str, dict[str, Any]] = {
    "model": {"d_model": 16, "n_heads": 2, "n_layers": 1, "d_mlp": 16, "n_ctx": 16},
    "optimization": {
        "steps": 6,
        "batch_size": 2,
        "micro_batch_size": 2,
        "warmup_steps": 1,
        "schedule": "constant",
        "decay_steps": 2,
    },
    "keeping": {"keep_state": True, "held_out_bytes": 60, "held_out_every": 3},
}


def write_corpora(folder: Path) -> dict[str, dict[str, Any]]:
    """Writes two corpora of short rows and gives what a recipe says of them."""
    corpora = {}
    for name, words in (("en", "text number"), ("zh", "第几篇文章")):
        path = folder / f"{name}.jsonl"
        rows = [f'{{"text": "{words} {n}, {words * (n % 3)}"}}' for n in range(40)]
        path.write_text("\n".join(rows), "utf-8")
        corpora[name] = {"train": [str(path)]}
    return corpora


def recipe_of_two(folder: Path, **changed: Any) -> Recipe:
    """The recipe; ``changed`` are keys of `SECTIONS`, dotted with ``__``, or its own."""
    values: dict[str, Any] = {name: dict(section) for name, section in SECTIONS.items()}
    values |= {"name": "two", "compile": False, "held_out_fraction": 0.3, "autocast": "float32"}
    values["corpora"] = write_corpora(folder)
    for key, value in changed.items():
        part, _, name = key.rpartition("__")
        (values[part] if part else values)[name] = value
    return recipe_from_dict(values)
