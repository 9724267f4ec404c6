"""Analysis tables for a reader at a terminal of 80 columns; nothing is computed but widths."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd
from rich import box
from rich.table import Table
from rich.text import Text

from interp.analyses.byte_classes import RUNNING_TEXT, VOCABULARY
from interp.tables import LEAD_BYTE_CEILING, column_name

UNDEFINED = "—"
N_COLUMNS = 6
"""Layers beside each other: more do not fit into 80 columns."""

MOST_NAMES = 5
"""Rows that a note names before it counts the others."""

_CEILING = "lead byte, "


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
    rows = _rows(frame)
    means = [row for row in rows if row.reference == RUNNING_TEXT and row.statistic == "mean"]
    vocabulary = [row for row in rows if row.reference == VOCABULARY]
    blocks = [
        (columns, [row for row in means if _column_name(row) in columns])
        for columns in _blocks(_column_names(means))
    ]
    rendered = [
        Rendered(
            "Mean increment by byte class",
            _pivot(part, columns, ("n", lambda row: row.n), lambda row: row.value),
            _notes(part),
        )
        for columns, part in blocks
    ]
    rendered += [
        Rendered(
            "Half width of its 95 % interval, clustered by text",
            _pivot(part, columns, ("texts", lambda row: row.n_documents), _half_width),
            (f"{UNDEFINED} is not defined. sd, min and max: --csv or --json.",),
        )
        for columns, part in blocks
    ]
    rendered += [
        _vocabulary_table([row for row in vocabulary if _column_name(row) == column], column)
        for column in _column_names(vocabulary)
    ]
    return rendered


def auc_tables(frame: pd.DataFrame, *, saturated: Sequence[str] = ()) -> list[Rendered]:
    """The area per layer with its interval, then the ceilings, then what was left out.

    Args:
        frame: Of a word-boundary analysis.
        saturated: Columns with many saturated entries, each with its share.
    """
    rows = _rows(frame)
    scores = [row for row in rows if row.statistic == "roc_auc"]
    tied = {_column_name(row): row.value for row in rows if row.statistic == "tied_share"}
    base_rate = next((row.value for row in rows if row.statistic == "base_rate"), None)
    table = _table("layer", "AUC", "95 % interval", "gaps", "texts", "base", "tied")
    was_ceiling = False
    for row in scores:
        is_ceiling = row.signal == LEAD_BYTE_CEILING
        if is_ceiling and not was_ceiling:
            table.add_section()
        was_ceiling = is_ceiling
        name = _group_name(row) if is_ceiling else _column_name(row)
        table.add_row(
            name,
            _number(row.value),
            _interval(row),
            _whole(row.n),
            _whole(row.n_documents),
            _number(base_rate),
            "" if is_ceiling else _percent(tied.get(name)),
        )
    notes = [*_notes(scores), *_auc_notes(rows, saturated)]
    return [Rendered(_auc_title(scores), table, tuple(notes))]


def saturation_table(frame: pd.DataFrame) -> list[Rendered]:
    """The share of saturated entries per column, of the signals that have a bound."""
    rows = [row for row in _rows(frame) if row.value is not None]
    if not rows:
        return []
    table = _table("signal", "layer", "tokens", "saturated")
    for row in rows:
        table.add_row(row.signal, _column_name(row), _whole(row.n), _percent(row.value))
    return [Rendered("", table, _notes(rows))]


def held_out_table(frame: pd.DataFrame) -> list[Rendered]:
    """The held-out loss of every corpus in nats and in bits per byte."""
    rows = _rows(frame)
    bits = {row.group: row.value for row in rows if row.statistic == "bits_per_byte"}
    table = _table("held-out text", "texts", "bytes", "nats per byte", "bits per byte")
    for row in rows:
        if row.statistic == "nats_per_byte":
            cells = (f"{row.value:.4f}", f"{bits[row.group]:.3f}")
            table.add_row(row.group, _whole(row.n_documents), _whole(row.n), *cells)
    return [Rendered("", table)]


def fact_table(facts: Sequence[tuple[str, str]]) -> Rendered:
    """Names and values."""
    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column(style="bold", no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in facts:
        table.add_row(Text(name), Text(value))
    return Rendered("", table)


def _table(first: str, *others: str) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0), show_edge=False)
    table.add_column(first, no_wrap=True)
    for name in others:
        table.add_column(name, justify="right", no_wrap=True)
    return table


def _rows(frame: pd.DataFrame) -> list[Any]:
    """The rows of a table, with its columns as attributes."""
    return list(frame.itertuples())


def _pivot(
    part: Sequence[Any],
    columns: Sequence[str],
    count: tuple[str, Callable[[Any], Any]],
    value: Callable[[Any], Any],
) -> Table:
    """One row per group with a count (the largest of its columns) and a value per column."""
    count_name, count_of = count
    groups: dict[str, dict[str, Any]] = {}
    for row in part:
        groups.setdefault(row.group, {})[_column_name(row)] = row
    table = _table("class", count_name, *columns)
    for group, by_column in groups.items():
        counts = [count_of(row) for row in by_column.values() if not pd.isna(count_of(row))]
        cells = [_number(value(by_column[name])) if name in by_column else "" for name in columns]
        table.add_row(group, _whole(max(counts, default=None)), *cells)
    return table


def _vocabulary_table(part: Sequence[Any], column: str) -> Rendered:
    names = ("mean", "sd", "min", "max")
    values = {(row.group, row.statistic): row.value for row in part}
    means = [row for row in part if row.statistic == "mean"]
    table = _table("class", "byte values", *names)
    for row in means:
        cells = [_number(values.get((row.group, name))) for name in names]
        table.add_row(row.group, _whole(row.n), *cells)
    return Rendered(f"{column}: over byte values, each counted once", table, _notes(means))


def _auc_title(scores: Sequence[Any]) -> str:
    references = ", ".join(dict.fromkeys(str(row.reference) for row in scores))
    return f"Word boundaries of {references}: ROC-AUC of the increment at the next character"


def _auc_notes(rows: Sequence[Any], saturated: Sequence[str]) -> Iterator[str]:
    for row in rows:
        if row.statistic == "left_out" and row.value:
            yield f"Left out: {row.value:,.0f} of {row.n:,} characters ({row.group})."
    if saturated:
        yield f"Within 0.1 % of the bound: {', '.join(saturated)} of all increments."
    yield "Chance is 0.5; below it the increment at a boundary is the smaller one."
    yield "base: share of gaps that are boundaries; tied: share of pairs that are equal."


def _notes(part: Sequence[Any]) -> tuple[str, ...]:
    """Every note once, with the rows that it is about."""
    n_columns = len(_column_names([row for row in part if row.signal != LEAD_BYTE_CEILING]))
    about: dict[str, dict[str, list[str]]] = {}
    n_rows: dict[str, int] = {}
    for row in part:
        for note in [] if pd.isna(row.note) else str(row.note).split("; "):
            group = "" if pd.isna(row.group) else _group_name(row)
            about.setdefault(note, {}).setdefault(group, []).append(_column_name(row))
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
    is_everywhere = len(columns) >= n_columns or group.startswith(_CEILING)
    return [group if is_everywhere else f"{group} ({' '.join(columns)})"]


def _group_name(row: Any) -> str:
    return f"{_CEILING}{row.group}" if row.signal == LEAD_BYTE_CEILING else str(row.group)


def _column_names(rows: Sequence[Any]) -> list[str]:
    return list(dict.fromkeys(_column_name(row) for row in rows))


def _column_name(row: Any) -> str:
    return column_name(row.signal, row.layer, row.head)


def _blocks(names: Sequence[str]) -> Iterator[Sequence[str]]:
    for start in range(0, len(names), N_COLUMNS):
        yield names[start : start + N_COLUMNS]


def _half_width(row: Any) -> Any:
    return pd.NA if pd.isna(row.low) or pd.isna(row.high) else (row.high - row.low) / 2


def _interval(row: Any) -> str:
    return UNDEFINED if pd.isna(row.low) else f"{row.low:.3f} to {row.high:.3f}"


def _number(value: Any) -> str:
    if value is None or pd.isna(value):
        return UNDEFINED
    return f"{value:.3f}" if abs(value) < 100 else f"{value:.4g}"


def _percent(value: Any) -> str:
    return UNDEFINED if value is None or pd.isna(value) else f"{100 * value:.1f} %"


def _whole(value: Any) -> str:
    return UNDEFINED if value is None or pd.isna(value) else f"{value:,}"
