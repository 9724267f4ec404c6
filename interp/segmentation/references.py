"""Who says where words end, chosen by a language and a few words on the command line."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial

from interp.errors import UsageError
from interp.segmentation import SEGMENTERS, Segmenter, find_segmenter
from interp.segmentation.chinese import ChineseSegmenter
from interp.segmentation.gaps import Gaps, Reference
from interp.segmentation.segmented import SegmentedReference
from interp.segmentation.spaces import SpacesReference
from interp.segmentation.treebank import read_treebank
from interp.segmentation.treebank_reference import TreebankReference
from interp.segmentation.user_words import UserWords

LANGUAGES = tuple(sorted(SEGMENTERS))
"""The languages that have a reference by default."""

TREEBANK, SEGMENTED = "ud", "segmented"
"""What stands before the file of a reference that people made."""


@dataclass(frozen=True)
class SegmenterReference:
    """A program that judges any text, as it is.

    Attributes:
        segmenter: The program.
    """

    segmenter: Segmenter

    @property
    def reference(self) -> str:
        """Name and version of the program."""
        return self.segmenter.reference

    @property
    def details(self) -> str:
        """Settings and fingerprints of the program."""
        return self.segmenter.details

    @property
    def judged(self) -> str:
        """What stands on both sides of a gap that it judges."""
        return self.segmenter.judged

    def read(self, contents: Iterable[bytes]) -> Iterator[tuple[bytes, Gaps]]:
        """The documents of the input as they are, each with its gaps."""
        for content in contents:
            yield content, self.segmenter.gaps(content)


def find_reference(language: str, spec: str | None = None) -> Reference:
    """A reference of a language, made anew.

    Args:
        language: It fixes the script, and who is asked where ``spec`` does not say: a key of
            `interp.segmentation.SEGMENTERS`.
        spec: ``ud:FILE``, a treebank, which brings its own text; ``segmented:FILE``, the words of
            the input, separated by spaces; or a program: in Chinese ``jieba`` or
            ``jieba-without-hmm``, each with ``:DICT`` for words of one's own, in Japanese
            ``sudachi``, in Thai ``budoux``; in English ``delimiters``, the words as they stand, or
            ``spaces``, the same text read without its spaces.

    Raises:
        InputError: There is no such language, or what the reference needs cannot be read.
        UsageError: There is no such reference in this language.
    """
    if language not in SEGMENTERS or spec is None:
        return _segmenter(language)
    name, colon, rest = spec.partition(":")
    if name in _PROGRAMS.get(language, {}) and not colon:
        return _PROGRAMS[language][name]()
    if rest and name in (TREEBANK, SEGMENTED):
        if name == TREEBANK:
            return TreebankReference(read_treebank(rest), language)
        return SegmentedReference(rest, language)
    if rest and language == "zh" and name in _PROGRAMS["zh"]:
        return _jieba(has_hmm=name == "jieba", user_words=rest)
    raise UsageError(
        f"--reference {spec}: there is no such reference for the language {language!r}",
        f"Known: {', '.join(known_references(language))}.",
    )


def known_references(language: str) -> list[str]:
    """What `find_reference` takes for a language, the usual one first."""
    programs = [*_PROGRAMS.get(language, {})]
    return [*programs, *(["jieba:DICT"] if language == "zh" else []), "ud:FILE", "segmented:FILE"]


def _segmenter(language: str) -> Reference:
    return SegmenterReference(find_segmenter(language))


def _jieba(*, has_hmm: bool = True, user_words: str | None = None) -> Reference:
    words = None if user_words is None else UserWords.read(user_words)
    return SegmenterReference(ChineseSegmenter(has_hmm=has_hmm, user_words=words))


_PROGRAMS: Mapping[str, Mapping[str, Callable[[], Reference]]] = {
    "en": {"delimiters": partial(_segmenter, "en"), "spaces": SpacesReference},
    "ja": {"sudachi": partial(_segmenter, "ja")},
    "th": {"budoux": partial(_segmenter, "th")},
    "zh": {"jieba": _jieba, "jieba-without-hmm": partial(_jieba, has_hmm=False)},
}
"""By language and name; where nothing is said, the first one is asked."""
