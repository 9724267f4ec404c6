"""Areas under the ROC curve, and their differences, clustered by document."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int, Num

from interp.analyses.statistics.estimate import Estimate, members_of, why_undefined, with_interval


def clustered_auc(
    labels: Bool[np.ndarray, " gap"],
    scores: Float[np.ndarray, " gap"],
    documents: Int[np.ndarray, " gap"],
    *,
    n_simultaneous: int = 1,
    cluster: str = "document",
) -> Estimate:
    """The area under the ROC curve with a 95 % interval clustered by document.

    The probability that a gap with a true label scores above one without, ties counting half.
    It is never flipped. Gaps of one document resemble one another, so the variance is taken
    over sums per document: from placement values, or, under `JACKKNIFE_BELOW` documents, from
    the areas with one document left out; quantiles of t with one degree of freedom less than
    documents. The interval is cut at 0 and 1.

    Args:
        labels: True for a boundary.
        scores: Any order-preserving scale; infinite is allowed, NaN is not.
        documents: Which document each gap comes from; any numbers.
        n_simultaneous: How many areas are looked at together. Each interval then has the level
            1 - 0.05 / n_simultaneous, so that all of them hold at once with 95 % (Bonferroni).
        cluster: What a document is called, where it is something else.

    Returns:
        The area, 0 to 1; undefined with a note for no gaps, one class only, or NaN scores.

    Source: Obuchowski 1997, "Nonparametric analysis of clustered ROC curve data", Biometrics
        53, section 3; here documents without gaps of one class count among the m documents of
        the factor m/(m-1).
    """
    members = members_of(documents)
    m = int(members.max(initial=-1)) + 1
    reason = why_undefined(labels, scores)
    if reason:
        return Estimate(None, n=len(labels), n_documents=m, note=f"not defined: {reason}")

    area = _Area.of(labels, scores, members)
    degenerate = None
    if np.min(scores) == np.max(scores):
        degenerate = "all scores are equal"
    elif area.value in (0.0, 1.0):
        degenerate = "the scores separate the classes perfectly"
    return with_interval(
        area.value,
        len(labels),
        m,
        area.leave_one_out,
        influence=area.influence,
        limits=(0.0, 1.0),
        degenerate=degenerate,
        n_simultaneous=n_simultaneous,
        cluster=cluster,
    )


def paired_auc_difference(
    labels: Bool[np.ndarray, " gap"],
    first: Float[np.ndarray, " gap"],
    second: Float[np.ndarray, " gap"],
    documents: Int[np.ndarray, " gap"],
    *,
    n_simultaneous: int = 1,
    cluster: str = "document",
) -> Estimate:
    """The area of the first scores minus that of the second, on the same gaps.

    What makes a gap or a document hard for both cancels out, so the interval is usually far
    narrower than that of either area: its variance is that of the differences per document of
    what `clustered_auc` takes its own from. 0 outside the interval says that one is better.

    Args:
        labels: True for a boundary.
        first: One signal's score of each gap.
        second: The other's; the scales need not be comparable.
        documents: Which document each gap comes from; any numbers.
        n_simultaneous: How many differences are looked at together, as in `clustered_auc`.
        cluster: What a document is called, where it is something else.

    Returns:
        -1 to 1, above 0 where the first is better; undefined where one of the areas is.

    Source: DeLong, DeLong & Clarke-Pearson 1988, Biometrics 44, over documents instead of gaps
        (Obuchowski 1997); where every gap is a document of its own the two differ by factors
        such as m/(m-1).
    """
    members = members_of(documents)
    m = int(members.max(initial=-1)) + 1
    for name, scores in (("first", first), ("second", second)):
        reason = why_undefined(labels, scores)
        if reason:
            note = f"not defined: {name} scores, {reason}"
            return Estimate(None, n=len(labels), n_documents=m, note=note)
    one, other = _Area.of(labels, first, members), _Area.of(labels, second, members)
    influence = one.influence - other.influence
    return with_interval(
        one.value - other.value,
        len(labels),
        m,
        lambda: one.leave_one_out() - other.leave_one_out(),
        influence=influence,
        limits=(-1.0, 1.0),
        degenerate=None if influence.any() else "both are the same in every document",
        n_simultaneous=n_simultaneous,
        cluster=cluster,
    )


def tied_pair_share(
    labels: Bool[np.ndarray, " gap"], scores: Float[np.ndarray, " gap"]
) -> Estimate:
    """The share of pairs of one boundary and one other gap whose scores are equal.

    Such pairs count half in the area under the ROC curve; many of them pull it to 0.5.

    Returns:
        0 to 1, without an interval; undefined where the area is.
    """
    reason = why_undefined(labels, scores)
    if reason:
        return Estimate(None, n=len(labels), note=f"not defined: {reason}")
    groups = TieGroups.of(labels, scores)
    n_pairs = int(groups.n_true.sum()) * int(groups.n_false.sum())
    return Estimate(int((groups.n_true * groups.n_false).sum()) / n_pairs, n=len(labels))


@dataclass(frozen=True)
class TieGroups:
    """Gaps in ascending order of score, and how many of each class share one score."""

    order: Int[np.ndarray, " gap"]
    group: Int[np.ndarray, " gap"]
    n_true: Int[np.ndarray, " score"]
    n_false: Int[np.ndarray, " score"]

    @classmethod
    def of(cls, labels: Bool[np.ndarray, " gap"], scores: Float[np.ndarray, " gap"]) -> "TieGroups":
        """Of at least one gap."""
        # Not stable: six times faster, and ties are grouped below. In 64 bits: numpy orders
        # those with vector instructions where it has them, and not 32.
        order = np.argsort(scores.astype(np.float64))
        ascending = scores[order]
        is_first = np.concatenate([[True], ascending[1:] != ascending[:-1]])
        starts = np.flatnonzero(is_first)
        n_true = np.add.reduceat(labels[order].astype(np.int64), starts)
        n_false = np.diff(starts, append=len(scores)) - n_true
        return cls(order, np.cumsum(is_first) - 1, n_true, n_false)

    def per_gap(self, per_score: Num[np.ndarray, " score"]) -> Num[np.ndarray, " gap"]:
        """What belongs to a score, for every gap that has it, in the order of the gaps."""
        found = np.empty(len(self.order), dtype=per_score.dtype)
        found[self.order] = per_score[self.group]
        return found


@dataclass(frozen=True)
class _Area:
    """An area and what its spread over documents is taken from."""

    value: float
    influence: Float[np.ndarray, " document"]
    leave_one_out: Callable[[], Float[np.ndarray, " document"]]

    @classmethod
    def of(
        cls,
        labels: Bool[np.ndarray, " gap"],
        scores: Float[np.ndarray, " gap"],
        members: Int[np.ndarray, " gap"],
    ) -> "_Area":
        half_wins = _half_wins(labels, scores)
        of_true = half_wins * labels
        n_true, n_false = int(labels.sum()), int((~labels).sum())
        value = int(of_true.sum()) / (2 * n_true * n_false)
        # sums over everything and over the true ones: to pick the gaps of a class takes longer
        true_wins = np.bincount(members, of_true)
        false_wins = np.bincount(members, half_wins) - true_wins
        true_counts = np.bincount(members, labels)
        false_counts = np.bincount(members) - true_counts
        influence = (true_wins / (2 * n_false) - value * true_counts) / n_true
        influence += (false_wins / (2 * n_true) - value * false_counts) / n_false

        def leave_one_out() -> Float[np.ndarray, " document"]:
            m = len(influence)
            within = np.zeros(m)
            for document in range(m):
                own = members == document
                within[document] = _half_wins(labels[own], scores[own])[labels[own]].sum()
            wins = true_wins.sum() - true_wins - false_wins + within
            pairs = 2 * (n_true - true_counts) * (n_false - false_counts)
            return np.divide(wins, pairs, out=np.full(m, np.nan), where=pairs > 0)

        return cls(value, influence, leave_one_out)


def _half_wins(
    labels: Bool[np.ndarray, " gap"], scores: Float[np.ndarray, " gap"]
) -> Int[np.ndarray, " gap"]:
    """Twice the number of gaps of the other class that each gap is on the right side of.

    A tie counts 1 here, a win 2, so that all sums are whole numbers. Divided by twice the size
    of the other class this is the placement value.
    """
    if len(scores) == 0:
        return np.zeros(0, dtype=np.int64)
    groups = TieGroups.of(labels, scores)
    n_true, n_false = groups.n_true, groups.n_false
    false_below = np.cumsum(n_false) - n_false
    true_above = n_true.sum() - np.cumsum(n_true)
    half_wins = np.empty(len(scores), dtype=np.int64)
    half_wins[groups.order] = np.where(
        labels[groups.order],
        (2 * false_below + n_false)[groups.group],
        (2 * true_above + n_true)[groups.group],
    )
    return half_wins
