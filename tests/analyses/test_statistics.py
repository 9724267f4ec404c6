import numpy as np
import pytest
from hypothesis import given
from made_gaps import clustered_gaps, small_gaps
from scipy.special import stdtrit
from sklearn.metrics import roc_auc_score

from interp.analyses.statistics import (
    Estimate,
    clustered_auc,
    clustered_mean,
    tied_pair_share,
)


def test_auc_by_hand():
    # pairs (boundary, other): 3 > 1, 3 > 2, 2 > 1, 2 = 2: (1 + 1 + 1 + 1/2) / 4
    labels = np.array([True, False, True, False])
    scores = np.array([3.0, 1.0, 2.0, 2.0])
    estimate = clustered_auc(labels, scores, np.array([0, 0, 1, 1]))
    assert estimate.value == 0.875
    assert (estimate.n, estimate.n_documents) == (4, 2)
    assert tied_pair_share(labels, scores).value == 0.25


def test_jackknife_by_hand():
    # without document 0: 2 against 2, area 1/2; without 1: 3 against 1, area 1; without 2: 0.875
    labels = np.array([True, False, True, False, True, False])
    scores = np.array([3.0, 1.0, 2.0, 2.0, 2.0, 2.0])
    documents = np.array([0, 0, 1, 1, 2, 2])
    estimate = clustered_auc(labels, scores, documents)
    left_out = [roc_auc_score(labels[documents != d], scores[documents != d]) for d in range(3)]
    error = np.sqrt(2 / 3 * sum((a - np.mean(left_out)) ** 2 for a in left_out))
    half_width = stdtrit(2, 0.975) * error
    assert estimate.low == pytest.approx(max(0, estimate.value - half_width), abs=1e-12)
    assert estimate.high == pytest.approx(min(1, estimate.value + half_width), abs=1e-12)
    assert "jackknife" in estimate.method
    assert "unreliable" in estimate.note


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_auc_equals_scikit_learn(dtype):
    rng = np.random.default_rng(0)
    for decimals in (0, 1, 6):
        labels, scores, documents = clustered_gaps(rng, 50)
        scores = scores.round(decimals).astype(dtype)
        expected = roc_auc_score(labels, scores)
        assert clustered_auc(labels, scores, documents).value == pytest.approx(expected, abs=1e-12)


def test_left_out_areas_equal_scikit_learn_under_thirty_documents():
    rng = np.random.default_rng(1)
    labels, scores, documents = clustered_gaps(rng, 12)
    scores = scores.round(1)
    left_out = np.array(
        [roc_auc_score(labels[documents != d], scores[documents != d]) for d in range(12)]
    )
    error = np.sqrt(11 / 12 * ((left_out - left_out.mean()) ** 2).sum())
    estimate = clustered_auc(labels, scores, documents)
    assert estimate.high - estimate.value == pytest.approx(stdtrit(11, 0.975) * error, abs=1e-12)


@pytest.mark.parametrize("n_documents", [15, 60])
def test_interval_is_as_wide_as_a_bootstrap_of_documents_says(n_documents):
    rng = np.random.default_rng(2)
    labels, scores, documents = clustered_gaps(rng, n_documents)
    members = [np.flatnonzero(documents == d) for d in range(n_documents)]
    areas = []
    for _ in range(400):
        drawn = np.concatenate([members[d] for d in rng.integers(0, n_documents, n_documents)])
        areas.append(clustered_auc(labels[drawn], scores[drawn], documents[drawn]).value)
    estimate = clustered_auc(labels, scores, documents)
    error = (estimate.high - estimate.low) / 2 / stdtrit(n_documents - 1, 0.975)
    assert error == pytest.approx(np.std(areas), rel=0.15)


@pytest.mark.parametrize("n_documents", [12, 50])
def test_interval_covers_the_true_area_about_95_times_of_100(n_documents):
    rng = np.random.default_rng(3)
    truth = clustered_auc(*clustered_gaps(rng, 6000, mean_length=20)).value
    n_runs, n_covered = 200, 0
    for _ in range(n_runs):
        estimate = clustered_auc(*clustered_gaps(rng, n_documents, mean_length=20))
        n_covered += estimate.low <= truth <= estimate.high
    assert 0.89 <= n_covered / n_runs <= 0.99


