"""How far two references agree about where words end."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import tee, zip_longest

import numpy as np
import pandas as pd
from jaxtyping import Float

from interp.analyses.statistics.estimate import Estimate, with_interval
from interp.errors import InputError
from interp.segmentation import Gaps, Reference
from interp.segmentation.references import SegmenterReference
from interp.tables import analysis_table


def reference_agreement(
    first: Reference,
    second: Reference,
    contents: Iterable[bytes] = (),
    *,
    group: str | None = None,
) -> pd.DataFrame:
    """How often ``first`` ends a word where ``second`` does, over the gaps that both judge.

    The rarer boundaries are, the more two references agree by chance. Kappa is what is left of
    their agreement beyond that of two that end as many words as they do, but anywhere.

    Args:
        first: Whose boundaries are looked at.
        second: Whose boundaries count as right in precision and recall.
        contents: What is read, unless one of the two brings its own text.
        group: What the rows say of the text, such as its script.

    Returns:
        An analysis table: ``agreement``, the share of gaps of which both say the same;
        ``precision``, ``recall`` and ``f1`` of the first's boundaries; ``kappa`` (Cohen's; 0 is
        chance); ``boundary_rate`` and ``base_rate``, the shares of gaps at which the first and the
        second end a word, whose notes have their settings. The signal is the first, the reference
        the second; n are the gaps that both judge; intervals are clustered as the references say
        (`Gaps.cluster`).

    Raises:
        InputError: They do not judge the same text.
    """
    counts: dict[str, np.ndarray] = defaultdict(lambda: np.zeros(4))
    for number, (ours, theirs) in enumerate(_gaps_of_both(first, second, contents)):
        shared, in_ours, in_theirs = np.intersect1d(
            ours.tokens, theirs.tokens, assume_unique=True, return_indices=True
        )
        if len(shared):
            kind = 2 * ~ours.is_boundary[in_ours] + ~theirs.is_boundary[in_theirs]
            cluster = ours.cluster or theirs.cluster or f"text {number}"
            counts[cluster] += np.bincount(kind, minlength=4)
    by_cluster = np.array(list(counts.values()), dtype=np.float64).reshape(-1, 4).T
    common = {"signal": first.reference, "reference": second.reference, "group": group}
    settings = {"boundary_rate": first.details, "base_rate": second.details}
    rows = []
    for name in _PARTS:
        row = common | {"statistic": name} | _estimate(name, by_cluster).as_row()
        notes = filter(None, [row["note"], settings.get(name)])
        rows.append(row | {"note": "; ".join(notes) or None})
    return analysis_table(rows)


def _gaps_of_both(
    first: Reference, second: Reference, contents: Iterable[bytes]
) -> Iterator[tuple[Gaps, Gaps]]:
    """The gaps of both in each text; a segmenter, which takes any, is given that of the other."""
    if isinstance(first, SegmenterReference):
        for theirs, ours in _gaps_in_turn(second, first, contents):
            yield ours, theirs
    else:
        yield from _gaps_in_turn(first, second, contents)


def _gaps_in_turn(
    first: Reference, second: Reference, contents: Iterable[bytes]
) -> Iterator[tuple[Gaps, Gaps]]:
    for_first, for_second = tee(contents)
    read, read_too = tee(first.read(for_first))
    if isinstance(second, SegmenterReference):
        for_second = (content for content, _ in read_too)
    for number, pair in enumerate(zip_longest(read, second.read(for_second)), 1):
        if None in pair or pair[0][0] != pair[1][0]:
            raise InputError(
                f"{first.reference} and {second.reference} judge different texts: number {number} "
                "of the one is not that of the other",
                "Two references that bring their own text can be compared on the same text alone.",
            )
        (_, ours), (_, theirs) = pair
        yield ours, theirs


def _estimate(name: str, counts: Float[np.ndarray, "4 cluster"]) -> Estimate:
    """A statistic of the sums of ``counts``, with an interval from leaving one cluster out."""
    n, n_clusters = int(counts.sum()), counts.shape[1]
    totals = counts.sum(axis=1, keepdims=True)
    value = _share(*_PARTS[name](*totals)).item()
    if np.isnan(value):
        reason = _UNDEFINED[name] if n else "there is no gap that both judge"
        return Estimate(None, n=n, n_documents=n_clusters, note=f"not defined: {reason}")
    without_one = totals - counts
    limits = (-1.0 if name == "kappa" else 0.0, 1.0)
    return with_interval(
        value, n, n_clusters, lambda: _share(*_PARTS[name](*without_one)), limits=limits
    )


def _share(
    part: Float[np.ndarray, " cluster"], whole: Float[np.ndarray, " cluster"]
) -> Float[np.ndarray, " cluster"]:
    """``part / whole``, and NaN where there is nothing to share."""
    return np.divide(part, whole, out=np.full_like(whole, np.nan), where=whole != 0)


_PARTS = {
    "agreement": lambda both, ours, theirs, neither: (
        both + neither,
        both + ours + theirs + neither,
    ),
    "precision": lambda both, ours, _theirs, _neither: (both, both + ours),
    "recall": lambda both, _ours, theirs, _neither: (both, both + theirs),
    "f1": lambda both, ours, theirs, _neither: (2 * both, 2 * both + ours + theirs),
    "kappa": lambda both, ours, theirs, neither: (
        2 * (both * neither - ours * theirs),
        (both + ours) * (ours + neither) + (both + theirs) * (theirs + neither),
    ),
    "boundary_rate": lambda both, ours, theirs, neither: (
        both + ours,
        both + ours + theirs + neither,
    ),
    "base_rate": lambda both, ours, theirs, neither: (
        both + theirs,
        both + ours + theirs + neither,
    ),
}
"""What is divided by what, of the gaps at which both end a word, one of them, or neither."""

_UNDEFINED = {
    "precision": "the first ends no word",
    "recall": "the second ends no word",
    "f1": "neither ends a word",
    "kappa": "both say the same of all gaps",
}
