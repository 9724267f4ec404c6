"""What a layer could know: a ridge probe for word ends on what enters each layer.

A linear readout of the residual stream, learned from a reference's own judgements. An increment
is one number that the layer makes of that stream, so the probe says how much of the reference
was there to be read. It is a supervised reference and no bound: a readout that is not linear may
find more.
"""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import torch
from jaxtyping import Float, Int, Int8
from torch import Tensor

from interp.checkpoints import Checkpoint
from interp.corpus.documents import Document
from interp.errors import InputError
from interp.extraction.batches import Batch, Part, Rows, cut_into_parts
from interp.extraction.extract import PART_TOKENS, checked_stride, extract
from interp.extraction.hooks import reading
from interp.extraction.increment_table import IncrementTable
from interp.extraction.reader import default_batch_tokens
from interp.extraction.ridge import PENALTY, RidgeSums
from interp.extraction.signal import Reduction, Signal, layer_columns
from interp.extraction.table_writer import Progress
from interp.model import ModelConfig, Transformer
from interp.segmentation.gaps import Gaps
from interp.tables import PROBE
from interp.tokenizer import BYTES

N_FOLDS = 10
"""Folds of documents."""

Judged = Callable[[], Iterable[tuple[Document, Gaps]]]
"""Documents with the gaps that a reference judged, made anew at each call."""


def ridge_probe(
    checkpoint: Checkpoint,
    judged: Judged,
    out: str | Path,
    *,
    dtype: str = "float32",
    stride: int | None = None,
    batch_tokens: int | None = None,
    part_tokens: int = PART_TOKENS,
    progress: Progress | None = None,
) -> IncrementTable:
    """Learn to tell boundaries from what enters each layer, and keep the scores in ``out``.

    Documents (or clusters of them, where the gaps name one) that have gaps are dealt to
    `N_FOLDS` folds in turn. A first pass over the text adds up, per fold and layer, what a ridge
    regression of the judgements on the residual stream at the token after each gap needs; a
    second one writes the score of every token, with the weights that all other folds give, so
    that no document is scored with weights that have seen a judgement of its cluster. The sums
    take n_folds x n_layers x (d_model + 1)^2 x 8 bytes; memory does not grow with the text.

    The second pass goes on where it was interrupted; then the first is made again.

    Args:
        checkpoint: The model.
        judged: Is called four times, twice of them for the documents alone.
        out: The folder of the table.
        dtype: As in `interp.extraction.extract.extract`, and so are the others.
        stride: Tokens from window to window.
        batch_tokens: The most tokens of a batch.
        part_tokens: Tokens of a part.
        progress: Called with both passes' bytes together.

    Returns:
        A table with the signal ``probe``: columns ``L0``, ... are read from what enters each
        layer, at the token that they describe, which they have seen; near 1 for a boundary and
        near 0 for none, but not cut there.

    Raises:
        InputError: It is not defined: fewer than two documents with gaps, or the others of a
            fold have fewer gaps than the model has channels, or gaps of one class alone; or
            the model's tokens are characters.
    """
    if checkpoint.tokenizer != BYTES:
        raise InputError(
            f"probe: it is for models of bytes; the tokens of {checkpoint.name} are characters"
        )
    folds = _Folds.of(judged(), checkpoint.model.config.d_model)
    window = checkpoint.model.config.n_ctx
    device = checkpoint.model.W_E.device

    @cache
    def weights() -> Tensor:  # made by the first batch that asks: a complete table needs none
        sums = _add_up(
            checkpoint.model,
            judged(),
            folds,
            window=window,
            stride=checked_stride(stride, window),
            batch_tokens=batch_tokens or default_batch_tokens(device, dtype),
            part_tokens=part_tokens,
            on_bytes=lambda n_bytes: progress and progress(n_bytes, 2 * folds.n_bytes),
        )
        return sums.weights().to(device)

    def on_second_pass(n_done: int, _n_all: int | None) -> None:
        if progress is not None:
            progress(folds.n_bytes + n_done, 2 * folds.n_bytes)

    return extract(
        checkpoint,
        lambda: (document for document, _ in judged()),
        out,
        signals=[_probe(checkpoint.model.config, folds, weights)],
        dtype=dtype,
        stride=stride,
        batch_tokens=batch_tokens,
        part_tokens=part_tokens,
        progress=on_second_pass,
    )


