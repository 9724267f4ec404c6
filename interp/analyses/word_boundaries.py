"""Does a signal know where words end? ROC-AUC against a reference, over gaps, with baselines."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd

from interp.analyses.baselines import with_baselines
from interp.analyses.character_counts import CharacterCounts
from interp.analyses.scored_gaps import (
    ALL_DOCUMENTS,
    LEAD_BYTE,
    ScoreColumn,
    ScoredGaps,
    gather,
    joined,
)
from interp.analyses.statistics import Estimate, clustered_auc, clustered_mean, tied_pair_share
from interp.extraction.increment_table import IncrementTable
from interp.segmentation import Segmenter
from interp.segmentation.gaps import Reference
from interp.segmentation.references import SegmenterReference, find_reference
from interp.tables import CROSS_FITTED, analysis_table, joined_notes


def word_boundary_auc(
    table: IncrementTable,
    *,
    reference: str | Segmenter | Reference = "zh",
    signals: Sequence[str] | None = None,
    contents: Callable[[], Iterable[bytes]] | None = None,
    scored_at: Sequence[str] = (LEAD_BYTE,),
    counts: CharacterCounts | None = None,
    is_simultaneous: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> pd.DataFrame:
    """How well signals tell word ends from other gaps between two neighbouring characters.

    An area below 0.5 says that boundaries have the smaller value; it is shown as it is. The
    reference is another program's or people's opinion. What a score has seen of the next
    character is said beside it (``seen``): compare like with like, and everything that only
    knows the lead byte with its ceiling.

    Memory: one document of the table and one float32 per gap and column.

    Args:
        table: The signals of each token.
        reference: Who says where words end: a language of
            `interp.segmentation.references.LANGUAGES`, a segmenter, or a reference.
        signals: Names of signals of the table; None for all of them.
        contents: The documents of the input, for a reference that reads something else than
            the input; None for those of the table.
        scored_at: Where gaps take their scores from; see `interp.analyses.scored_gaps`.
        counts: Of characters of other text, for the baselines that need them.
        is_simultaneous: Whether the areas of all columns of a signal, scored at one place, are
            looked at together. The level of each interval is then 1 - 0.05 / columns, so that all
            of them hold with 95 %.
        progress: Called after each document with the bytes done and those of the whole table.

    Returns:
        An analysis table with the rows ``roc_auc`` and ``tied_share`` of every signal, layer
        and head; the same of the baselines (see `interp.analyses.baselines.with_baselines`);
        ``base_rate``, the share of gaps that are boundaries, whose note has the reference's
        settings; ``left_out``, the characters left out by reason, of n characters of the
        script; and ``other_script``, where there are any, the texts that may be in another
        language.

    Raises:
        InputError: No such reference, or the table is not about its text.
    """
    if isinstance(reference, str):
        reference = find_reference(reference)
    elif isinstance(reference, Segmenter):
        reference = SegmenterReference(reference)
    groups = gather(
        reference,
        [(table, signals or table.signals)],
        contents=contents,
        scored_at=scored_at,
        progress=progress,
    )
    return area_table(
        with_baselines(groups[ALL_DOCUMENTS], counts), is_simultaneous=is_simultaneous
    )


def area_table(gaps: ScoredGaps, *, is_simultaneous: bool = False) -> pd.DataFrame:
    """The areas of every column of ``gaps``, and what there is of gaps; see `word_boundary_auc`."""
    rows = [*_area_rows(gaps, is_simultaneous), *_text_rows(gaps)]
    return analysis_table({"reference": gaps.reference} | row for row in rows)


def areas_by_group(
    groups: dict[str, ScoredGaps],
    *,
    counts: CharacterCounts | None = None,
    is_simultaneous: bool = False,
) -> dict[str, pd.DataFrame]:
    """Areas and baselines of all gaps (`ALL_DOCUMENTS`, which come first) and of every group.

    Args:
        groups: As `interp.analyses.scored_gaps.gather` gives them.
        counts: Of characters of other text, for the baselines that need them.
        is_simultaneous: Over the columns of a signal scored at one place, within each group.
    """
    groups = {ALL_DOCUMENTS: joined(list(groups.values())), **groups}
    return {
        name: area_table(with_baselines(gaps, counts), is_simultaneous=is_simultaneous)
        for name, gaps in groups.items()
    }


def n_together(gaps: ScoredGaps) -> list[int]:
    """For every column, how many columns there are of its family, itself among them."""
    families = Counter(column.family for column in gaps.columns)
    return [families[column.family] for column in gaps.columns]


def explained(estimate: Estimate, gaps: ScoredGaps, column: ScoreColumn | None = None) -> Estimate:
    """``estimate``, saying what a text without gaps, or with one document only, lacks.

    Args:
        estimate: Of one column, or of the gaps alone.
        gaps: What it is about.
        column: Whose scores it is about; None for the gaps alone.
    """
    if not len(gaps.is_boundary):
        note = f"not defined: no gap between {gaps.judged} in the text"
        return Estimate(None, n=0, n_documents=0, note=note)
    is_fitted = column is not None and column.group == CROSS_FITTED
    if is_fitted and estimate.value is None and gaps.n_documents < 2:
        note = f"not defined: one {gaps.cluster_noun} only"
        return Estimate(None, n=estimate.n, n_documents=estimate.n_documents, note=note)
    return estimate


def _area_rows(gaps: ScoredGaps, is_simultaneous: bool) -> Iterator[dict[str, Any]]:
    for index, (column, n_simultaneous) in enumerate(
        zip(gaps.columns, n_together(gaps), strict=True)
    ):
        scores = np.ascontiguousarray(gaps.scores[:, index])
        area = clustered_auc(
            gaps.is_boundary,
            scores,
            gaps.documents,
            n_simultaneous=n_simultaneous if is_simultaneous else 1,
            cluster=gaps.cluster_noun,
        )
        tied = explained(tied_pair_share(gaps.is_boundary, scores), gaps, column).as_row()
        where = column.as_row()
        yield where | {"statistic": "roc_auc"} | explained(area, gaps, column).as_row()
        yield where | {"statistic": "tied_share"} | tied | {"n_documents": gaps.n_documents}


def _text_rows(gaps: ScoredGaps) -> Iterator[dict[str, Any]]:
    members = np.unique(gaps.documents, return_inverse=True)[1]
    n_boundaries = np.bincount(members, gaps.is_boundary).astype(np.float64)
    share = clustered_mean(
        n_boundaries, np.bincount(members), limits=(0.0, 1.0), cluster=gaps.cluster_noun
    )
    base_rate = explained(share, gaps)
    note = joined_notes(base_rate.note, gaps.details)
    yield base_rate.as_row() | {"statistic": "base_rate", "note": note}
    for reason, count in gaps.left_out.items():
        yield {
            "statistic": "left_out",
            "group": reason,
            "n": gaps.n_characters,
            "value": count,
            "note": "of n characters of the script",
        }
    for script, count in gaps.other_scripts.items():
        yield {
            "statistic": "other_script",
            "group": script,
            "n_documents": gaps.n_documents,
            "value": count,
            "note": "texts that may be in a language whose words the reference does not know",
        }
