"""English without its spaces, and the boundaries where they were."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import regex
from jaxtyping import Int

from interp.segmentation.gaps import Gaps
from interp.segmentation.scripts import SCRIPTS, script_gaps
from interp.text import decode

_SPACES = regex.compile(r"(?<!\p{Cs})[\p{Zs}\t]+")
"""One stays after an invalid byte, which could otherwise become valid with the next one."""


@dataclass(frozen=True)
class WithoutSpaces:
    """A text that was written with spaces, without them.

    Attributes:
        text: What is left.
        edges: Where spaces were, as indices into the code points of ``text``.
        places: For every code point of the text with spaces, and its end, where it is in
            ``text``; for a space, where what follows it is.
    """

    text: str
    edges: Int[np.ndarray, " edge"]
    places: Int[np.ndarray, " code_point_and_end"]

    @classmethod
    def of(cls, text: str) -> "WithoutSpaces":
        """``text`` without spaces and tabs; line ends stay."""
        is_space = np.zeros(len(text) + 1, dtype=bool)
        for run in _SPACES.finditer(text):
            is_space[run.start() : run.end()] = True
        places = np.cumsum(~is_space) - ~is_space
        return cls(_SPACES.sub("", text), np.unique(places[is_space]), places)


class SpacesReference:
    """English as it would be if it were written like Chinese: the spaces gone, the words known.

    The text that is read has no spaces and tabs; line ends and signs stay where they were. A gap
    lies between two letters, so that ``word, word`` has no boundary after its comma.
    """

    reference = "spaces"
    details = "the text is read without its spaces and tabs"
    judged = SCRIPTS["en"].judged

    def read(self, contents: Iterable[bytes]) -> Iterator[tuple[bytes, Gaps]]:
        """The documents without their spaces, each with its gaps."""
        for content in contents:
            squeezed = WithoutSpaces.of(decode(content))
            read = squeezed.text.encode("utf-8", "surrogateescape")
            yield read, script_gaps(read, SCRIPTS["en"], squeezed.edges)
