"""Means over all observations, clustered by document."""

import numpy as np
from jaxtyping import Float, Int

from interp.analyses.statistics.estimate import Estimate, with_interval


def clustered_mean(
    sums: Float[np.ndarray, " document"],
    counts: Int[np.ndarray, " document"],
    *,
    limits: tuple[float, float] = (-np.inf, np.inf),
    n_simultaneous: int = 1,
    cluster: str = "document",
) -> Estimate:
    """The mean over all observations with a 95 % interval clustered by document.

    A ratio of sums, so that a long document weighs more than a short one. The variance is
    taken as in `clustered_auc`.

    Args:
        sums: Sum of the observations of each document.
        counts: How many there are; documents with none do not count as documents.
        limits: Of the observations, such as 0 and 1 for a share; the interval is cut there.
        n_simultaneous: How many means are looked at together, as in `clustered_auc`.
        cluster: What a document is called, where it is something else.

    Returns:
        The mean in the unit of the observations; undefined with a note where there are none or
        where they are infinite.
    """
    sums, counts = sums[counts > 0], counts[counts > 0]
    n, m = int(counts.sum()), len(counts)
    if n == 0:
        return Estimate(None, n=0, n_documents=0, note="not defined: no observations")
    if not np.isfinite(sums).all():
        return Estimate(None, n=n, n_documents=m, note="not defined: not all values are finite")
    total = float(sums.sum())
    mean = total / n
    return with_interval(
        mean,
        n,
        m,
        lambda: (total - sums) / (n - counts),
        influence=(sums - mean * counts) / n,
        limits=limits,
        n_simultaneous=n_simultaneous,
        cluster=cluster,
    )


def paired_difference(
    first: Float[np.ndarray, " _"],
    second: Float[np.ndarray, " _"],
    counts: Int[np.ndarray, " _"],
    *,
    n_simultaneous: int = 1,
    cluster: str = "document",
) -> Estimate:
    """Mean of the first minus mean of the second over the same observations, by document.

    Since both are about the same bytes, what makes a document hard for both cancels out; the
    interval is that of `clustered_mean`.

    Args:
        first: Sum of the observations of each document, such as nats under one model.
        second: The same under the other.
        counts: How many observations each document has.
        n_simultaneous: How many differences are looked at together, as in `clustered_auc`.
        cluster: What a document is called, where it is something else.

    Returns:
        Below 0 where the first is the smaller one.

    Raises:
        ValueError: They are not about the same number of documents.
    """
    if not len(first) == len(second) == len(counts):
        lengths = f"{len(first)}, {len(second)} and {len(counts)}"
        raise ValueError(f"paired difference: {lengths} documents")
    return clustered_mean(first - second, counts, n_simultaneous=n_simultaneous, cluster=cluster)
