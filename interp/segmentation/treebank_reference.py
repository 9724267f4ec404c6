"""A treebank as a reference: its sentences are read in context, its words are the truth."""

from collections.abc import Iterable, Iterator
from dataclasses import replace

import numpy as np

from interp.segmentation.gaps import Gaps, check_both_classes
from interp.segmentation.scripts import Script, script_gaps, script_of_language
from interp.segmentation.spaces import WithoutSpaces
from interp.segmentation.treebank import Sentence, Treebank

N_BEFORE = 2
"""Sentences that are read before one, for the context that running text would give it."""

N_IN_BLOCK = 10
BLOCK = "ten-sentence block"
"""Neighbouring sentences that are taken to be alike where a treebank names no documents, and what
they are called."""


class TreebankReference:
    """The words that people marked, each sentence read after the two before it in its document.

    It brings its own text: one per sentence, joined as the language is written, in which only the
    gaps inside the sentence itself are judged. Where the file names no documents, all of it counts
    as one for reading, and blocks of ten neighbouring sentences for intervals. English, written
    with spaces, is read without them.

    Args:
        treebank: The sentences.
        language: It fixes the script.

    Raises:
        InputError: No gap lies between two characters of the script, or all of them are alike.
    """

    def __init__(self, treebank: Treebank, language: str) -> None:
        script = script_of_language(language)
        has_documents = any(sentence.document_id for sentence in treebank.sentences)
        self.reference = treebank.name
        self.judged = script.judged
        self.details = (
            f"{len(treebank.sentences)} sentences, each read after the {N_BEFORE} before it in its "
            f"document{'' if has_documents else f' (the file), in blocks of {N_IN_BLOCK}'}, "
            f"SHA-256 {treebank.sha256}"
        )
        self._texts = list(_texts(treebank.sentences, script, has_documents))
        check_both_classes(
            (gaps for _, gaps in self._texts), f"the treebank {treebank.name}", self.judged
        )

    def read(self, contents: Iterable[bytes]) -> Iterator[tuple[bytes, Gaps]]:  # noqa: ARG002
        """Every sentence in its context, with its gaps; the input is not looked at."""
        yield from self._texts


def _texts(
    sentences: tuple[Sentence, ...], script: Script, has_documents: bool
) -> Iterator[tuple[bytes, Gaps]]:
    for number, sentence in enumerate(sentences):
        before = [
            each
            for each in sentences[max(0, number - N_BEFORE) : number]
            if each.document_id == sentence.document_id
        ]
        content, gaps = _read(before, sentence, script)
        if has_documents:
            yield content, replace(gaps, cluster=sentence.document_id)
        else:
            block = f"block {number // N_IN_BLOCK + 1}"
            yield content, replace(gaps, cluster=block, cluster_noun=BLOCK)


def _read(before: list[Sentence], sentence: Sentence, script: Script) -> tuple[bytes, Gaps]:
    """A sentence after those before it, and its gaps."""
    context = "".join(
        each.text + " " * (script.has_space_between_sentences and each.has_space_after)
        for each in before
    )
    text = context + sentence.text
    edges = len(context) + np.array(sentence.word_spans, dtype=np.int64).ravel()
    within = (len(context), len(text))
    if script.has_spaces:
        squeezed = WithoutSpaces.of(text)
        text, edges = squeezed.text, squeezed.places[edges]
        within = (int(squeezed.places[within[0]]), int(squeezed.places[within[1]]))
    content = text.encode()
    return content, script_gaps(content, script, edges, within=within)
