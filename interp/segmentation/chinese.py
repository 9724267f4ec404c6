"""Chinese words according to jieba, with a tokenizer and a cache file of our own."""

import hashlib
import logging
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from itertools import pairwise
from types import ModuleType
from typing import Any

import regex

from interp.cache import cache_folder
from interp.errors import InterpError
from interp.segmentation.gaps import Gaps
from interp.segmentation.scripts import SCRIPTS, script_gaps, word_edges
from interp.segmentation.user_words import UserWords
from interp.text import decode

LEFT_OUT = "ideograph outside U+4E00-U+9FD5, or with a mark"
OTHER_SCRIPT = "kana or Hangul"

JIEBAS_SCRIPT = replace(SCRIPTS["zh"], known=r"[\u4e00-\u9fd5]", unknown=LEFT_OUT)
"""The ideographs that jieba's pattern takes into words; it cuts around every other one."""

_LONG_RUN = regex.compile(r"(?:(?<![\u4e00-\u9fd5])|\G)[\u4e00-\u9fd5]{5000}(?=[\u4e00-\u9fd5])")
"""The first 5 000 ideographs of a longer run, and the next ones directly after them."""

_LOGGER_NAMES = ("jieba", "jieba._compat")


class ChineseSegmenter:
    """jieba's words: its standard dictionary, and words of one's own.

    Nothing is shared with other users of jieba in the process: words that they add or delete
    do not count here. Nothing is printed or logged, and the prefix dictionary is kept in
    `interp.cache.cache_folder`; where that cannot be written it is built anew (about a second).

    jieba is not gold: on the gaps of UD Chinese-GSDSimp (dev) it agrees with people at 0.883, on
    the same text in traditional characters at 0.831 (0.714 without the hidden Markov model). A
    run of more than 5 000 ideographs, without as much as a comma, is cut there: the time that
    jieba takes is quadratic in their number where they form no known word.

    Args:
        has_hmm: Whether its hidden Markov model finds words that the dictionary lacks; without
            it what is in no dictionary falls into single characters.
        user_words: Words of one's own.

    Attributes:
        reference: ``jieba`` and its version, and what is not as usual.
        judged: What stands on both sides of a gap.
        dictionary_sha256: SHA-256 of its dictionary file, in hex.
    """

    judged = JIEBAS_SCRIPT.judged

    def __init__(self, *, has_hmm: bool = True, user_words: UserWords | None = None) -> None:
        self._jieba = _import_silently()
        self._has_hmm = has_hmm
        self._user_words = user_words
        self._splits: set[str] = set()
        self._tokenizer = self._jieba.Tokenizer()
        with self._tokenizer.get_dict_file() as dictionary:
            self.dictionary_sha256 = hashlib.sha256(dictionary.read()).hexdigest()
        self.reference = f"jieba {self._jieba.__version__}" + " without HMM" * (not has_hmm)
        folder = cache_folder()
        with suppress(OSError):
            folder.mkdir(parents=True, exist_ok=True)
        name = f"jieba-{self._jieba.__version__}-{self.dictionary_sha256[:16]}.cache"
        self._tokenizer.cache_file = str(folder / name)
        with _silenced():
            self._tokenizer.initialize()
        if user_words is not None:
            self.reference += f" with {user_words.name}"
            with _splits_in_force(self._jieba.finalseg, self._splits):
                for word, count, tag in user_words.entries:
                    self._tokenizer.add_word(word, count, tag)

    @property
    def details(self) -> str:
        """Settings and dictionary, as one phrase."""
        hmm = "on" if self._has_hmm else "off"
        details = f"HMM {hmm}, dictionary SHA-256 {self.dictionary_sha256}"
        if self._user_words is None:
            return details
        return f"{details}, user words SHA-256 {self._user_words.sha256}"

    def words(self, text: str) -> list[str]:
        """The words of ``text`` in order, punctuation and everything else among them.

        Raises:
            InterpError: jieba's words, put together again, are not the text.
        """
        cuts = [0, *(run.end() for run in _LONG_RUN.finditer(text)), len(text)]
        with _splits_in_force(self._jieba.finalseg, self._splits):
            words = [
                word
                for start, end in pairwise(cuts)
                for word in self._tokenizer.cut(text[start:end], HMM=self._has_hmm)
            ]
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
        has_gaps = regex.search(f"{JIEBAS_SCRIPT.known}{{2}}", text) is not None
        edges = word_edges(self.words(text) if has_gaps else [])
        gaps = script_gaps(content, JIEBAS_SCRIPT, edges)
        if not len(gaps.tokens) or not regex.search(r"[\p{Hiragana}\p{Katakana}\p{Hangul}]", text):
            return gaps
        return replace(gaps, other_script=OTHER_SCRIPT)


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
def _splits_in_force(finalseg: Any, ours: set[str]) -> Iterator[None]:
    """Deleting a word from any jieba tokenizer splits it in all of them; in ours, only ours do."""
    foreign = finalseg.Force_Split_Words
    finalseg.Force_Split_Words = ours
    try:
        yield
    finally:
        finalseg.Force_Split_Words = foreign
