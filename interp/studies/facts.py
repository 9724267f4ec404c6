"""What a checkpoint is, in words and as plain values."""

import dataclasses
from typing import Any

from interp.checkpoints import Checkpoint
from interp.checkpoints.card import beside_rotation, split_in_words
from interp.checkpoints.folder import CONFIG_FILE
from interp.errors import CheckpointError, RecipeError
from interp.model import RopeConfig
from interp.text import counted, size_in_words
from interp.training.recipe import Recipe
from interp.training.recipe_file import recipe_from_dict

UNKNOWN = "not known"


def checkpoint_facts(checkpoint: Checkpoint) -> list[tuple[str, str]]:
    """Names and values for a reader, in order; what is not known is said to be so."""
    config = checkpoint.config
    sizes = checkpoint.model.config
    position = sizes.to_dict()["position"]
    versions = config.get("versions") or {}
    return [
        ("name", checkpoint.name),
        ("folder", str(checkpoint.folder)),
        ("weights", f"{config.get('weights') or UNKNOWN}, SHA-256 {checkpoint.fingerprint[:16]}…"),
        ("parameters", f"{checkpoint.model.n_parameters:,}"),
        ("model", model_in_words(checkpoint)),
        (
            "sizes",
            f"d_model {sizes.d_model}, d_head {sizes.d_head}, d_mlp {sizes.d_mlp}, "
            f"d_vocab {sizes.d_vocab}, n_ctx {sizes.n_ctx}",
        ),
        (
            "position encoding",
            ", ".join(f"{name} {value}" for name, value in position.items() if value is not None),
        ),
        ("tokens", _tokens_in_words(checkpoint.tokenizer.to_dict())),
        ("training", training_in_words(checkpoint)),
        ("corpora", _corpora_in_words(config)),
        ("held out", split_in_words(checkpoint.split) or UNKNOWN),
        ("held-out loss", held_out_loss_in_words(checkpoint) or UNKNOWN),
        ("versions", ", ".join(f"{name} {n}" for name, n in versions.items()) or UNKNOWN),
    ]


def checkpoint_values(checkpoint: Checkpoint) -> dict[str, Any]:
    """The checkpoint's config as it is, with its fingerprint and without its long lists."""
    config = dict(checkpoint.config)
    split = {key: value for key, value in config["split"].items() if key != "hashes"}
    split["n_hashes"] = len(checkpoint.split.hashes)
    config.pop("token_counts", None)
    return {
        **config,
        "split": split,
        "folder": str(checkpoint.folder),
        "fingerprint": checkpoint.fingerprint,
        "n_parameters": checkpoint.model.n_parameters,
    }


def model_in_words(checkpoint: Checkpoint) -> str:
    """Layers, heads and kind of increments."""
    sizes = checkpoint.model.config
    position = sizes.position
    words = f"{sizes.n_layers} layers, {sizes.n_heads} heads; "
    if not isinstance(position, RopeConfig):
        return f"{words}position encoding {position.encoding}, which has no increments"
    scope = getattr(position, "scope", None)
    if scope is None:
        plain = beside_rotation(dataclasses.asdict(position)) or " (plain rotary positions)"
        return f"{words}the increment is always 1{plain}"
    whose = "every layer has its own" if scope == "per_layer" else "all layers share their"
    bound = getattr(position, "max_increment", None)
    return (
        f"{words}{whose} increments"
        + (", one per head" if sizes.n_increment_columns > 1 else "")
        + (f", at most {bound:g}" if bound else "")
        + beside_rotation(dataclasses.asdict(position))
    )


def recipe_of(checkpoint: Checkpoint) -> Recipe | None:
    """How it was trained; None where that is not known.

    Raises:
        CheckpointError: What its config has is no recipe.
    """
    values = checkpoint.config["recipe"]
    try:
        return None if values is None else recipe_from_dict(values)
    except RecipeError as error:
        raise CheckpointError(
            f"load checkpoint {checkpoint.folder}: {CONFIG_FILE}: {error}", error.hint
        ) from error


def _tokens_in_words(tokenizer: dict[str, Any]) -> str:
    if tokenizer["kind"] == "bytes":
        return "bytes of UTF-8, and a separator (256) before every text"
    return f"the {counted(len(tokenizer['characters']), 'character')} of the training text"


def training_in_words(checkpoint: Checkpoint) -> str:
    """Steps and bytes of text, as far as the checkpoint knows them."""
    step, n_bytes = checkpoint.config.get("step"), checkpoint.config.get("n_bytes_seen")
    if step is None:
        return UNKNOWN
    n_steps = checkpoint.config.get("n_steps")
    is_under_way = n_steps is not None and step < n_steps
    words = f"step {step:,} of {n_steps:,}" if is_under_way else counted(step, "step")
    return words + (f", {size_in_words(n_bytes)} of text" if n_bytes else "")


def held_out_loss_in_words(checkpoint: Checkpoint) -> str:
    """Bits per byte of every held-out text; nothing where it is not known."""
    losses = checkpoint.config["held_out_loss"] or {}
    bits = {name: loss.get("bits_per_byte") for name, loss in losses.items()}
    return ", ".join(
        f"{name} {value:.3f} bits per byte" for name, value in bits.items() if value is not None
    )


def _corpora_in_words(config: dict[str, Any]) -> str:
    described = []
    for name, facts in (config["corpora"] or {}).items():
        sizes = {"text": facts.get("n_documents"), "byte": facts.get("n_bytes")}
        words = ", ".join(counted(n, noun) for noun, n in sizes.items() if n is not None)
        described.append(f"{name}: {words or UNKNOWN}")
    return "; ".join(described) or UNKNOWN
