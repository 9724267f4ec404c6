import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from interp.analyses.local_reference import N_FOLDS, WEIGHT, local_reference


def made_up(n_documents=40, n_gaps=50, seed=0):
    """Gaps whose boundaries depend on the character before and the byte after together."""
    generator = np.random.default_rng(seed)
    documents = np.repeat(np.arange(n_documents), n_gaps)
    previous = generator.integers(0, 12, len(documents))
    lead_bytes = generator.integers(0xE4, 0xEA, len(documents)).astype(np.uint8)
    labels = (previous + lead_bytes) % 2 == 0
    return previous, lead_bytes, labels, documents


def one_by_one(previous, lead_bytes, labels, documents):
    """An oracle: the definition, gap by gap."""
    names = sorted(set(documents.tolist()))
    fold = {name: number % min(N_FOLDS, len(names)) for number, name in enumerate(names)}
    folds = np.array([fold[name] for name in documents.tolist()])
    scores = []
    for p, b, f in zip(previous, lead_bytes, folds, strict=True):
        there = folds != f
        same_byte = there & (lead_bytes == b)
        of_byte = labels[same_byte].mean() if same_byte.any() else labels[there].mean()
        same = same_byte & (previous == p)
        scores.append((labels[same].sum() + WEIGHT * of_byte) / (same.sum() + WEIGHT))
    return np.array(scores)


def test_scores_are_those_of_the_definition():
    generator = np.random.default_rng(1)
    previous, lead_bytes, _, documents = made_up(n_documents=13, n_gaps=9)
    labels = generator.random(len(previous)) < 0.4
    lead_bytes[0] = 0xC2  # a byte that no other document has
    expected = one_by_one(previous, lead_bytes, labels, documents)
    found = local_reference(previous, lead_bytes, labels, documents)
    assert found == pytest.approx(expected)
    assert ((found >= 0) & (found <= 1)).all()


def test_what_both_neighbours_decide_is_learned():
    previous, lead_bytes, labels, documents = made_up()
    assert roc_auc_score(labels, local_reference(previous, lead_bytes, labels, documents)) > 0.99


def test_labels_of_a_document_do_not_reach_its_own_scores():
    previous, lead_bytes, labels, documents = made_up()
    own = documents == 7
    before = local_reference(previous, lead_bytes, labels, documents)
    after = local_reference(previous, lead_bytes, labels ^ own, documents)
    assert np.array_equal(before[own], after[own])
    assert not np.array_equal(before, after)


def test_where_there_is_nothing_to_learn_it_finds_nothing():
    previous, lead_bytes, labels, documents = made_up(n_documents=60)
    labels = np.random.default_rng(2).random(len(labels)) < 0.5
    area = roc_auc_score(labels, local_reference(previous, lead_bytes, labels, documents))
    assert area == pytest.approx(0.5, abs=0.05)


@pytest.mark.parametrize("n_documents", [0, 1])
def test_below_two_documents_it_is_undefined(n_documents):
    scores = local_reference(*made_up(n_documents=n_documents))
    assert np.isnan(scores).all()
