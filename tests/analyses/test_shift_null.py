import numpy as np
import pytest
from hypothesis import given, settings
from made_gaps import small_gaps
from scipy.stats import rankdata
from sklearn.metrics import roc_auc_score

from interp.analyses.statistics import clustered_auc, shift_null


def alternating(rng, n):
    """Labels that alternate more than chance would have it, as boundaries do."""
    return np.cumsum(rng.random(n) < 0.75) % 2 == 0


def areas_of_all_shifts(labels, scores):
    return np.array([roc_auc_score(np.roll(labels, k), scores) for k in range(len(labels))])


def test_null_by_hand():
    # one boundary in each place in turn: areas 1, 1/2 and 0, so 1 is as far out as 0
    labels, scores = np.array([True, False, False]), np.array([[3.0], [2.0], [1.0]])
    null = shift_null(labels, scores, np.zeros(3, dtype=int), n_shifts=9999)
    assert null.centre.tolist() == [0.5]
    assert (null.low[0], null.high[0]) == (0.0, 1.0)
    assert null.p_value[0] == pytest.approx(2 / 3, abs=0.02)
    assert (null.n, null.n_documents, null.notes) == (3, 1, (None,))
    assert null.method == "9999 circular shifts of the labels within documents"


@pytest.mark.parametrize("n", [2, 17, 60])
def test_one_document_equals_all_shifts_counted_by_scikit_learn(n):
    rng = np.random.default_rng(n)
    labels, scores = alternating(rng, n), rng.normal(size=(n, 2)).round(1)
    labels[:2] = True, False
    null = shift_null(labels, scores, np.full(n, 7), n_shifts=4000)
    for column in range(2):
        areas = areas_of_all_shifts(labels, scores[:, column])
        distances = np.abs(areas - areas.mean()) - 1e-9
        share = np.mean(distances >= distances[0])
        assert null.centre[column] == pytest.approx(areas.mean(), abs=1e-12)
        assert null.p_value[column] == pytest.approx(share, abs=0.04)
        expected = np.quantile(areas, (0.025, 0.975), method="inverted_cdf")
        spacing = 2 * np.diff(np.sort(areas)).max() + 1e-9
        assert null.low[column] == pytest.approx(expected[0], abs=spacing)
        assert null.high[column] == pytest.approx(expected[1], abs=spacing)


def test_shifts_of_several_documents_equal_rolling_the_labels():
    rng = np.random.default_rng(0)
    lengths = [5, 1, 8, 13, 4]
    documents = np.repeat([30, 10, 40, 20, 50], lengths)  # names, and not in order
    n = len(documents)
    labels, scores = alternating(rng, n), rng.normal(size=n)
    labels[documents == 50] = True  # cannot be shifted to anything else
    null = shift_null(labels, scores[:, None], documents, n_shifts=2000, seed=1)
    ranks, n_true, rolled = rankdata(scores), labels.sum(), []
    for _ in range(2000):
        shifted = labels.copy()
        for document in np.unique(documents):
            own = documents == document
            shifted[own] = np.roll(labels[own], rng.integers(own.sum()))
        wins = ranks[shifted].sum() - n_true * (n_true + 1) / 2
        rolled.append(wins / (n_true * (n - n_true)))
    assert null.centre[0] == pytest.approx(np.mean(rolled), abs=4 * np.std(rolled) / 2000**0.5)
    assert null.low[0] == pytest.approx(np.quantile(rolled, 0.025), abs=0.2 * np.std(rolled))
    assert null.high[0] == pytest.approx(np.quantile(rolled, 0.975), abs=0.2 * np.std(rolled))


def test_p_is_uniform_without_and_small_with_an_effect():
    rng = np.random.default_rng(2)
    documents = np.repeat(np.arange(6), 20)
    nulls = [
        shift_null(alternating(rng, 120), rng.normal(size=(120, 1)), documents, n_shifts=99)
        for _ in range(150)
    ]
    p_values = np.array([null.p_value[0] for null in nulls])
    assert 0.01 <= np.mean(p_values <= 0.05) <= 0.11
    assert 0.4 <= p_values.mean() <= 0.6
    labels = alternating(rng, 120)
    seen = shift_null(labels, (labels + rng.normal(size=120))[:, None], documents)
    assert seen.p_value[0] < 0.01
    below = shift_null(labels, (rng.normal(size=120) - labels)[:, None], documents)
    assert below.p_value[0] < 0.01


