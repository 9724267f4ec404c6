"""How far two references agree about where words end."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import tee, zip_longest

import numpy as np
import pandas as pd
from jaxtyping import Float

from interp.analyses.statistics.detection import f1, precision, ratio, recall
from interp.analyses.statistics.estimate import Estimate, with_interval
from interp.errors import InputError
from interp.segmentation import Gaps, Reference
from interp.segmentation.references import SegmenterReference
from interp.tables import analysis_table, joined_notes


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
    counts: dict[str | int, np.ndarray] = defaultdict(lambda: np.zeros(4))
    cluster_noun = "document"
    for number, (ours, theirs) in enumerate(_gaps_of_both(first, second, contents)):
        shared, in_ours, in_theirs = np.intersect1d(
            ours.tokens, theirs.tokens, assume_unique=True, return_indices=True
        )
        if len(shared):
            called, true = ours.is_boundary[in_ours], theirs.is_boundary[in_theirs]
            clustered = theirs if ours.cluster is None else ours
            cluster, cluster_noun = clustered.cluster, clustered.cluster_noun
            counts[number if cluster is None else cluster] += [
                (called & true).sum(),
                called.sum(),
                true.sum(),
                len(shared),
            ]
    by_cluster = np.array(list(counts.values()), dtype=np.float64).reshape(-1, 4).T
    common = {"signal": first.reference, "reference": second.reference, "group": group}
    settings = {"boundary_rate": first.details, "base_rate": second.details}
    rows = []
    for name in _SHARES:
        row = common | {"statistic": name} | _estimate(name, by_cluster, cluster_noun).as_row()
        rows.append(row | {"note": joined_notes(row["note"], settings.get(name))})
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


def _estimate(name: str, counts: Float[np.ndarray, "4 cluster"], cluster_noun: str) -> Estimate:
    """A statistic of the sums of ``counts``, with an interval from leaving one cluster out."""
    share = _SHARES[name]
    totals = counts.sum(axis=1, keepdims=True)
    n, n_clusters = int(totals[3, 0]), counts.shape[1]
    value = share(*totals).item()
    if np.isnan(value):
        reason = _UNDEFINED[name] if n else "there is no gap that both judge"
        return Estimate(None, n=n, n_documents=n_clusters, note=f"not defined: {reason}")
    return with_interval(
        value,
        n,
        n_clusters,
        lambda: share(*(totals - counts)),
        limits=(-1.0 if name == "kappa" else 0.0, 1.0),
        cluster=cluster_noun,
    )


_SHARES = {
    "agreement": lambda both, called, true, n: ratio(n - called - true + 2 * both, n),
    "precision": lambda both, called, _true, _n: precision(both, called),
    "recall": lambda both, _called, true, _n: recall(both, true),
    "f1": lambda both, called, true, _n: f1(both, called, true),
    "kappa": lambda both, called, true, n: ratio(
        2 * (both * n - called * true), n * (called + true) - 2 * called * true
    ),
    "boundary_rate": lambda _both, called, _true, n: ratio(called, n),
    "base_rate": lambda _both, _called, true, n: ratio(true, n),
}
"""Of n gaps: at so many both end a word, the first does (called), the second does (true)."""

_UNDEFINED = {
    "precision": "the first ends no word",
    "recall": "the second ends no word",
    "f1": "neither ends a word",
    "kappa": "both say the same of all gaps",
}
