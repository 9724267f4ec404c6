"""Signals that are named by a hook point and what is made of it: ``HOOK:REDUCTION``.

``blocks.3.hook_resid_post:norm`` is how long the residual stream is that leaves layer 3 (column
``L3``), ``blocks.*.hook_resid_post:norm`` that of every layer (``L0``, ...). Where heads differ
there is a column per head (``L3H0``, ...). A hook point outside the layers gives ``value``.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

import torch
from jaxtyping import Float
from torch import Tensor

from interp.errors import InputError
from interp.extraction.signal import Reduction, Signal
from interp.model import ModelConfig

EXAMPLE = "blocks.*.hook_resid_post:norm"

Kind = Literal[
    "vector", "vector of every head", "number", "pattern of every head", "attention score"
]

_KINDS: Mapping[str, Kind] = {
    **dict.fromkeys(
        ("hook_q", "hook_k", "hook_v", "hook_rot_q", "hook_rot_k", "hook_z"), "vector of every head"
    ),
    **dict.fromkeys(
        ("hook_increment_pre", "hook_increment", "hook_position", "hook_scale"), "number"
    ),
    "hook_pattern": "pattern of every head",
    "hook_attn_scores": "attention score",
}
"""What a hook point shows of a token, by the last part of its name; any other shows a vector."""

_EVERY_LAYER = "blocks.*."
_LAYER = re.compile(r"blocks\.([0-9]{1,6})\.")


@dataclass(frozen=True)
class HookReduction:
    """One way to make a number per token, or per token and head, of what a hook point shows.

    Attributes:
        units: Of the number.
        kinds: What it can be made of.
        reduce: Makes it.
    """

    units: str
    kinds: tuple[Kind, ...]
    reduce: Reduction


def hook_signal(name: str) -> Signal:
    """The signal called ``HOOK:REDUCTION``; ``blocks.*.`` at its start stands for every layer.

    Whether a model has the hook point is found out with the model.

    Raises:
        InputError: There is no such reduction, or not for what this hook point shows.
    """
    hook, _, wanted = name.rpartition(":")
    kind = _KINDS.get(hook.rpartition(".")[2], "vector")
    fitting = [each for each, reduction in REDUCTIONS.items() if kind in reduction.kinds]
    if wanted not in fitting:
        raise InputError(
            f"extraction: no reduction {wanted!r:.40} of {hook!r:.100}, which shows one {kind} "
            f"per {'query and key' if kind == 'attention score' else 'token'}",
            f"known for that: {', '.join(fitting) or 'none; hook_pattern shows their softmax'}",
        )
    reduction = REDUCTIONS[wanted]

    def columns(config: ModelConfig) -> tuple[str, ...]:
        is_per_head = _has_heads(hook, kind, config)
        heads = [f"H{head}" for head in range(config.n_heads)] if is_per_head else [""]
        layers = [_LAYER.match(each) for each in _expanded(hook, config)]
        return tuple(
            f"L{layer[1]}{head}" if layer else "value" for layer in layers for head in heads
        )

    return Signal(
        name=name,
        units=reduction.units,
        sees="token",
        columns=columns,
        hooks=lambda config: dict.fromkeys(_expanded(hook, config), reduction.reduce),
    )


def _expanded(hook: str, config: ModelConfig) -> list[str]:
    """The hook points that ``hook`` stands for."""
    if not hook.startswith(_EVERY_LAYER):
        return [hook]
    rest = hook.removeprefix(_EVERY_LAYER)
    return [f"blocks.{layer}.{rest}" for layer in range(config.n_layers)]


def _has_heads(hook: str, kind: Kind, config: ModelConfig) -> bool:
    if kind == "number":
        return config.n_increment_columns > 1 and not hook.endswith(".hook_scale")
    return kind in ("vector of every head", "pattern of every head")


def _of_channels(reduce: Callable[[Tensor], Tensor]) -> Reduction:
    """``reduce`` takes the axis of channels away; one of heads stays as that of columns."""

    def reduced(activation: Tensor) -> Float[Tensor, "batch pos column"]:
        values = reduce(activation.float())
        return values if values.ndim == 3 else values.unsqueeze(-1)

    return reduced


def _distance(
    pattern: Float[Tensor, "batch head query key"],
) -> Float[Tensor, "batch query head"]:
    """How many tokens back each query looks, on average over its attention."""
    place = torch.arange(pattern.shape[-1], device=pattern.device)
    back = (place[:, None] - place).clamp(min=0)
    return (pattern.float() * back).sum(-1).transpose(1, 2)


def _entropy(pattern: Float[Tensor, "batch head query key"]) -> Float[Tensor, "batch query head"]:
    """Entropy of each query's attention."""
    return torch.special.entr(pattern.float()).sum(-1).transpose(1, 2)


_VECTORS: tuple[Kind, ...] = ("vector", "vector of every head")

REDUCTIONS: Mapping[str, HookReduction] = {
    "norm": HookReduction("length", _VECTORS, _of_channels(lambda x: x.norm(dim=-1))),
    "mean": HookReduction("mean of channels", _VECTORS, _of_channels(lambda x: x.mean(-1))),
    "max": HookReduction("largest channel", _VECTORS, _of_channels(lambda x: x.amax(-1))),
    "value": HookReduction("as hooked", ("number",), lambda x: x),
    "distance": HookReduction("tokens", ("pattern of every head",), _distance),
    "entropy": HookReduction("nats", ("pattern of every head",), _entropy),
}
"""Every reduction by name."""
