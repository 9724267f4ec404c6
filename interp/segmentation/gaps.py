"""The gaps between characters, and what says which of them end a word."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from jaxtyping import Bool, Int

from interp.errors import InputError


@dataclass(frozen=True)
class Gaps:
    """The gaps of one document that a reference can judge, and what it can not.

    Attributes:
        tokens: Token index of the first byte of the character after each gap (its byte offset
            plus one, for the separator before the text); ascending.
        is_boundary: Whether the reference ends a word at that gap.
        n_characters: Characters of the reference's script, judged or not. The character after
            a gap is one of them, so that there are never more gaps.
        left_out: How many of those were left out, by reason; a reason that did not occur has 0.
        other_script: What else is written there, where that says that the text may be in a
            language whose words the reference does not know.
        cluster: What the document's gaps are alike with, such as the document that a sentence is
            from; None for the document itself.
        cluster_noun: What that is called.
        is_delimited: Whether what follows a boundary is a delimiter, and not the next word.
    """

    tokens: Int[np.ndarray, " gap"]
    is_boundary: Bool[np.ndarray, " gap"]
    n_characters: int
    left_out: Mapping[str, int]
    other_script: str | None = None
    cluster: str | None = None
    cluster_noun: str = "document"
    is_delimited: bool = False

    def __post_init__(self) -> None:
        """Check that every gap has one judgement, and a character after it."""
        if self.tokens.shape != self.is_boundary.shape or self.tokens.ndim != 1:
            raise ValueError(
                f"gaps: {self.tokens.shape} tokens for {self.is_boundary.shape} judgements"
            )
        if len(self.tokens) > self.n_characters:
            raise ValueError(
                f"gaps: {len(self.tokens)} gaps, but only {self.n_characters} characters that "
                "could stand after one"
            )


@runtime_checkable
class Segmenter(Protocol):
    """A reference: who it is, what it was given, and where it ends words."""

    @property
    def reference(self) -> str:
        """Name and version, such as ``jieba 0.42.1``."""
        ...

    @property
    def details(self) -> str:
        """Settings and the fingerprint of its dictionary or model, as one phrase."""
        ...

    @property
    def judged(self) -> str:
        """What stands on both sides of a gap that it judges, such as ``two letters``."""
        ...

    def gaps(self, content: bytes) -> Gaps:
        """The gaps of one whole document."""
        ...


@runtime_checkable
class Reference(Protocol):
    """Who says where words end, and of which text.

    A segmenter judges any text. People judged one text, which a reference brings along, or
    which must be the text that is read; and to ask for the words of a text with spaces, the
    spaces have to go. So a reference is asked for both: what is to be read, and its gaps.
    """

    @property
    def reference(self) -> str:
        """Name and version, such as ``jieba 0.42.1`` or ``zh_gsdsimp-ud-dev``."""
        ...

    @property
    def details(self) -> str:
        """Settings and fingerprints, as one phrase."""
        ...

    @property
    def judged(self) -> str:
        """What stands on both sides of a gap that it judges, such as ``two letters``."""
        ...

    def read(self, contents: Iterable[bytes]) -> Iterator[tuple[bytes, Gaps]]:
        """The texts to be read, in order, each with its gaps; made anew at each call.

        Args:
            contents: The documents of the input; a reference that brings its own text ignores
                them.

        Raises:
            InputError: The text is not the one that was judged.
        """
        ...


def check_both_classes(all_gaps: Iterable[Gaps], whose: str, judged: str) -> None:
    """Refuses what people marked if it can tell nothing about a script.

    Args:
        all_gaps: Of all its texts.
        whose: What the message calls it.
        judged: What stands on both sides of a gap.

    Raises:
        InputError: It has no gap, or all of its gaps are alike.
    """
    n_gaps = n_boundaries = 0
    for gaps in all_gaps:
        n_gaps += len(gaps.tokens)
        n_boundaries += int(gaps.is_boundary.sum())
    if not n_gaps:
        raise InputError(f"{whose} has no gap between {judged}", "Is the language the right one?")
    if n_boundaries in (0, n_gaps):
        which = "ends a word" if n_boundaries else "is inside a word"
        raise InputError(
            f"{whose}: every one of its {n_gaps:,} gaps between {judged} {which}",
            "Words must be marked: separated by spaces within a line, or one a line in a treebank.",
        )
