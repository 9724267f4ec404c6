"""Shards: a corpus shared out among several extractions, document by document."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import TypeVar

import numpy as np

from interp.errors import UsageError

Item = TypeVar("Item")
Number = TypeVar("Number", int, np.ndarray)

MOST_SHARDS = 100_000


@dataclass(frozen=True)
class Shard:
    """Every ``count``-th document of a corpus, from document ``index`` on.

    Document d is in the shard if d % count == index. `WHOLE`, which is shard 0 of 1, is all of
    it.

    Raises:
        UsageError: ``index`` is not below ``count``, or one of them is negative.
    """

    index: int
    count: int

    def __post_init__(self) -> None:
        """Refuse a shard that cannot be."""
        if not 0 <= self.index < self.count <= MOST_SHARDS:
            raise _no_shard(str(self))

    @classmethod
    def parse(cls, words: str) -> "Shard":
        """The shard that is written ``I/N``.

        Raises:
            UsageError: It is not written so, or cannot be.
        """
        match = re.fullmatch(r"([0-9]{1,6})/([0-9]{1,6})", words)
        if match is None:
            raise _no_shard(words)
        return cls(int(match[1]), int(match[2]))

    def __str__(self) -> str:
        return f"{self.index}/{self.count}"

    def has(self, doc: int) -> bool:
        """Whether document ``doc`` of the corpus is in it."""
        return doc % self.count == self.index

    def of(self, documents: Iterable[Item]) -> Iterator[Item]:
        """Those of the corpus's ``documents`` that are in it; all are read, to the last."""
        return islice(documents, self.index, None, self.count)

    def doc(self, place: Number) -> Number:
        """The number in the corpus of the document at ``place`` in the shard."""
        return place * self.count + self.index


WHOLE = Shard(0, 1)


def _no_shard(words: str) -> UsageError:
    return UsageError(
        f"extraction: shard must be I/N with I from 0 to N - 1, such as 0/4, not {words!r:.40}"
    )
