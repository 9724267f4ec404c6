"""Analysis tables for a reader at a terminal of 80 columns; nothing is computed but widths."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd
from rich import box
from rich.table import Table
from rich.text import Text

from interp.analyses.byte_classes import RUNNING_TEXT, VOCABULARY
from interp.analyses.token_classes import EXCESS
from interp.reports.chart import remarks_on
from interp.tables import Row, has_interval, row_name, rows_of

UNDEFINED = "—"
N_COLUMNS = 6
"""Layers beside each other: more do not fit into 80 columns."""


@dataclass(frozen=True)
class Rendered:
    """A table with a title above and notes below.

    Attributes:
        title: One line, or nothing.
        table: What rich prints.
        notes: Lines below it.
    """

    title: str
    table: Table
    notes: tuple[str, ...] = ()


def byte_class_tables(frame: pd.DataFrame) -> list[Rendered]:
    """Means per class and layer, their 95 % half widths, and the table over byte values."""
    rows = rows_of(frame)
    means = [row for row in rows if row["reference"] == RUNNING_TEXT and row["statistic"] == "mean"]
    vocabulary = [row for row in rows if row["reference"] == VOCABULARY]
    rendered = _class_tables("Mean increment by byte class", means)
    rendered += [
        _vocabulary_table([row for row in vocabulary if row_name(row) == column], column)
        for column in _column_names(vocabulary)
    ]
    return rendered


def token_class_tables(frame: pd.DataFrame) -> list[Rendered]:
    """Means per class and layer, their half widths, and how far they lie from the byte's mean."""
    rows = rows_of(frame)
    means, excess = (
        [row for row in rows if row["statistic"] == statistic and row["n"]]
        for statistic in ("mean", EXCESS)
    )
    rendered = _class_tables("Mean increment by class of token", means)
    rendered += _class_tables("The mean less what the same bytes get in all the text", excess)
    return rendered


def agreement_tables(frame: pd.DataFrame, *, judged: str) -> list[Rendered]:
    """How far two references agree, with intervals; then what they are.

    Args:
        frame: Of `interp.analyses.agreement.reference_agreement`.
        judged: What stands on both sides of a gap.
    """
    rows = rows_of(frame)
    first, second = rows[0]["signal"], rows[0]["reference"]
    names = {
        "f1": "F1",
        "boundary_rate": f"word ends of {first}",
        "base_rate": f"word ends of {second}",
    }
    table = table_of("", "share", "95 % interval")
    for row in rows:
        name = str(names.get(row["statistic"], row["statistic"]))
        table.add_row(Text(name), number(row["value"]), interval(row))
    notes = [
        f"Over {whole(rows[0]['n'])} gaps between {judged}, of {whole(rows[0]['n_documents'])} "
        "documents or blocks of sentences.",
        f"Precision and recall are those of {first}, judged by {second}. Kappa: 0 is chance.",
        *dict.fromkeys(
            f"{names.get(row['statistic'], row['statistic'])}: {row['note']}."
            for row in rows
            if row["note"] is not None
        ),
    ]
    return [Rendered(f"Where words end: {first} and {second}", table, tuple(notes))]


def saturation_tables(frame: pd.DataFrame) -> list[Rendered]:
    """The share of saturated entries per column, of the signals that have a bound."""
    rows = [row for row in rows_of(frame) if row["value"] is not None]
    if not rows:
        return []
    table = table_of("signal", "layer", "tokens", "saturated")
    for row in rows:
        table.add_row(row["signal"], row_name(row), whole(row["n"]), percent(row["value"]))
    return [Rendered("", table)]


def held_out_tables(frame: pd.DataFrame) -> list[Rendered]:
    """The held-out loss of every corpus in nats and in bits per byte."""
    rows = rows_of(frame)
    bits = {row["group"]: row["value"] for row in rows if row["statistic"] == "bits_per_byte"}
    table = table_of("held-out text", "texts", "bytes", "nats per byte", "bits per byte")
    for row in rows:
        if row["statistic"] == "nats_per_byte":
            cells = (f"{row['value']:.4f}", f"{bits[row['group']]:.3f}")
            table.add_row(row["group"], whole(row["n_documents"]), whole(row["n"]), *cells)
    return [Rendered("", table)]


