import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from interp.analyses.seeds import equivalence, seed_interval

values_of_seeds = st.lists(st.floats(-1, 1), min_size=2, max_size=6).filter(
    lambda values: np.std(values) > 1e-6
)


def test_interval_of_three_seeds_by_hand():
    # mean 2, standard error 1 / sqrt(3), t(2) quantile 4.3027
    estimate = seed_interval([1.0, 2.0, 3.0])
    assert estimate.value == 2.0
    assert estimate.high == pytest.approx(2 + 4.302653 / np.sqrt(3), abs=1e-6)
    assert estimate.low == pytest.approx(2 - 4.302653 / np.sqrt(3), abs=1e-6)
    assert (estimate.n, estimate.method) == (3, "t(2) over seeds")


def test_equivalence_by_hand():
    # mean 0, standard error 1: both tests ask how far 4.3027 lies out in t(2): 2.5 %
    found = equivalence([-np.sqrt(3), 0.0, np.sqrt(3)], 4.302653)
    assert found.p_value == pytest.approx(0.025, abs=1e-6)
    assert found.is_shown


@given(values_of_seeds)
def test_interval_is_that_of_scipy(values):
    expected = stats.ttest_1samp(values, 0).confidence_interval(0.95)
    estimate = seed_interval(values)
    assert (estimate.low, estimate.high) == pytest.approx((expected.low, expected.high))


@given(values_of_seeds, st.floats(0.01, 2))
def test_equivalence_is_the_larger_p_of_two_one_sided_tests(values, margin):
    above = stats.ttest_1samp(values, -margin, alternative="greater").pvalue
    below = stats.ttest_1samp(values, margin, alternative="less").pvalue
    assert equivalence(values, margin).p_value == pytest.approx(max(above, below), abs=1e-9)


@given(values_of_seeds, st.floats(0.01, 2))
def test_equivalence_is_shown_exactly_where_the_90_percent_interval_is_inside(values, margin):
    inside = stats.ttest_1samp(values, 0).confidence_interval(0.90)
    found = equivalence(values, margin)
    assert found.is_shown == (-margin < inside.low and inside.high < margin)


@given(values_of_seeds, st.floats(0.01, 2))
def test_the_sign_of_all_values_changes_nothing(values, margin):
    mirrored = [-value for value in values]
    assert equivalence(mirrored, margin).p_value == pytest.approx(
        equivalence(values, margin).p_value
    )
    one, other = seed_interval(values), seed_interval(mirrored)
    assert (one.low, one.high) == pytest.approx((-other.high, -other.low))


@pytest.mark.parametrize(
    ("values", "note"),
    [
        ([], "not defined: no runs"),
        ([0.3], "no interval: one run only"),
        ([0.3, 0.3], "no interval: degenerate, the runs do not differ"),
    ],
)
def test_what_few_or_equal_runs_cannot_tell_is_not_told(values, note):
    estimate = seed_interval(values)
    assert (estimate.low, estimate.note) == (None, note)
    found = equivalence(values, 1.0)
    assert found.p_value is None
    assert not found.is_shown
    assert found.note.startswith("not defined")


def test_a_margin_that_is_none_is_refused():
    with pytest.raises(ValueError, match="must be above 0"):
        equivalence([1.0, 2.0], 0.0)
