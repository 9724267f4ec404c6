import itertools

import numpy as np
import pytest
from sklearn.metrics import accuracy_score, f1_score, precision_score, recall_score

from interp.analyses.agreement import BY_SENTENCE, segmenter_agreement
from interp.segmentation import Gaps
from interp.segmentation.treebank import Sentence, Treebank


class BeforeVowels:
    """Ends a word before every vowel, at every gap."""

    reference = "vowels 1.0"
    details = "none"
    judged = "two letters"

    def gaps(self, content: bytes) -> Gaps:
        tokens = np.arange(2, len(content) + 1)
        judgements = np.array([value in b"aeiou" for value in content[1:]], dtype=bool)
        return Gaps(tokens, judgements, len(content), {})


def sentence(*words, document=""):
    ends = np.cumsum([0, *map(len, words)]).tolist()
    return Sentence("s", document, "".join(words), tuple(itertools.pairwise(ends)))


def values(table):
    return dict(zip(table["statistic"], table["value"], strict=True))


def test_agreement_by_hand():
    # ba|ab, b|a: gaps b-a a-a a-b and b-a; people: no, yes, no, yes; vowels: yes, yes, no, yes
    treebank = Treebank("by-hand", "0", (sentence("ba", "ab"), sentence("b", "a")))
    table = segmenter_agreement(BeforeVowels(), treebank, group="script")
    assert values(table) == pytest.approx(
        {"accuracy": 3 / 4, "precision": 2 / 3, "recall": 1.0, "f1": 4 / 5, "base_rate": 1 / 2}
    )
    assert set(table["n"]) == {4}
    assert set(table["signal"]) == {"vowels 1.0"}
    assert set(table["reference"]) == {"by-hand"}
    assert set(table["group"]) == {"script"}
    assert all(BY_SENTENCE in note for note in table["note"])


def random_treebank(with_documents):
    draw = np.random.default_rng(5)
    sentences = []
    for number in range(40):
        letters = "".join(draw.choice(list("abcde"), size=12))
        starts = [0, *np.flatnonzero(draw.random(11) < 0.4) + 1, 12]
        words = [letters[a:b] for a, b in itertools.pairwise(starts)]
        sentences.append(sentence(*words, document=f"d{number % 8}" if with_documents else ""))
    return Treebank("random", "0", tuple(sentences))


@pytest.mark.parametrize("with_documents", [False, True])
def test_agreement_is_that_of_scikit_learn(with_documents):
    treebank = random_treebank(with_documents)
    found, truth = [], []
    for each in treebank.sentences:
        found += BeforeVowels().gaps(each.text.encode()).is_boundary.tolist()
        starts = {start for start, _ in each.word_spans}
        truth += [index in starts for index in range(1, len(each.text))]
    table = segmenter_agreement(BeforeVowels(), treebank)
    assert values(table) == pytest.approx(
        {
            "accuracy": accuracy_score(truth, found),
            "precision": precision_score(truth, found),
            "recall": recall_score(truth, found),
            "f1": f1_score(truth, found),
            "base_rate": np.mean(truth),
        }
    )
    assert set(table["n_documents"]) == {8 if with_documents else 40}
    assert (table["low"] < table["value"]).all()
    assert any(BY_SENTENCE in (note or "") for note in table["note"].fillna("")) != with_documents


def test_sentences_without_a_gap_leave_everything_undefined():
    table = segmenter_agreement(BeforeVowels(), Treebank("short", "0", (sentence("a"),)))
    assert table["value"].isna().all()
    assert table["note"].str.startswith("not defined").all()
