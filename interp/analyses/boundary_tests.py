"""How sure areas are, what scores are worth as a segmentation, and which of two is better."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd

from interp.analyses.scored_gaps import ScoreColumn, ScoredGaps
from interp.analyses.statistics import (
    Estimate,
    average_precision,
    every_gap_scores,
    holm,
    paired_auc_difference,
    shift_null,
    threshold_scores,
)
from interp.analyses.word_boundaries import explained, n_together
from interp.errors import UsageError
from interp.tables import EVERY_GAP, analysis_table

N_SHIFTS = 999
"""Shifts of the labels: the smallest p is then 0.001."""


def boundary_tests(gaps: ScoredGaps, *, n_shifts: int = N_SHIFTS, seed: int = 0) -> pd.DataFrame:
    """Null, p, average precision and segmentation scores of every column of ``gaps``.

    Args:
        gaps: The gaps, with their baselines.
        n_shifts: How often the labels are shifted.
        seed: Of the shifts.

    Returns:
        An analysis table with the rows ``null_roc_auc`` (the centre of the areas under circular
        shifts of the labels within documents; low and high are their quantiles at 0.025 and
        0.975, no interval), ``p`` (two-sided, from those shifts), ``p_holm`` (adjusted over the
        columns of a checkpoint's signal, scored at one place), ``average_precision`` (to be
        compared with the base rate), and ``precision``, ``recall``, ``f1``, ``word_f1`` and
        ``r_value`` on one half of the documents at the threshold that has the best F1 on the
        other; those of the signal ``every_gap`` are what no signal at all comes to.
    """
    rows = [*_null_rows(gaps, n_shifts, seed), *_segmentation_rows(gaps)]
    return analysis_table({"reference": gaps.reference} | row for row in rows)


def paired_areas(
    gaps: ScoredGaps, pairs: Sequence[tuple[ScoreColumn, ScoreColumn]], *, against: str
) -> pd.DataFrame:
    """The area of one column less that of another, over the same gaps, for every pair.

    Args:
        gaps: The gaps.
        pairs: Columns of ``gaps``: whose area, and less whose.
        against: What the second ones are, for the rows' group.

    Returns:
        An analysis table with the rows ``roc_auc_difference``. Intervals are simultaneous over
        the pairs whose first columns are of one checkpoint's signal, scored at one place.
    """
    families = [first.family for first, _ in pairs]
    rows = []
    for first, second in pairs:
        one, other = (gaps.scores[:, gaps.columns.index(column)] for column in (first, second))
        difference = paired_auc_difference(
            gaps.is_boundary,
            one,
            other,
            gaps.documents,
            n_simultaneous=families.count(first.family),
            cluster=gaps.cluster_noun,
        )
        group = ", ".join(filter(None, (first.group, f"against {against}")))
        where = first.as_row() | {"group": group, "reference": gaps.reference}
        rows.append(
            where
            | {"statistic": "roc_auc_difference"}
            | explained(difference, gaps, first).as_row()
        )
    return analysis_table(rows)


def column_named(gaps: ScoredGaps, name: str) -> ScoreColumn:
    """The column that is called ``name``, such as ``increment L2``, or is of that signal alone.

    Raises:
        UsageError: There is none, or more than one.
    """
    found = [column for column in gaps.columns if name in (column.name, column.signal)]
    if len(found) == 1:
        return found[0]
    names = "; ".join(dict.fromkeys(column.name for column in gaps.columns))
    problem = "there are several scores" if found else "there is no score"
    raise UsageError(f"word boundaries: {problem} called {name!r}", f"Known: {names}.")


def _null_rows(gaps: ScoredGaps, n_shifts: int, seed: int) -> Iterator[dict[str, Any]]:
    null = shift_null(
        gaps.is_boundary,
        gaps.scores,
        gaps.documents,
        n_shifts=n_shifts,
        seed=seed,
        cluster=gaps.cluster_noun,
    )
    adjusted = _adjusted(gaps, null.p_value)
    common = {"n": null.n, "n_documents": null.n_documents, "method": null.method}
    for index, (column, together) in enumerate(zip(gaps.columns, n_together(gaps), strict=True)):
        where = column.as_row() | common | {"note": null.notes[index]}
        yield where | {
            "statistic": "null_roc_auc",
            "value": null.centre[index],
            "low": null.low[index],
            "high": null.high[index],
        }
        yield where | {"statistic": "p", "value": null.p_value[index]}
        yield where | {
            "statistic": "p_holm",
            "value": adjusted[index],
            "method": f"{null.method}; Holm over {together}",
        }


def _adjusted(gaps: ScoredGaps, p_values: np.ndarray) -> np.ndarray:
    """Holm's adjustment over the columns of each family."""
    families = [column.family for column in gaps.columns]
    adjusted = np.full(len(p_values), np.nan)
    for family in dict.fromkeys(families):
        own = [index for index, each in enumerate(families) if each == family]
        adjusted[own] = holm(p_values[own])
    return adjusted


def _segmentation_rows(gaps: ScoredGaps) -> Iterator[dict[str, Any]]:
    labels, documents, runs = gaps.is_boundary, gaps.documents, gaps.runs
    cluster, is_delimited = gaps.cluster_noun, gaps.is_delimited
    every = ScoreColumn(EVERY_GAP)

    def row(column: ScoreColumn, statistic: str, estimate: Estimate) -> dict[str, Any]:
        found = explained(estimate, gaps, column).as_row()
        return column.as_row() | {"statistic": statistic} | found

    of_every = every_gap_scores(labels, documents, runs, is_delimited=is_delimited, cluster=cluster)
    for name, estimate in of_every.items():
        yield row(every, name, estimate) | {"seen": None}
    for index, column in enumerate(gaps.columns):
        scores = np.ascontiguousarray(gaps.scores[:, index])
        precision = average_precision(labels, scores, documents, cluster=cluster)
        yield row(column, "average_precision", precision)
        found = threshold_scores(
            labels, scores, documents, runs, is_delimited=is_delimited, cluster=cluster
        )
        for name, estimate in found.items():
            yield row(column, name, estimate)
