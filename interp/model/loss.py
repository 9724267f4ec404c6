"""The loss: surprisal of bytes, in nats."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn import functional

from interp.text import Content
from interp.tokenizer import BYTES, TokenizedText, Tokenizer

_IGNORED = -100
Forward = Callable[[Int[Tensor, "batch pos"]], Float[Tensor, "batch pos d_vocab"]]


@dataclass(frozen=True)
class DocumentLoss:
    """The loss of one document.

    Attributes:
        total_nats: Sum of the surprisal of its bytes.
        n_bytes: How many bytes were scored: all of them, but for the first character of a text
            without a separator, which nothing predicts.
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
    contents: Iterable[Content],
    *,
    n_ctx: int,
    device: torch.device,
    batch_size: int = 16,
    tokenizer: Tokenizer = BYTES,
) -> Iterator[DocumentLoss]:
    """The loss of each document: the one definition of held-out loss.

    A document is read, after its separator where tokens are bytes, in consecutive windows that do
    not overlap, of n_ctx tokens (up to three fewer, so that no code point is cut). Every token
    is scored once, the first of a window by the last prediction of the window before; the
    document's first token is not scored. ``extract --signal surprisal --stride N_CTX`` gives the
    same values.

    Args:
        forward: The model, compiled or not; it is always called with ``batch_size`` windows
            of ``n_ctx`` tokens, the rest filled up on the right, where nothing before is
            changed by it and no value is taken.
        contents: The documents' bytes.
        n_ctx: Tokens of a window.
        device: Where the model is.
        batch_size: Windows at a time.
        tokenizer: The model's.

    Yields:
        One loss per document, in order.
    """
    totals: list[float] = []
    lengths: list[int] = []
    n_given = 0
    for rows, inputs, targets in _batches(contents, n_ctx, batch_size, tokenizer, lengths):
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
    contents: Iterable[Content],
    n_ctx: int,
    batch_size: int,
    tokenizer: Tokenizer,
    lengths: list[int],
) -> Iterator[tuple[list[int], Tensor, Tensor]]:
    """Windows of all documents, ``batch_size`` at a time; ``lengths`` grows with them."""
    rows: list[int] = []
    inputs = torch.zeros(batch_size, n_ctx, dtype=torch.int64)
    targets = torch.full((batch_size, n_ctx), _IGNORED)
    for row, content in enumerate(contents):
        text = tokenizer.read(content)
        lengths.append(len(content) - _n_unscored(text))
        for start, end in text.spans(n_ctx=n_ctx, stride=n_ctx):
            ids = torch.from_numpy(text.ids(start, min(end + 1, len(text))))
            following = ids[1:]
            inputs[len(rows), : end - start] = ids[: end - start]
            targets[len(rows), : len(following)] = following
            rows.append(row)
            if len(rows) == batch_size:
                yield rows, inputs, targets
                rows = []
                inputs = torch.zeros(batch_size, n_ctx, dtype=torch.int64)
                targets = torch.full((batch_size, n_ctx), _IGNORED)
    if rows:
        yield rows, inputs, targets


def _n_unscored(text: TokenizedText) -> int:
    """Bytes of the first token, which nothing predicts; none of a separator."""
    if len(text) == 0:
        return 0
    second = int(text.offsets(1, 2)[0]) if len(text) > 1 else len(text.content)
    return second - max(0, int(text.offsets(0, 1)[0]))
