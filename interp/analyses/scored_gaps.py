"""Gaps between characters: what a reference says of each, and how signals score it."""

from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest

import numpy as np
from jaxtyping import Bool, Float32, Int, UInt8

from interp.errors import InputError
from interp.extraction.increment_table import DocumentSignal, IncrementTable, layer_and_head
from interp.segmentation.gaps import Gaps, Reference
from interp.tables import PROBE, SEEN_BEFORE, SEEN_CHARACTER, SEEN_LEAD_BYTE, score_name
from interp.text import grapheme_spans

LEAD_BYTE, CHARACTER, LAST_BYTE_BEFORE = "lead byte", "character", "last byte before"
SCORED_AT = (LEAD_BYTE, CHARACTER, LAST_BYTE_BEFORE)
"""Where a gap takes its score from: the first byte of the next character, the sum over all of its
bytes, or the last byte of the character before the gap."""

ALL_DOCUMENTS = "all"
"""The name of the group that every document belongs to."""


@dataclass(frozen=True)
class ScoreColumn:
    """What the scores of a column are.

    Attributes:
        signal: What gives the values.
        layer: Of the signal; None where it has none.
        head: Likewise.
        group: Which of several scores of this name it is.
        scored_at: One of `SCORED_AT`; None for what is made from characters.
        seen: One of ``before``, ``lead byte`` and ``character``.
        checkpoint: Whose signal it is; None for what needs no model.
    """

    signal: str
    layer: int | None = None
    head: int | None = None
    group: str | None = None
    scored_at: str | None = None
    seen: str = SEEN_CHARACTER
    checkpoint: str | None = None

    @property
    def family(self) -> tuple[str | None, ...]:
        """What it shares with the columns that are looked at together with it."""
        return (self.checkpoint, self.signal, self.scored_at, self.group)

    @property
    def name(self) -> str:
        """What a reader calls it, such as ``increment L2`` or ``surprisal``."""
        return score_name(self.signal, self.layer, self.head, self.group)

    def as_row(self) -> dict[str, str | int | None]:
        """The column's part of a row of an analysis table."""
        return {
            "checkpoint": self.checkpoint,
            "signal": self.signal,
            "layer": self.layer,
            "head": self.head,
            "group": self.group,
            "scored_at": self.scored_at,
            "seen": self.seen,
        }


@dataclass(frozen=True)
class ScoredGaps:
    """Every gap of a text: where it is, what is around it, what it is, and its scores.

    Attributes:
        reference: Who judged.
        details: The reference's settings.
        judged: What stands on both sides of a gap.
        documents: What gaps are alike with: the number of their document, or of their cluster.
        runs: Ascending; gaps of one run are neighbours, with one character between any two.
        characters: All characters beside gaps, each once.
        previous: The character before each gap, as an index into ``characters``.
        following: The one after it.
        lead_bytes: The first byte of the character after each gap.
        is_boundary: Whether the reference ends a word there.
        columns: What the scores are.
        scores: Of every gap; NaN where a signal is undefined.
        n_characters: Characters of the reference's script.
        left_out: How many of those were left out, by reason.
        other_scripts: Documents that may be in another language, by what tells so.
        cluster_noun: What is called a document in ``documents``.
        is_delimited: As in `Gaps`.
    """

    reference: str
    details: str
    judged: str
    documents: Int[np.ndarray, " gap"]
    runs: Int[np.ndarray, " gap"]
    characters: tuple[str, ...]
    previous: Int[np.ndarray, " gap"]
    following: Int[np.ndarray, " gap"]
    lead_bytes: UInt8[np.ndarray, " gap"]
    is_boundary: Bool[np.ndarray, " gap"]
    columns: tuple[ScoreColumn, ...]
    scores: Float32[np.ndarray, "gap column"]
    n_characters: int
    left_out: Counter[str]
    other_scripts: Counter[str]
    cluster_noun: str = "document"
    is_delimited: bool = False

    @property
    def n_documents(self) -> int:
        """How many documents, or clusters, have a gap."""
        return len(np.unique(self.documents))

    def scored_also(
        self, columns: Sequence[ScoreColumn], scores: Sequence[np.ndarray]
    ) -> "ScoredGaps":
        """These gaps with more columns."""
        if not columns:
            return self
        more = np.stack([np.asarray(each, dtype=np.float32) for each in scores], axis=1)
        return replace(
            self,
            columns=(*self.columns, *columns),
            scores=np.concatenate([self.scores, more], axis=1),
        )


