"""Pairs of words in carrier sentences: the texts that are read, and the values at each pair."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Float

from interp.corpus.documents import Document
from interp.errors import InputError
from interp.extraction.increment_table import IncrementTable

SOURCE = "carrier sentences"

SPACE, FIRST_BYTE, SECOND_WORD = "inner space", "first byte of the second word", "second word"
PLACES = (SPACE, FIRST_BYTE, SECOND_WORD)
"""Where a pair is scored: at one byte, at one byte, and summed over the bytes of the word."""


@dataclass(frozen=True)
class WordPair:
    """Two words with one space between them.

    Raises:
        InputError: One of them is empty or has white space in it.
    """

    first: str
    second: str

    def __post_init__(self) -> None:
        if any(word.split() != [word] for word in (self.first, self.second)):
            raise InputError(
                f"word pair: {self.first!r} and {self.second!r} are not one word each",
                'A pair is two words, such as "New York".',
            )

    def __str__(self) -> str:
        return f"{self.first} {self.second}"

    @property
    def reversed(self) -> "WordPair":
        """The second word before the first."""
        return WordPair(self.second, self.first)


@dataclass(frozen=True)
class Carrier:
    """A sentence with a place for a pair.

    Attributes:
        before: What stands before the pair, with the space before it.
        after: What stands after it; no score has read it.
    """

    before: str
    after: str

    def around(self, pair: WordPair) -> bytes:
        """The sentence with the pair in it."""
        return f"{self.before}{pair}{self.after}".encode()


@dataclass(frozen=True)
class PairTexts:
    """Groups of pairs, each pair in every carrier: what is read of them, and where.

    Attributes:
        groups: Pairs by the name of their group.
        carriers: The sentences.
    """

    groups: Mapping[str, Sequence[WordPair]]
    carriers: Sequence[Carrier]

    def documents(self) -> Iterator[Document]:
        """One text for each pair in each carrier, group by group."""
        for pair in self._pairs:
            for carrier in self.carriers:
                yield Document(SOURCE, str(pair), carrier.around(pair))

    def values(
        self, table: IncrementTable, signal: str
    ) -> dict[str, dict[str, Float[np.ndarray, "_ column"]]]:
        """A signal at every pair, as its mean over the carriers.

        Args:
            table: Of `documents`.
            signal: The signal's name.

        Returns:
            By group and by each of `PLACES`: one row per pair, one column per column of the
            signal.

        Raises:
            ValueError: The table is not about these texts.
        """
        wanted = [(pair, carrier) for pair in self._pairs for carrier in self.carriers]
        shape = (len(self._pairs), len(self.carriers), len(PLACES), len(table.columns(signal)))
        found = np.empty((len(wanted), *shape[2:]))
        n_read = 0
        for document in table.read_documents(signal):
            if n_read >= len(wanted) or document.content != wanted[n_read][1].around(
                wanted[n_read][0]
            ):
                raise ValueError(f"word pairs: text {n_read} of the table is another one")
            found[n_read] = _at_pair(document.values, *wanted[n_read])
            n_read += 1
        if n_read < len(wanted):
            raise ValueError(f"word pairs: {n_read} texts instead of {len(wanted)}")
        means = found.reshape(shape).mean(axis=1)
        groups, begin = {}, 0
        for name, pairs in self.groups.items():
            rows = means[begin : begin + len(pairs)]
            groups[name] = {place: rows[:, index] for index, place in enumerate(PLACES)}
            begin += len(pairs)
        return groups

    @cached_property
    def _pairs(self) -> list[WordPair]:
        return [pair for pairs in self.groups.values() for pair in pairs]


def after_other_first_words(pairs: Sequence[WordPair]) -> tuple[WordPair, ...]:
    """Every second word after the first word of another pair.

    The first words go round by half the number of pairs, so that where they all differ each of
    them stands once before its own second word and once before another: what a first word does
    anywhere cancels out. A pair whose first word would be the same, or that would make a pair
    of ``pairs``, takes the next one.

    Raises:
        InputError: A pair finds no other first word.
    """
    listed, n = set(pairs), len(pairs)
    found = []
    for index, pair in enumerate(pairs):
        for step in range(n):
            other = WordPair(pairs[(index + n // 2 + step) % n].first, pair.second)
            if other.first.casefold() != pair.first.casefold() and other not in listed:
                found.append(other)
                break
        else:
            raise InputError(
                f"word pairs: no other first word for {str(pair)!r}",
                "Give more pairs, with other first words.",
            )
    return tuple(found)


def _at_pair(
    values: Float[np.ndarray, "pos column"], pair: WordPair, carrier: Carrier
) -> Float[np.ndarray, "place column"]:
    """The values at `PLACES`; row t is about byte t - 1, for the separator stands before all."""
    space = 1 + len(f"{carrier.before}{pair.first}".encode())
    word = values[space + 1 : space + 1 + len(pair.second.encode())].astype(np.float64)
    return np.stack([values[space], word[0], word.sum(axis=0)])
