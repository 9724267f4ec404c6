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
from interp.tables import Row, has_interval, row_name, rows_of

UNDEFINED = "—"
N_COLUMNS = 6
"""Layers beside each other: more do not fit into 80 columns."""

MOST_NAMES = 5
"""Rows that a note names before it counts the others."""


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


def saturation_table(frame: pd.DataFrame) -> list[Rendered]:
    """The share of saturated entries per column, of the signals that have a bound."""
    rows = [row for row in rows_of(frame) if row["value"] is not None]
    if not rows:
        return []
    table = table_of("signal", "layer", "tokens", "saturated")
    for row in rows:
        table.add_row(row["signal"], row_name(row), whole(row["n"]), percent(row["value"]))
    return [Rendered("", table, _notes(rows))]


def held_out_table(frame: pd.DataFrame) -> list[Rendered]:
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
    """Means per class and layer, then the half widths of their intervals."""
    blocks = [
        (columns, [row for row in means if row_name(row) in columns])
        for columns in _blocks(_column_names(means))
    ]
    rendered = [
        Rendered(
            title,
            _pivot(part, columns, ("n", lambda row: row["n"]), lambda row: row["value"]),
            _notes(part),
        )
        for columns, part in blocks
    ]
    rendered += [
        Rendered(
            "Half width of its 95 % interval, clustered by text",
            _pivot(part, columns, ("texts", lambda row: row["n_documents"]), _half_width),
            (f"{UNDEFINED} is not defined. sd, min and max: --csv or --json.",),
        )
        for columns, part in blocks
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
    return Rendered(f"{column}: over byte values, each counted once", table, _notes(means))


def _notes(part: Sequence[Row]) -> tuple[str, ...]:
    """Every note once, with the rows that it is about."""
    n_columns = len(_column_names(part))
    about: dict[str, dict[str, list[str]]] = {}
    n_rows: dict[str, int] = {}
    for row in part:
        for note in [] if row["note"] is None else str(row["note"]).split("; "):
            group = "" if row["group"] is None else str(row["group"])
            about.setdefault(note, {}).setdefault(group, []).append(row_name(row))
            n_rows[note] = n_rows.get(note, 0) + 1
    lines = []
    for note, groups in about.items():
        names = [
            name for group, columns in groups.items() for name in _names(group, columns, n_columns)
        ]
        more = f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
        rows = "All" if n_rows[note] == len(part) else ", ".join(names[:MOST_NAMES]) + more
        lines.append(f"{rows}: {note}.")
    return tuple(lines)


def _names(group: str, columns: Sequence[str], n_columns: int) -> list[str]:
    """What a note is about: columns alone, or a group, in some columns or in all."""
    if not group:
        return list(columns)
    is_everywhere = len(columns) >= n_columns
    return [group if is_everywhere else f"{group} ({' '.join(columns)})"]


def _column_names(rows: Sequence[Row]) -> list[str]:
    return list(dict.fromkeys(row_name(row) for row in rows))


def _blocks(names: Sequence[str]) -> Iterator[Sequence[str]]:
    for start in range(0, len(names), N_COLUMNS):
        yield names[start : start + N_COLUMNS]


def _half_width(row: Row) -> Any:
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