@dataclass(frozen=True)
class _Folds:
    """Which fold each document is in, and what its judgements are.

    Attributes:
        of_document: The fold of each document; one without gaps is in that of its cluster, else
            in fold 0.
        n_folds: How many there are.
        n_bytes: Of all documents.
        fingerprint: SHA-256 over every judgement and cluster, in hex.
    """

    of_document: Int8[np.ndarray, " document"]
    n_folds: int
    n_bytes: int
    fingerprint: str

    @classmethod
    def of(cls, judged: Iterable[tuple[Document, Gaps]], d_model: int) -> "_Folds":
        """The folds of documents, if a probe can be fitted to them.

        Raises:
            InputError: It cannot.
        """
        numbers: dict[str | int, int] = {}
        clusters: list[str | int] = []
        n_gaps, n_boundaries = np.zeros((2, N_FOLDS), dtype=np.int64)
        digest, n_bytes = hashlib.sha256(), 0
        for doc, (document, gaps) in enumerate(judged):
            cluster = doc if gaps.cluster is None else gaps.cluster
            clusters.append(cluster)
            n_bytes += len(document.content)
            digest.update(f"{len(gaps.tokens)} {cluster!r}\n".encode("utf-8", "backslashreplace"))
            digest.update(gaps.tokens.astype("<i8").tobytes() + gaps.is_boundary.tobytes())
            if len(gaps.tokens):
                fold = numbers.setdefault(cluster, len(numbers)) % N_FOLDS
                n_gaps[fold] += len(gaps.tokens)
                n_boundaries[fold] += int(gaps.is_boundary.sum())
        n_folds = min(N_FOLDS, len(numbers))
        _require_enough(len(numbers), n_gaps[:n_folds], n_boundaries[:n_folds], d_model)
        of_document = [numbers.get(cluster, 0) % N_FOLDS for cluster in clusters]
        return cls(np.array(of_document, dtype=np.int8), n_folds, n_bytes, digest.hexdigest())


def _require_enough(
    n_clusters: int,
    n_gaps: Int[np.ndarray, " fold"],
    n_boundaries: Int[np.ndarray, " fold"],
    d_model: int,
) -> None:
    """Raise the one line that says why a probe is not defined, if it is not."""
    if n_clusters < 2:
        few = "no gap to learn from" if n_clusters == 0 else "one document only"
        raise InputError(f"ridge probe: not defined: {few}", "give more text in the language")
    others, boundaries = n_gaps.sum() - n_gaps, n_boundaries.sum() - n_boundaries
    if others.min() <= d_model:
        raise InputError(
            f"ridge probe: not defined: {others.min()} gaps to learn {d_model} weights from",
            "give more text in the language",
        )
    if (boundaries == 0).any() or (boundaries == others).any():
        raise InputError(
            "ridge probe: not defined: one class only (without one fold of documents, every gap "
            "or none is a boundary)"
        )


def _probe(config: ModelConfig, folds: _Folds, weights: Callable[[], Tensor]) -> Signal:
    """The signal that scores each document with the weights of its fold."""
    names = _hook_names(config)

    def hooks(documents: Int[np.ndarray, " batch"]) -> Mapping[str, Reduction]:
        chosen = weights()[folds.of_document[documents].astype(np.int64)]
        return {name: _linear(chosen[:, layer]) for layer, name in enumerate(names)}

    return Signal(
        name=PROBE,
        units="1 for a boundary, 0 for none",
        sees="token",
        columns=layer_columns,
        hooks=lambda _config: dict.fromkeys(names, lambda activation: activation),  # names alone
        fitted=f"judgements {folds.fingerprint}, {folds.n_folds} folds, penalty {PENALTY:g}",
        hooks_of_documents=hooks,
    )


