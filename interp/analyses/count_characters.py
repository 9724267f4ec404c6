"""Counting letters and pairs of them in texts of any size, in memory bounded by distinct pairs."""

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import cache

import numpy as np
import regex

from interp.analyses.character_counts import NO_LETTER, CharacterCounts, CountedText
from interp.analyses.count_file import MOST_CODE_POINTS
from interp.corpus.documents import Document
from interp.errors import InputError, UsageError
from interp.text import Content, byte_blocks, code_points_of, decode

MOST_PAIRS = 1 << 23
"""Distinct pairs that are kept while counting: 134 MB. 16 M Chinese characters have 1.2 M."""

_BLOCK_BYTES = 1 << 20
_BUFFERED = 1 << 22  # pairs that are sorted and counted together
_MOST_CLUSTERS = 1 << 20  # letters of more than one code point
_LONGEST_CLUSTER = 1 << 16  # code points that are held back to see whether more follows
_FIRST_CLUSTER = 0x110000  # a letter of one code point is known by that, longer ones from here on
_BITS = 22
_MASK = (1 << _BITS) - 1


def count_characters(
    documents: Iterable[Document],
    *,
    min_count: int = 1,
    licence: str = "",
    most_pairs: int = MOST_PAIRS,
    progress: Callable[[int], None] | None = None,
) -> CharacterCounts:
    """How often each letter of ``documents`` stands before each other.

    Where there are more than ``most_pairs`` distinct pairs, the rarest are dropped until half
    as many are left, and counting goes on: counts may then be too small, by less than
    ``dropped_below``. Of letters with more than one code point, those beyond the first million
    count as no letter.

    Args:
        documents: The texts; they are read once.
        min_count: Pairs seen fewer times are dropped at the end; 1 keeps all.
        licence: Of the text, to be kept with the counts.
        most_pairs: The most distinct pairs to keep at a time.
        progress: Called with the bytes done.

    Returns:
        The counts.

    Raises:
        InputError: There is no text.
        UsageError: ``min_count`` is below 1.
    """
    if min_count < 1:
        raise UsageError(f"counting characters: a pair is seen once at least, not {min_count}")
    pairs, letters, digest = _Pairs(most_pairs), _Letters(), hashlib.sha256()
    sources: dict[str, None] = {}
    n_documents = n_characters = n_bytes = 0
    for document in documents:
        sources[document.source] = None
        n_documents += 1
        digest.update(len(document.content).to_bytes(8, "little"))
        last = 0
        for clusters, n_bytes_more, content in _blocks(document.content):
            digest.update(content)
            ids = letters.ids(clusters)
            n_characters += len(ids)
            pairs.add(np.concatenate([[last], ids]))
            last = int(ids[-1]) if len(ids) else last
            n_bytes += n_bytes_more
            if progress:
                progress(n_bytes)
        pairs.add(np.array([last, 0]))
    if not n_characters:
        raise InputError("counting characters: there is no text", "give a text of one byte or more")
    text = CountedText(tuple(sources), n_documents, n_characters, digest.hexdigest(), licence)
    return pairs.finished(text, letters, min_count)


def _blocks(content: Content) -> Iterator[tuple[list[str], int, bytes]]:
    """The clusters of a text block by block, with how many bytes each block has and which."""
    rest, n_read = "", 0
    for block in byte_blocks(content, _BLOCK_BYTES):
        n_read += len(block)
        clusters = regex.findall(r"\X", rest + decode(block))
        # the last one may go on in the next block; where it has no end it is cut there
        may_go_on = n_read < len(content) and len(clusters[-1]) <= _LONGEST_CLUSTER
        rest = clusters.pop() if may_go_on else ""
        yield clusters, len(block), block


