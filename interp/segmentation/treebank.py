"""Words as people marked them: treebanks in the CoNLL-U format of Universal Dependencies."""

from collections.abc import Iterator
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any

import conllu
from conllu.exceptions import ParseException

from interp.errors import InputError
from interp.segmentation.text_file import read_text_file


@dataclass(frozen=True)
class Sentence:
    """A sentence and the words in it.

    A word is what is written as one: a multiword token such as ``du`` counts once, not as the
    ``de`` and ``le`` that its analysis makes of it.

    Attributes:
        sentence_id: Its name; "" where the file gives none.
        document_id: The name of its document, or its number where it has none; "" for a sentence
            of no document.
        text: The sentence as it was written.
        word_spans: Where each word lies, as ``[start, end)`` in code points of ``text``; in
            order and without overlap. What lies between words is space.
        has_space_after: Whether a space stands between it and the next one.
    """

    sentence_id: str
    document_id: str
    text: str
    word_spans: tuple[tuple[int, int], ...]
    has_space_after: bool = True

    def __post_init__(self) -> None:
        """Check that the words lie in the text, one after the other, with nothing but space."""
        end = 0
        for start, next_end in (*self.word_spans, (len(self.text), len(self.text))):
            if not end <= start <= next_end <= len(self.text) or self.text[end:start].strip():
                raise ValueError(f"sentence {self.sentence_id!r}: words do not cover {self.text!r}")
            end = next_end

    @property
    def words(self) -> tuple[str, ...]:
        """The words in order."""
        return tuple(self.text[start:end] for start, end in self.word_spans)


@dataclass(frozen=True)
class Treebank:
    """A file of sentences whose words people marked.

    Attributes:
        name: The file's name without its ending.
        sha256: SHA-256 of the file, in hex.
        sentences: In the order of the file.
    """

    name: str
    sha256: str
    sentences: tuple[Sentence, ...]


def read_treebank(path: str | Path) -> Treebank:
    """The sentences of a CoNLL-U file.

    Args:
        path: The file; UTF-8.

    Raises:
        InputError: It cannot be read, is no CoNLL-U, has no sentence, or has words that are
            not in the text of their sentence.
    """
    file = read_text_file(path, "treebank")
    try:
        sentences = tuple(_sentences(file.text))
    except ValueError as error:
        raise InputError(
            f"cannot read the treebank {path}: {error}",
            "It must be a CoNLL-U file of Universal Dependencies.",
        ) from error
    if not sentences:
        raise InputError(f"the treebank {path} has no sentence", "Is it a CoNLL-U file?")
    return Treebank(file.stem, file.sha256, sentences)


def _sentences(content: str) -> Iterator[Sentence]:
    """The sentences, one after the other.

    Raises:
        ValueError: One is no CoNLL-U, or has words that are not in its text.
    """
    document_id, n_documents, number = "", 0, 1
    try:
        for parsed in conllu.parse_incr(StringIO(content), field_parsers=_UNREAD_FIELDS):
            metadata = parsed.metadata
            if "newdoc id" in metadata or "newdoc" in metadata:
                n_documents += 1
                document_id = (
                    metadata.get("newdoc id") or metadata.get("newdoc") or str(n_documents)
                )
            forms = [(token["form"], _has_space_after(token)) for token in _written(parsed)]
            text = metadata.get("text")
            if text is None:
                text = "".join(form + " " * is_spaced for form, is_spaced in forms).rstrip(" ")
            sentence_id = metadata.get("sent_id") or ""
            spans = _spans(text, [form for form, _ in forms], sentence_id or f"number {number}")
            number += 1
            if forms or text:  # else comments alone
                yield Sentence(sentence_id, document_id, text, spans, not forms or forms[-1][1])
    except (ParseException, KeyError, TypeError) as error:
        # the last two are of lines whose columns are not those of CoNLL-U
        is_said = isinstance(error, ParseException)
        problem = (" ".join(str(error).split()) if is_said else "") or "it is no CoNLL-U"
        raise ValueError(f"sentence number {number}: {problem}") from error


def _written(parsed: conllu.TokenList) -> Iterator[dict[str, Any]]:
    """The tokens that are written: multiword tokens whole, empty nodes not at all."""
    covered = 0
    for token in parsed:
        match token["id"]:
            case (_, "-", last):
                covered = last
            case (_, ".", _):
                continue
            case number if number <= covered:
                continue
        yield token


_UNREAD_FIELDS: dict[str, Any] = dict.fromkeys(
    ("upos", "xpos", "feats", "head", "deprel", "deps"), lambda line, index: line[index]
)
"""Fields that are not looked at, left as they are: parsing them is most of the time."""


def _has_space_after(token: dict[str, Any]) -> bool:
    return (token.get("misc") or {}).get("SpaceAfter") != "No"


def _spans(text: str, words: list[str], sentence_id: str) -> tuple[tuple[int, int], ...]:
    spans, end = [], 0
    for word in words:
        start = text.find(word, end)
        if start < 0 or text[end:start].strip():
            raise ValueError(f"the word {word!r} is not where sentence {sentence_id!r} has it")
        end = start + len(word)
        spans.append((start, end))
    return tuple(spans)
