"""How far apart the model puts letters, spaces, Chinese bytes: a signal by class of byte."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Float, Int, Int8, Int64

from interp import text
from interp.analyses.statistics import clustered_mean
from interp.extraction.increment_table import IncrementTable, layer_and_head
from interp.tables import analysis_table

RUNNING_TEXT, VOCABULARY = "running text", "vocabulary"
"""What the classes are taken over, in the column ``reference``."""

COUNTS_UNKNOWN = "training counts unknown: all bytes that can stand in UTF-8"
"""The note of a table over the vocabulary that may have bytes that training never saw."""

CHUNK = 1 << 16
"""Tokens that are summed at a time, so that one long document needs no second copy."""


def byte_classes(
    table: IncrementTable,
    signal: str = "increment",
    *,
    progress: Callable[[int, int], None] | None = None,
) -> pd.DataFrame:
    """Mean, sd, min and max of ``signal`` over running text, per layer and class of byte.

    Every token counts, the separator before each text included; entries that are undefined do
    not, and the note counts them. The mean has a 95 % interval clustered by document (see
    `interp.analyses.statistics.clustered_mean`); sd is over tokens, with n - 1.

    Memory: one document of the table, and a count and a sum per document, class and column.

    Args:
        table: The signal of each token.
        signal: Its name.
        progress: Called after each document with the bytes done and those of the whole table.

    Returns:
        An analysis table with four rows per column of the signal and class of
        `interp.text.BYTE_CLASSES`, in the unit of the signal; a class that the text lacks has
        n = 0 and null values.
    """
    columns = table.columns(signal)
    totals = _ClassTotals(len(text.BYTE_CLASSES), len(columns))
    n_bytes = 0
    n_bytes_in_all = int(np.sum(table.documents["n_bytes"].to_numpy()))
    for document in table.read_documents(signal):
        totals.add_document(document.values, text.byte_classes(document.content))
        n_bytes += len(document.content)
        if progress:
            progress(n_bytes, n_bytes_in_all)

    counts, sums = totals.per_document()
    rows = []
    for column, name in enumerate(columns):
        for index, class_name in enumerate(text.BYTE_CLASSES):
            shared = _shared_fields(table, signal, name, class_name, RUNNING_TEXT)
            n_documents = int((counts[:, index, column] > 0).sum())
            note = totals.note(index, column, "no such byte in the text")
            mean = clustered_mean(sums[:, index, column], counts[:, index, column]).as_row()
            mean["note"] = _joined(mean["note"], note) if mean["n"] else note
            rows.append(shared | mean | {"statistic": "mean"})
            shared |= {"n_documents": n_documents, "note": note}
            rows += totals.spread_rows(index, column, shared)
    return analysis_table(rows)


def vocabulary_byte_classes(table: IncrementTable, signal: str = "increment") -> pd.DataFrame:
    """Mean, sd, min and max of ``signal`` over byte values, for what the token alone decides.

    Every byte value counts once, however frequent it is, as in the published tables. There is
    no context here, so that a lowercase letter is one class, wherever in a word it would stand.
    Only bytes that the training text had are used: about the others the model was taught
    nothing.

    Args:
        table: A table whose signal has columns that depend on the token alone (shared
            increments, layer 0).
        signal: The signal's name.

    Returns:
        An analysis table with four rows per such column and class of
        `interp.text.VOCABULARY_CLASSES`; n is the number of byte values. No rows where the
        token alone decides nothing. Where it is not known how often training saw each byte,
        every byte that can stand in UTF-8 is used, and the note says so.
    """
    vocabulary = table.vocabulary(signal)
    if vocabulary is None:
        return analysis_table([])
    classes = text.vocabulary_classes()[vocabulary["token"].to_numpy(dtype=np.int64)]
    seen = vocabulary["n_in_training"]
    is_known = not bool(seen.isna().any())
    if is_known:
        is_used = seen.to_numpy(dtype=np.int64) > 0
    else:
        is_used = classes != text.VOCABULARY_CLASSES.index("invalid byte")
    columns = [name for name in vocabulary if name not in ("token", "n_in_training")]
    totals = _ClassTotals(len(text.VOCABULARY_CLASSES), len(columns))
    values = vocabulary[columns].to_numpy(dtype=np.float64, na_value=np.nan)
    totals.add_document(values[is_used], classes[is_used])

    unknown = None if is_known else COUNTS_UNKNOWN
    rows = []
    for column, name in enumerate(columns):
        for index, class_name in enumerate(text.VOCABULARY_CLASSES):
            absent = "training saw no such byte" if is_known else "no such byte in UTF-8"
            note = totals.note(index, column, absent)
            shared = _shared_fields(table, signal, name, class_name, VOCABULARY)
            shared["note"] = _joined(note, unknown)
            rows.append(shared | totals.mean_fields(index, column))
            rows += totals.spread_rows(index, column, shared)
    return analysis_table(rows)


class _ClassTotals:
    """Running moments per class and column, and the sums of each document."""

    def __init__(self, n_classes: int, n_columns: int) -> None:
        shape = (n_classes, n_columns)
        self.n = np.zeros(shape, dtype=np.int64)
        self.n_undefined = np.zeros(shape, dtype=np.int64)
        self.mean = np.zeros(shape)
        self.squares = np.zeros(shape)  # sum of squared deviations from the mean
        self.min = np.full(shape, np.inf)
        self.max = np.full(shape, -np.inf)
        self._counts: list[Int[np.ndarray, "class column"]] = []
        self._sums: list[Float[np.ndarray, "class column"]] = []

    def add_document(
        self, values: Float[np.ndarray, "pos column"], classes: Int8[np.ndarray, " pos"]
    ) -> None:
        """Count one document's values in."""
        counts = np.zeros(self.n.shape, dtype=np.int32)
        sums = np.zeros(self.n.shape)
        for start in range(0, len(classes), CHUNK):
            part = slice(start, start + CHUNK)
            self._add(values[part].astype(np.float64), classes[part], counts, sums)
        self._counts.append(counts)
        self._sums.append(sums)

    def per_document(self) -> tuple[np.ndarray, np.ndarray]:
        """Counts and sums, ``[document, class, column]``."""
        empty = (0, *self.n.shape)
        counts = np.stack(self._counts) if self._counts else np.zeros(empty, dtype=np.int32)
        return counts, np.stack(self._sums) if self._sums else np.zeros(empty)

    def note(self, index: int, column: int, absent: str) -> str | None:
        """Why there is nothing, or how many entries are left out."""
        n_undefined = int(self.n_undefined[index, column])
        if n_undefined:
            return f"{n_undefined} undefined entries left out"
        return None if self.n[index, column] else absent

    def mean_fields(self, index: int, column: int) -> dict[str, Any]:
        """The mean, without an interval."""
        n, mean = int(self.n[index, column]), float(self.mean[index, column])
        return {"statistic": "mean", "n": n, "value": mean if n else None}

    def spread_rows(self, index: int, column: int, shared: dict[str, Any]) -> list[dict[str, Any]]:
        """The rows of sd, min and max."""
        n = int(self.n[index, column])
        shared = shared | {"n": n}
        sd = float(np.sqrt(self.squares[index, column] / (n - 1))) if n > 1 else None
        why = None
        if n == 1:
            why = "one value has no sd"
        elif sd is not None and not np.isfinite(sd):
            sd, why = None, "not defined: not all values are finite"
        lowest, highest = (float(extreme[index, column]) for extreme in (self.min, self.max))
        return [
            shared | {"statistic": "sd", "value": sd, "note": _joined(shared["note"], why)},
            shared | {"statistic": "min", "value": lowest if n else None},
            shared | {"statistic": "max", "value": highest if n else None},
        ]

    def _add(
        self,
        values: Float[np.ndarray, "pos column"],
        classes: Int8[np.ndarray, " pos"],
        counts: Int[np.ndarray, "class column"],
        sums: Float[np.ndarray, "class column"],
    ) -> None:
        order = np.argsort(classes, kind="stable")
        values, classes = values[order], classes[order]
        starts = np.flatnonzero(np.diff(classes, prepend=-1))
        present = classes[starts]
        sizes = np.diff(starts, append=len(classes))
        is_defined = ~np.isnan(values)
        n = np.add.reduceat(is_defined, starts, axis=0, dtype=np.int64)
        self.n_undefined[present] += sizes[:, None] - n
        self.min[present] = np.fmin(self.min[present], np.fmin.reduceat(values, starts, axis=0))
        self.max[present] = np.fmax(self.max[present], np.fmax.reduceat(values, starts, axis=0))
        counts[present] += n.astype(np.int32)
        with np.errstate(invalid="ignore"):  # infinite values give an undefined mean and sd
            total = np.add.reduceat(np.where(is_defined, values, 0.0), starts, axis=0)
            sums[present] += total
            mean = total / np.maximum(n, 1)
            deviations = np.where(is_defined, values - np.repeat(mean, sizes, axis=0), 0.0)
            squares = np.add.reduceat(deviations**2, starts, axis=0)
            self._merge(present, n, mean, squares)

    def _merge(
        self,
        present: Int8[np.ndarray, " present"],
        n: Int64[np.ndarray, "present column"],
        mean: Float[np.ndarray, "present column"],
        squares: Float[np.ndarray, "present column"],
    ) -> None:
        """Chan, Golub and LeVeque 1979: the moments of two parts together."""
        before, n_all = self.n[present], self.n[present] + n
        shift = mean - self.mean[present]
        share = n / np.maximum(n_all, 1)
        self.mean[present] += np.where(n > 0, shift * share, 0.0)
        self.squares[present] += squares + np.where(n > 0, shift**2 * before * share, 0.0)
        self.n[present] = n_all


def _shared_fields(
    table: IncrementTable, signal: str, column: str, class_name: str, reference: str
) -> dict[str, Any]:
    layer, head = layer_and_head(column)
    return {
        "checkpoint": table.manifest["checkpoint"],
        "signal": signal,
        "layer": layer,
        "head": head,
        "group": class_name,
        "reference": reference,
    }


def _joined(*notes: str | None) -> str | None:
    return "; ".join(filter(None, notes)) or None
