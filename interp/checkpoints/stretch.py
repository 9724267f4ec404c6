"""A model that reads beyond its training length: its positions are stretched as it is loaded."""

from pathlib import Path
from typing import Any

from interp.errors import CheckpointError, UsageError
from interp.model.config import ModelConfig, scaling_of
from interp.model.stretching import stretched_config

_LONGEST_SPAN = 2.0**63


def stretched_facts(
    config: dict[str, Any], architecture: ModelConfig, rope_scaling: str, *, folder: Path
) -> tuple[ModelConfig, dict[str, Any]]:
    """The architecture and the facts of a checkpoint whose positions are stretched.

    What was measured of the model as it was trained, which is its held-out loss, is unknown of
    the stretched one.

    Args:
        config: Everything in config.json, checked.
        architecture: What it says of the model.
        rope_scaling: Such as ``ntk:2``.
        folder: Of the checkpoint, for messages.

    Raises:
        UsageError: The scaling is none.
        CheckpointError: The encoding does not rotate, is stretched already, or would be
            stretched to windows longer than any model may have.
    """
    what = f"load checkpoint {folder}"
    try:
        scaling_of(rope_scaling)
    except ValueError as error:
        raise UsageError(f"{what}: {error}", "Give one such as ntk:2.") from error
    try:
        made = stretched_config(
            architecture, rope_scaling, spans=_trained_spans(config, architecture)
        )
    except ValueError as error:
        raise CheckpointError(f"{what}: --rope-scaling {rope_scaling}: {error}") from error
    return made, {**config, "architecture": made.to_dict(), "held_out_loss": None}


def require_span(config: dict[str, Any], architecture: ModelConfig) -> None:
    """Raise `ValueError` unless position_span is numbers per layer and head, or null."""
    span = config.get("position_span")
    if span is not None and not (
        isinstance(span, list)
        and len(span) == architecture.n_layers
        and all(isinstance(layer, list) and layer and all(map(_is_span, layer)) for layer in span)
    ):
        raise ValueError(
            f"position_span must be a list of numbers for each of {architecture.n_layers} "
            "layers, or null"
        )


def _trained_spans(config: dict[str, Any], architecture: ModelConfig) -> list[float] | None:
    """The span of positions that each layer saw in training: that of its largest head."""
    span = config.get("position_span")
    if span is None:
        return None
    # a layer without positions has a span of 0, which stretches nothing
    return [max(map(float, layer)) or float(architecture.n_ctx) for layer in span]


def _is_span(value: Any) -> bool:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return is_number and 0 <= value < _LONGEST_SPAN
