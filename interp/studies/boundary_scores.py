"""What studies of word boundaries share: scores of a text, their charts, what beats what."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from interp.analyses.boundary_tests import column_named, paired_areas
from interp.analyses.character_counts import CharacterCounts
from interp.analyses.scored_gaps import (
    LEAD_BYTE,
    ScoreColumn,
    ScoredGaps,
)
from interp.analyses.statistics import paired_auc_difference
from interp.checkpoints import Checkpoint
from interp.errors import InputError
from interp.extraction.increment_table import IncrementTable
from interp.reports.chart import Chart, estimate_text, interval_text
from interp.reports.charts import baseline_name
from interp.reports.dot_chart import dot_chart
from interp.reports.markup import Html
from interp.reports.verdicts import Verdict, number_in_words, side_by_side
from interp.segmentation.gaps import Reference
from interp.segmentation.references import SegmenterReference
from interp.studies.boundaries import (
    BOUNDARY_SIGNALS,
    BoundarySignals,
    boundary_table,
    scored_gaps,
)
from interp.studies.study_input import StudyInput
from interp.tables import EVERY_GAP, PROBE, Row, rows_of

INCREMENT = "increment"


@dataclass(frozen=True)
class BoundaryScores:
    """All scores of one text against one reference.

    Attributes:
        gaps: The gaps and their scores.
        table: Areas, nulls and segmentation scores, as an analysis table.
    """

    gaps: ScoredGaps
    table: pd.DataFrame

    @property
    def areas(self) -> list[Row]:
        """The areas of what is scored at the lead byte, or of characters."""
        rows = rows_of(self.table.query("statistic == 'roc_auc'"))
        return [row for row in rows if row["scored_at"] in (None, LEAD_BYTE)]

    def against(self, name: str, signal: str = INCREMENT) -> list[Row]:
        """Areas of a signal's layers at the lead byte, less that of the score called ``name``."""
        pairs = [(column, self.column(name)) for column in self.layers(signal)]
        return rows_of(paired_areas(self.gaps, pairs, against=name))

    def layers(self, signal: str = INCREMENT) -> list[ScoreColumn]:
        """The columns of a signal at the lead byte."""
        return [
            column
            for column in self.gaps.columns
            if column.signal == signal and column.scored_at == LEAD_BYTE
        ]

    def column(self, name: str) -> ScoreColumn:
        """The column that readers call ``name``, at the lead byte where it is scored there."""
        found = [column for column in self.gaps.columns if column.name == name]
        at_lead_byte = [column for column in found if column.scored_at == LEAD_BYTE]
        return (at_lead_byte or found or [column_named(self.gaps, name)])[0]


def boundary_scores(
    given: StudyInput,
    checkpoint: Checkpoint,
    language: str,
    reference: Reference,
    *,
    scored_at: Sequence[str] = (LEAD_BYTE,),
    counts: CharacterCounts | None = None,
    limit_bytes: int | None = None,
) -> BoundaryScores:
    """Increments, predictions, a probe and baselines of the text that a reference judges.

    Args:
        given: The text.
        checkpoint: The model.
        language: Of the text.
        reference: Who says where words end.
        scored_at: Where gaps take their scores from.
        counts: Of characters, for the baselines that need them.
        limit_bytes: The most bytes of each corpus.
    """
    is_as_it_is = isinstance(reference, SegmenterReference)
    table = given.extraction(
        checkpoint,
        language,
        BOUNDARY_SIGNALS,
        limit_bytes=limit_bytes,
        reference=None if is_as_it_is else reference,
    )
    tables: list[tuple[IncrementTable, Sequence[str]]] = [(table, BOUNDARY_SIGNALS)]
    try:
        tables.append((given.probe(checkpoint, language, reference, limit_bytes), [PROBE]))
    except InputError as error:  # too little text for one; the rest is there all the same
        given.warn(f"{reference.reference}: {error}")
    has_input = given.has_text(language)

    def contents() -> Iterator[bytes]:
        return (each.content[:] for each in given.documents(language, limit_bytes))

    reads_other = has_input and not is_as_it_is
    gaps = scored_gaps(
        BoundarySignals(tables, contents if reads_other else None),
        reference,
        scored_at=scored_at,
        counts=counts,
        progress=given.progress,
    )
    return BoundaryScores(gaps, boundary_table(gaps, is_simultaneous=True))


