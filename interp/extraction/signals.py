"""Signals: any number per token (and layer, and head) that one forward pass can give.

A signal is one value of `Signal` and one line in `SIGNALS`. To add one, write the function that
turns what a pass shows (`Forward`) into columns and name the hook points that it reads;
extraction, storage and analyses then take it as they take the increment.

Index rule: entry t describes token t. What is read at t's own place describes t; what the logits
say at t - 1 is about t, so a signal that reads a prediction sets ``describes_next``.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from interp.errors import InputError
from interp.model import ModelConfig, RopeConfig, Transformer
from interp.model.loss import surprisal_nats

TokenColumns = Mapping[str, np.ndarray]
"""Columns that the token alone decides, each as float32 ``[d_vocab]``."""


@dataclass(frozen=True)
class Forward:
    """What one forward pass over a batch of windows shows to a signal.

    Attributes:
        activations: What the signal's hook points saw, by name, in the order of its ``hooks``.
        logits: The prediction at every position, or None where no signal reads it.
        next_ids: The token after each position; arbitrary where the text ends or is padding.
    """

    activations: Mapping[str, Tensor]
    logits: Float[Tensor, "batch pos d_vocab"] | None
    next_ids: Int[Tensor, "batch pos"]


@dataclass(frozen=True)
class Signal:
    """A number per token, with what is needed to read it.

    Attributes:
        name: What the user asks for.
        units: Of the values.
        seen: What a value has seen of the text.
        columns: All columns that a model of this configuration gives, in order.
        reduce: Turns a pass into ``[batch, pos, column]``: those of ``columns`` that are not in
            ``token_columns``, in order.
        hooks: Names of the hook points that ``reduce`` reads.
        token_columns: The columns that the token alone decides: they need no pass.
        reads_logits: Whether ``reduce`` reads the logits; the pass then runs to its end.
        describes_next: Whether the value at a position is about the token after it.
        bound: The value that entries saturate at, or None where there is no such value.
    """

    name: str
    units: str
    seen: str
    columns: Callable[[ModelConfig], tuple[str, ...]]
    reduce: Callable[[Forward], Float[Tensor, "batch pos column"]]
    hooks: Callable[[ModelConfig], tuple[str, ...]] = lambda _config: ()
    token_columns: Callable[[Transformer], TokenColumns] = lambda _model: {}
    reads_logits: bool = False
    describes_next: bool = False
    bound: Callable[[ModelConfig], float | None] = lambda _config: None


def find_signals(asked: Sequence[str | Signal]) -> tuple[Signal, ...]:
    """The signals asked for, each once, in that order.

    Args:
        asked: Names in `SIGNALS`, or signals of one's own.

    Raises:
        InputError: A name is unknown, or there is none.
    """
    known = f"known: {', '.join(SIGNALS)}"
    if not asked:
        raise InputError("extraction: no signal asked for", known)
    for name in asked:
        if isinstance(name, str) and name not in SIGNALS:
            raise InputError(f"extraction: no signal called {name!r}", known)
    found = [SIGNALS[each] if isinstance(each, str) else each for each in asked]
    return tuple({signal.name: signal for signal in found}.values())


def increment_columns(config: ModelConfig) -> tuple[str, ...]:
    """Names of a model's increment columns: ``L0``, ... or ``shared``, with ``H0``, ... per head.

    Raises:
        InputError: The model's position encoding rotates nothing, so that nothing is increment.
    """
    if not isinstance(config.position, RopeConfig):
        raise InputError(
            f"extraction: position encoding {config.position.encoding!r} has no increments",
            "Only models with rotary positions have them; --signal surprisal is one of those that "
            "every model has.",
        )
    per_head = config.n_increment_columns > 1
    heads = [f"H{head}" for head in range(config.n_heads)] if per_head else [""]
    if not _is_per_layer(config):
        return tuple(f"shared{head}" for head in heads)
    return tuple(f"L{layer}{head}" for layer in range(config.n_layers) for head in heads)


def _increment_signal(
    name: str, units: str, bound: Callable[[ModelConfig], float | None] = lambda _config: None
) -> Signal:
    """The signal at ``blocks.I.attn.hook_NAME``; what the token alone decides by look-up."""

    def hooks(config: ModelConfig) -> tuple[str, ...]:
        deeper = range(1, config.n_layers) if _is_per_layer(config) else ()
        return tuple(f"blocks.{layer}.attn.hook_{name}" for layer in deeper)

    def token_columns(model: Transformer) -> TokenColumns:
        names = increment_columns(model.config)  # or the one line that there are none
        values = model.token_increments()[name].detach().float().cpu().numpy()
        return dict(zip(names, values.T, strict=False))

    return Signal(
        name=name,
        units=units,
        seen="the token and what stands before it in its window (shared and L0: the token alone)",
        columns=increment_columns,
        reduce=lambda forward: torch.cat(list(forward.activations.values()), dim=-1),
        hooks=hooks,
        token_columns=token_columns,
        bound=bound,
    )


def _is_per_layer(config: ModelConfig) -> bool:
    return getattr(config.position, "scope", "shared") == "per_layer"


def _max_increment(config: ModelConfig) -> float | None:
    return getattr(config.position, "max_increment", None)


def _surprisal(forward: Forward) -> Float[Tensor, "batch pos column"]:
    assert forward.logits is not None
    return surprisal_nats(forward.logits, forward.next_ids).unsqueeze(-1)


SIGNALS: Mapping[str, Signal] = {
    signal.name: signal
    for signal in (
        _increment_signal("increment", "positions", bound=_max_increment),
        _increment_signal("increment_pre", "before softplus or sigmoid"),
        Signal(
            name="surprisal",
            units="nats",
            seen="the token itself, predicted from what stands before it in its window",
            columns=lambda _config: ("value",),
            reduce=_surprisal,
            reads_logits=True,
            describes_next=True,
        ),
    )
}
"""Every signal by name."""
