"""Which letters stand beside which: counts of a text, and what they say about a gap.

Two neighbours that meet no more often than chance hardly form a word; a character after which
anything can follow probably ends one. Both need nothing but counts of a large text, no model and
nobody's words, so they are what a signal has to beat.

A letter is a character (a grapheme cluster; in Chinese one code point) whose first code point is
alphabetic to Unicode: ideographs, kana and Thai letters are, digits and punctuation are not.
Gaps lie between letters, so pairs of letters are what is counted, and everything else, with the
ends of a text, is one thing: no letter.
"""

import importlib.resources
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import regex
from jaxtyping import Float, Int

from interp.analyses.count_file import CountRows, no_counts, read_rows, write_rows
from interp.errors import UsageError
from interp.tables import LEFT_ENTROPY, NEGATIVE_PMI, RIGHT_ENTROPY, SEEN_BEFORE, SEEN_CHARACTER

SEEN = {
    NEGATIVE_PMI: SEEN_CHARACTER,
    LEFT_ENTROPY: SEEN_CHARACTER,
    RIGHT_ENTROPY: SEEN_BEFORE,
}
"""What each score has seen of the character after the gap."""

NO_LETTER = ""
"""What stands for everything that is no letter, and for the ends of a text."""

IS_LETTER = regex.compile(r"\p{Alphabetic}").match
"""Whether the first code point of a character is that of a letter."""

UNSEEN = 0.5
"""What is added to a count, so that a pair that was never seen has a probability."""

SHIPPED_LANGUAGES = ("zh",)
"""Languages whose counts are inside the package; see ``counts/README.md`` there."""


@dataclass(frozen=True)
class CountedText:
    """What was counted.

    Attributes:
        sources: Names of the files or data sets, in order, each once.
        n_documents: How many texts.
        n_characters: Of all kinds.
        sha256: SHA-256 over the length and the bytes of each text, in hex.
        licence: Of the text, as whoever counted it says; "" where nobody did.
    """

    sources: tuple[str, ...]
    n_documents: int
    n_characters: int
    sha256: str
    licence: str = ""

    @classmethod
    def of(cls, about: dict[str, Any]) -> "CountedText":
        """What `dataclasses.asdict` gave, checked.

        Raises:
            ValueError: It is something else; or KeyError, TypeError.
        """
        return cls(
            sources=tuple(_words(source) for source in about["sources"]),
            n_documents=_whole(about["n_documents"]),
            n_characters=_whole(about["n_characters"]),
            sha256=_words(about["sha256"]),
            licence=_words(about["licence"]),
        )


