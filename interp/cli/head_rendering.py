"""Heads and how their two means go together, for a reader at a terminal of 80 columns."""

from collections.abc import Sequence

import pandas as pd

from interp.analyses.heads import (
    DISTANCE,
    INCREMENT,
    MIN_CONTEXT,
    P_VALUE,
    SIGNALS,
    UNIFORM,
    WITHIN_LAYERS,
)
from interp.cli.rendering import UNDEFINED, Rendered, interval, number, table_of, whole
from interp.reports.chart import remarks_on
from interp.tables import Row, row_name, rows_of


def head_tables(frame: pd.DataFrame) -> list[Rendered]:
    """Both means of every head with their intervals, then how the two go together."""
    rows = rows_of(frame)
    (uniform,) = [row for row in rows if row["signal"] == UNIFORM]
    of_signal = (
        [row for row in rows if row["signal"] == signal and row["statistic"] == "mean"]
        for signal in (INCREMENT, DISTANCE)
    )
    means = [row for row in rows if row["statistic"] == "mean" and row["signal"] in SIGNALS]
    table = table_of("head", "increment", "95 % interval", "tokens back", "95 % interval")
    for both in zip(*of_signal, strict=True):
        cells = [cell for row in both for cell in (number(row["value"]), interval(row))]
        table.add_row(row_name(both[0]), *cells)
    notes = [
        *remarks_on(means, row_name),
        f"Over {whole(uniform['n'])} tokens of {whole(uniform['n_documents'])} texts, all with at "
        f"least {MIN_CONTEXT} tokens of context.",
        f"Attention that weighs all tokens alike looks {number(uniform['value'])} tokens back.",
    ]
    title = "Mean increment of every head, and how far its attention looks back"
    correlations = [row for row in rows if row["statistic"] != "mean"]
    return [Rendered(title, table, tuple(notes)), _correlation_table(correlations)]


def _correlation_table(rows: Sequence[Row]) -> Rendered:
    p_values = {(row["statistic"], row_name(row)): row["value"] for row in rows}
    table = table_of("heads of", "heads", "Spearman", "95 % interval", "two-sided p")
    for row in [row for row in rows if not row["statistic"].endswith(P_VALUE)]:
        p_value = p_values[row["statistic"] + P_VALUE, row_name(row)]
        name = "all layers" if row["layer"] is None else row_name(row)
        name += ", ranked within them" if row["statistic"] == WITHIN_LAYERS else ""
        shown = UNDEFINED if p_value is None else f"{p_value:.2g}"
        table.add_row(name, whole(row["n"]), number(row["value"]), interval(row), shown)
    notes = dict.fromkeys(row["note"] for row in rows if row["note"] is not None)
    in_lines = tuple(f"{note[0].upper()}{note[1:]}." for note in notes)
    return Rendered("Spearman's correlation of the two", table, in_lines)
