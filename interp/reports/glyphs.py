"""How one character is drawn: as text, as text of its own, as a mark, or as a cell with a code."""

import unicodedata
from dataclasses import dataclass

from interp import text

SPACE_MARK = "␣"
NEWLINE_MARK = "↵"
TAB_MARK = "⇥"

MAX_WIDTH_EM = 6.0
"""No glyph is wider, however many code points its character has; it is squeezed instead."""

MAX_CODE_POINTS = 16
"""A character of more, such as a letter under a pile of marks, is shown by the first of them."""

_LINE_ENDS = (b"\n", b"\r\n", b"\r", "\u0085".encode(), "\u2028".encode(), "\u2029".encode())
_JOINER = "\u200d"
# fmt: off
_CONTROL_NAMES = (
    "NUL", "SOH", "STX", "ETX", "EOT", "ENQ", "ACK", "BEL",
    "BS", "HT", "LF", "VT", "FF", "CR", "SO", "SI",
    "DLE", "DC1", "DC2", "DC3", "DC4", "NAK", "SYN", "ETB",
    "CAN", "EM", "SUB", "ESC", "FS", "GS", "RS", "US",
)
# fmt: on


@dataclass(frozen=True)
class Glyph:
    """What stands on the plot for one character.

    Args:
        shown: The string to draw; never a control or format character that stands alone.
        width_em: How much room it needs; an upper estimate, since the reader's fonts decide.
        kind: ``run`` may share one SVG text with others of its row, one code unit each;
            ``own`` needs a text element of its own; ``cell`` is a code in a box.
        is_squeezed: Drawn at exactly its width, as a font may lack the joined shape.
        is_clipped: Cut at the height of its row, as marks are piled upon it.
    """

    shown: str
    width_em: float
    kind: str
    is_squeezed: bool = False
    is_clipped: bool = False


def shown_text(character: bytes) -> str:
    """What stands for a character where it is text: as `interp.text.display`, but not endless."""
    code_points = text.decode(character)
    first = code_points[:MAX_CODE_POINTS].encode("utf-8", "surrogateescape")
    return text.display(first) + ("…" if len(code_points) > MAX_CODE_POINTS else "")


def glyph(character: bytes) -> Glyph:
    """The glyph of one grapheme cluster, given as its bytes."""
    if character in _LINE_ENDS:
        return Glyph(NEWLINE_MARK, 0.9, "run")
    if character == b"\t":
        return Glyph(TAB_MARK, 0.9, "run")
    shown = shown_text(character)
    if len(character) == 1 and (character[0] < 0x20 or character[0] == 0x7F):
        # many fonts lack U+2400-U+2421, so the picture is drawn: its letters in a box
        return _cell("DEL" if character[0] == 0x7F else _CONTROL_NAMES[character[0]])
    if len(text.decode(character)) == 1 and len(shown) > 1:
        return _cell(shown.strip("<>").removeprefix("U+"))
    if len(shown) == 1:
        return _single(shown)
    return _cluster(shown)


def _cell(code: str) -> Glyph:
    return Glyph(code, 0.42 * len(code) + 0.45, "cell")


def _single(shown: str) -> Glyph:
    if unicodedata.category(shown) == "Zs":
        return Glyph(SPACE_MARK, 1.0 if shown == "\u3000" else 0.6, "run")
    width_em = _width_em(shown)
    is_plain = ord(shown) <= 0xFFFF and unicodedata.category(shown)[0] not in "MC"
    is_left_to_right = unicodedata.bidirectional(shown) not in ("R", "AL", "AN")
    return Glyph(shown, width_em, "run" if is_plain and is_left_to_right else "own")


def _cluster(shown: str) -> Glyph:
    bases = [c for c in shown if unicodedata.category(c)[0] not in "MC" and not _is_modifier(c)]
    n_marks = sum(unicodedata.category(c) == "Mn" for c in shown)
    is_joined = _JOINER in shown or all(_is_regional_indicator(c) for c in shown)
    if is_joined or not bases:
        return Glyph(shown, 1.4, "own", is_squeezed=True)
    width_em = min(sum(_width_em(c) for c in bases), MAX_WIDTH_EM)
    return Glyph(shown, width_em, "own", is_squeezed=True, is_clipped=n_marks > 2)


def _width_em(code_point: str) -> float:
    if ord(code_point) >= 0x1F000:
        return 1.4 if unicodedata.category(code_point) == "So" else 1.05
    if code_point in "\ufdfa\ufdfb\ufdfd":  # ligatures of whole phrases
        return 4.0
    return {"W": 1.02, "F": 1.02, "A": 1.02, "Na": 0.58, "H": 0.58}.get(
        unicodedata.east_asian_width(code_point), 0.58 if ord(code_point) < 0x500 else 0.95
    )


def _is_modifier(code_point: str) -> bool:
    return "\U0001f3fb" <= code_point <= "\U0001f3ff"


def _is_regional_indicator(code_point: str) -> bool:
    return "\U0001f1e6" <= code_point <= "\U0001f1ff"
