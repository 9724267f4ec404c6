"""From documents to parts, from parts to windows, from windows to batches, and back to rows.

A part is a stretch of a corpus of bounded size: whole small documents, or the next windows of a
long one. It is what one file of an IncrementTable holds, so the cuts depend on the corpus, the
windows and the size alone, and an interrupted extraction finds the same parts again.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Bool, Int
from numpy.typing import NDArray

from interp.corpus.documents import Document
from interp.tokenizer import BYTES, TokenizedText, Tokenizer


@dataclass(frozen=True)
class Piece:
    """Consecutive windows of one document, which belong to the same part.

    Attributes:
        doc: The document's number in the corpus.
        text: All of its tokens.
        spans: The windows, ``[start, end)`` in tokens.
        n_done: How many tokens the windows before the first of these have given.
    """

    doc: int
    text: TokenizedText
    spans: tuple[tuple[int, int], ...]
    n_done: int

    @property
    def n_new(self) -> int:
        """How many tokens take their value from these windows."""
        return self.spans[-1][1] - self.n_done


def cut_into_parts(
    documents: Iterable[Document],
    *,
    n_ctx: int,
    stride: int,
    part_tokens: int,
    tokenizer: Tokenizer = BYTES,
) -> Iterator[list[Piece]]:
    """The parts of a corpus, each with at least ``part_tokens`` new tokens but for the last.

    A part ends at a window boundary, so that it exceeds ``part_tokens`` by less than a window.

    Args:
        documents: In the order of the corpus.
        n_ctx: The most tokens of a window.
        stride: From window to window; see `interp.text.window_spans`.
        part_tokens: New tokens at which a part is full.
        tokenizer: The model's.
    """
    pieces: list[Piece] = []
    n_tokens = 0
    for doc, document in enumerate(documents):
        spans: list[tuple[int, int]] = []
        n_done = n_reached = 0
        text = tokenizer.read(document.content)
        for span in text.spans(n_ctx=n_ctx, stride=stride):
            spans.append(span)
            n_tokens += span[1] - n_reached
            n_reached = span[1]
            if n_tokens >= part_tokens:
                yield [*pieces, Piece(doc, text, tuple(spans), n_done)]
                pieces, spans, n_tokens, n_done = [], [], 0, n_reached
        if spans:
            pieces.append(Piece(doc, text, tuple(spans), n_done))
    if pieces:
        yield pieces


@dataclass(frozen=True)
class Rows:
    """The rows that a part's windows give, in the order of the corpus.

    Attributes:
        doc: The document of each row.
        offset: Where the token begins, in bytes; -1 for the separator.
        token: The id.
        context: How many tokens of its window stand before it.
        window_first: For each window, the first token (counted from the window's start) that it
            gives a row; earlier ones have theirs from a window before.
        window_row: For each window, the row of that token.
        shift: 1 where the value read at position p is about token p + 1, else 0.
    """

    doc: NDArray[np.int32]
    offset: NDArray[np.int32]
    token: NDArray[np.int32]
    context: NDArray[np.int32]
    window_first: NDArray[np.int64]
    window_row: NDArray[np.int64]
    shift: int

    def __len__(self) -> int:
        return len(self.token)


@dataclass(frozen=True)
class Part:
    """The windows of a part over its tokens, which lie one piece after the other.

    Attributes:
        tokens: Of all pieces, each from its first window's start to one token after its last
            window's end (which that window predicts), where there is one.
        offsets: Where each of them begins, in bytes; -1 for a separator.
        doc: The document of each window.
        start: The window's start as a token of its document.
        first: The window's start in ``tokens``.
        length: Of the window.
        n_old: How many of its tokens have a value from a window before.
        has_next: Whether the text goes on after it.
    """

    tokens: NDArray[np.int32]
    offsets: NDArray[np.int32]
    doc: NDArray[np.int32]
    start: NDArray[np.int64]
    first: NDArray[np.int64]
    length: NDArray[np.int64]
    n_old: NDArray[np.int64]
    has_next: NDArray[np.bool_]

    @classmethod
    def read(cls, pieces: list[Piece]) -> "Part":
        """The part made of ``pieces``, with their tokens read."""
        tokens, offsets, per_piece = [], [], []
        n_before = 0
        for piece in pieces:
            spans = np.array(piece.spans, dtype=np.int64)
            n_tokens = len(piece.text)
            start, end = int(spans[0, 0]), min(int(spans[-1, 1]) + 1, n_tokens)
            tokens.append(piece.text.ids(start, end))
            offsets.append(piece.text.offsets(start, end))
            reached = np.concatenate([[piece.n_done], spans[:-1, 1]])
            per_piece.append(
                (
                    np.full(len(spans), piece.doc, dtype=np.int32),
                    spans[:, 0],
                    spans[:, 0] - start + n_before,
                    spans[:, 1] - spans[:, 0],
                    reached - spans[:, 0],
                    spans[:, 1] < n_tokens,
                )
            )
            n_before += end - start
        windows = map(np.concatenate, zip(*per_piece, strict=True))
        return cls(np.concatenate(tokens), np.concatenate(offsets), *windows)

    @cached_property
    def rows(self) -> Rows:
        """The rows of signals whose value is about the token at which it is read."""
        return self._rows(0)

    @cached_property
    def next_rows(self) -> Rows:
        """The rows of signals whose value is about the next token.

        A window gives them to the token after its end, and its first one only where nothing
        stands before it (the separator, undefined). So a part's rows lie one token further on.
        """
        return self._rows(1)

    def _rows(self, shift: int) -> Rows:
        starts_text = self.start == 0
        first = np.where(starts_text, 0, self.n_old + shift)
        n_rows = self.length + shift * self.has_next - first
        row = np.cumsum(n_rows) - n_rows
        within = np.arange(int(n_rows.sum())) - np.repeat(row - first, n_rows)
        place = within + np.repeat(self.first, n_rows)
        return Rows(
            doc=np.repeat(self.doc, n_rows),
            offset=self.offsets[place],
            token=self.tokens[place],
            context=within.astype(np.int32),
            window_first=first,
            window_row=row,
            shift=shift,
        )

    def batches(self, batch_tokens: int) -> Iterator["Batch"]:
        """All windows, those of similar length together, longest first.

        Args:
            batch_tokens: The most positions of a batch, padding included; a window that is
                longer is a batch of its own.
        """
        order = np.argsort(-self.length, kind="stable")
        begin = 0
        while begin < len(order):
            longest = int(self.length[order[begin]])
            n_windows = max(1, batch_tokens // longest)
            yield Batch(self, order[begin : begin + n_windows])
            begin += n_windows


@dataclass(frozen=True)
class Batch:
    """Some windows of a part, padded on the right to the longest of them."""

    part: Part
    windows: NDArray[np.int64]

    @cached_property
    def _positions(self) -> NDArray[np.int64]:
        return np.arange(int(self.part.length[self.windows].max()))

    def ids(self) -> Int[np.ndarray, "batch pos"]:
        """The ids; what stands in padded positions is arbitrary."""
        return self._tokens_at(0)

    def next_ids(self) -> Int[np.ndarray, "batch pos"]:
        """The id after each position; arbitrary where there is none and in padded positions."""
        return self._tokens_at(1)

    def taken(self, rows: Rows) -> tuple[Bool[np.ndarray, "batch pos"], NDArray[np.int64]]:
        """Which positions give a row, and which row: never a padded one.

        Returns:
            A mask over the batch's positions, and one row number per position that is set, in
            the order in which ``values[mask]`` lists them.
        """
        part, windows = self.part, self.windows
        about = self._positions + rows.shift
        first = rows.window_first[windows, None]
        end = part.length[windows, None] + rows.shift * part.has_next[windows, None]
        mask = (about >= first) & (about < end) & (self._positions < part.length[windows, None])
        return mask, (rows.window_row[windows, None] + about - first)[mask]

    def _tokens_at(self, shift: int) -> Int[np.ndarray, "batch pos"]:
        at = self.part.first[self.windows, None] + self._positions + shift
        return self.part.tokens[np.minimum(at, len(self.part.tokens) - 1)].astype(np.int64)
