"""The analysis table: tidy, one row per estimate, undefined values null with a note."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

import pandas as pd

COLUMNS = {
    "checkpoint": "string",
    "signal": "string",
    "statistic": "string",
    "layer": "Int64",
    "head": "Int64",
    "group": "string",
    "reference": "string",
    "scored_at": "string",
    "seen": "string",
    "n": "Int64",
    "n_documents": "Int64",
    "value": "Float64",
    "low": "Float64",
    "high": "Float64",
    "method": "string",
    "note": "string",
}
"""Every column of an analysis table with its pandas type, in the order in which they stand."""

PROBE = "probe"
"""The signal of `interp.extraction.probe`."""

LEAD_BYTE_CEILING = "lead_byte_ceiling"
"""The signal of rows that say how far any function of a character's lead byte can get."""

LOCAL_REFERENCE = "local_reference"
"""How often a word ends between the character before a gap and the next one's lead byte."""

CROSS_FITTED, IN_SAMPLE = "cross-fitted", "in sample"
"""The group of a fitted score: with weights from other documents, or from the same ones."""

NEGATIVE_PMI, LEFT_ENTROPY, RIGHT_ENTROPY = "negative_pmi", "left_entropy", "right_entropy"
"""Scores that need nothing but counts of a text: see `interp.analyses.character_counts`."""

EVERY_GAP = "every_gap"
"""The score that puts a boundary everywhere."""

SEEN_BEFORE, SEEN_LEAD_BYTE, SEEN_CHARACTER = "before", "lead byte", "character"
"""What a score has seen of the next character: nothing, its lead byte, or all of it."""

_SCORES = {
    LEAD_BYTE_CEILING: "lead byte",
    LOCAL_REFERENCE: "character and lead byte",
    NEGATIVE_PMI: "-PMI",
    LEFT_ENTROPY: "left branching entropy",
    RIGHT_ENTROPY: "right branching entropy",
    EVERY_GAP: "every gap",
}
"""What readers call scores, where that is not the signal's name."""


Row = dict[str, Any]
"""One row of an analysis table as plain values; null is None."""


def analysis_table(rows: Iterable[Mapping[str, Any]]) -> pd.DataFrame:
    """A table of estimates with the columns of `COLUMNS`; what a row leaves out is null.

    Args:
        rows: One mapping per estimate. ``value``, ``low`` and ``high`` are in the unit of the
            statistic; not-a-number becomes null, and then ``note`` should say why.

    Raises:
        ValueError: A row has a key that is no column.
    """
    listed = list(rows)
    unknown = {key for row in listed for key in row} - set(COLUMNS)
    if unknown:
        raise ValueError(f"analysis table: no such column {sorted(unknown)}; has {list(COLUMNS)}")
    columns = {
        name: pd.array([_missing_as_na(row.get(name)) for row in listed], dtype=kind)
        for name, kind in COLUMNS.items()
    }
    return pd.DataFrame(columns)


def joined_notes(*notes: str | None) -> str | None:
    """The notes that there are, as one; None where there is none.

    >>> joined_notes("no interval", None, "one class only")
    'no interval; one class only'
    """
    return "; ".join(filter(None, notes)) or None


def rows_of(table: pd.DataFrame) -> list[Row]:
    """The rows of ``table`` as plain Python values, null as None."""
    return [
        {str(name): None if pd.isna(value) else value for name, value in row.items()}
        for row in table.to_dict("records")
    ]


def has_interval(row: Row) -> bool:
    """Whether the interval of a row is defined."""
    return row["low"] is not None and row["high"] is not None


def select(table: pd.DataFrame, **wanted: Any) -> pd.DataFrame:
    """The rows whose columns have these values; None stands for null.

    >>> table = analysis_table([{"group": "a", "n": 1}, {"group": "b"}])
    >>> select(table, group="b", n=None)["group"].tolist()
    ['b']
    """
    is_wanted = pd.Series(True, index=table.index)
    for name, value in wanted.items():
        column = table[name]
        is_wanted &= (
            column.isna() if value is None else (column == value).fillna(False).astype(bool)
        )
    found: Any = table[is_wanted]
    return found


def column_name(signal: str | None, layer: Any, head: Any = None) -> str:
    """What the column of a signal is called that a row is about; None and pandas's NA are null.

    >>> column_name("increment", 3, 1), column_name("increment", None)
    ('L3H1', 'shared')
    >>> column_name("surprisal", None)
    'value'
    """
    has_layer, has_head = (_missing_as_na(each) is not pd.NA for each in (layer, head))
    if not has_layer and not has_head and signal not in (None, "increment", "increment_pre"):
        return "value"
    of_layer = f"L{layer}" if has_layer else "shared"
    return f"{of_layer}H{head}" if has_head else of_layer


def layer_name(row: Row) -> str:
    """The layer of a row, as `column_name` calls it."""
    return column_name(row["signal"], row["layer"])


def row_name(row: Row) -> str:
    """The layer of a row, and its head where it has one."""
    return column_name(row["signal"], row["layer"], row["head"])


def score_name(signal: str, layer: Any = None, head: Any = None, group: Any = None) -> str:
    """What a reader calls the score of a gap that a row is about.

    >>> score_name("increment", 2), score_name("surprisal")
    ('increment L2', 'surprisal')
    >>> score_name(LEAD_BYTE_CEILING, group="in sample")
    'lead byte, in sample'
    """
    name = _SCORES.get(signal, signal)
    column = column_name(signal, layer, head)
    if column != "value":
        return f"{name} {column}"
    is_grouped = signal == LEAD_BYTE_CEILING and _missing_as_na(group) is not pd.NA
    return f"{name}, {group}" if is_grouped else name


def to_csv(table: pd.DataFrame) -> str:
    """``table`` as CSV with its columns in order, null as the empty field."""
    return table.to_csv(index=False, lineterminator="\n")


def to_json(table: pd.DataFrame) -> str:
    """``table`` as a JSON list of one object per row, null as null, text unescaped."""
    rows = table.astype(object).where(table.notna(), None).to_dict("records")
    return json.dumps(rows, ensure_ascii=False, indent=1, allow_nan=False)


def read_csv(path: str) -> pd.DataFrame:
    """The analysis table that `to_csv` wrote to ``path``."""
    # only the empty field is null: a checkpoint may well be called "NA"
    return pd.read_csv(path, dtype=COLUMNS, keep_default_na=False, na_values=[""])  # type: ignore[arg-type]


def _missing_as_na(value: Any) -> Any:
    return pd.NA if value is None or pd.isna(value) else value
