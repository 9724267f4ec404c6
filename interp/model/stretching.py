"""Reading beyond the training length: rotary frequencies, stretched."""

import dataclasses
import math
from collections.abc import Sequence

import torch
from jaxtyping import Float
from torch import Tensor

from interp.model.config import ModelConfig, RopeConfig, scaling_of

SLOWEST, FASTEST = 1.0, 32.0
"""YaRN's bounds, in turns over the training length: slower pairs are interpolated, faster kept."""


def stretched(
    frequencies: Float[Tensor, " channel_pair"], position: RopeConfig, *, span: float
) -> tuple[Float[Tensor, " channel_pair"], float]:
    """The frequencies under the encoding's scaling, and what queries and keys are multiplied by.

    - ``pi:S``: all frequencies over S (Chen et al. 2023, "Extending Context Window of Large
      Language Models via Positional Interpolation").
    - ``ntk:S``: the base times S ** (d / (d - 2)), so that the slowest pair is interpolated and
      the fastest kept ("NTK-aware" scaling, bloc97 2023).
    - ``yarn:S``: pairs that turn less than once over the training length are interpolated, those
      that turn more than 32 times kept, those between in proportion; queries and keys times
      0.1 ln S + 1 (Peng et al. 2023, "YaRN", sections 3.2 and 3.3).

    The proportion is one of turns, as in the paper. Implementations that follow the paper's code
    (such as transformers) take it over the number of the pair instead, from the whole number
    below where 32 turns would be to the one above where 1 is; so they keep the fastest pair
    even where it turns less than 32 times, as it does over less than 202 tokens.

    Args:
        frequencies: Radians per unit of position.
        position: Its ``scaling`` and ``base`` count.
        span: The span of positions in training, in units of one ordinary token.
    """
    scaling = scaling_of(position.scaling)
    if scaling is None:
        return frequencies, 1.0
    kind, factor = scaling
    if kind == "pi":
        return frequencies / factor, 1.0
    n_pairs = len(frequencies)
    if kind == "ntk":
        if n_pairs == 1:  # the only pair is the fastest one
            return frequencies, 1.0
        # base * S ** (d / (d - 2)), to the power of -2 i / d
        pair = torch.arange(n_pairs, device=frequencies.device, dtype=torch.float32)
        return frequencies * factor ** (-pair / (n_pairs - 1)), 1.0
    turns = span * frequencies / (2 * math.pi)
    kept = ((turns - SLOWEST) / (FASTEST - SLOWEST)).clamp(0, 1)
    return frequencies * (kept + (1 - kept) / factor), 0.1 * math.log(factor) + 1


def stretched_config(
    config: ModelConfig, scaling: str, *, spans: Sequence[float] | None = None
) -> ModelConfig:
    """The config of a model that reads beyond its training length; its weights stay as they are.

    Args:
        config: The model as it was trained.
        scaling: Such as ``ntk:2``; n_ctx becomes the training length times its factor.
        spans: The span of positions in training, one number per layer; None for n_ctx.

    Raises:
        ValueError: The scaling is none, the encoding does not rotate, or it is stretched already.
    """
    chosen = scaling_of(scaling)
    assert chosen is not None
    position = config.position
    if not isinstance(position, RopeConfig):
        raise ValueError(f"{position.encoding} has no rotary positions that could be stretched")
    if position.scaling is not None:
        raise ValueError(f"its positions are stretched already, by {position.scaling}")
    return dataclasses.replace(
        config,
        n_ctx=int(config.n_ctx * chosen[1]),
        position=dataclasses.replace(
            position,
            scaling=scaling,
            trained_spans=tuple(spans or (float(config.n_ctx),)),
        ),
    )
