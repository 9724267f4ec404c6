"""Held-out loss by language, during training and of the finished model."""

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from typing import Any

import torch

from interp.errors import InputError
from interp.model.loss import Forward, document_losses


@dataclass(frozen=True)
class HeldOutLoss:
    """The loss over held-out documents.

    Attributes:
        nats_per_byte: Mean surprisal of a byte.
        bits_per_byte: The same in bits.
        n_bytes: How many bytes were scored.
        n_documents: Of how many documents.
    """

    nats_per_byte: float
    bits_per_byte: float
    n_bytes: int
    n_documents: int

    def to_dict(self) -> dict[str, Any]:
        """As plain values, for the checkpoint."""
        return asdict(self)


def held_out_losses(
    forward: Forward,
    held_out: dict[str, Callable[[], Iterator[bytes]]],
    *,
    n_ctx: int,
    device: torch.device,
    batch_size: int,
    most_bytes: int | None = None,
) -> dict[str, HeldOutLoss]:
    """The loss of each corpus's held-out documents.

    Args:
        forward: The model under the training's autocast.
        held_out: By corpus, its documents.
        n_ctx: Tokens of a window.
        device: Where the model is.
        batch_size: Windows at a time.
        most_bytes: Only the first whole documents up to this many bytes, at least one; None is
            all.

    Raises:
        InputError: A corpus has no held-out document.
    """
    losses = {}
    for name, documents in held_out.items():
        contents = _first(documents(), most_bytes)
        found = list(
            document_losses(forward, contents, n_ctx=n_ctx, device=device, batch_size=batch_size)
        )
        n_bytes = sum(loss.n_bytes for loss in found)
        if not n_bytes:
            raise InputError(
                f"corpus {name} has no held-out document", "Hold out a larger fraction."
            )
        nats = sum(loss.total_nats for loss in found) / n_bytes
        losses[name] = HeldOutLoss(nats, nats / math.log(2), n_bytes, len(found))
    return losses


def _first(contents: Iterable[bytes], most_bytes: int | None) -> Iterator[bytes]:
    n_bytes = 0
    for content in contents:
        if most_bytes is not None and n_bytes and n_bytes + len(content) > most_bytes:
            return
        n_bytes += len(content)
        yield content
