"""What a signal is: a number per token, with what is needed to read it in a forward pass.

Index rule: entry t describes token t. What a hook point shows at t's own place describes t; what
the logits say at t - 1 is about t, so a signal of the logits lies one token further on.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
from jaxtyping import Float, Int
from torch import Tensor

from interp.model import ModelConfig, Transformer

TokenColumns = Mapping[str, np.ndarray]
"""Columns that the token alone decides, each as float32 ``[d_vocab]``."""

Reduction = Callable[[Tensor], Float[Tensor, "batch pos column"]]
"""Turns what a hook point shows into columns, as soon as the pass comes to it."""

OfLogits = Callable[
    [Float[Tensor, "batch pos d_vocab"], Int[Tensor, "batch pos"]],
    Float[Tensor, "batch pos column"],
]
"""Turns logits and the token after each position (arbitrary where there is none) into columns."""


@dataclass(frozen=True)
class Signal:
    """A number per token (and layer, and head), read from hook points or from the logits.

    Attributes:
        name: What the user asks for.
        units: Of the values.
        sees: What entry t has seen of token t: ``token`` all of it, ``before`` only what stands
            before it in its window. What a hook point shows at t has seen t.
        columns: All columns that a model of this configuration gives, in order: those of
            ``token_columns``, then those of ``hooks`` or of ``of_logits``.
        hooks: Which hook points are read, in the order of the columns, each with what turns its
            activation into ``[batch, pos, column]``. That is done during the pass, so that large
            activations of several layers are never kept together.
        of_logits: Turns the logits into ``[batch, pos, column]``, about the token after each
            position; None for a signal that does not read them.
        token_columns: The columns that the token alone decides: they need no pass.
        hooked: The same signal with every column read from hook points, for a pass in which an
            intervention changes increments; None where no column is looked up.
        bound: The value that entries saturate at, or None where there is no such value.
        fitted: To what the signal was fitted, with fingerprints, in one line: with anything else
            an extraction does not go on in the same folder; None for one that was not fitted.
        hooks_of_documents: As ``hooks``, for windows of these documents (one number per window),
            where what a document is read with depends on it; None where it does not.

    Raises:
        ValueError: ``sees`` is neither of the two, or ``before`` for a signal of hook points.
    """

    name: str
    units: str
    sees: Literal["before", "token"]
    columns: Callable[[ModelConfig], tuple[str, ...]]
    hooks: Callable[[ModelConfig], Mapping[str, Reduction]] = lambda _config: {}
    of_logits: OfLogits | None = None
    token_columns: Callable[[Transformer], TokenColumns] = lambda _model: {}
    hooked: "Signal | None" = None
    bound: Callable[[ModelConfig], float | None] = lambda _config: None
    fitted: str | None = None
    hooks_of_documents: Callable[[Int[np.ndarray, " batch"]], Mapping[str, Reduction]] | None = None

    def __post_init__(self) -> None:
        if self.sees not in ("before", "token"):
            raise ValueError(f"signal {self.name}: sees is before or token, not {self.sees!r}")
        if self.sees == "before" and self.of_logits is None:
            raise ValueError(
                f"signal {self.name}: only a prediction can have seen no more than what stands "
                "before its token"
            )

    @property
    def describes_next(self) -> bool:
        """Whether the value at a position is about the token after it."""
        return self.of_logits is not None


def layer_columns(config: ModelConfig, *, per_head: bool = False) -> tuple[str, ...]:
    """Names of one column per layer, or per layer and head: ``L0``, ... or ``L0H0``, ..."""
    heads = [f"H{head}" for head in range(config.n_heads)] if per_head else [""]
    return tuple(f"L{layer}{head}" for layer in range(config.n_layers) for head in heads)
