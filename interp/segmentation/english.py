"""English words as they are written, between delimiters."""

import numpy as np
import regex

from interp.segmentation.gaps import Gaps
from interp.text import code_point_spans, decode

_IN_A_WORD = regex.compile(
    r"\p{Latin}\p{M}*|\p{Nd}"
    r"|(?<=[\p{Latin}\p{M}])['’](?=\p{Latin})"
    r"|(?<=\p{Nd})[.,](?=\p{Nd})"
)


class DelimiterSegmenter:
    """A word ends where something stands that is no part of it: a space, a line end, a sign.

    Part of a word are letters of the Latin script and digits, an apostrophe between two letters
    (``don't`` is one word) and a point or comma between two digits (``1,000.5``); a hyphen is not
    (``Polish-born`` is two). The gap after every character of a word is judged, whatever follows,
    and it is a boundary if what follows is no part of a word. So what is scored is a delimiter
    against what stands inside a word, as thresholding a signal to find words would do.
    """

    reference = "delimiters"
    details = "letters and digits, apostrophes between letters, points and commas between digits"
    judged = "a character of a word and what follows it"

    def gaps(self, content: bytes) -> Gaps:
        """The gaps after the characters of words."""
        text = decode(content)
        is_word = np.zeros(len(text), dtype=bool)
        for part in _IN_A_WORD.finditer(text):
            is_word[part.start() : part.end()] = True
        first = np.array([match.start() for match in regex.finditer(r"\X", text)], dtype=np.int64)
        after = first[1:][is_word[first[:-1]]]
        return Gaps(
            tokens=code_point_spans(content)[after, 0] + 1,
            is_boundary=~is_word[after],
            n_characters=len(first),
            left_out={},
            is_delimited=True,
        )
