"""Saving a checkpoint: a folder of three files, each made beside its place and renamed."""

import json
import os
import platform
import re
from importlib.metadata import version
from pathlib import Path
from typing import Any, Literal

import torch
from safetensors import SafetensorError
from safetensors.torch import save_file

import interp
from interp.checkpoints.card import model_card
from interp.checkpoints.config_file import FACTS, FORMAT_VERSION
from interp.checkpoints.folder import CARD_FILE, CONFIG_FILE, WEIGHTS_FILE
from interp.corpus.split import Split
from interp.errors import OutputError, reason
from interp.files import replacing
from interp.model import Transformer
from interp.tokenizer import BYTES, Tokenizer


def save(
    folder: Path,
    model: Transformer,
    *,
    name: str,
    tokenizer: Tokenizer = BYTES,
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
        tokenizer: What its tokens are.
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
        "tokenizer": tokenizer.to_dict(),
        "split": {
            "rule": "held out if the first 64 bits of SHA-256 of the text are below "
            "fraction x 2^64, or listed; of a text that is not, the last part if that is listed",
            "fraction": split.fraction,
            "last": split.last,
            "hashes": [f"{value:016x}" for value in sorted(split.hashes)],
        },
        "weights": weights,
        **dict.fromkeys(FACTS),
        "versions": versions(),
        **(facts or {}),
    }
    written, card = _rendered(config)  # before anything is replaced
    dtype = getattr(torch, weights)
    tensors = {
        name: parameter.detach().to("cpu", dtype).contiguous()
        for name, parameter in model.named_parameters()
    }
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with replacing(folder / WEIGHTS_FILE) as path:
            write_tensors(path, tensors)
        _write_texts(folder, written, card)
    except OSError as error:
        raise OutputError(f"save checkpoint {folder}: {reason(error)}") from error


def write_config(folder: Path, config: dict[str, Any]) -> None:
    """Write config.json and the model card that says the same in words."""
    _write_texts(folder, *_rendered(config))


def write_tensors(path: Path, tensors: dict[str, torch.Tensor]) -> None:
    """Write a safetensors file.

    Raises:
        OSError: There is no space or permission; safetensors has an error of its own for that.
    """
    path.touch()
    mode = path.stat().st_mode  # safetensors would let nobody else read it
    try:
        save_file(tensors, path)
        path.chmod(mode)
    except SafetensorError as error:
        words = str(error)
        number = re.search(r"\(os error (\d+)\)", words)
        raise OSError(int(number[1]) if number else 0, _os_words(number, words)) from error


def versions() -> dict[str, str]:
    """The versions that decide what a run gives."""
    return {
        "interp": interp.__version__,
        "python": platform.python_version(),
        "torch": torch.__version__,
        "transformer-lens": version("transformer-lens"),
    }


def _rendered(config: dict[str, Any]) -> tuple[str, str]:
    return json.dumps(config, indent=1, ensure_ascii=False, allow_nan=False), model_card(config)


def _write_texts(folder: Path, written: str, card: str) -> None:
    for name, text in ((CONFIG_FILE, written + "\n"), (CARD_FILE, card)):
        with replacing(folder / name) as path:
            path.write_text(text, "utf-8")


def _os_words(number: re.Match[str] | None, words: str) -> str:
    return os.strerror(int(number[1])) if number else words.splitlines()[0]
