"""The gaps between characters, and what says which of them end a word."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from jaxtyping import Bool, Int


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
    """

    tokens: Int[np.ndarray, " gap"]
    is_boundary: Bool[np.ndarray, " gap"]
    n_characters: int
    left_out: Mapping[str, int]
    other_script: str | None = None

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