def gather(
    reference: Reference,
    tables: Sequence[tuple[IncrementTable, Sequence[str]]],
    *,
    contents: Callable[[], Iterable[bytes]] | None = None,
    scored_at: Sequence[str] = (LEAD_BYTE,),
    group_of: Callable[[bytes], str] = lambda _content: ALL_DOCUMENTS,
    progress: Callable[[int, int], None] | None = None,
) -> dict[str, ScoredGaps]:
    """The gaps of the text of ``tables``, scored by their signals.

    Memory: one document of each table, and one float32 per gap and column.

    Args:
        reference: Who says where words end.
        tables: One or more tables of the same text, each with the names of its signals.
        contents: The documents of the input, for a reference that reads something else than
            the input, such as the input without its spaces; None for those of the table.
        scored_at: Where gaps take their scores from; each signal has a column for each.
        group_of: The name of the group of a document, from its bytes.
        progress: Called after each document with the bytes done and those of the whole table.

    Returns:
        Gaps by group, in the order in which groups occur; never empty.

    Raises:
        InputError: The tables are not about the text that the reference judges.
    """
    columns = [
        column
        for table, signals in tables
        for signal in signals
        for column in _columns_of(table, signal, scored_at)
    ]
    names = [signal for _, signals in tables for signal in signals]
    first = tables[0][0]
    given = contents() if contents is not None else _contents(tables)
    gathered: dict[str, _Gathering] = {}
    vocabulary: dict[str, int] = {}
    n_bytes, n_bytes_in_all = 0, int(np.sum(first.documents["n_bytes"].to_numpy()))
    for (content, gaps), documents in _together(reference.read(given), _documents(tables)):
        _require_same_text(content, documents)
        gathering = gathered.setdefault(group_of(content), _Gathering(len(columns), vocabulary))
        around = _Characters.around(content, gaps)
        scores = _scores(names, documents, gaps, around, scored_at)
        gathering.add(documents[0].doc, content, gaps, around, scores)
        n_bytes += len(content)
        if progress:
            progress(n_bytes, n_bytes_in_all)
    gathered = gathered or {ALL_DOCUMENTS: _Gathering(len(columns), vocabulary)}
    return {name: each.finished(reference, tuple(columns)) for name, each in gathered.items()}


def joined(groups: Sequence[ScoredGaps]) -> ScoredGaps:
    """The gaps of several groups of one text."""
    left_out, other_scripts = Counter[str](), Counter[str]()
    for each in groups:  # adding counters would lose the reasons that did not occur
        left_out.update(each.left_out)
        other_scripts.update(each.other_scripts)
    ends = np.cumsum([0, *(each.runs.max(initial=-1) + 1 for each in groups)])
    arrays = {
        name: np.concatenate([getattr(each, name) for each in groups])
        for name in ("documents", "previous", "following", "lead_bytes", "is_boundary", "scores")
    }
    return replace(
        groups[0],
        **arrays,
        runs=np.concatenate([each.runs + end for each, end in zip(groups, ends, strict=False)]),
        characters=max((each.characters for each in groups), key=len),
        n_characters=sum(each.n_characters for each in groups),
        left_out=left_out,
        other_scripts=other_scripts,
    )


class _Gathering:
    """Gaps of a group of documents, one document after the other.

    Its arrays grow in place: joining a list of them at the end would need twice the memory.
    """

    def __init__(self, n_columns: int, vocabulary: dict[str, int]) -> None:
        self._n_columns = n_columns
        self._vocabulary = vocabulary
        self._clusters: dict[str | int, int] = {}
        self._documents, self._runs = array("i"), array("i")
        self._previous, self._following, self._scores = array("i"), array("i"), array("f")
        self._lead_bytes, self._is_boundary = bytearray(), bytearray()
        self._n_runs = self._n_characters = 0
        self._left_out, self._other_scripts = Counter[str](), Counter[str]()
        self._cluster_noun, self._is_delimited = "document", False

    def add(
        self, doc: int, content: bytes, gaps: Gaps, around: "_Characters", scores: np.ndarray
    ) -> None:
        """Take in the gaps of one document, with one row of scores for each."""
        self._n_characters += gaps.n_characters
        self._left_out.update(gaps.left_out)
        self._cluster_noun, self._is_delimited = gaps.cluster_noun, gaps.is_delimited
        if gaps.other_script is not None:
            self._other_scripts[gaps.other_script] += 1
        if not len(gaps.tokens):
            return
        following, spans = around.following, around.spans
        begins_run = np.diff(following, prepend=-2) != 1
        cluster = doc if gaps.cluster is None else gaps.cluster
        number = self._clusters.setdefault(cluster, doc)
        self._documents.extend([number] * len(following))
        self._runs.frombytes((np.cumsum(begins_run) + self._n_runs - 1).astype("i4").tobytes())
        self._n_runs += int(begins_run.sum())
        beside = np.unique(np.concatenate([following - 1, following]))
        ids = np.zeros(len(spans), dtype="i4")
        ids[beside] = [self._id(content[start:end]) for start, end in spans[beside].tolist()]
        self._previous.frombytes(ids[following - 1].tobytes())
        self._following.frombytes(ids[following].tobytes())
        values = np.frombuffer(content, dtype=np.uint8)
        self._lead_bytes += values[gaps.tokens - 1].tobytes()
        self._is_boundary += gaps.is_boundary.tobytes()
        self._scores.frombytes(scores.astype(np.float32).tobytes())

    def finished(self, reference: Reference, columns: tuple[ScoreColumn, ...]) -> ScoredGaps:
        """What was taken in, as arrays."""
        return ScoredGaps(
            reference=reference.reference,
            details=reference.details,
            judged=reference.judged,
            documents=np.frombuffer(self._documents, dtype=np.int32),
            runs=np.frombuffer(self._runs, dtype=np.int32),
            characters=tuple(self._vocabulary),
            previous=np.frombuffer(self._previous, dtype=np.int32),
            following=np.frombuffer(self._following, dtype=np.int32),
            lead_bytes=np.frombuffer(self._lead_bytes, dtype=np.uint8),
            is_boundary=np.frombuffer(self._is_boundary, dtype=bool),
            columns=columns,
            scores=np.frombuffer(self._scores, dtype=np.float32).reshape(-1, self._n_columns),
            n_characters=self._n_characters,
            left_out=self._left_out,
            other_scripts=self._other_scripts,
            cluster_noun=self._cluster_noun,
            is_delimited=self._is_delimited,
        )

    def _id(self, character: bytes) -> int:
        return self._vocabulary.setdefault(
            character.decode("utf-8", "surrogateescape"), len(self._vocabulary)
        )


