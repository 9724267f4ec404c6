"""How far positions reach in windows of some length, beside how far they reached in training."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Float

from interp.analyses.statistics import Estimate
from interp.errors import InputError
from interp.extraction.increment_table import IncrementTable, layer_and_head
from interp.tables import analysis_table

QUANTILE = 0.99

SPAN, RATIO = "position_span", "position_span_ratio"

IN_TRAINING = "training"
"""The reference of spans that training recorded."""


def position_spans(
    table: IncrementTable,
    lengths: Sequence[int],
    trained: Mapping[str, float],
) -> pd.DataFrame:
    """The 99th percentile over windows of the position of a window's N-th token, column by column.

    A position is the running sum of the increments in its window, in units of one ordinary
    token; with plain rotary positions the N-th token stands at N.

    Args:
        table: The signal ``increment`` in windows that do not overlap.
        lengths: The numbers N; windows that are shorter do not count.
        trained: By column, the same percentile of the last position in training windows.

    Returns:
        An analysis table: ``position_span`` of every column and length (``group`` "N tokens"),
        and of training (that reference); ``position_span_ratio``, the first over the second.
        Windows are the windows of one text, so that there is no interval.

    Raises:
        InputError: Windows overlap.
    """
    if table.manifest["stride"] != table.manifest["window"]:
        raise InputError(
            f"position spans: the windows of {table.folder} overlap",
            f"Extract increments with --stride {table.manifest['window']}.",
        )
    columns = table.columns("increment")
    reached: dict[int, list[Float[np.ndarray, " column"]]] = {n: [] for n in lengths}
    for window in _windows(table):
        positions = window.cumsum(axis=0, dtype=np.float64)
        for length in lengths:
            if len(window) >= length:
                reached[length].append(positions[length - 1])
    rows: list[dict[str, Any]] = []
    for index, column in enumerate(columns):
        layer, head = layer_and_head(column)
        about = {"checkpoint": table.manifest["checkpoint"], "signal": "increment"}
        about |= {"layer": layer, "head": head}
        known = trained.get(column)
        said = None if known is not None else "not defined: training did not record it"
        kept = about | {"statistic": SPAN, "reference": IN_TRAINING}
        rows.append(kept | {"value": known, "note": said})
        for length, found in reached.items():
            positions = np.array([window[index] for window in found])
            rows += _of_length(about | {"group": f"{length} tokens"}, positions, known)
    return analysis_table(rows)


def _windows(table: IncrementTable) -> Iterator[Float[np.ndarray, "pos column"]]:
    """The increments of every window."""
    pending = np.empty((0, len(table.columns("increment"))), dtype=np.float32)
    for batch in table.batches("increment"):
        context = batch.column("context").to_numpy()
        columns = [
            batch.column(name).to_numpy(zero_copy_only=False) for name in table.columns("increment")
        ]
        pieces = np.split(np.stack(columns, axis=1), np.flatnonzero(context == 0))
        for piece in pieces[1:]:
            yield np.concatenate([pending, pieces[0]])
            pending, pieces[0] = piece[:0], piece
        pending = np.concatenate([pending, pieces[0]])
    yield pending


def _of_length(
    about: Mapping[str, Any], positions: Float[np.ndarray, " window"], known: float | None
) -> list[dict[str, Any]]:
    n = len(positions)
    of_span = ratio = Estimate(None, n=n, note="not defined: no window is as long")
    if n:
        span = float(np.quantile(positions, QUANTILE))
        of_span = Estimate(span, n=n, method="99th percentile over windows")
        ratio = Estimate(None, n=n, note="not defined: training did not record a span")
        if known:
            ratio = Estimate(span / known, n=n)
    compared = {"statistic": RATIO, "reference": IN_TRAINING}
    return [{**about, "statistic": SPAN} | of_span.as_row(), {**about} | compared | ratio.as_row()]
