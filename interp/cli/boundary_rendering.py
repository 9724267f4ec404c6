"""Word boundaries for a reader at a terminal of 80 columns; nothing is computed but widths."""

from collections.abc import Iterator, Sequence

import pandas as pd

from interp.analyses.scored_gaps import LEAD_BYTE
from interp.cli.rendering import (
    Rendered,
    interval,
    number,
    percent,
    table_of,
    whole,
)
from interp.reports.chart import remarks_on
from interp.tables import (
    EVERY_GAP,
    SEEN_BEFORE,
    SEEN_CHARACTER,
    SEEN_LEAD_BYTE,
    Row,
    rows_of,
    score_name,
)
from interp.text import counted

_SEEN = {SEEN_BEFORE: "–", SEEN_LEAD_BYTE: "lead", SEEN_CHARACTER: "all"}

_MANY_TIES = 0.05
"""Share of pairs with equal scores from which it is said."""

_WORTH = ("average_precision", "precision", "recall", "f1", "word_f1", "r_value")


def boundary_tables(
    frame: pd.DataFrame, *, saturated: Sequence[str] = (), cluster: str = "document"
) -> list[Rendered]:
    """Areas with their nulls, then what a threshold finds, then comparisons, then notes.

    Args:
        frame: Of `interp.studies.boundaries.boundary_table`.
        saturated: Columns with many saturated entries, each with its share.
        cluster: What gaps are clustered by, as `interp.analyses.scored_gaps.ScoredGaps` says.
    """
    rows = rows_of(_named(frame))
    areas = [row for row in rows if row["statistic"] == "roc_auc"]
    remarks = remarks_on(areas, lambda row: row["score"])
    if not any(row["n"] for row in areas):
        empty = _areas([], rows, cluster)
        notes = (*remarks, *_text_notes(rows, saturated), "Is --lang the right one?")
        return [Rendered(empty.title, empty.table, notes)]
    compared = [row for row in rows if row["statistic"] == "roc_auc_difference"]
    worth, why_none = _worth(areas, rows, cluster)
    tables = [_areas(areas, rows, cluster), *([worth] if worth else [])]
    if compared:
        tables.append(_comparisons(compared))
    tables[-1] = Rendered(
        tables[-1].title,
        tables[-1].table,
        (
            *tables[-1].notes,
            *why_none,
            *remarks,
            *_text_notes(rows, saturated),
            *_score_notes(rows),
        ),
    )
    return tables


def _areas(areas: Sequence[Row], rows: Sequence[Row], cluster: str) -> Rendered:
    found = {(row["statistic"], _key(row)): row for row in rows}
    table = table_of("score", "seen", "AUC", "95 % interval", "null", "p")
    for row in areas:
        null, p = (found.get((name, _key(row))) for name in ("null_roc_auc", "p_holm"))
        table.add_row(
            row["score"],
            _SEEN[row["seen"]],
            number(row["value"]),
            interval(row),
            interval(null) if null is not None else "",
            number(p["value"]) if p is not None else "",
        )
    base = next(row for row in rows if row["statistic"] == "base_rate")
    title = f"Word boundaries of {base['reference']}: ROC-AUC over {whole(base['n'])} gaps"
    note = (
        f"Gaps of {counted(base['n_documents'], cluster)}; {percent(base['value'])} are boundaries."
    )
    return Rendered(title, table, (note,))


def _worth(
    areas: Sequence[Row], rows: Sequence[Row], cluster: str
) -> tuple[Rendered | None, Sequence[str]]:
    """What a threshold finds; or, where none can be chosen, why."""
    found = {(row["statistic"], _key(row)): row for row in rows}
    table = table_of("score", "AP", "precision", "recall", "F1", "word F1", "R-value")
    every = [row for row in rows if str(row["signal"]) == EVERY_GAP]
    if all(row["value"] is None for row in every):
        reason = str(every[0]["note"]).removeprefix("not defined: ")
        return None, [f"What a threshold finds is not defined: {reason}."]
    for row in [*areas, *every[:1]]:
        values = (found.get((name, _key(row))) for name in _WORTH)
        table.add_row(
            row["score"], *("" if each is None else number(each["value"]) for each in values)
        )
    note = f"At the threshold of best F1 on one half of the {cluster}s, measured on the other."
    return Rendered("What a threshold finds", table, (note,)), ()


def _comparisons(rows: Sequence[Row]) -> Rendered:
    table = table_of("score", "against", "difference of areas", "95 % interval")
    for row in rows:
        against = str(row["group"]).partition("against ")[2]
        table.add_row(row["score"], against, number(row["value"]), interval(row))
    note = "On the same gaps; intervals are simultaneous over the layers of a signal."
    return Rendered("Which is better", table, (note,))


def _text_notes(rows: Sequence[Row], saturated: Sequence[str]) -> Iterator[str]:
    for row in rows:
        if row["statistic"] == "left_out" and row["value"]:
            yield f"Left out: {row['value']:,.0f} of {row['n']:,} characters ({row['group']})."
    if saturated:
        yield f"Within 0.1 % of the bound: {', '.join(saturated)} of all increments."


def _score_notes(rows: Sequence[Row]) -> Iterator[str]:
    ties = [
        f"{row['score']} {percent(row['value'])}"
        for row in rows
        if row["statistic"] == "tied_share"
        and row["value"] is not None
        and row["value"] >= _MANY_TIES
    ]
    if ties:
        yield f"Pairs of one boundary and one other gap that score alike: {', '.join(ties)}."
    yield "Chance is 0.5; below it the score at a boundary is the smaller one."
    yield "seen: of the next character nothing (–), its lead byte, or all of it."
    yield "null: 95 % of the areas of labels shifted in a circle; p: from it, Holm over layers."


def _key(row: Row) -> tuple[str, ...]:
    """What tells the scores apart."""
    where = (
        row["checkpoint"],
        row["signal"],
        row["layer"],
        row["head"],
        row["group"],
        row["scored_at"],
    )
    return tuple(str(each) for each in where)


def _named(frame: pd.DataFrame) -> pd.DataFrame:
    """``frame`` with what each row's score is called, its checkpoint where there are several."""
    has_several = bool(frame["checkpoint"].dropna().nunique() > 1)
    return frame.assign(score=[_name(row, has_several) for row in rows_of(frame)])


def _name(row: Row, has_several: bool) -> str:
    if row["signal"] is None:
        return ""
    group = None if row["group"] is None else row["group"].partition(", against ")[0]
    parts = [score_name(row["signal"], row["layer"], row["head"], group)]
    if row["scored_at"] is not None and row["scored_at"] != LEAD_BYTE:
        parts.append(row["scored_at"])
    if has_several and row["checkpoint"] is not None:
        parts.append(row["checkpoint"])
    return ", ".join(parts)
