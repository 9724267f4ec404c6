"""The analysis table: tidy, one row per estimate, undefined values null with a note."""

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
    "n": "Int64",
    "n_documents": "Int64",
    "value": "Float64",
    "low": "Float64",
    "high": "Float64",
    "method": "string",
    "note": "string",
}
"""Every column of an analysis table with its pandas type, in the order in which they stand."""


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


def to_csv(table: pd.DataFrame) -> str:
    """``table`` as CSV with its columns in order, null as the empty field."""
    return table.to_csv(index=False, lineterminator="\n")


def to_json(table: pd.DataFrame) -> str:
    """``table`` as a JSON list of one object per row, null as null, text unescaped."""
    return table.to_json(orient="records", force_ascii=False, indent=1, double_precision=15)


def read_csv(path: str) -> pd.DataFrame:
    """The analysis table that `to_csv` wrote to ``path``."""
    return pd.read_csv(path, dtype=COLUMNS)  # type: ignore[arg-type]


def _missing_as_na(value: Any) -> Any:
    return pd.NA if value is None or pd.isna(value) else value
