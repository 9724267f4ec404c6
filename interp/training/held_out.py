"""Held-out loss by language, during training and of the finished model."""

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import pandas as pd
import torch

from interp.errors import InputError
from interp.model.loss import Forward, document_losses
from interp.tables import analysis_table
from interp.tokenizer import Tokenizer


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
    held_out: Mapping[str, Iterable[bytes]],
    *,
    n_ctx: int,
    device: torch.device,
    batch_size: int,
    tokenizer: Tokenizer,
) -> dict[str, HeldOutLoss]:
    """The loss of each corpus's held-out documents.

    Args:
        forward: The model, with or without autocast.
        held_out: By corpus, its documents.
        n_ctx: Tokens of a window.
        device: Where the model is.
        batch_size: Windows at a time.
        tokenizer: The model's.

    Returns:
        By corpus.

    Raises:
        InputError: A corpus has nothing to score.
    """
    losses = {}
    for name, documents in held_out.items():
        found = list(
            document_losses(
                forward,
                documents,
                n_ctx=n_ctx,
                device=device,
                batch_size=batch_size,
                tokenizer=tokenizer,
            )
        )
        n_bytes = sum(loss.n_bytes for loss in found)
        if not n_bytes:
            raise InputError(
                f"no held-out text of corpus {name} is left: the text has changed since it was "
                "first read",
                "Put the text back; the same command goes on.",
            )
        nats = sum(loss.total_nats for loss in found) / n_bytes
        losses[name] = HeldOutLoss(nats, nats / math.log(2), n_bytes, len(found))
    return losses


def held_out_table(name: str, losses: Mapping[str, HeldOutLoss]) -> pd.DataFrame:
    """Held-out losses by corpus as an analysis table, in nats and in bits per byte.

    Args:
        name: Of the checkpoint.
        losses: By corpus.
    """
    return analysis_table(
        {
            "checkpoint": name,
            "signal": "surprisal",
            "statistic": statistic,
            "group": corpus,
            "n": loss.n_bytes,
            "n_documents": loss.n_documents,
            "value": value,
            "method": "held-out text, consecutive windows",
        }
        for corpus, loss in losses.items()
        for statistic, value in (
            ("nats_per_byte", loss.nats_per_byte),
            ("bits_per_byte", loss.bits_per_byte),
        )
    )


def first_documents(contents: Iterable[bytes], most_bytes: int) -> Iterator[bytes]:
    """The first whole documents up to ``most_bytes`` bytes, at least one."""
    n_bytes = 0
    for content in contents:
        if n_bytes and n_bytes + len(content) > most_bytes:
            return
        n_bytes += len(content)
        yield content
