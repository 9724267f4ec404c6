"""Saturated entries: those so near the bound of their signal that they hardly differ."""

import numpy as np
import pandas as pd

from interp.extraction.increment_table import IncrementTable, layer_and_head
from interp.tables import analysis_table

SATURATED_FROM = 0.999
"""Share of the bound from which an entry counts as saturated."""


def count_saturated(
    table: IncrementTable, signal: str, bound: float | None
) -> dict[str, float] | None:
    """The share of saturated entries per column, from all rows; None for a signal without a bound.

    Args:
        table: Its parts are there; its manifest need not say yet that it is complete.
        signal: The signal.
        bound: What no entry exceeds.
    """
    if bound is None:
        return None
    names = table.columns(signal)
    n_saturated, n_rows = np.zeros(len(names), dtype=np.int64), 0
    for batch in table.batches(signal):
        n_rows += batch.num_rows
        for index, name in enumerate(names):
            values = batch.column(name).to_numpy(zero_copy_only=False)
            n_saturated[index] += np.count_nonzero(values >= SATURATED_FROM * bound)
    return dict(zip(names, (n_saturated / n_rows).tolist(), strict=True))


def saturated_shares(table: IncrementTable) -> pd.DataFrame:
    """The share of saturated entries of every column of every signal, as an analysis table."""
    rows = []
    for name, about in table.manifest["signals"].items():
        shares = about.get("saturated")
        for column in about["columns"]:
            layer, head = layer_and_head(column)
            rows.append(
                {
                    "checkpoint": table.manifest["checkpoint"],
                    "signal": name,
                    "statistic": "saturated_share",
                    "layer": layer,
                    "head": head,
                    "n": about["n_rows"],
                    "n_documents": len(table.documents),
                    "value": shares[column] if shares else None,
                    "note": None if shares else "this signal has no bound",
                }
            )
    return analysis_table(rows)
