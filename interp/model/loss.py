"""The loss: surprisal of bytes, in nats."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn import functional

from interp.text import SEPARATOR, encode, window_spans

_IGNORED = -100
Forward = Callable[[Int[Tensor, "batch pos"]], Float[Tensor, "batch pos d_vocab"]]


@dataclass(frozen=True)
class DocumentLoss:
    """The loss of one document.

    Attributes:
        total_nats: Sum of the surprisal of its bytes.
        n_bytes: How many bytes were scored: all of them.
    """

    total_nats: float
    n_bytes: int


def surprisal_nats(
    logits: Float[Tensor, "batch pos d_vocab"], targets: Int[Tensor, "batch pos"]
) -> Float[Tensor, "batch pos"]:
    """How surprised the model is by each target, in nats; 0 where the target is negative.

    Args:
        logits: Entry t predicts target t.
        targets: The token that follows each input token.
    """
    flat = functional.cross_entropy(
        logits.flatten(0, 1).float(),
        targets.flatten().masked_fill(targets.flatten() < 0, _IGNORED),
        reduction="none",
        ignore_index=_IGNORED,
    )
    return flat.view(targets.shape)


def document_losses(
    forward: Forward,
    contents: Iterable[bytes],
    *,
    n_ctx: int,
    device: torch.device,
    batch_size: int = 16,
) -> Iterator[DocumentLoss]:
    """The loss of each document: the one definition of held-out loss.

    A document is read after its separator in consecutive windows that do not overlap, of
    n_ctx tokens (up to three fewer, so that no code point is cut). Every byte is scored once,
    the first byte of a window by the last prediction of the window before; the separator is
    not scored. ``extract --signal surprisal --stride N_CTX`` gives the same values.

    Args:
        forward: The model, compiled or not; it is always called with ``batch_size`` windows
            of ``n_ctx`` tokens, the rest filled up on the right, where nothing before is
            changed by it and no value is taken.
        contents: The documents' bytes.
        n_ctx: Tokens of a window.
        device: Where the model is.
        batch_size: Windows at a time.

    Yields:
        One loss per document, in order.
    """
    totals: list[float] = []
    lengths: list[int] = []
    n_given = 0
    for rows, inputs, targets in _batches(contents, n_ctx, batch_size, lengths):
        with torch.no_grad():
            logits = forward(inputs.to(device))
            sums = surprisal_nats(logits, targets.to(device)).cpu().double().sum(1).tolist()
        totals.extend([0.0] * (len(lengths) - len(totals)))
        for row, total in zip(rows, sums, strict=False):
            totals[row] += total
        # Every document before the last one seen is complete.
        while n_given < rows[-1]:
            yield DocumentLoss(totals[n_given], lengths[n_given])
            n_given += 1
    totals.extend([0.0] * (len(lengths) - len(totals)))
    for row in range(n_given, len(lengths)):
        yield DocumentLoss(totals[row], lengths[row])


def _batches(
    contents: Iterable[bytes], n_ctx: int, batch_size: int, lengths: list[int]
) -> Iterator[tuple[list[int], Tensor, Tensor]]:
    """Windows of all documents, ``batch_size`` at a time; ``lengths`` grows with them."""
    rows: list[int] = []
    inputs = torch.full((batch_size, n_ctx), SEPARATOR)
    targets = torch.full((batch_size, n_ctx), _IGNORED)
    for row, content in enumerate(contents):
        ids = torch.from_numpy(encode(content))
        lengths.append(len(content))
        for start, end in window_spans(content, n_ctx=n_ctx, stride=n_ctx):
            following = ids[start + 1 : end + 1]
            inputs[len(rows), : end - start] = ids[start:end]
            targets[len(rows), : len(following)] = following
            rows.append(row)
            if len(rows) == batch_size:
                yield rows, inputs, targets
                rows = []
                inputs = torch.full((batch_size, n_ctx), SEPARATOR)
                targets = torch.full((batch_size, n_ctx), _IGNORED)
    if rows:
        yield rows, inputs, targets
