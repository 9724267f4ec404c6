"""Loading a checkpoint: every name, shape and value is checked, and no code in it is run."""

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from interp.checkpoints.config_file import read_config
from interp.checkpoints.folder import (
    WEIGHTS_FILE,
    checkpoint_folder,
    default_checkpoint,
    file_inside,
)
from interp.checkpoints.stretch import stretched_facts
from interp.checkpoints.weights_file import read_model
from interp.corpus.split import Split
from interp.errors import InputError
from interp.model import Transformer
from interp.text import Content
from interp.tokenizer import BYTES, Tokenizer


@dataclass(frozen=True)
class Checkpoint:
    """A trained model with what is known of its training.

    Attributes:
        name: What the model is called.
        folder: Where it was read from.
        model: In float32, ready to be read from, without gradients being needed.
        config: Everything in config.json; see docs/formats.md. Unknown is None.
        fingerprint: SHA-256 of the weights file, in hex.
        split: Which texts training left out.
        tokenizer: What its tokens are.
    """

    name: str
    folder: Path
    model: Transformer
    config: dict[str, Any]
    fingerprint: str
    split: Split
    tokenizer: Tokenizer = BYTES

    def is_held_out(self, content: Content) -> bool | None:
        """True if training is known to have left this text out; None if that is not known."""
        return self.split.is_held_out(content) or None


def load(
    path_or_hub_id: str | Path | None = None,
    *,
    device: str | None = None,
    rope_scaling: str | None = None,
) -> Checkpoint:
    """A checkpoint from a folder or from the Hub.

    Args:
        path_or_hub_id: A folder, or ``OWNER/NAME`` on the Hub where there is no such folder;
            None is the one that comes with the package.
        device: Where the model goes, such as ``cuda``; the CPU by default.
        rope_scaling: How rotary positions are stretched to read beyond the training length:
            ``pi:2``, ``ntk:2`` or ``yarn:2`` for twice the length. The model's n_ctx becomes
            that length, and its name says how it was stretched.

    Raises:
        CheckpointError: It is missing, incomplete, damaged, or does not fit together; or it
            has no positions to stretch, or stretched ones.
        InputError: There is no such device.
        UsageError: ``rope_scaling`` is no scaling.
    """
    folder = (
        default_checkpoint() if path_or_hub_id is None else checkpoint_folder(str(path_or_hub_id))
    )
    config = read_config(folder)
    name, architecture, facts = config.name, config.architecture, config.facts
    if rope_scaling is not None:
        architecture, facts = stretched_facts(facts, architecture, rope_scaling, folder=folder)
        name = f"{name} ({rope_scaling})"
    weights = file_inside(folder, WEIGHTS_FILE)
    model = read_model(weights, architecture)
    model.to(device_named(device))
    with weights.open("rb") as file:
        fingerprint = hashlib.file_digest(file, "sha256").hexdigest()
    return Checkpoint(name, folder, model, facts, fingerprint, config.split, config.tokenizer)


def device_named(name: str | None) -> torch.device:
    """The device of this name, once it is known to hold values; None is the CPU.

    Raises:
        InputError: There is no such device.
    """
    try:
        place = torch.device(name or "cpu")
        if place.type == "meta":
            raise RuntimeError("it holds no values")
        torch.empty(1, device=place)
    except (RuntimeError, AssertionError, NotImplementedError) as error:
        raise InputError(
            f"device {name!r} cannot be used here: {str(error).partition(chr(10))[0]}",
            "Leave --device out for the CPU.",
        ) from error
    return place
