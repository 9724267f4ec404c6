"""Boundaries found at a threshold: precision, recall, F1, words and R-value."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np
from jaxtyping import Bool, Float, Int

from interp.analyses.statistics.areas import TieGroups
from interp.analyses.statistics.detection import f1, precision, ratio, recall
from interp.analyses.statistics.estimate import Estimate, members_of, why_undefined, with_interval
from interp.tables import joined_notes

MIN_DOCUMENTS = 2
"""Documents that each half needs."""

THRESHOLD_SCORES = ("precision", "recall", "f1", "word_f1", "r_value")
"""What is measured at a threshold, in the order in which it is given."""


def threshold_scores(
    labels: Bool[np.ndarray, " gap"],
    scores: Float[np.ndarray, " gap"],
    documents: Int[np.ndarray, " gap"],
    runs: Int[np.ndarray, " gap"],
    *,
    is_delimited: bool = False,
    cluster: str = "document",
) -> dict[str, Estimate]:
    """How good the boundaries are that one threshold finds, clustered by document.

    A gap is called a boundary where its score is at least the threshold. The first, third, ...
    document choose the threshold that maximises F1 (of several, the highest), the others
    measure it; the intervals are about other documents at this threshold. A signal that is
    small at boundaries is not turned round: it then calls every gap a boundary, or nearly, and
    comes to `every_gap_scores`.

    - ``precision``, ``recall``, ``f1``: of the boundaries.
    - ``word_f1``: a word is a stretch between neighbouring boundaries of the reference, the ends
      of its run being boundaries for both sides; it is found when both of its ends are called
      boundaries and no gap within. Words that are a run of their own have no gap, and are not
      seen here. What follows a boundary is no word where it is a delimiter.
    - ``r_value``: 1 for the boundaries themselves; less with misses and with boundaries too many,
      also where F1 profits from those; not bounded below.

    Args:
        labels: True for a boundary; the gaps of one document in the order of the text.
        scores: Any order-preserving scale; infinite is allowed, NaN is not.
        documents: Which document each gap comes from; any numbers.
        runs: Which uninterrupted stretch of gaps each gap is in: the same number for neighbours
            in one stretch, another one for the next. A document's end ends a run.
        is_delimited: Whether what follows a boundary is a delimiter, and not the next word.
        cluster: What a document is called, where it is something else.

    Returns:
        By name, in the order of `THRESHOLD_SCORES`; n is the number of gaps of the measured
        documents, of ``word_f1`` their words. Undefined with a note for NaN scores, no
        boundaries in a half, fewer than 2 documents in a half, or nothing to divide by.

    Source: Räsänen, Laine & Altosaar 2009, "An improved speech segmentation quality measure:
        the R-value", Interspeech, with a tolerance of no gap.
    """
    members = members_of(documents)
    is_measured = members % 2 == 1
    reason = _why_no_threshold(labels, scores, members, cluster)
    if reason:
        return _undefined(reason, members)
    threshold = _best_threshold(labels[~is_measured], scores[~is_measured])
    n_documents = len(np.unique(members[~is_measured]))
    how = f"score >= {threshold:.6g}, best F1 on {n_documents} other {cluster}s"
    is_called = scores >= threshold
    return _scores_of(labels, is_called, members, runs, how, is_delimited, cluster)


def every_gap_scores(
    labels: Bool[np.ndarray, " gap"],
    documents: Int[np.ndarray, " gap"],
    runs: Int[np.ndarray, " gap"],
    *,
    is_delimited: bool = False,
    cluster: str = "document",
) -> dict[str, Estimate]:
    """What calling every gap a boundary comes to: the baseline of `threshold_scores`.

    On the same documents as there, and with the same names.
    """
    members = members_of(documents)
    reason = _why_no_threshold(labels, np.zeros(len(labels)), members, cluster)
    if reason:
        return _undefined(reason, members)
    every = np.ones(len(labels), dtype=bool)
    how = "every gap called a boundary"
    return _scores_of(labels, every, members, runs, how, is_delimited, cluster)


def _why_no_threshold(
    labels: Bool[np.ndarray, " gap"],
    scores: Float[np.ndarray, " gap"],
    members: Int[np.ndarray, " gap"],
    cluster: str,
) -> str | None:
    reason = why_undefined(labels, scores)
    if reason:
        return reason
    is_measured = members % 2 == 1
    for half, is_of_half in (("choose", ~is_measured), ("measure", is_measured)):
        n_documents = len(np.unique(members[is_of_half]))
        if n_documents < MIN_DOCUMENTS:
            return f"needs {MIN_DOCUMENTS} {cluster}s to {half} the threshold, has {n_documents}"
        if not labels[is_of_half].any():
            return f"no boundary in the {cluster}s that {half} the threshold"
    return None


def _undefined(reason: str, members: Int[np.ndarray, " gap"]) -> dict[str, Estimate]:
    of_half = members[members % 2 == 1]
    n, n_documents = len(of_half), len(np.unique(of_half))
    estimate = Estimate(None, n=n, n_documents=n_documents, note=f"not defined: {reason}")
    return dict.fromkeys(THRESHOLD_SCORES, estimate)


def _best_threshold(labels: Bool[np.ndarray, " gap"], scores: Float[np.ndarray, " gap"]) -> float:
    groups = TieGroups.of(labels, scores)
    n_both = np.cumsum(groups.n_true[::-1])
    n_called = np.cumsum((groups.n_true + groups.n_false)[::-1])
    best = int(np.argmax(n_both / (n_called + n_both[-1])))
    last_in_ascending_order = n_called[-1] - n_called[best]
    return float(scores[groups.order[last_in_ascending_order]])


def _scores_of(
    labels: Bool[np.ndarray, " gap"],
    is_called: Bool[np.ndarray, " gap"],
    members: Int[np.ndarray, " gap"],
    runs: Int[np.ndarray, " gap"],
    how: str,
    is_delimited: bool,
    cluster: str,
) -> dict[str, Estimate]:
    own = members % 2 == 1
    labels, is_called, members = labels[own], is_called[own], members[own] // 2
    gaps = _counts(labels & is_called, is_called, labels, members)
    words = _word_counts(labels, is_called, members, runs[own], is_delimited)
    n, n_words = len(labels), int(words[2].sum())
    estimate = partial(_estimate, how=how, cluster=cluster)
    return {
        "precision": estimate(lambda both, called, _: precision(both, called), gaps, n),
        "recall": estimate(lambda both, _, true: recall(both, true), gaps, n),
        "f1": estimate(f1, gaps, n),
        "word_f1": estimate(f1, words, n_words),
        "r_value": estimate(_r_value, gaps, n, lowest=-np.inf),
    }


def _counts(
    is_both: Bool[np.ndarray, " _"],
    is_called: Bool[np.ndarray, " _"],
    is_true: Bool[np.ndarray, " _"],
    members: Int[np.ndarray, " _"],
) -> Float[np.ndarray, "3 document"]:
    """How many of each there are per document."""
    m = int(members.max()) + 1
    return np.stack([np.bincount(members, w, minlength=m) for w in (is_both, is_called, is_true)])


def _word_counts(
    labels: Bool[np.ndarray, " gap"],
    is_called: Bool[np.ndarray, " gap"],
    members: Int[np.ndarray, " gap"],
    runs: Int[np.ndarray, " gap"],
    is_delimited: bool,
) -> Float[np.ndarray, "3 document"]:
    """Words per document: found, called, of the reference."""
    is_start = np.ones(len(labels), dtype=bool)
    is_start[1:] = (np.diff(members) != 0) | (np.diff(runs) != 0)
    # a boundary for both sides before each run; it ends the run before as well
    starts = np.flatnonzero(is_start)
    # a delimiter begins no word on either side, called a boundary or not
    begins_word = np.insert(~labels if is_delimited else np.ones_like(labels), starts, True)
    labels = np.append(np.insert(labels, starts, True), True)
    is_called = np.append(np.insert(is_called, starts, True), True)
    members = np.insert(members, starts, members[starts])
    # a stretch begins at each boundary but the last, and belongs where its first gap does
    firsts = np.flatnonzero(labels)
    n_called = np.cumsum(is_called)[firsts]
    is_end_called = is_called[firsts]
    is_found = is_end_called[:-1] & is_end_called[1:] & (np.diff(n_called) == 1)
    found = np.zeros(len(members), dtype=bool)
    found[firsts[:-1]] = is_found
    found, called, true = (each & begins_word for each in (found, is_called[:-1], labels[:-1]))
    return _counts(found, called, true, members)


def _estimate(
    score: Callable[..., Float[np.ndarray, " _"]],
    counts: Float[np.ndarray, "3 document"],
    n: int,
    *,
    how: str,
    cluster: str,
    lowest: float = 0.0,
) -> Estimate:
    """A function of sums over documents; intervals from leaving one document out."""
    m = counts.shape[1]
    totals = counts.sum(axis=1, keepdims=True)
    value = float(score(*totals)[0])
    if np.isnan(value):
        note = f"not defined: no gap of the measured {cluster}s is called a boundary"
        return Estimate(None, n=n, n_documents=m, method=how, note=note)
    estimate = with_interval(
        value, n, m, lambda: score(*(totals - counts)), limits=(lowest, 1.0), cluster=cluster
    )
    return replace(estimate, method=joined_notes(how, estimate.method))


def _r_value(
    both: Float[np.ndarray, " _"], called: Float[np.ndarray, " _"], true: Float[np.ndarray, " _"]
) -> Float[np.ndarray, " _"]:
    hits, too_many = recall(both, true), ratio(called, true) - 1
    to_target = np.hypot(1 - hits, too_many)
    to_line = np.abs(hits - 1 - too_many) / np.sqrt(2)
    return 1 - (to_target + to_line) / 2
