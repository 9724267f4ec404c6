"""Tests by rank: of paired differences, and of two quantities within groups."""

from dataclasses import dataclass, replace
from itertools import permutations

import numpy as np
from jaxtyping import Float, Int, Shaped

from interp.analyses.statistics.estimate import Estimate

EXACT_UP_TO = 50
"""Differences up to which Wilcoxon's test is exact, if no two are of one size."""

GROUPS_EXACT_UP_TO = 8
"""Entries per group up to which all permutations are counted (40 320 for 8)."""

N_PERMUTATIONS = 9999


@dataclass(frozen=True)
class SignedRank:
    """What paired differences say.

    Attributes:
        median: Of all differences; the interval is that of the sign test.
        share_positive: Of those that are not 0; the interval is Clopper and Pearson's.
        p_value: Wilcoxon's signed-rank test, two-sided; n as in ``share_positive``.
    """

    median: Estimate
    share_positive: Estimate
    p_value: Estimate


@dataclass(frozen=True)
class RankCorrelation:
    """How two quantities rise together within groups.

    Attributes:
        rho: Spearman's rho, pooled over groups.
        p_value: Of rho, two-sided, by permutations within groups.
    """

    rho: Estimate
    p_value: Estimate


def wilcoxon_signed_rank(differences: Float[np.ndarray, " pair"]) -> SignedRank:
    """Whether paired differences are shifted to one side of 0.

    Differences that are 0 have no side: they are left out of the test and of the share, and
    count in the median. Where all are 0 there is nothing to test, and p is undefined rather
    than 1. p is exact for up to `EXACT_UP_TO` differences of different sizes, else from the
    normal approximation with its correction for ties.

    Args:
        differences: One per pair; the pairs are independent of one another.

    Returns:
        Estimates that are undefined with a note for no pairs or NaN, the test and the share
        also where no pair differs.
    """
    n, n_undefined = len(differences), int(np.isnan(differences).sum())
    if n == 0 or n_undefined:
        reason = f"{n_undefined} of {n} differences are undefined" if n else "no pairs"
        undefined = Estimate(None, n=n, note=f"not defined: {reason}")
        return SignedRank(undefined, undefined, undefined)
    median = _median(np.sort(differences))
    differing = differences[differences != 0]
    if len(differing) == 0:
        undefined = Estimate(None, n=0, note=f"no difference at all: all {n} are 0")
        return SignedRank(median, undefined, undefined)

    from scipy import stats  # half a second that nothing else here needs

    n_differing, n_positive = len(differing), int((differing > 0).sum())
    interval = stats.binomtest(n_positive, n_differing).proportion_ci(0.95, method="exact")
    share = Estimate(
        n_positive / n_differing,
        low=float(interval.low),
        high=float(interval.high),
        n=n_differing,
        method="Clopper-Pearson",
    )
    is_exact = n_differing <= EXACT_UP_TO and len(np.unique(np.abs(differing))) == n_differing
    test = stats.wilcoxon(differing, method="exact" if is_exact else "approx")
    p_value = Estimate(
        float(test.pvalue),  # type: ignore[attr-defined]
        n=n_differing,
        method=f"Wilcoxon's signed ranks, {'exact' if is_exact else 'normal approximation'}",
        note=f"{n - n_differing} of {n} differences are 0 and left out"
        if n > n_differing
        else None,
    )
    return SignedRank(median, share, p_value)


