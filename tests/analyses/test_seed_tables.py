import pytest
from scipy import stats

from interp.analyses.seed_tables import paired_values, rank_rows, seed_rows


def test_rows_of_three_seeds_their_mean_and_sd():
    rows = seed_rows("rope", {0: 1.0, 1: 2.0, 2: 6.0}, "loss", {"group": "band"})
    assert [row["checkpoint"] for row in rows[:3]] == ["rope-seed0", "rope-seed1", "rope-seed2"]
    mean, sd = rows[3:]
    assert (mean["statistic"], mean["value"], mean["n"]) == ("mean_loss", 3.0, 3)
    ends = stats.t.interval(0.95, 2, loc=3, scale=stats.sem([1, 2, 6]))
    assert (mean["low"], mean["high"]) == pytest.approx(ends)
    assert (sd["statistic"], sd["value"]) == ("sd_loss", pytest.approx(7**0.5))
    assert {row["group"] for row in rows} == {"band"}


def test_of_one_seed_neither_interval_nor_sd_is_defined():
    _, mean, sd = seed_rows("rope", {4: 1.0}, "loss", {})
    assert (mean["value"], mean["low"]) == (1.0, None)
    assert sd["value"] is None
    assert sd["note"] == "not defined: fewer than two seeds"


def test_pairs_are_of_the_seeds_that_both_have():
    assert paired_values({0: 3.0, 1: 5.0}, {1: 4.0, 2: 1.0}) == {1: 1.0}


def test_ranks_are_those_of_scipy_seed_by_seed():
    values = {"a": {0: 2.0, 1: 3.0}, "b": {0: 1.0, 1: 3.0}, "c": {1: 1.0}}
    rows = rank_rows(values, {})
    found = {row["checkpoint"]: row["value"] for row in rows}
    assert found == {
        "a-seed0": 2,
        "b-seed0": 1,
        **dict(zip(("a-seed1", "b-seed1", "c-seed1"), stats.rankdata([3, 3, 1]), strict=True)),
    }
    assert [row["n"] for row in rows] == [2, 2, 3, 3, 3]
