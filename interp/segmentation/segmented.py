"""A text whose words are separated by spaces, aligned with the text that is read."""

from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
from jaxtyping import Int

from interp.errors import InputError
from interp.segmentation.gaps import Gaps, check_both_classes
from interp.segmentation.scripts import script_gaps, script_of_language
from interp.segmentation.spaces import WithoutSpaces
from interp.segmentation.text_file import read_text_file
from interp.text import decode, display

_HINT = (
    "The file must hold the words of the input's texts, in their order, and nothing else but "
    "white space."
)


class SegmentedReference:
    """The words of the input, separated by spaces in a file, as in the SIGHAN bakeoffs.

    The file holds the texts of the input one after the other. White space is not compared, so
    that lines may be broken anywhere between two words, and its texts need not be told apart:
    a text of the input ends where its characters do. Words must be separated by spaces within a
    line: a file with one word per line looks like one whose lines nobody segmented, and is
    refused. English is read without its spaces.

    Args:
        path: The file; UTF-8.
        language: It fixes the script.

    Raises:
        InputError: It cannot be read, or its words say nothing about the script.
    """

    def __init__(self, path: str | Path, language: str) -> None:
        file = read_text_file(path, "segmented text")
        self._name = f"the segmented text {path}"
        self._script = script_of_language(language)
        self.reference = file.stem
        self.details = f"words separated by spaces, SHA-256 {file.sha256}"
        self.judged = self._script.judged
        self._text = file.text
        words = file.text.split()
        self._characters = "".join(words)
        self._edges = np.cumsum([len(word) for word in words])
        in_lines = WithoutSpaces.of(file.text)
        gaps = script_gaps(in_lines.text.encode(), self._script, in_lines.edges)
        check_both_classes([gaps], self._name, self.judged)

    def read(self, contents: Iterable[bytes]) -> Iterator[tuple[bytes, Gaps]]:
        """The documents of the input, each with its gaps.

        Raises:
            InputError: The characters of the file are not those of the input.
        """
        start = 0
        for number, content in enumerate(contents, 1):
            text = decode(content)
            places = _places(text)
            characters = "".join(text.split())
            if not self._characters.startswith(characters, start):
                raise self._misaligned(start, characters, text, number)
            inside = self._edges[
                slice(*np.searchsorted(self._edges, [start, start + len(characters)]))
            ]
            edges = places[inside - start]
            if self._script.has_spaces:
                squeezed = WithoutSpaces.of(text)
                content = squeezed.text.encode("utf-8", "surrogateescape")
                edges = squeezed.places[edges]
            yield content, script_gaps(content, self._script, edges)
            start += len(characters)
        if start < len(self._characters):
            raise InputError(f"{self._name}: {self._at(start)}, where the input ends", _HINT)

    def _misaligned(self, start: int, characters: str, text: str, number: int) -> InputError:
        """The first character that differs, and where it is on both sides."""
        have = self._characters[start : start + len(characters)]
        same = 0
        while same < len(have) and have[same] == characters[same]:
            same += 1
        place = _places(text)[same]
        offset = len(text[:place].encode("utf-8", "surrogateescape"))
        wanted = f"text {number} of the input has {_shown(text[place])} at byte {offset}"
        found = self._at(start + same) if same < len(have) else "it ends"
        return InputError(f"{self._name}: {found}, where {wanted}", _HINT)

    def _at(self, index: int) -> str:
        """Line and character of one of the characters, and which it is."""
        place = _places(self._text)[index]
        before = self._text[:place]
        line, column = before.count("\n") + 1, place - (before.rfind("\n") + 1) + 1
        return f"line {line}, character {column} is {_shown(self._text[place])}"


def _places(text: str) -> Int[np.ndarray, " character"]:
    """Where the code points are that are no white space."""
    return np.flatnonzero([not character.isspace() for character in text])


def _shown(character: str) -> str:
    return f"'{display(character.encode('utf-8', 'surrogateescape'))}'"