def test_numbers_of_documents_are_only_names():
    labels, scores, documents = clustered_gaps(np.random.default_rng(4), 40)
    estimate = clustered_auc(labels, scores, documents)
    renamed = clustered_auc(labels, scores, 1000 - 7 * documents)
    assert estimate.value == renamed.value
    assert (renamed.low, renamed.high) == pytest.approx((estimate.low, estimate.high), abs=1e-12)


@given(small_gaps())
def test_auc_is_within_bounds_and_complements_under_negation(gaps):
    labels, scores, documents = gaps
    estimate = clustered_auc(labels, scores, documents)
    negated = clustered_auc(labels, -scores, documents)
    assert 0 <= estimate.value <= 1
    assert negated.value == pytest.approx(1 - estimate.value, abs=1e-12)
    assert estimate.value == pytest.approx(roc_auc_score(labels, scores), abs=1e-12)
    assert 0 <= tied_pair_share(labels, scores).value <= 1
    assert (estimate.low is None) == (negated.low is None)
    if estimate.low is None:
        assert "no interval" in estimate.note
    else:
        assert 0 <= estimate.low <= estimate.value <= estimate.high <= 1
        assert negated.low == pytest.approx(1 - estimate.high, abs=1e-9)


@given(small_gaps())
def test_auc_depends_on_the_order_of_scores_alone(gaps):
    labels, scores, documents = gaps
    stretched = np.exp(scores.astype(np.float64))
    assert clustered_auc(labels, scores, documents) == clustered_auc(labels, stretched, documents)


def test_auc_of_infinite_scores_is_that_of_their_order():
    labels = np.array([False, True, False, True])
    scores = np.array([-np.inf, np.inf, 0.0, 1.0])
    assert clustered_auc(labels, scores, np.array([0, 0, 1, 1])).value == 1.0


@pytest.mark.parametrize(
    ("labels", "scores", "reason"),
    [
        ([], [], "no gaps"),
        ([True, True], [1.0, 2.0], "every gap is a boundary"),
        ([False, False], [1.0, 2.0], "no gap is a boundary"),
        ([True, False], [1.0, np.nan], "1 of 2 scores are undefined"),
    ],
)
def test_undefined_auc_is_null_with_its_reason(labels, scores, reason):
    labels, scores = np.array(labels, dtype=bool), np.array(scores, dtype=np.float32)
    documents = np.arange(len(labels))
    for estimate in (clustered_auc(labels, scores, documents), tied_pair_share(labels, scores)):
        assert estimate.value is None
        assert reason in estimate.note
        assert estimate.n == len(labels)


def test_one_document_has_a_value_but_no_interval():
    estimate = clustered_auc(np.array([True, False]), np.array([1.0, 1.5]), np.array([4, 4]))
    assert (estimate.value, estimate.low, estimate.n_documents) == (0.0, None, 1)


def test_auc_of_one_document_says_so():
    labels, scores, documents = clustered_gaps(np.random.default_rng(5), 1)
    estimate = clustered_auc(labels, scores, documents)
    assert 0 < estimate.value < 1
    assert (estimate.low, estimate.note) == (None, "no interval: one document only")


