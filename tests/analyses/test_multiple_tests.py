import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from interp.analyses.statistics import holm


def test_holm_by_hand():
    # 0.01 x 4, 0.02 x 3, then 0.03 x 2 = 0.06 as well, and 0.04 x 1 is not below the one before
    adjusted = holm(np.array([0.04, 0.01, 0.03, 0.02]))
    assert adjusted.tolist() == pytest.approx([0.06, 0.04, 0.06, 0.06])


def test_holm_stops_at_one():
    assert holm(np.array([0.6, 0.7, 0.4])).tolist() == [1.0, 1.0, 1.0]


def test_undefined_stays_undefined_and_does_not_count():
    adjusted = holm(np.array([0.01, np.nan, 0.04]))
    assert adjusted[[0, 2]].tolist() == pytest.approx([0.02, 0.04])
    assert np.isnan(adjusted[1])
    assert np.isnan(holm(np.array([np.nan]))).all()
    assert len(holm(np.zeros(0))) == 0


def test_impossible_p_values_are_refused():
    with pytest.raises(ValueError, match="outside 0 to 1"):
        holm(np.array([0.5, 1.5]))


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_holm_lies_between_the_p_value_and_bonferronis_and_keeps_the_order(p_values):
    p_values = np.array(p_values)
    adjusted = holm(p_values)
    assert (adjusted >= p_values).all()
    assert (adjusted <= np.minimum(1, len(p_values) * p_values)).all()
    assert (np.diff(adjusted[np.argsort(p_values, kind="stable")]) >= 0).all()
    # the closed test: rejected is what Bonferroni rejects in every set that it is part of
    smallest = np.argmin(p_values)
    assert adjusted[smallest] == min(1, len(p_values) * p_values[smallest])


def test_at_most_5_of_100_families_reject_anything_that_is_true():
    rng = np.random.default_rng(0)
    n_wrong = sum(holm(rng.random(6)).min() <= 0.05 for _ in range(2000))
    assert 0.035 <= n_wrong / 2000 <= 0.065
