import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_gaps import clustered_gaps, small_gaps, with_second_score
from scipy.special import stdtrit
from sklearn.metrics import roc_auc_score

from interp.analyses.statistics import clustered_auc, paired_auc_difference


def two_scores(rng, n_documents, **spread):
    labels, first, documents = clustered_gaps(rng, n_documents, **spread)
    return labels, first, with_second_score(rng, labels, first), documents


def delong_variance(labels, first, second):
    """The variance of the difference for independent gaps, from the paper's own formula."""
    parts = []
    for scores in (first, second):
        wins = np.sign(scores[labels][:, None] - scores[~labels][None, :]) / 2 + 0.5
        parts.append((wins.mean(axis=1), wins.mean(axis=0)))
    (true_1, false_1), (true_2, false_2) = parts
    of_true = np.var(true_1 - true_2, ddof=1) / len(true_1)
    return of_true + np.var(false_1 - false_2, ddof=1) / len(false_1)


def test_difference_by_hand():
    # the first orders 3 of 4 pairs and half of the fourth, the second none
    labels = np.array([True, False, True, False])
    first, second = np.array([3.0, 1.0, 2.0, 2.0]), np.array([0.0, 1.0, 0.0, 1.0])
    found = paired_auc_difference(labels, first, second, np.array([0, 0, 1, 1]))
    assert found.value == 0.875
    assert (found.n, found.n_documents) == (4, 2)


def test_for_independent_gaps_it_is_delongs_up_to_its_factors():
    rng = np.random.default_rng(0)
    labels, first, second, _ = two_scores(rng, 30, spread=0.0)
    found = paired_auc_difference(labels, first, second, np.arange(len(labels)))
    error = (found.high - found.value) / stdtrit(len(labels) - 1, 0.975)
    assert found.value == pytest.approx(
        roc_auc_score(labels, first) - roc_auc_score(labels, second), abs=1e-12
    )
    assert error == pytest.approx(np.sqrt(delong_variance(labels, first, second)), rel=1e-3)


def test_left_out_differences_equal_scikit_learn_under_thirty_documents():
    labels, first, second, documents = two_scores(np.random.default_rng(1), 12)
    left_out = []
    for kept in (documents != document for document in range(12)):
        areas = [roc_auc_score(labels[kept], scores[kept]) for scores in (first, second)]
        left_out.append(areas[0] - areas[1])
    error = np.sqrt(11 / 12 * ((np.array(left_out) - np.mean(left_out)) ** 2).sum())
    found = paired_auc_difference(labels, first, second, documents)
    assert found.high - found.value == pytest.approx(stdtrit(11, 0.975) * error, abs=1e-12)


def test_interval_is_as_wide_as_a_bootstrap_of_documents_says():
    rng = np.random.default_rng(2)
    labels, first, second, documents = two_scores(rng, 60)
    members = [np.flatnonzero(documents == d) for d in range(60)]
    differences = []
    for _ in range(200):
        own = np.concatenate([members[d] for d in rng.integers(0, 60, 60)])
        differences.append(
            paired_auc_difference(labels[own], first[own], second[own], documents[own]).value
        )
    found = paired_auc_difference(labels, first, second, documents)
    error = (found.high - found.value) / stdtrit(59, 0.975)
    assert error == pytest.approx(np.std(differences), rel=0.15)


@pytest.mark.parametrize("n_documents", [12, 50])
def test_interval_covers_the_true_difference_about_95_times_of_100(n_documents):
    rng = np.random.default_rng(3)
    truth = paired_auc_difference(*two_scores(rng, 4000, mean_length=20)).value
    n_runs, n_covered = 120, 0
    for _ in range(n_runs):
        found = paired_auc_difference(*two_scores(rng, n_documents, mean_length=20))
        n_covered += found.low <= truth <= found.high
    assert n_covered / n_runs >= 0.88


def test_what_is_hard_for_both_cancels_out():
    rng = np.random.default_rng(4)
    labels, first, documents = clustered_gaps(rng, 50)
    second = first + 0.01 * rng.normal(size=len(first))
    paired = paired_auc_difference(labels, first, second, documents)
    alone = clustered_auc(labels, first, documents)
    assert paired.high - paired.low < (alone.high - alone.low) / 20


@settings(max_examples=50)
@given(small_gaps(), st.integers(0, 2**32 - 1))
def test_swapping_and_negating_change_the_sign_and_nothing_else(gaps, seed):
    labels, first, documents = gaps
    second = np.random.default_rng(seed).integers(-2, 3, len(labels)).astype(np.float64)
    found = paired_auc_difference(labels, first, second, documents)
    swapped = paired_auc_difference(labels, second, first, documents)
    negated = paired_auc_difference(~labels, first, second, documents)
    stretched = paired_auc_difference(labels, np.exp(first.astype(float)), second, documents)
    assert -1 <= found.value <= 1
    assert stretched == found
    for other in (swapped, negated):
        assert other.value == pytest.approx(-found.value, abs=1e-12)
        assert (other.low is None) == (found.low is None)
        if found.low is not None:
            assert (other.low, other.high) == pytest.approx((-found.high, -found.low), abs=1e-9)


def test_a_signal_does_not_differ_from_itself():
    labels, first, documents = clustered_gaps(np.random.default_rng(5), 40)
    found = paired_auc_difference(labels, first, 2 * first + 1, documents)
    assert (found.value, found.low) == (0.0, None)
    assert found.note == "no interval: degenerate, both are the same in every document"


def test_undefined_difference_says_whose_scores_they_are():
    labels, documents = np.array([True, False]), np.array([0, 1])
    found = paired_auc_difference(labels, np.array([1.0, 2.0]), np.array([np.nan, 2.0]), documents)
    assert found.value is None
    assert found.note == "not defined: second scores, 1 of 2 scores are undefined"


def test_simultaneous_differences_are_wider_by_the_ratio_of_the_quantiles():
    gaps = two_scores(np.random.default_rng(6), 40)
    alone = paired_auc_difference(*gaps)
    together = paired_auc_difference(*gaps, n_simultaneous=5)
    ratio = stdtrit(39, 1 - 0.025 / 5) / stdtrit(39, 0.975)
    assert together.high - together.value == pytest.approx(ratio * (alone.high - alone.value))