def test_auc_is_half_and_degenerate_when_all_scores_tie():
    labels = np.arange(80) % 3 == 0
    estimate = clustered_auc(labels, np.ones(80, dtype=np.float32), np.arange(80) // 2)
    assert (estimate.value, estimate.low) == (0.5, None)
    assert "degenerate" in estimate.note
    assert tied_pair_share(labels, np.ones(80)).value == 1.0


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_perfect_scores_are_degenerate_and_not_flipped(sign):
    labels = np.arange(80) % 3 == 0
    estimate = clustered_auc(labels, sign * labels.astype(float), np.arange(80) // 2)
    assert estimate.value == (1.0 if sign > 0 else 0.0)
    assert "degenerate" in estimate.note
    assert estimate.low is None


def test_interval_is_undefined_when_one_document_holds_a_class():
    labels = np.array([True, False, False, False])
    estimate = clustered_auc(labels, np.array([1.0, 2.0, 0.0, 3.0]), np.array([0, 0, 1, 1]))
    assert estimate.value == pytest.approx(1 / 3)
    assert estimate.note == "no interval: not defined without one of the documents"


def test_unreliable_below_twenty_documents():
    rng = np.random.default_rng(6)
    assert "unreliable" in clustered_auc(*clustered_gaps(rng, 19)).note
    assert clustered_auc(*clustered_gaps(rng, 20)).note is None


def test_clustered_mean_by_hand():
    # document means 1, 2 and 4 of 1, 2 and 1 observations: (1 + 4 + 4) / 4
    estimate = clustered_mean(np.array([1.0, 4.0, 4.0]), np.array([1, 2, 1]))
    left_out = np.array([8 / 3, 5 / 2, 5 / 3])
    error = np.sqrt(2 / 3 * ((left_out - left_out.mean()) ** 2).sum())
    assert estimate.value == 2.25
    assert estimate.high == pytest.approx(2.25 + stdtrit(2, 0.975) * error, abs=1e-12)
    assert (estimate.n, estimate.n_documents) == (4, 3)


def test_clustered_mean_of_equal_documents_has_the_textbook_interval():
    sums = np.random.default_rng(7).normal(size=50)
    estimate = clustered_mean(sums, np.ones(50, dtype=np.int64))
    error = sums.std(ddof=1) / np.sqrt(50)
    assert estimate.value == pytest.approx(sums.mean(), abs=1e-12)
    assert estimate.high - estimate.value == pytest.approx(stdtrit(49, 0.975) * error, abs=1e-12)


def test_the_interval_of_a_share_stays_within_0_and_1():
    low = clustered_mean(np.array([0.0, 0.0, 3.0]), np.array([9, 9, 9]), limits=(0.0, 1.0))
    high = clustered_mean(np.array([9.0, 9.0, 6.0]), np.array([9, 9, 9]), limits=(0.0, 1.0))
    assert low.low == 0.0
    assert high.high == 1.0
    assert clustered_mean(np.array([0.0, 0.0, 3.0]), np.array([9, 9, 9])).low < 0


def test_documents_without_observations_do_not_count():
    with_empty = clustered_mean(np.array([1.0, 0.0, 5.0]), np.array([1, 0, 2]))
    assert with_empty == clustered_mean(np.array([1.0, 5.0]), np.array([1, 2]))
    assert with_empty.n_documents == 2


def test_undefined_means_are_null_with_their_reason():
    empty = clustered_mean(np.array([0.0]), np.array([0]))
    infinite = clustered_mean(np.array([np.inf, 1.0]), np.array([2, 2]))
    constant = clustered_mean(np.array([2.0, 4.0]), np.array([1, 2]))
    assert (empty.value, empty.note) == (None, "not defined: no observations")
    assert (infinite.value, infinite.note) == (None, "not defined: not all values are finite")
    assert (constant.value, constant.low) == (2.0, None)
    assert "degenerate" in constant.note


@pytest.mark.parametrize(
    "arguments",
    [
        {"value": None},
        {"value": 1.0, "low": 0.5},
        {"value": 1.0, "low": 1.5, "high": 2.0},
        {"value": None, "low": 0.0, "high": 1.0, "note": "no"},
    ],
)
def test_impossible_estimates_are_refused(arguments):
    with pytest.raises(ValueError, match="estimate"):
        Estimate(**arguments)


@pytest.mark.parametrize("n_documents", [12, 60])
def test_simultaneous_intervals_are_wider_by_the_ratio_of_the_quantiles(n_documents):
    labels, scores, documents = clustered_gaps(np.random.default_rng(2), n_documents)
    alone = clustered_auc(labels, scores, documents)
    together = clustered_auc(labels, scores, documents, n_simultaneous=6)
    assert together.value == alone.value
    ratio = stdtrit(n_documents - 1, 1 - 0.025 / 6) / stdtrit(n_documents - 1, 0.975)
    assert together.high - together.value == pytest.approx(ratio * (alone.high - alone.value))
    assert together.method == f"{alone.method}, simultaneous for 6"
