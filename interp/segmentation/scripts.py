"""Which characters belong to a language's script, and the gaps between two of them."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import regex
from jaxtyping import Bool, Int

from interp.segmentation.gaps import Gaps
from interp.text import code_point_spans, decode

WORD_ENDS_INSIDE = "a word ends inside it"
"""Why a character is left out that only a program, or a slip of the pen, would divide."""


@dataclass(frozen=True)
class Script:
    """The characters between which words are looked for.

    Attributes:
        judged: What stands on both sides of a gap, such as ``two Chinese characters``.
        letters: A set of code points, as `regex` writes them; a character belongs to the script
            if its first code point is in it.
        known: The set of those that a reference can put into words, if not all; a character
            with anything added, such as a combining mark, is then unknown too.
        unknown: What the others are called.
        has_spaces: Whether words are written with spaces between them. People's words are then
            asked for in the text without its spaces: with them nothing would be left to ask.
        has_space_between_sentences: Whether one stands there, unless a treebank denies it.
    """

    judged: str
    letters: str
    known: str | None = None
    unknown: str | None = None
    has_spaces: bool = False
    has_space_between_sentences: bool = True


SCRIPTS = {
    "en": Script("two Latin letters", r"[\p{Latin}&&\p{L}]", has_spaces=True),
    "ja": Script(
        "two kanji or kana",
        r"[[\p{Han}\p{Hiragana}\p{Katakana}ーｰ]&&[\p{L}\p{N}]]",
        has_space_between_sentences=False,
    ),
    "th": Script("two Thai characters", r"[\p{Thai}&&\p{L}]"),
    "zh": Script("two Chinese characters", r"\p{Han}", has_space_between_sentences=False),
}
"""By language. Thai is its letters, signs such as ๆ among them, with their vowels and tones."""


def script_of_language(language: str) -> Script:
    """The script of a language; letters of any script for one that is not in `SCRIPTS`."""
    return SCRIPTS.get(language, Script("two letters", r"\p{L}"))


def script_gaps(
    content: bytes,
    script: Script,
    edges: Int[np.ndarray, " edge"],
    *,
    within: tuple[int, int] | None = None,
) -> Gaps:
    r"""The gaps between two neighbouring characters of a script, and which of them end a word.

    A character is what a reader counts, a grapheme cluster, so that there is no gap before a
    combining mark or a Thai vowel sign. An invalid byte belongs to no script.

    Args:
        content: The text.
        script: What has to stand on both sides.
        edges: Where words begin or end, as indices into the code points of ``content`` (0 is its
            start); those elsewhere than between two characters of the script do not matter.
        within: The part to be judged, ``[start, end)`` in code points; None for all of it.

    Returns:
        Gaps in order; characters in which a word ends, and those that are not known, are left
        out and counted.
    """
    text = decode(content)
    start, end = (0, len(text)) if within is None else within
    first = np.array([match.start() for match in regex.finditer(r"\X", text)], dtype=np.int64)
    is_inside = (first >= start) & (first < end)
    is_of_script = _matches(script.letters, text)[first] & is_inside

    is_edge = np.zeros(len(text) + 1, dtype=bool)
    is_edge[edges] = True
    if script.known is None:
        is_left_out = is_of_script & _is_divided(first, is_edge[:-1])
    else:
        is_alone = np.diff(first, append=len(text)) == 1
        is_left_out = is_of_script & ~(_matches(script.known, text)[first] & is_alone)
    is_judged = is_of_script & ~is_left_out

    after = first[np.flatnonzero(is_judged[1:] & is_judged[:-1]) + 1]
    return Gaps(
        tokens=code_point_spans(content)[after, 0] + 1,
        is_boundary=is_edge[after],
        n_characters=int(is_of_script.sum()),
        left_out={script.unknown or WORD_ENDS_INSIDE: int(is_left_out.sum())},
    )


def word_edges(words: Iterable[str]) -> Int[np.ndarray, " word"]:
    """Where each of the words of a text ends, in code points; they follow each other directly."""
    return np.cumsum([len(word) for word in words], dtype=np.int64)


def _matches(letters: str, text: str) -> Bool[np.ndarray, " code_point"]:
    is_matched = np.zeros(len(text), dtype=bool)
    for run in regex.finditer(f"(?V1){letters}+", text):
        is_matched[run.start() : run.end()] = True
    return is_matched


def _is_divided(
    first: Int[np.ndarray, " character"], is_edge: Bool[np.ndarray, " code_point"]
) -> Bool[np.ndarray, " character"]:
    """Which characters have an edge after their first code point."""
    is_inner = is_edge.copy()
    is_inner[first] = False
    is_divided = np.zeros(len(first), dtype=bool)
    is_divided[np.searchsorted(first, np.flatnonzero(is_inner), side="right") - 1] = True
    return is_divided