@dataclass(frozen=True)
class CharacterCounts:
    """How often each letter of a text stands before each other.

    Rare pairs may have been dropped. How often a letter stood in one of them is still known, so
    that what is left sums to every letter's own count.

    Attributes:
        text: What was counted.
        letters: Every letter, in order of code points; the first is `NO_LETTER`.
        first: The letter before, as an index into ``letters``, of each pair; ascending.
        second: The letter after; ascending for each first one.
        count: How often the pair was seen; at least once.
        dropped_after: For each letter, how often it stood first in a pair that was dropped.
        dropped_before: How often it stood second in one.
        n_dropped_pairs: How many pairs were dropped; one that was dropped twice counts twice.
        dropped_below: Pairs of letters seen fewer times than this may be missing, and a count may
            be too small by less than this; 1 where all are there and right.
    """

    text: CountedText
    letters: tuple[str, ...]
    first: Int[np.ndarray, " pair"]
    second: Int[np.ndarray, " pair"]
    count: Int[np.ndarray, " pair"]
    dropped_after: Int[np.ndarray, " letter"]
    dropped_before: Int[np.ndarray, " letter"]
    n_dropped_pairs: int = 0
    dropped_below: int = 1

    def __post_init__(self) -> None:
        """Check that pairs are of these letters, in order and each once."""
        n = len(self.letters)
        if self.letters[:1] != (NO_LETTER,) or len(set(self.letters)) != n:
            raise ValueError("letters are there twice, or the first is not that of no letter")
        ends = [self.first, self.second]
        if any(len(end) and not 0 <= end.min() <= end.max() < n for end in ends):
            raise ValueError("a pair of letters that are not there")
        if (np.diff(self._keys) <= 0).any():
            raise ValueError("a pair is there twice, or pairs are out of order")
        dropped = (self.dropped_after, self.dropped_before)
        if min(each.min(initial=0) for each in dropped) < 0 or self.count.min(initial=1) < 1:
            raise ValueError("a count below its least")
        if not len(self.dropped_after) == len(self.dropped_before) == n:
            raise ValueError(f"{n} letters, but not as many counts of them")
        if dropped[0].sum() != dropped[1].sum() or (self.n_dropped_pairs < dropped[0].any()):
            raise ValueError("what was dropped does not add up")

    @classmethod
    def read(cls, path: str | Path) -> "CharacterCounts":
        """The counts that `write` wrote to ``path``.

        Raises:
            InputError: It cannot be read, is damaged, or holds something else.
        """
        rows = read_rows(Path(path))
        try:
            return cls._of(rows)
        except (ValueError, TypeError, KeyError) as error:
            raise no_counts(Path(path), error) from None

    def write(self, path: str | Path) -> None:
        """Keep the counts as one Parquet file (see `interp.analyses.count_file`).

        Raises:
            OutputError: It cannot be written.
        """
        after, before = np.flatnonzero(self.dropped_after), np.flatnonzero(self.dropped_before)
        about = {
            "text": asdict(self.text),
            "n_dropped_pairs": self.n_dropped_pairs,
            "dropped_below": self.dropped_below,
        }
        any_after, any_before = np.full(len(after), -1), np.full(len(before), -1)
        rows = CountRows(
            about=about,
            letters=self.letters,
            first=np.concatenate([self.first, after, any_before]),
            second=np.concatenate([self.second, any_after, before]),
            count=np.concatenate(
                [self.count, self.dropped_after[after], self.dropped_before[before]]
            ),
        )
        write_rows(Path(path), rows)

    @property
    def n_pairs(self) -> int:
        """How many pairs of two letters there are."""
        return int(((self.first > 0) & (self.second > 0)).sum())

    def summary(self) -> dict[str, Any]:
        """What was counted, and how much of it there is, by name; as JSON takes it."""
        return {
            **asdict(self.text),
            "sources": list(self.text.sources),
            "n_letters": len(self.letters) - 1,
            "n_pairs": self.n_pairs,
            "dropped_below": self.dropped_below,
            "n_dropped_pairs": self.n_dropped_pairs,
            "n_times_in_dropped_pairs": int(self.dropped_after.sum()),
        }

    def indices(self, characters: Iterable[str]) -> Int[np.ndarray, " character"]:
        """Where each character is in ``letters``; 0 for no letter, -1 for one never seen."""
        place = self._place
        return np.fromiter(
            (place.get(c, -1) if IS_LETTER(c) else 0 for c in characters), dtype=np.int64
        )

    def negative_pmi(
        self, previous: Int[np.ndarray, " gap"], following: Int[np.ndarray, " gap"]
    ) -> Float[np.ndarray, " gap"]:
        """Minus the pointwise mutual information of the letters around each gap, in nats.

        -log(P(ab) / (P(a) P(b))): high where the two meet less often than chance would have
        it. Probabilities are shares of all neighbours of which one is a letter at least; the
        counts of a pair and of a letter have `UNSEEN` added. It sees the whole character after
        the gap, which no signal read at that character's lead byte does.

        Args:
            previous: The letter before each gap, as `indices` gives it; -1 for an unknown one.
            following: The letter after it.

        Source: Sproat and Shih 1990, "A statistical method for finding word boundaries in
            Chinese text", who compare it along a sentence; here it is a score of each gap alone.
        """
        keys = previous * len(self.letters) + following
        at = np.searchsorted(self._keys, keys)
        is_seen = (previous >= 0) & (following >= 0) & (self._keys[at] == keys)
        n_together = np.append(self.count, 0)[at] * is_seen
        alone = np.log(self._n_of_letter + UNSEEN)
        n_all = np.log(max(self._n_of_letter.sum(), 1.0))
        return alone[previous] + alone[following] - n_all - np.log(n_together + UNSEEN)

    def right_entropy(self, previous: Int[np.ndarray, " gap"]) -> Float[np.ndarray, " gap"]:
        """The entropy of the letter that follows the one before each gap, in nats.

        Over the times that a letter follows it. High where anything can follow, as it does
        after a word. It sees nothing of the character after the gap. A letter that never stood
        before another has 0, as has one that did so once, and what is no letter, such as a digit.

        Source: Jin and Tanaka-Ishii 2006, "Unsupervised segmentation of Chinese text by use of
            branching entropy"; here from single characters.
        """
        return self._entropies[0][previous]

    def left_entropy(self, following: Int[np.ndarray, " gap"]) -> Float[np.ndarray, " gap"]:
        """The entropy of the letter that stands before the one after each gap, in nats.

        As `right_entropy`; it sees the whole character after the gap. Undefined where that is
        no letter: every word that is written between delimiters ends there, and 0 would say so.
        """
        return np.where(following == 0, np.nan, self._entropies[1][following])

    @classmethod
    def _of(cls, rows: CountRows) -> "CharacterCounts":
        """The counts in the rows of a file.

        Raises:
            ValueError: They do not add up; or KeyError, TypeError for what is not there.
        """
        is_after, is_before = rows.second < 0, rows.first < 0
        if (is_after & is_before).any():
            raise ValueError("a row without letters")
        n = len(rows.letters)
        pairs = np.flatnonzero(~is_after & ~is_before)
        pairs = pairs[np.argsort(rows.first[pairs] * n + rows.second[pairs])]
        dropped_after, dropped_before = (
            np.bincount(end[is_one], rows.count[is_one], n).astype(np.int64)
            for end, is_one in ((rows.first, is_after), (rows.second, is_before))
        )
        return cls(
            text=CountedText.of(rows.about["text"]),
            letters=rows.letters,
            first=rows.first[pairs],
            second=rows.second[pairs],
            count=rows.count[pairs],
            dropped_after=dropped_after,
            dropped_before=dropped_before,
            n_dropped_pairs=_whole(rows.about["n_dropped_pairs"]),
            dropped_below=_whole(rows.about["dropped_below"]),
        )

    @cached_property
    def _place(self) -> dict[str, int]:
        return {letter: index for index, letter in enumerate(self.letters)}

    @cached_property
    def _keys(self) -> Int[np.ndarray, " pair"]:
        """One number per pair, ascending, and a last one that is larger than any."""
        keys = self.first.astype(np.int64) * len(self.letters) + self.second
        return np.append(keys, np.iinfo(np.int64).max)

    @cached_property
    def _n_of_letter(self) -> Float[np.ndarray, " letter_and_unknown"]:
        """How often each letter stands before something; a last 0 is for index -1, the unknown."""
        n = len(self.letters)
        return np.append(np.bincount(self.first, self.count, n) + self.dropped_after, 0.0)

    @cached_property
    def _entropies(self) -> tuple[np.ndarray, np.ndarray]:
        """Of what follows each letter, and of what stands before it; a last 0 for the unknown."""
        is_of_letters = (self.first > 0) & (self.second > 0)
        counts = self.count[is_of_letters].astype(np.float64)
        n_dropped = self.dropped_after.sum()
        mean_dropped = n_dropped / self.n_dropped_pairs if n_dropped else 1.0
        ends = ((self.first, self.dropped_after), (self.second, self.dropped_before))
        after, before = (
            _entropies(end[is_of_letters], counts, dropped, float(mean_dropped))
            for end, dropped in ends
        )
        return after, before


