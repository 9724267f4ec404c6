"""Saving a checkpoint: a folder of three files, each made beside its place and renamed."""

import json
import os
import platform
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any, Literal

import torch
from safetensors.torch import save_file

import interp
from interp.checkpoints.card import model_card
from interp.checkpoints.load import CARD_FILE, CONFIG_FILE, FORMAT_VERSION, WEIGHTS_FILE
from interp.corpus.split import Split
from interp.errors import OutputError, reason
from interp.model import Transformer


def save(
    folder: Path,
    model: Transformer,
    *,
    name: str,
    split: Split | None = None,
    facts: dict[str, Any] | None = None,
    weights: Literal["float32", "bfloat16"] = "float32",
) -> None:
    """Write ``model`` as a checkpoint folder; an earlier one there is replaced file by file.

    A kill in between leaves whole files: at worst the weights are one save newer than the step
    in the config.

    Args:
        folder: Made if it is not there.
        model: What to save.
        name: What the model is called.
        split: Which texts training left out; none by default.
        facts: What else is known of its training, by the keys of docs/formats.md; a key that is
            left out is null, which means unknown.
        weights: The type in which weights are stored.

    Raises:
        OutputError: The folder cannot be written.
    """
    split = split or Split()
    config = {
        "format_version": FORMAT_VERSION,
        "name": name,
        "architecture": model.config.to_dict(),
        "tokenizer": {"kind": "bytes", "separator": 256},
        "split": {
            "rule": "held out if the first 64 bits of SHA-256 of the text are below "
            "fraction x 2^64, or listed",
            "fraction": split.fraction,
            "hashes": [f"{value:016x}" for value in sorted(split.hashes)],
        },
        "weights": weights,
        **dict.fromkeys(_FACTS),
        "versions": versions(),
        **(facts or {}),
    }
    dtype = getattr(torch, weights)
    tensors = {
        name: parameter.detach().to("cpu", dtype).contiguous()
        for name, parameter in model.named_parameters()
    }
    try:
        folder.mkdir(parents=True, exist_ok=True)
        write_whole(folder / WEIGHTS_FILE, lambda path: save_file(tensors, path))
        write_config(folder, config)
    except OSError as error:
        raise OutputError(f"save checkpoint {folder}: {reason(error)}") from error


def write_config(folder: Path, config: dict[str, Any]) -> None:
    """Write config.json and the model card that says the same in words."""
    written = json.dumps(config, indent=1, ensure_ascii=False, allow_nan=False)
    write_whole(folder / CONFIG_FILE, lambda path: path.write_text(written + "\n", "utf-8"))
    write_whole(folder / CARD_FILE, lambda path: path.write_text(model_card(config), "utf-8"))


def write_whole(path: Path, write: Callable[[Path], object]) -> None:
    """Let ``write`` make a file beside ``path``, and put it in its place once it is whole."""
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        write(beside)
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)


def versions() -> dict[str, str]:
    """The versions that decide what a run gives."""
    return {
        "interp": interp.__version__,
        "python": platform.python_version(),
        "torch": torch.__version__,
        "transformer-lens": version("transformer-lens"),
    }


_FACTS = (
    "recipe",
    "corpora",
    "token_counts",
    "step",
    "n_steps",
    "n_bytes_seen",
    "wall_seconds",
    "hardware",
    "held_out_loss",
    "position_span",
    "baselines",
)
"""Keys that training fills in; null where they are unknown."""
