import numpy as np
import pytest
from scipy import stats

from interp.analyses.statistics import clustered_mean, paired_difference


def test_difference_by_hand():
    # (10 - 8) + (20 - 25) nats over 4 + 6 bytes
    found = paired_difference(np.array([10.0, 20.0]), np.array([8.0, 25.0]), np.array([4, 6]))
    assert found.value == pytest.approx(-0.3)
    assert (found.n, found.n_documents) == (10, 2)


def test_documents_of_one_size_give_the_paired_t_interval():
    rng = np.random.default_rng(0)
    first, second = rng.normal(50, 9, 40), rng.normal(50, 9, 40)
    found = paired_difference(first, second, np.full(40, 25))
    expected = stats.ttest_rel(first / 25, second / 25).confidence_interval(0.95)
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high))


def test_what_is_hard_for_both_cancels_out():
    rng = np.random.default_rng(0)
    counts = rng.integers(50, 150, 60)
    hardness = rng.normal(2, 0.5, 60) * counts
    first, second = hardness + 0.01 * counts + rng.normal(0, 0.1, 60), hardness
    paired = paired_difference(first, second, counts)
    alone = clustered_mean(first, counts)
    assert paired.value == pytest.approx(0.01, abs=1e-3)
    assert paired.high - paired.low < (alone.high - alone.low) / 50


def test_the_other_way_round_it_is_the_negative():
    rng = np.random.default_rng(1)
    first, second, counts = rng.normal(size=25), rng.normal(size=25), rng.integers(1, 9, 25)
    one = paired_difference(first, second, counts)
    other = paired_difference(second, first, counts)
    assert (one.low, one.value, one.high) == pytest.approx((-other.high, -other.value, -other.low))


def test_texts_that_are_not_the_same_are_refused():
    with pytest.raises(ValueError, match="2, 3 and 2 documents"):
        paired_difference(np.zeros(2), np.zeros(3), np.ones(2, dtype=np.int64))