def _entropies(
    letters: Int[np.ndarray, " pair"],
    counts: Float[np.ndarray, " pair"],
    dropped: Int[np.ndarray, " letter"],
    mean_dropped: float,
) -> Float[np.ndarray, " letter_and_unknown"]:
    """The entropy of each letter's pairs; its dropped ones count as pairs of their mean count.

    With the pairs of 43.7 MB of Chinese that were seen fewer than three times dropped, the
    entropies' areas against jieba stay within 0.0003 of those with all pairs.
    """
    n = len(dropped)
    total = np.bincount(letters, counts, n) + dropped
    weighted = np.bincount(letters, counts * np.log(counts), n) + dropped * np.log(mean_dropped)
    entropies = np.zeros(n + 1)
    np.divide(weighted, total, out=weighted, where=total > 0)
    np.subtract(np.log(np.maximum(total, 1)), weighted, out=entropies[:n], where=total > 0)
    return np.maximum(entropies, 0.0)


def shipped_counts(language: str) -> CharacterCounts:
    """The counts of a language that are inside the package.

    Raises:
        UsageError: There are none.
    """
    if language not in SHIPPED_LANGUAGES:
        raise UsageError(
            f"no character counts of {language!r:.40} are shipped, only of "
            f"{', '.join(SHIPPED_LANGUAGES)}",
            "make some from a large text: interp count --corpus TEXT --out counts.parquet",
        )
    folder = importlib.resources.files("interp.analyses") / "counts"
    with importlib.resources.as_file(folder / f"{language}-wikipedia.parquet") as path:
        return CharacterCounts.read(path)


def _whole(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < 1 << 63:
        raise ValueError(f"{value!r:.40} is no count")
    return value


def _words(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError(f"{value!r:.40} is no text")
    return value
