"""Chinese words according to jieba, with a tokenizer and a cache file of our own."""

import hashlib
import logging
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import ModuleType
from typing import Any

import numpy as np
import regex

from interp.cache import cache_folder
from interp.errors import InterpError
from interp.segmentation.gaps import Gaps
from interp.text import code_point_spans, decode

FIRST_IDEOGRAPH, LAST_IDEOGRAPH = 0x4E00, 0x9FD5
"""The ideographs that jieba's pattern takes into words; it cuts around every other one."""

LEFT_OUT = "ideograph outside U+4E00-U+9FD5"
OTHER_SCRIPT = "kana or Hangul"

_LOGGER_NAMES = ("jieba", "jieba._compat")


class ChineseSegmenter:
    """jieba's words, with its hidden Markov model on and its standard dictionary.

    Nothing is shared with other users of jieba in the process: words that they add or delete
    do not count here. Nothing is printed or logged, and the prefix dictionary is kept in
    `interp.cache.cache_folder`; where that cannot be written it is built anew (about a second).

    jieba is not gold: its accuracy on the gaps of UD Chinese-GSDSimp is 0.884. It takes
    quadratic time in the length of an uninterrupted run of characters that form no known word.

    Attributes:
        reference: ``jieba`` and its version.
        judged: What stands on both sides of a gap.
        dictionary_sha256: SHA-256 of its dictionary file, in hex.
    """

    judged = "two Chinese characters"

    def __init__(self) -> None:
        self._jieba = _import_silently()
        self._tokenizer = self._jieba.Tokenizer()
        with self._tokenizer.get_dict_file() as dictionary:
            self.dictionary_sha256 = hashlib.sha256(dictionary.read()).hexdigest()
        self.reference = f"jieba {self._jieba.__version__}"
        folder = cache_folder()
        with suppress(OSError):
            folder.mkdir(parents=True, exist_ok=True)
        name = f"jieba-{self._jieba.__version__}-{self.dictionary_sha256[:16]}.cache"
        self._tokenizer.cache_file = str(folder / name)
        with _silenced():
            self._tokenizer.initialize()

    @property
    def details(self) -> str:
        """Settings and dictionary, as one phrase."""
        return f"HMM on, dictionary SHA-256 {self.dictionary_sha256}"

    def words(self, text: str) -> list[str]:
        """The words of ``text`` in order, punctuation and everything else among them.

        Raises:
            InterpError: jieba's words, put together again, are not the text.
        """
        with _without_foreign_splits(self._jieba.finalseg):
            words = list(self._tokenizer.cut(text, HMM=True))
        if "".join(words) != text:
            raise InterpError(
                f"segmenting Chinese: the words of {self.reference} do not join to the text "
                f"({sum(map(len, words))} code points of {len(text)})",
                hint="install the jieba that interp's constraints file names",
            )
        return words

    def gaps(self, content: bytes) -> Gaps:
        """The gaps between two neighbouring ideographs of U+4E00-U+9FD5, and jieba's judgement.

        The whole text is segmented, so that a word may lean on anything around it. Invalid
        bytes separate their neighbours.

        Args:
            content: One document's bytes.

        Returns:
            Gaps in order. Left out and counted: every other character of the Han script, such
            as 々, 〇 and the ideographs of the extensions, which jieba cannot put into words.
            Kana or Hangul beside the gaps is named: jieba knows no Japanese and no Korean.
        """
        text = decode(content)
        code_points = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype="<u4")
        is_judged = (code_points >= FIRST_IDEOGRAPH) & (code_points <= LAST_IDEOGRAPH)
        is_word_start = np.zeros(len(text) + 1, dtype=bool)
        if is_judged.any():
            is_word_start[np.cumsum([len(word) for word in self.words(text)])] = True

        after_gap = np.flatnonzero(is_judged[1:] & is_judged[:-1]) + 1
        n_characters = sum(1 for _ in regex.finditer(r"\p{Han}", text))
        is_other = len(after_gap) and regex.search(r"[\p{Hiragana}\p{Katakana}\p{Hangul}]", text)
        return Gaps(
            tokens=code_point_spans(content)[after_gap, 0] + 1,
            is_boundary=is_word_start[after_gap],
            n_characters=n_characters,
            left_out={LEFT_OUT: n_characters - int(is_judged.sum())},
            other_script=OTHER_SCRIPT if is_other else None,
        )


def _import_silently() -> ModuleType:
    """jieba, without the warnings, log level and log handler that its import brings along.

    What a process that imported it before has set up stays as it is.
    """
    if "jieba" in sys.modules:
        return sys.modules["jieba"]
    before = {name: logging.getLogger(name).level for name in _LOGGER_NAMES}
    handlers = list(logging.getLogger("jieba").handlers)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import jieba
    for name, level in before.items():
        logging.getLogger(name).setLevel(level)
    for handler in set(logging.getLogger("jieba").handlers) - set(handlers):
        logging.getLogger("jieba").removeHandler(handler)
    return jieba


@contextmanager
def _silenced() -> Iterator[None]:
    """The log of jieba, off: loading is DEBUG there, a cache that cannot be written ERROR."""
    logger = logging.getLogger("jieba")
    was_disabled = logger.disabled
    logger.disabled = True
    try:
        yield
    finally:
        logger.disabled = was_disabled


@contextmanager
def _without_foreign_splits(finalseg: Any) -> Iterator[None]:
    """Deleting a word from any jieba tokenizer splits it in all of them; not in ours."""
    foreign = finalseg.Force_Split_Words
    finalseg.Force_Split_Words = set()
    try:
        yield
    finally:
        finalseg.Force_Split_Words = foreign
