import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from interp.analyses.matching import match, standardised_difference


def test_partners_by_hand():
    offered = np.array([[0.0], [2.0], [4.0]])  # a standard deviation of 1.633
    wanted = np.array([[2.1], [0.1], [40.0]])
    found = match(wanted, offered)
    assert found.partner.tolist() == [1, 0, -1]
    assert found.distance[:2] == pytest.approx([0.1 / offered.std()] * 2)
    assert np.isnan(found.distance[2])
    before = standardised_difference(wanted, offered)
    assert before == pytest.approx([(42.2 / 3 - 2) / offered.std()])
    assert standardised_difference(wanted, offered, found) == pytest.approx([0.1 / offered.std()])


def test_as_many_as_can_be_matched_come_before_as_near_as_can_be():
    # alone the first would take the offer at 0, which is the only one near enough to the second
    offered = np.array([[0.0], [0.3], [10.0]])
    found = match(np.array([[0.05], [-0.5]]), offered, caliper=0.6 / offered.std())
    assert found.partner.tolist() == [1, 0]


def test_nothing_near_is_no_match_and_no_difference():
    offered = np.array([[0.0, 1.0], [1.0, 1.0]])  # the second does not vary
    wanted = np.array([[0.0, 9.0]])
    found = match(wanted, offered)
    assert not found.is_matched.any()
    assert np.isnan(standardised_difference(wanted, offered, found)).all()
    assert standardised_difference(wanted, offered).tolist() == [-1.0, 8.0]


numbers = st.lists(st.floats(-3, 3), min_size=1, max_size=12).map(lambda x: np.array(x)[:, None])


@given(wanted=numbers, offered=numbers)
def test_no_partner_is_taken_twice_or_beyond_the_caliper(wanted, offered):
    found = match(wanted, offered, caliper=0.5)
    taken = found.partner[found.is_matched]
    assert len(set(taken.tolist())) == len(taken)
    assert (found.distance[found.is_matched] <= 0.5).all()
    order = np.random.default_rng(0).permutation(len(wanted))
    again = match(wanted[order], offered, caliper=0.5)
    assert np.nansum(again.distance) == pytest.approx(np.nansum(found.distance))
    assert again.is_matched.sum() == found.is_matched.sum()
