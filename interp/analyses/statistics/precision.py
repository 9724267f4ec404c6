"""Average precision, clustered by document."""

import numpy as np
from jaxtyping import Bool, Float, Int

from interp.analyses.statistics.areas import TieGroups
from interp.analyses.statistics.estimate import Estimate, members_of, why_undefined, with_interval


def average_precision(
    labels: Bool[np.ndarray, " gap"],
    scores: Float[np.ndarray, " gap"],
    documents: Int[np.ndarray, " gap"],
    *,
    cluster: str = "document",
) -> Estimate:
    """The mean over boundaries of the precision at their score, clustered by document.

    The precision at a score is the share of boundaries among the gaps that score at least that.
    Unlike the area under the ROC curve it depends on the share of boundaries, which is what
    scores without any information reach; compare it with that. The variance is taken as in
    `clustered_auc`: from the derivative with respect to each document's weight, or, under
    `JACKKNIFE_BELOW` documents, from the values with one document left out.

    Coverage of the interval in 1 000 simulations: where half of the gaps are boundaries, 0.93 at
    10 documents, 0.94 to 0.95 at 30 to 200; where a tenth are, 0.91 at 10, 0.93 to 0.95 at 30
    to 200.

    Args:
        labels: True for a boundary.
        scores: Any order-preserving scale; infinite is allowed, NaN is not.
        documents: Which document each gap comes from; any numbers.
        cluster: What a document is called, where it is something else.

    Returns:
        Above 0 to 1; undefined with a note for no gaps, one class only, or NaN scores.

    Source: the step-wise sum of scikit-learn's `average_precision_score`; ties share a step.
    """
    members = members_of(documents)
    m = int(members.max(initial=-1)) + 1
    reason = why_undefined(labels, scores)
    if reason:
        return Estimate(None, n=len(labels), n_documents=m, note=f"not defined: {reason}")

    groups = TieGroups.of(labels, scores)
    n_true = int(groups.n_true.sum())
    true_from = np.cumsum(groups.n_true[::-1])[::-1]  # boundaries that score at least that
    all_from = np.cumsum((groups.n_true + groups.n_false)[::-1])[::-1]
    value = float((groups.n_true * (true_from / all_from)).sum()) / n_true

    # A gap changes the weight of its own step and the precision of every step below it: the
    # derivative of true_from / all_from is 1 / all_from, less true_from / all_from^2.
    gain_of_true = true_from / all_from - value + np.cumsum(groups.n_true / all_from)
    loss_of_any = np.cumsum(groups.n_true * true_from / all_from**2)
    of_gap = labels * groups.per_gap(gain_of_true) - groups.per_gap(loss_of_any)
    influence = np.bincount(members, of_gap) / n_true

    def leave_one_out() -> Float[np.ndarray, " document"]:
        # in descending order once, and then without each document's gaps
        order, group = groups.order[::-1], groups.group[::-1]
        kept = (members[order] != document for document in range(m))
        return np.array([_value_in_order(labels[order][own], group[own]) for own in kept])

    return with_interval(
        value,
        len(labels),
        m,
        leave_one_out,
        influence=influence,
        limits=(0.0, 1.0),
        degenerate="the scores separate the classes perfectly" if value == 1.0 else None,
        cluster=cluster,
    )


def _value_in_order(labels: Bool[np.ndarray, " gap"], group: Int[np.ndarray, " gap"]) -> float:
    """Average precision of gaps in descending order, ties in neighbouring places of a group."""
    n_true = int(labels.sum())
    if n_true == 0:
        return np.nan
    last = np.flatnonzero(np.diff(group, append=-1))
    true_from = np.cumsum(labels)[last]
    return float((np.diff(true_from, prepend=0) * (true_from / (last + 1))).sum()) / n_true