def _hook_names(config: ModelConfig) -> list[str]:
    return [f"blocks.{layer}.hook_resid_pre" for layer in range(config.n_layers)]


def _linear(weights: Float[Tensor, "batch d_in"]) -> Reduction:
    """Scores each window of a batch with weights of its own; in float32 under autocast too."""

    def score(activation: Tensor) -> Float[Tensor, "batch pos column"]:
        scores = (activation.float() * weights[:, None, :-1]).sum(-1, keepdim=True)
        return scores + weights[:, None, -1:]

    return score


def _add_up(
    model: Transformer,
    judged: Iterable[tuple[Document, Gaps]],
    folds: _Folds,
    *,
    window: int,
    stride: int,
    batch_tokens: int,
    part_tokens: int,
    on_bytes: Callable[[int], object],
) -> RidgeSums:
    """The sums over all gaps, from one forward pass over each window that gives a gap."""
    config = model.config
    sums = RidgeSums.zeros(folds.n_folds, config.n_layers, config.d_model)
    gaps: dict[int, Gaps] = {}
    n_bytes = 0
    documents = _documents(judged, gaps)
    for pieces in cut_into_parts(documents, n_ctx=window, stride=stride, part_tokens=part_tokens):
        part = Part.read(pieces)
        labels = _labels(part.rows, {piece.doc: gaps[piece.doc] for piece in pieces})
        for doc in [doc for doc in gaps if doc < pieces[-1].doc]:
            del gaps[doc]
        for batch in part.batches(batch_tokens):
            _add_batch(model, part, batch, labels, folds, sums)
            n_bytes += int((part.length - part.n_old)[batch.windows].sum())
            on_bytes(min(n_bytes, folds.n_bytes))
    return sums


def _documents(
    judged: Iterable[tuple[Document, Gaps]], gaps: dict[int, Gaps]
) -> Iterator[Document]:
    """The documents alone, whose gaps go into ``gaps`` as they pass."""
    for doc, (document, of_document) in enumerate(judged):
        gaps[doc] = of_document
        yield document


def _labels(rows: Rows, gaps: Mapping[int, Gaps]) -> Int8[np.ndarray, " row"]:
    """Of the gap before each row's token: 1 for a boundary, 0 for none, -1 where there is none."""
    labels = np.full(len(rows), -1, dtype=np.int8)
    for doc, of_document in gaps.items():
        begin, end = np.searchsorted(rows.doc, [doc, doc + 1])
        at = of_document.tokens - (int(rows.offset[begin]) + 1)
        is_here = (at >= 0) & (at < end - begin)
        labels[begin + at[is_here]] = of_document.is_boundary[is_here]
    return labels


def _add_batch(
    model: Transformer,
    part: Part,
    batch: Batch,
    labels: Int8[np.ndarray, " row"],
    folds: _Folds,
    sums: RidgeSums,
) -> None:
    """Take in the gaps of a batch, layer by layer as the pass comes to them."""
    mask, rows = batch.taken(part.rows)
    is_gap = labels[rows] >= 0
    rows = rows[is_gap]
    if not len(rows):
        return
    place = model.W_E.device
    windows, positions = (torch.from_numpy(at[is_gap]).to(place) for at in np.nonzero(mask))
    gap_labels = torch.from_numpy(labels[rows])
    gap_folds = torch.from_numpy(folds.of_document[part.rows.doc[rows]])
    names = _hook_names(model.config)

    def take(name: str, activation: Tensor) -> None:
        sums.add(names.index(name), activation[windows, positions], gap_labels, gap_folds)

    with reading(model, names, take=take):
        model(torch.from_numpy(batch.ids()).to(place))
