"""Who says where words end: one segmenter per file, all of them giving `Gaps`."""

from collections.abc import Callable

from interp.errors import InputError
from interp.segmentation.chinese import ChineseSegmenter
from interp.segmentation.english import DelimiterSegmenter
from interp.segmentation.gaps import Gaps, Reference, Segmenter
from interp.segmentation.japanese import JapaneseSegmenter
from interp.segmentation.thai import ThaiSegmenter

__all__ = ["SEGMENTERS", "Gaps", "Reference", "Segmenter", "find_segmenter"]

SEGMENTERS: dict[str, Callable[[], Segmenter]] = {
    "en": DelimiterSegmenter,
    "ja": JapaneseSegmenter,
    "th": ThaiSegmenter,
    "zh": ChineseSegmenter,
}
"""Who says where words end, by language. Nothing is loaded before one is made."""


def find_segmenter(language: str) -> Segmenter:
    """The segmenter of a language, made anew.

    Raises:
        InputError: There is none.
    """
    if language not in SEGMENTERS:
        raise InputError(
            f"word boundaries: no segmenter for the language {language!r}",
            f"Known: {', '.join(sorted(SEGMENTERS))}.",
        )
    return SEGMENTERS[language]()