def scores_chart(scores: BoundaryScores, *, key: str, title: str) -> Chart:
    """Every score at the lead byte, one below the other."""
    shown = scores.table.query(
        "statistic == 'roc_auc' and (scored_at.isna() or scored_at == @LEAD_BYTE)",
        local_dict={"LEAD_BYTE": LEAD_BYTE},
    )
    return dot_chart(
        shown,
        baseline_name,
        key=key,
        title=title,
        note="Intervals are clustered by document and simultaneous over the layers of a signal. In "
        "brackets: what the score has seen of the next character.",
        lines=[("chance 0.5", 0.5)],
    )


def scores_beside(scores: BoundaryScores, caption: str) -> Html:
    """Areas with nulls and p, and what a threshold finds, of every score at the lead byte."""
    found = {
        (row["statistic"], baseline_name(row), row["scored_at"]): row
        for row in rows_of(scores.table)
        if row["seen"] is not None
    }
    rows = []
    for area in scores.areas:
        name, place = baseline_name(area), area["scored_at"]
        null = found["null_roc_auc", name, place]
        worth = (
            number_in_words(found[statistic, name, place]["value"])
            for statistic in ("p_holm", "average_precision", "f1", "word_f1", "r_value")
        )
        null_interval = interval_text(null, ".3f").strip()
        rows.append([name, estimate_text(area, ".3f"), null_interval, *worth])
    every = {
        row["statistic"]: number_in_words(row["value"])
        for row in rows_of(scores.table)
        if row["signal"] == EVERY_GAP
    }
    names = ("f1", "word_f1", "r_value")
    rows.append(["every gap a boundary", "", "", "", "", *(every[name] for name in names)])
    head = ["score", "AUC", "null", "p (Holm)", "AP", "F1", "word F1", "R-value"]
    return side_by_side(caption, head, rows)


def beats(scores: BoundaryScores, name: str, claim: str) -> Verdict:
    """Whether some layer's increment tells boundaries better than another score.

    Args:
        scores: Of the same gaps.
        name: What the other score is called.
        claim: The claim that it does.
    """
    rows = scores.against(name)
    here = "; ".join(f"L{row['layer']} {_difference(row)}" for row in rows)
    # a layer that scores as the other in every document has no interval, and is not better
    undefined = [row for row in rows if row["low"] is None and row["value"] != 0]
    better = [f"L{row['layer']}" for row in rows if row["low"] is not None and row["low"] > 0]
    worse = [f"L{row['layer']}" for row in rows if row["high"] is not None and row["high"] < 0]
    if better:
        verdict = f"Yes: {', '.join(better)}."
    elif undefined:
        verdict = f"Not defined: {undefined[0]['note']}."
    elif len(worse) == len(rows):
        verdict = "No: every layer's increment is worse."
    else:
        verdict = f"Not shown: no layer is better, and {len(worse)} of {len(rows)} are worse."
    if reversed_layers := _better_turned_round(scores, name):
        layers = ", ".join(f"L{layer}" for layer in reversed_layers)
        verdict += (
            f" But {layers} would be better turned round: there the increment at a word end is the "
            "smaller one, and tells more in that way."
        )
    area = next(row for row in scores.areas if _is_of(row, scores.column(name)))
    return Verdict(
        claim,
        "",
        f"less the {number_in_words(area['value'])} of {name}: {here}",
        verdict,
    )


def _better_turned_round(scores: BoundaryScores, name: str) -> list[int | None]:
    """Layers whose increments, were small taken for large, would beat the score called ``name``."""
    gaps, columns = scores.gaps, scores.layers()
    other = gaps.scores[:, gaps.columns.index(scores.column(name))]
    found = []
    for column in columns:
        increments = gaps.scores[:, gaps.columns.index(column)]
        if len(np.unique(increments)) < 2:  # the same either way round
            continue
        difference = paired_auc_difference(
            gaps.is_boundary, -increments, other, gaps.documents, n_simultaneous=len(columns)
        )
        if difference.low is not None and difference.low > 0:
            found.append(column.layer)
    return found


def _is_of(row: Row, column: ScoreColumn) -> bool:
    about = column.as_row()
    return all(row[name] == value for name, value in about.items())


def _difference(row: Row) -> str:
    if row["value"] is None:
        return "not defined"
    return f"{row['value']:+.3f}{interval_text(row, '.3f')}"