class _Letters:
    """Numbers for letters: the code point, or one from `_FIRST_CLUSTER` on; 0 for no letter."""

    def __init__(self) -> None:
        self._clusters: dict[str, int] = {}

    def ids(self, clusters: list[str]) -> np.ndarray:
        text = "".join(clusters)
        code_points = code_points_of(text)
        if len(clusters) < len(text):
            lengths = np.fromiter(map(len, clusters), dtype=np.int64, count=len(clusters))
            code_points = code_points[np.cumsum(lengths) - lengths]
        ids = np.where(_is_letter()[code_points], code_points, 0).astype(np.int64)
        if len(clusters) < len(text):
            for at in np.flatnonzero((lengths > 1) & (ids > 0)):
                ids[at] = self._cluster_id(clusters[at])
        return ids

    def _cluster_id(self, cluster: str) -> int:
        if len(cluster) > MOST_CODE_POINTS:
            return 0
        if cluster not in self._clusters and len(self._clusters) == _MOST_CLUSTERS:
            return 0
        return self._clusters.setdefault(cluster, _FIRST_CLUSTER + len(self._clusters))

    def names(self, numbers: np.ndarray) -> list[str]:
        """The letters of these numbers."""
        clusters = list(self._clusters)
        return [
            NO_LETTER
            if number == 0
            else chr(number)
            if number < _FIRST_CLUSTER
            else clusters[number - _FIRST_CLUSTER]
            for number in numbers.tolist()
        ]


class _Pairs:
    """Counts of pairs as two sorted arrays, and pairs that are yet to be merged into them."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._keys, self._counts = np.empty(0, np.int64), np.empty(0, np.int64)
        self._buffer: list[np.ndarray] = []
        self._n_buffered = self._n_dropped_pairs = 0
        self._dropped_below = 1
        self._dropped_after, self._dropped_before = Counter[int](), Counter[int]()

    def add(self, ids: np.ndarray) -> None:
        """Count every pair of neighbours in ``ids`` of which one is a letter."""
        keys = ids[:-1] << _BITS | ids[1:]
        self._buffer.append(keys[keys > 0])
        self._n_buffered += len(self._buffer[-1])
        if self._n_buffered >= _BUFFERED:
            self._merge()

    def finished(self, text: CountedText, letters: _Letters, min_count: int) -> CharacterCounts:
        """The counts, with letters in order of code points."""
        if self._buffer:
            self._merge()
        self._drop_below(min_count)
        first, second = self._keys >> _BITS, self._keys & _MASK
        dropped = [0, *self._dropped_after, *self._dropped_before]
        numbers = np.unique(np.concatenate([dropped, first, second]))
        names = letters.names(numbers)
        order = np.array(sorted(range(len(names)), key=names.__getitem__))
        place = np.argsort(order)
        first, second = (place[np.searchsorted(numbers, end)] for end in (first, second))
        ascending = np.lexsort((second, first))
        return CharacterCounts(
            text=text,
            letters=tuple(names[i] for i in order),
            first=first[ascending],
            second=second[ascending],
            count=self._counts[ascending],
            dropped_after=np.array([self._dropped_after[n] for n in numbers[order].tolist()]),
            dropped_before=np.array([self._dropped_before[n] for n in numbers[order].tolist()]),
            n_dropped_pairs=self._n_dropped_pairs,
            dropped_below=self._dropped_below,
        )

    def _merge(self) -> None:
        more, n_more = np.unique(np.concatenate(self._buffer), return_counts=True)
        keys, counts = np.append(self._keys, more), np.append(self._counts, n_more)
        order = np.argsort(keys, kind="stable")
        keys, counts = keys[order], counts[order]
        starts = np.flatnonzero(np.diff(keys, prepend=-1))
        self._keys, self._counts = keys[starts], np.add.reduceat(counts, starts)
        self._buffer, self._n_buffered = [], 0
        if len(self._keys) > self._most:
            kept = self._most // 2
            self._drop_below(int(np.partition(self._counts, -kept)[-kept]) + 1)

    def _drop_below(self, least: int) -> None:
        """Drop the pairs of two letters that were seen fewer than ``least`` times."""
        first, second = self._keys >> _BITS, self._keys & _MASK
        is_dropped = (self._counts < least) & (first > 0) & (second > 0)
        counts = self._counts[is_dropped]
        for dropped, ends in ((self._dropped_after, first), (self._dropped_before, second)):
            letters, which = np.unique(ends[is_dropped], return_inverse=True)
            sums = np.bincount(which, counts, len(letters)).astype(np.int64)
            dropped.update(dict(zip(letters.tolist(), sums.tolist(), strict=True)))
        self._n_dropped_pairs += len(counts)
        self._dropped_below += least - 1
        self._keys, self._counts = self._keys[~is_dropped], self._counts[~is_dropped]


@cache
def _is_letter() -> np.ndarray:
    """Which code points are alphabetic."""
    is_letter = np.zeros(0x110000, dtype=bool)
    every = "".join(map(chr, range(0x110000)))
    is_letter[[match.start() for match in regex.finditer(r"\p{Alphabetic}", every)]] = True
    return is_letter