def test_differences_between_documents_move_the_centre_away_from_half():
    rng = np.random.default_rng(3)
    documents = np.repeat(np.arange(20), 50)
    level = rng.random(20)[documents]
    labels = rng.random(1000) < level
    null = shift_null(labels, (level + 0.5 * rng.normal(size=1000))[:, None], documents)
    assert null.low[0] > 0.55
    assert null.p_value[0] > 0.01


def test_sums_of_a_long_document_are_exact():
    rng = np.random.default_rng(4)
    n = 100_003  # a prime, the hardest length
    labels, scores = alternating(rng, n), rng.normal(size=n).round(3)
    null = shift_null(labels, scores[:, None], np.zeros(n, dtype=int), n_shifts=1, seed=5)
    by = np.random.default_rng(5).integers(n, size=1)[0]
    expected = clustered_auc(np.roll(labels, by), scores, np.zeros(n, dtype=int)).value
    assert null.low[0] == pytest.approx(expected, abs=1e-15)


@settings(max_examples=50)
@given(small_gaps())
def test_null_depends_on_the_order_alone_and_complements_under_negation(gaps):
    labels, scores, documents = gaps
    columns = np.stack([scores.astype(float), np.exp(scores.astype(float)), -scores], axis=1)
    null = shift_null(labels, columns, documents, n_shifts=49)
    other = shift_null(~labels, columns, documents, n_shifts=49)
    if null.notes[0]:
        assert null.notes == (null.notes[0],) * 3 == other.notes
        assert np.isnan(np.stack([null.centre, null.low, null.high, null.p_value])).all()
        return
    assert null.p_value[0] == null.p_value[1] == null.p_value[2] == other.p_value[0]
    assert null.centre[0] == null.centre[1]
    assert null.centre[2] == pytest.approx(1 - null.centre[0], abs=1e-12)
    assert other.centre[0] == pytest.approx(1 - null.centre[0], abs=1e-12)
    assert null.low[2] == pytest.approx(1 - null.high[0], abs=1e-12)
    assert 0 <= null.low[0] <= null.high[0] <= 1
    assert 1 / 50 <= null.p_value[0] <= 1


def test_undefined_columns_say_why_and_leave_the_others_alone():
    rng = np.random.default_rng(6)
    labels, documents = alternating(rng, 60), np.arange(60) // 20
    scores = rng.normal(size=(60, 3))
    alone = shift_null(labels, scores[:, 2:], documents)
    scores[3, 0], scores[:, 1] = np.nan, 1.0
    null = shift_null(labels, scores, documents)
    assert null.notes == (
        "not defined: 1 of 60 scores are undefined",
        "not defined: no shift changes the area",
        None,
    )
    assert np.isnan(null.p_value).tolist() == [True, True, False]
    assert (null.centre[2], null.p_value[2]) == (alone.centre[0], alone.p_value[0])


@pytest.mark.parametrize(
    ("labels", "documents", "reason"),
    [
        ([], [], "no gaps"),
        ([True, True], [0, 0], "every gap is a boundary"),
        ([True, False, True], [0, 1, 2], "no shift changes the area"),
    ],
)
def test_labels_without_a_null_say_why(labels, documents, reason):
    labels, documents = np.array(labels, dtype=bool), np.array(documents, dtype=np.int64)
    null = shift_null(labels, np.arange(len(labels), dtype=float)[:, None], documents)
    assert reason in null.notes[0]
    assert np.isnan(null.p_value[0])


def test_the_seed_decides():
    rng = np.random.default_rng(7)
    gaps = alternating(rng, 90), rng.normal(size=(90, 1)), np.arange(90) // 30
    first, again = shift_null(*gaps, seed=1), shift_null(*gaps, seed=1)
    other = shift_null(*gaps, seed=2)
    assert (first.low, first.high, first.p_value) == (again.low, again.high, again.p_value)
    assert first.centre == other.centre
    assert (first.low, first.high) != (other.low, other.high)