def _columns_of(
    table: IncrementTable, signal: str, scored_at: Sequence[str]
) -> Iterator[ScoreColumn]:
    checkpoint, sees = table.manifest["checkpoint"], table.manifest["signals"][signal]["sees"]
    for where in _places(signal, scored_at):
        for name in table.columns(signal):
            layer, head = layer_and_head(name)
            yield ScoreColumn(signal, layer, head, None, where, _seen(sees, where), checkpoint)


def _places(signal: str, scored_at: Sequence[str]) -> Sequence[str]:
    """Where a signal is scored: a probe only where it was fitted."""
    return (LEAD_BYTE,) if signal == PROBE else scored_at


def _seen(sees: str, scored_at: str) -> str:
    """What a score has seen of the next character.

    A value that describes a byte has seen that byte, or (``sees`` is ``before``) what stands
    before it only.
    """
    if scored_at == CHARACTER:
        return SEEN_CHARACTER
    return SEEN_LEAD_BYTE if (scored_at, sees) == (LEAD_BYTE, "token") else SEEN_BEFORE


@dataclass(frozen=True)
class _Characters:
    """The characters of a document, ``[start, end)`` in bytes, and which stands after each gap."""

    spans: Int[np.ndarray, "character 2"]
    following: Int[np.ndarray, " gap"]

    @classmethod
    def around(cls, content: bytes, gaps: Gaps) -> "_Characters":
        if not len(gaps.tokens):  # no need to look for characters
            return cls(np.zeros((0, 2), dtype=np.int64), np.zeros(0, dtype=np.int64))
        spans = grapheme_spans(content)
        return cls(spans, np.searchsorted(spans[:, 0], gaps.tokens - 1, side="right") - 1)


def _scores(
    signals: Sequence[str],
    documents: Sequence[DocumentSignal],
    gaps: Gaps,
    around: _Characters,
    scored_at: Sequence[str],
) -> Float32[np.ndarray, "gap column"]:
    """The scores of a document's gaps: per signal, all its columns for each place."""
    blocks = []
    for signal, document in zip(signals, documents, strict=True):
        for where in _places(signal, scored_at):
            if where == CHARACTER and len(gaps.tokens):
                ends = around.spans[around.following, 1] + 1  # in tokens
                bounds = np.stack([gaps.tokens, ends], axis=1).ravel()
                padded = np.concatenate([document.values, np.zeros_like(document.values[:1])])
                blocks.append(np.add.reduceat(padded, bounds, axis=0)[::2])
            else:
                blocks.append(document.values[gaps.tokens - (where == LAST_BYTE_BEFORE)])
    return np.concatenate(blocks, axis=1)


def _documents(
    tables: Sequence[tuple[IncrementTable, Sequence[str]]],
) -> Iterator[tuple[DocumentSignal, ...]]:
    signals = [table.read_documents(signal) for table, names in tables for signal in names]
    return zip(*signals, strict=True)


def _contents(tables: Sequence[tuple[IncrementTable, Sequence[str]]]) -> Iterator[bytes]:
    table, signals = tables[0]
    return (document.content for document in table.read_documents(signals[0]))


def _together(
    judged: Iterator[tuple[bytes, Gaps]], documents: Iterator[tuple[DocumentSignal, ...]]
) -> Iterator[tuple[tuple[bytes, Gaps], tuple[DocumentSignal, ...]]]:
    for one, other in zip_longest(judged, documents):
        if one is None or other is None:
            more = "the reference" if other is None else "the table"
            raise InputError(
                f"word boundaries: {more} has more documents than the other",
                "Extract the signals of the text that the reference judges.",
            )
        yield one, other


def _require_same_text(content: bytes, documents: Sequence[DocumentSignal]) -> None:
    for document in documents:
        if document.content != content:
            raise InputError(
                f"word boundaries: document {document.doc} of the table ({document.source}) is "
                "not the text that the reference judges",
                "Extract the signals of the very text that it judges.",
            )