def fact_table(facts: Sequence[tuple[str, str]]) -> Rendered:
    """Names and values."""
    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column(style="bold", no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in facts:
        table.add_row(Text(name), Text(value))
    return Rendered("", table)


def table_of(first: str, *others: str) -> Table:
    """An empty table with these columns: names at the left, numbers at the right."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0), show_edge=False)
    table.add_column(first, overflow="fold")
    for name in others:
        table.add_column(name, justify="right", no_wrap=True)
    return table


def _pivot(
    part: Sequence[Row],
    columns: Sequence[str],
    count: tuple[str, Callable[[Row], Any]],
    value: Callable[[Row], Any],
) -> Table:
    """One row per group with a count (the largest of its columns) and a value per column."""
    count_name, count_of = count
    groups: dict[str, dict[str, Any]] = {}
    for row in part:
        groups.setdefault(row["group"], {})[row_name(row)] = row
    table = table_of("class", count_name, *columns)
    for group, by_column in groups.items():
        counts = [count_of(row) for row in by_column.values() if count_of(row) is not None]
        cells = [number(value(by_column[name])) if name in by_column else "" for name in columns]
        table.add_row(group, whole(max(counts, default=None)), *cells)
    return table


def _class_tables(title: str, means: Sequence[Row]) -> list[Rendered]:
    """Means per class and layer, then the half widths of their intervals where there are any."""
    parts = [
        (columns, [row for row in means if row_name(row) in columns])
        for columns in blocks(_column_names(means))
    ]
    how = f"{UNDEFINED} is not defined. sd, min and max: --csv or --json."
    has_intervals = any(map(has_interval, means))
    rendered = [
        Rendered(
            title,
            _pivot(part, columns, ("n", lambda row: row["n"]), lambda row: row["value"]),
            (
                *remarks_on(part, lambda row: f"{row['group']} {row_name(row)}"),
                *(() if has_intervals else (how,)),
            ),
        )
        for columns, part in parts
    ]
    if not has_intervals:
        return rendered
    rendered += [
        Rendered(
            "Half width of its 95 % interval, clustered by text",
            _pivot(part, columns, ("texts", lambda row: row["n_documents"]), half_width),
            (how,),
        )
        for columns, part in parts
    ]
    return rendered


def _vocabulary_table(part: Sequence[Row], column: str) -> Rendered:
    names = ("mean", "sd", "min", "max")
    values = {(row["group"], row["statistic"]): row["value"] for row in part}
    means = [row for row in part if row["statistic"] == "mean"]
    table = table_of("class", "byte values", *names)
    for row in means:
        cells = [number(values.get((row["group"], name))) for name in names]
        table.add_row(row["group"], whole(row["n"]), *cells)
    notes = remarks_on(means, lambda row: str(row["group"]))
    return Rendered(f"{column}: over byte values, each counted once", table, notes)


def _column_names(rows: Sequence[Row]) -> list[str]:
    return list(dict.fromkeys(row_name(row) for row in rows))


def blocks(names: Sequence[str], most: int = N_COLUMNS) -> Iterator[Sequence[str]]:
    """Names of columns, as many at a time as fit beside each other."""
    for start in range(0, len(names), most):
        yield names[start : start + most]


def half_width(row: Row) -> float | None:
    """Of a row's interval; None where it has none."""
    return (row["high"] - row["low"]) / 2 if has_interval(row) else None


def interval(row: Row) -> str:
    """The ends of a row's interval."""
    return UNDEFINED if not has_interval(row) else f"{number(row['low'])} to {number(row['high'])}"


def number(value: Any) -> str:
    """Three decimals, or four digits of a large number."""
    if value is None:
        return UNDEFINED
    return f"{value:.3f}" if abs(value) < 100 else f"{value:.4g}"


def percent(value: Any) -> str:
    """A share in percent."""
    return UNDEFINED if value is None else f"{100 * value:.1f} %"


def whole(value: Any) -> str:
    """A count."""
    return UNDEFINED if value is None else f"{value:,}"
