import itertools
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import (
    accuracy_score,
    cohen_kappa_score,
    f1_score,
    precision_score,
    recall_score,
)

from interp.analyses.agreement import reference_agreement
from interp.errors import InputError
from interp.segmentation import Gaps
from interp.segmentation.references import SegmenterReference
from interp.segmentation.treebank import Sentence, Treebank
from interp.segmentation.treebank_reference import TreebankReference


class BeforeVowels:
    """Ends a word before every one of some letters, at every gap."""

    details = "none"
    judged = "two letters"

    def __init__(self, letters: bytes = b"aeiou") -> None:
        self.reference = f"before {letters.decode()}"
        self._letters = letters

    def gaps(self, content: bytes) -> Gaps:
        tokens = np.arange(2, len(content) + 1)
        judgements = np.array([value in self._letters for value in content[1:]], dtype=bool)
        return Gaps(tokens, judgements, len(content), {})


VOWELS = SegmenterReference(BeforeVowels())


def sentence(*words, document=""):
    ends = np.cumsum([0, *map(len, words)]).tolist()
    return Sentence("s", document, "".join(words), tuple(itertools.pairwise(ends)), False)


def people(*sentences, name="people"):
    return TreebankReference(Treebank(name, "0", sentences), "de")


def values(table):
    return dict(zip(table["statistic"], table["value"], strict=True))


def test_agreement_by_hand():
    # ba|ab, b|a: gaps b-a a-a a-b and b-a; people: no, yes, no, yes; vowels: yes, yes, no, yes
    table = reference_agreement(VOWELS, people(sentence("ba", "ab"), sentence("b", "a")), group="x")
    assert values(table) == pytest.approx(
        {
            "agreement": 3 / 4,
            "precision": 2 / 3,
            "recall": 1.0,
            "f1": 4 / 5,
            "kappa": (3 / 4 - 1 / 2) / (1 - 1 / 2),
            "boundary_rate": 3 / 4,
            "base_rate": 1 / 2,
        }
    )
    assert set(table["n"]) == {4}
    assert set(table["signal"]) == {"before aeiou"}
    assert set(table["reference"]) == {"people"}
    assert set(table["group"]) == {"x"}
    notes = dict(zip(table["statistic"], table["note"], strict=True))
    assert notes["boundary_rate"].endswith("none")
    assert "SHA-256 0" in notes["base_rate"]


def random_treebank(with_documents):
    draw = np.random.default_rng(5)
    sentences = []
    for number in range(40):
        letters = "".join(draw.choice(list("abcde"), size=12))
        starts = [0, *np.flatnonzero(draw.random(11) < 0.4) + 1, 12]
        words = [letters[a:b] for a, b in itertools.pairwise(starts)]
        sentences.append(sentence(*words, document=f"d{number // 5}" if with_documents else ""))
    return sentences


@pytest.mark.parametrize(
    ("with_documents", "n_clusters", "noun"),
    [(False, 4, "ten-sentence block"), (True, 8, "document")],
)
def test_agreement_is_that_of_scikit_learn(with_documents, n_clusters, noun):
    sentences = random_treebank(with_documents)
    found, truth = [], []
    for each in sentences:
        found += BeforeVowels().gaps(each.text.encode()).is_boundary.tolist()
        starts = {start for start, _ in each.word_spans}
        truth += [index in starts for index in range(1, len(each.text))]
    table = reference_agreement(VOWELS, people(*sentences))
    assert values(table) == pytest.approx(
        {
            "agreement": accuracy_score(truth, found),
            "precision": precision_score(truth, found),
            "recall": recall_score(truth, found),
            "f1": f1_score(truth, found),
            "kappa": cohen_kappa_score(truth, found),
            "boundary_rate": np.mean(found),
            "base_rate": np.mean(truth),
        }
    )
    assert set(table["n_documents"]) == {n_clusters}
    assert set(table["method"]) == {f"jackknife over {noun}s, t({n_clusters - 1})"}
    assert (table["low"] < table["value"]).all()
    assert (table["value"] < table["high"]).all()


def test_the_interval_is_that_of_leaving_one_cluster_out():
    sentences = random_treebank(with_documents=True)
    documents = sorted({each.document_id for each in sentences})
    kappas = [
        values(reference_agreement(VOWELS, people(*(s for s in sentences if s.document_id != d))))
        for d in documents
    ]
    spread = np.array([each["kappa"] for each in kappas])
    error = np.sqrt(7 / 8 * ((spread - spread.mean()) ** 2).sum())
    row = reference_agreement(VOWELS, people(*sentences)).query("statistic == 'kappa'").iloc[0]
    assert row["high"] - row["low"] == pytest.approx(2 * 2.364624 * error, rel=1e-5)


def test_sentences_before_the_first_document_are_one_cluster():
    sentences = random_treebank(with_documents=True)
    unnamed = [replace(each, document_id="") for each in sentences[:5]]
    table = reference_agreement(VOWELS, people(*unnamed, *sentences[5:]))
    pd.testing.assert_frame_equal(
        table.drop(columns="note"),
        reference_agreement(VOWELS, people(*sentences)).drop(columns="note"),
    )


def test_turned_round_precision_and_recall_change_places():
    treebank = people(*random_treebank(with_documents=True))
    one = values(reference_agreement(VOWELS, treebank))
    other = values(reference_agreement(treebank, VOWELS))
    swapped = {"precision": "recall", "boundary_rate": "base_rate"}
    swapped |= {new: old for old, new in swapped.items()}
    assert {swapped.get(name, name): value for name, value in other.items()} == pytest.approx(one)


def test_two_programs_are_compared_on_the_input_by_document():
    contents = [b"banana", b"", b"coconut", b"lemon"] * 2
    table = reference_agreement(VOWELS, SegmenterReference(BeforeVowels(b"ao")), iter(contents))
    assert values(table)["precision"] == pytest.approx(6 / 8)
    assert values(table)["recall"] == 1
    assert set(table["n"]) == {2 * (5 + 6 + 4)}
    assert set(table["n_documents"]) == {6}


def test_the_same_reference_agrees_with_itself_completely():
    treebank = people(*random_treebank(with_documents=True))
    found = values(reference_agreement(treebank, treebank))
    assert [found[name] for name in ("agreement", "kappa", "f1")] == [1, 1, 1]


@pytest.mark.parametrize("others", [("ab", "c"), ("abc",)])
def test_references_with_other_texts_are_refused(others):
    first = people(sentence("a", "bc"), sentence("ab", "c"))
    second = people(sentence("a", "bc"), sentence("x", *others), name="others")
    longer = people(sentence("a", "bc"), sentence("ab", "c"), sentence("b", "cd"), name="longer")
    with pytest.raises(InputError, match="number 2 of the one"):
        reference_agreement(first, second)
    with pytest.raises(InputError, match="people and longer judge different texts: number 3"):
        reference_agreement(first, longer)


def test_what_is_not_defined_says_why():
    nothing, everything = (SegmenterReference(BeforeVowels(letters)) for letters in (b"x", b"abc"))
    by_name = reference_agreement(nothing, nothing, [b"abc", b"cab"]).set_index("statistic")
    for name in ("precision", "recall", "f1", "kappa"):
        assert by_name["value"].isna()[name]
        assert by_name["note"][name].startswith("not defined: ")
    assert by_name["value"]["agreement"] == 1
    table = reference_agreement(everything, nothing, [b"a", b""])
    assert table["value"].isna().all()
    assert table["note"].str.contains("there is no gap that both judge").all()
