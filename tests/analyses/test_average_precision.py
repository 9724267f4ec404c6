import numpy as np
import pytest
from hypothesis import given, settings
from made_gaps import clustered_gaps, small_gaps
from scipy.special import stdtrit
from sklearn.metrics import average_precision_score

from interp.analyses.statistics import average_precision, clustered_mean


def test_average_precision_by_hand():
    # 3: 1 of 1; 2: 2 of 3 (a tie is one step); 1: nothing more to find
    labels = np.array([True, False, True, False])
    scores = np.array([3.0, 1.0, 2.0, 2.0])
    estimate = average_precision(labels, scores, np.array([0, 0, 1, 1]))
    assert estimate.value == pytest.approx((1 + 2 / 3) / 2, abs=1e-15)
    assert (estimate.n, estimate.n_documents) == (4, 2)


@pytest.mark.parametrize("decimals", [0, 1, 6])
def test_average_precision_equals_scikit_learn(decimals):
    labels, scores, documents = clustered_gaps(np.random.default_rng(0), 50)
    scores = scores.round(decimals).astype(np.float32)
    expected = average_precision_score(labels, scores)
    assert average_precision(labels, scores, documents).value == pytest.approx(expected, abs=1e-12)


def test_values_with_a_document_left_out_equal_scikit_learn_under_thirty_documents():
    labels, scores, documents = clustered_gaps(np.random.default_rng(1), 12)
    scores = scores.round(1)
    left_out = np.array(
        [average_precision_score(labels[documents != d], scores[documents != d]) for d in range(12)]
    )
    error = np.sqrt(11 / 12 * ((left_out - left_out.mean()) ** 2).sum())
    estimate = average_precision(labels, scores, documents)
    assert estimate.high - estimate.value == pytest.approx(stdtrit(11, 0.975) * error, abs=1e-12)
    assert "jackknife" in estimate.method


def test_closed_form_is_the_derivative_with_respect_to_each_documents_weight():
    labels, scores, documents = clustered_gaps(np.random.default_rng(2), 40, mean_length=10)
    scores = scores.round(1)
    changes = []
    for document in range(40):
        ends = [
            average_precision_score(
                labels, scores, sample_weight=np.where(documents == document, 1 + step, 1.0)
            )
            for step in (-1e-4, 1e-4)
        ]
        changes.append((ends[1] - ends[0]) / 2e-4)
    error = np.sqrt(40 / 39 * (np.array(changes) ** 2).sum())
    estimate = average_precision(labels, scores, documents)
    assert estimate.high - estimate.value == pytest.approx(stdtrit(39, 0.975) * error, rel=1e-5)
    assert "closed form" in estimate.method


def test_constant_scores_give_the_base_rate_with_its_own_interval():
    labels, _, documents = clustered_gaps(np.random.default_rng(3), 40)
    base_rate = clustered_mean(np.bincount(documents, labels), np.bincount(documents))
    estimate = average_precision(labels, np.zeros(len(labels)), documents)
    assert estimate.value == pytest.approx(base_rate.value, abs=1e-12)
    assert (estimate.low, estimate.high) == pytest.approx((base_rate.low, base_rate.high), abs=1e-9)


@pytest.mark.parametrize("n_documents", [12, 50])
def test_interval_covers_the_true_value_about_95_times_of_100(n_documents):
    rng = np.random.default_rng(4)
    truth = average_precision(*clustered_gaps(rng, 4000, mean_length=20)).value
    n_runs, n_covered = 120, 0
    for _ in range(n_runs):
        estimate = average_precision(*clustered_gaps(rng, n_documents, mean_length=20))
        n_covered += estimate.low <= truth <= estimate.high
    assert n_covered / n_runs >= 0.88


@settings(max_examples=50)
@given(small_gaps())
def test_it_is_within_bounds_and_depends_on_the_order_of_scores_alone(gaps):
    labels, scores, documents = gaps
    estimate = average_precision(labels, scores, documents)
    assert 0 < estimate.value <= 1
    assert estimate.value == pytest.approx(average_precision_score(labels, scores), abs=1e-12)
    stretched = np.exp(scores.astype(np.float64))
    assert average_precision(labels, stretched, documents) == estimate
    if estimate.low is None:
        assert "no interval" in estimate.note
    else:
        assert 0 <= estimate.low <= estimate.value <= estimate.high <= 1


@pytest.mark.parametrize(
    ("labels", "scores", "reason"),
    [
        ([], [], "no gaps"),
        ([True, True], [1.0, 2.0], "every gap is a boundary"),
        ([False, False], [1.0, 2.0], "no gap is a boundary"),
        ([True, False], [1.0, np.nan], "1 of 2 scores are undefined"),
    ],
)
def test_undefined_is_null_with_its_reason(labels, scores, reason):
    labels, scores = np.array(labels, dtype=bool), np.array(scores, dtype=np.float32)
    estimate = average_precision(labels, scores, np.arange(len(labels)))
    assert estimate.value is None
    assert reason in estimate.note


def test_no_interval_where_there_is_no_spread_to_see():
    labels, documents = np.arange(80) % 3 == 0, np.arange(80) // 2
    perfect = average_precision(labels, labels.astype(float), documents)
    assert (perfect.value, perfect.low) == (1.0, None)
    assert "degenerate" in perfect.note
    alone = average_precision(labels, np.arange(80.0), np.zeros(80, dtype=int))
    assert alone.note == "no interval: one document only"
    held_by_one = average_precision(
        np.array([True, False, False]), np.array([1.0, 2.0, 0.0]), np.array([0, 0, 1])
    )
    assert held_by_one.note == "no interval: not defined without one of the documents"
