from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from interp.analyses.statistics import spearman, wilcoxon_signed_rank


def test_signed_ranks_by_hand():
    # of the 2^5 signs of the ranks 1 to 5 only all + and all - are as far out
    found = wilcoxon_signed_rank(np.array([1.0, 2.0, 3.0, 4.0, 5.0]))
    assert found.p_value.value == pytest.approx(2 / 32)
    assert (found.median.value, found.share_positive.value) == (3.0, 1.0)
    assert found.median.note == "no interval: fewer than 6 pairs"
    assert found.p_value.method == "Wilcoxon's signed ranks, exact"


def test_exact_p_counts_all_signs():
    differences = np.random.default_rng(0).normal(0.5, 1, 9)
    ranks = stats.rankdata(np.abs(differences))
    sums = np.array([ranks @ np.array(signs) for signs in product([0, 1], repeat=9)])
    observed = ranks @ (differences > 0)
    middle = ranks.sum() / 2
    expected = np.mean(np.abs(sums - middle) >= abs(observed - middle))
    assert wilcoxon_signed_rank(differences).p_value.value == pytest.approx(expected)


def test_ties_and_many_pairs_take_scipys_normal_approximation():
    differences = np.random.default_rng(1).normal(0.2, 1, 120)
    for given_ in (differences, differences[:20].round(1)):
        found = wilcoxon_signed_rank(given_).p_value
        expected = stats.wilcoxon(given_[given_ != 0], method="asymptotic").pvalue
        assert found.value == pytest.approx(expected)
        assert "normal approximation" in found.method


def test_zeros_are_left_out_of_the_test_and_count_in_the_median():
    with_zeros = wilcoxon_signed_rank(np.array([0.0, 0.0, 0.0, 1.0, 2.0, 3.0, -4.0]))
    without = wilcoxon_signed_rank(np.array([1.0, 2.0, 3.0, -4.0]))
    assert with_zeros.p_value.value == without.p_value.value
    assert with_zeros.p_value.note == "3 of 7 differences are 0 and left out"
    assert (with_zeros.p_value.n, with_zeros.median.n) == (4, 7)
    assert (with_zeros.median.value, without.median.value) == (0.0, 1.5)
    assert with_zeros.share_positive.value == 0.75


def test_no_difference_at_all_has_no_p_rather_than_one():
    found = wilcoxon_signed_rank(np.zeros(20))
    assert (found.median.value, found.median.low, found.median.high) == (0.0, 0.0, 0.0)
    for estimate in (found.p_value, found.share_positive):
        assert estimate.value is None
        assert estimate.note == "no difference at all: all 20 are 0"


@pytest.mark.parametrize(
    ("differences", "reason"),
    [([], "no pairs"), ([1.0, np.nan], "1 of 2 differences are undefined")],
)
def test_undefined_differences_say_why(differences, reason):
    found = wilcoxon_signed_rank(np.array(differences))
    for estimate in (found.median, found.share_positive, found.p_value):
        assert (estimate.value, estimate.note) == (None, f"not defined: {reason}")


def test_intervals_of_median_and_share_are_the_binomials():
    differences = np.arange(-3.0, 17.0)  # 3 below 0, one 0, 16 above
    found = wilcoxon_signed_rank(differences)
    # at most 5 of 20 heads: 0.0207; so the 6th smallest and the 6th largest
    assert (found.median.low, found.median.high) == (differences[5], differences[14])
    expected = stats.binomtest(16, 19).proportion_ci(0.95, method="exact")
    share = found.share_positive
    assert (share.low, share.high) == pytest.approx((expected.low, expected.high))


@settings(max_examples=50)
@given(st.lists(st.floats(-10, 10), min_size=1, max_size=20))
def test_differences_the_other_way_round_mirror_everything(differences):
    found = wilcoxon_signed_rank(np.array(differences))
    mirrored = wilcoxon_signed_rank(-np.array(differences))
    assert mirrored.median.value == pytest.approx(-found.median.value)
    if found.p_value.value is None:
        assert mirrored.p_value.value is None
    else:
        assert mirrored.p_value.value == pytest.approx(found.p_value.value)
        assert mirrored.share_positive.value == pytest.approx(1 - found.share_positive.value)


def test_spearman_of_one_group_equals_scipy():
    rng = np.random.default_rng(2)
    x = rng.normal(size=40).round(1)
    y = (x + rng.normal(size=40)).round(1)
    found = spearman(x, y, np.zeros(40, dtype=int))
    assert found.rho.value == pytest.approx(stats.spearmanr(x, y).statistic)
    assert found.p_value.value == pytest.approx(stats.spearmanr(x, y).pvalue, abs=0.005)
    assert "9999 permutations" in found.p_value.method