def spearman(
    x: Float[np.ndarray, " entry"],
    y: Float[np.ndarray, " entry"],
    groups: Shaped[np.ndarray, " entry"],
) -> RankCorrelation:
    """Spearman's correlation within groups, pooled: differences between groups play no part.

    Both are ranked within each group, ties sharing their mean rank, and the ranks' distances
    from the group's mean are correlated over all groups. For one group this is Spearman's rho;
    for groups of one size without ties it is the mean of the groups' own. p comes from
    permutations within groups: all of them where no group has more than `GROUPS_EXACT_UP_TO`
    entries, else `N_PERMUTATIONS` at random with a fixed seed.

    Args:
        x: One quantity per entry, such as the mean increment of a head.
        y: The other.
        groups: Which group each entry is in, such as its layer.

    Returns:
        -1 to 1, the interval from Fisher's z with Bonett and Wright's error and one degree of
        freedom less per group beyond the first. Undefined with a note for NaN, or where no
        group has different values of both.
    """
    n, n_undefined = len(x), int((np.isnan(x) | np.isnan(y)).sum())
    ranked = [(doubled_ranks(x[own]), doubled_ranks(y[own])) for own in each_group(groups)]
    spread = sum(int(a @ a) for a, _ in ranked) * sum(int(b @ b) for _, b in ranked)
    if n_undefined or spread == 0:
        reason = "no group has different values of both"
        if n_undefined:
            reason = f"{n_undefined} of {n} entries are undefined"
        undefined = Estimate(None, n=n, note=f"not defined: {reason}")
        return RankCorrelation(undefined, undefined)
    product = sum(int(a @ b) for a, b in ranked)
    rho = min(1.0, max(-1.0, product / float(np.sqrt(float(spread)))))
    if max(len(a) for a, _ in ranked) <= GROUPS_EXACT_UP_TO:
        p, method = _exact_p(ranked, abs(product)), "all permutations within groups"
    else:
        p, method = _random_p(ranked, abs(product)), f"{N_PERMUTATIONS} permutations within groups"
    return RankCorrelation(_fisher(rho, n, len(ranked)), Estimate(p, n=n, method=method))


def doubled_ranks(values: Float[np.ndarray, " entry"]) -> Int[np.ndarray, " entry"]:
    """Twice the distance of each rank from the mean rank: a whole number, also in ties."""
    _, value, n_tied = np.unique(values, return_inverse=True, return_counts=True)
    n_below = np.cumsum(n_tied) - n_tied
    return (2 * n_below + n_tied - len(values))[value]


def each_group(groups: Shaped[np.ndarray, " entry"]) -> list[Int[np.ndarray, " member"]]:
    """Where the members of each group are, in their order."""
    order = np.argsort(groups, kind="stable")
    return np.split(order, np.flatnonzero(groups[order][1:] != groups[order][:-1]) + 1)


def _median(ascending: Float[np.ndarray, " pair"]) -> Estimate:
    from scipy import stats

    n, value = len(ascending), float(np.median(ascending))
    # the most values that may lie outside on one side: as many heads have at most 0.025
    n_outside = int(stats.binom.ppf(0.025, n, 0.5)) - 1
    if n_outside < 0:
        return Estimate(value, n=n, note="no interval: fewer than 6 pairs")
    low, high = float(ascending[n_outside]), float(ascending[n - 1 - n_outside])
    return Estimate(value, low=low, high=high, n=n, method="order statistics")


def _fisher(rho: float, n: int, n_groups: int) -> Estimate:
    freedom = n - 2 - n_groups
    estimate = Estimate(rho, n=n)
    if freedom < 1 or abs(rho) == 1:
        reason = "too few entries" if freedom < 1 else "degenerate, the ranks agree perfectly"
        return replace(estimate, note=f"no interval: {reason}")
    half_width = 1.959964 * np.sqrt((1 + rho**2 / 2) / freedom)
    low, high = np.tanh(np.arctanh(rho) + np.array([-half_width, half_width]))
    return replace(estimate, low=float(low), high=float(high), method="Fisher's z")


def _exact_p(ranked: list[tuple[np.ndarray, np.ndarray]], distance: int) -> float:
    """The share of all permutations within groups whose sum of products is as far from 0."""
    share, lowest = np.ones(1), 0
    for a, b in ranked:
        products = a @ np.array(list(permutations(b))).T
        of_group = np.bincount(products - products.min()) / len(products)
        share, lowest = np.convolve(share, of_group), lowest + int(products.min())
    return float(share[np.abs(np.arange(len(share)) + lowest) >= distance].sum())


def _random_p(ranked: list[tuple[np.ndarray, np.ndarray]], distance: int) -> float:
    generator = np.random.default_rng(0)
    products = np.zeros(N_PERMUTATIONS, dtype=np.int64)
    for a, b in ranked:
        products += generator.permuted(np.tile(b, (N_PERMUTATIONS, 1)), axis=1) @ a
    return (1 + int((np.abs(products) >= distance).sum())) / (N_PERMUTATIONS + 1)