def test_pooled_rho_is_the_mean_over_groups_of_one_size_without_ties():
    rng = np.random.default_rng(3)
    x, y = rng.normal(size=48), rng.normal(size=48)
    layers = np.arange(48) // 8
    each = [stats.spearmanr(x[layers == g], y[layers == g]).statistic for g in range(6)]
    assert spearman(x, y, layers).rho.value == pytest.approx(np.mean(each))


def test_exact_p_counts_all_permutations_of_all_groups():
    x = np.array([1.0, 2.0, 3.0, 4.0, 1.0, 2.0, 2.0])
    y = np.array([2.0, 1.0, 3.0, 4.0, 5.0, 7.0, 9.0])
    groups = np.array(["a"] * 4 + ["b"] * 3)
    found = spearman(x, y, groups)
    rhos = [
        spearman(x, np.concatenate([first, second]), groups).rho.value
        for first in permutations(y[:4])
        for second in permutations(y[4:])
    ]
    expected = np.mean(np.abs(rhos) >= abs(found.rho.value) - 1e-9)
    assert found.p_value.value == pytest.approx(expected)
    assert found.p_value.method == "all permutations within groups"


def test_exact_p_agrees_with_random_permutations():
    rng = np.random.default_rng(4)
    x, layers = rng.normal(size=48), np.arange(48) // 8
    y = -0.3 * x + rng.normal(size=48)
    exact = spearman(x, y, layers).p_value
    assert exact.method == "all permutations within groups"
    ranks = [stats.rankdata(v.reshape(6, 8), axis=1) - 4.5 for v in (x, y)]
    observed = abs((ranks[0] * ranks[1]).sum())
    shuffled = rng.permuted(np.broadcast_to(ranks[1], (4000, 6, 8)), axis=2)
    drawn = np.abs((ranks[0] * shuffled).sum(axis=(1, 2)))
    assert exact.value == pytest.approx(np.mean(drawn >= observed - 1e-9), abs=0.03)


def test_what_differs_between_groups_alone_is_no_correlation():
    rng = np.random.default_rng(5)
    layers = np.arange(60) // 10
    x, y = layers + 0.1 * rng.normal(size=60), layers + 0.1 * rng.normal(size=60)
    assert stats.spearmanr(x, y).statistic > 0.9
    assert abs(spearman(x, y, layers).rho.value) < 0.35


def test_interval_covers_the_rho_of_normal_pairs_about_95_times_of_100():
    # Moran 1948: what rho of 12 pairs from a normal distribution of correlation r comes to
    r, n = 0.6, 12
    truth = 6 / (np.pi * (n + 1)) * (np.arcsin(r) + (n - 2) * np.arcsin(r / 2))
    rng, layers, n_covered = np.random.default_rng(6), np.repeat(np.arange(4), n), 0
    for _ in range(50):
        x, noise = rng.normal(size=(2, 4 * n))
        rho = spearman(x, layers + r * x + np.sqrt(1 - r**2) * noise, layers).rho
        n_covered += rho.low <= truth <= rho.high
    assert n_covered >= 43


@settings(max_examples=50)
@given(st.lists(st.tuples(st.floats(-5, 5), st.floats(-5, 5)), min_size=2, max_size=6))
def test_rho_depends_on_the_order_alone_and_changes_sign_with_it(pairs):
    x, y = np.array(pairs).T.round(3)
    groups = np.zeros(len(x), dtype=int)
    found = spearman(x, y, groups)
    turned = spearman(-x, y, groups)
    assert spearman(np.exp(x), y, groups).rho == found.rho
    assert spearman(y, x, groups).rho.value == found.rho.value
    if found.rho.value is None:
        assert turned.rho.value is None
    else:
        assert -1 <= found.rho.value <= 1
        assert turned.rho.value == pytest.approx(-found.rho.value)
        assert turned.p_value.value == pytest.approx(found.p_value.value)


@pytest.mark.parametrize(
    ("x", "reason"),
    [
        ([1.0, 1.0, 1.0], "no group has different values of both"),
        ([1.0, np.nan, 2.0], "1 of 3 entries are undefined"),
    ],
)
def test_undefined_correlations_say_why(x, reason):
    found = spearman(np.array(x), np.array([1.0, 2.0, 3.0]), np.zeros(3, dtype=int))
    for estimate in (found.rho, found.p_value):
        assert (estimate.value, estimate.note) == (None, f"not defined: {reason}")
