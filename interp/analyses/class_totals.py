"""Moments of a signal by class of token: what analyses of byte and token classes share."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from jaxtyping import Float, Int, Int8, Int64

from interp.analyses.statistics import clustered_mean
from interp.extraction.increment_table import IncrementTable, layer_and_head
from interp.tables import joined_notes

CHUNK = 1 << 16
"""Tokens that are summed at a time, so that one long document needs no second copy."""


class ClassTotals:
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
            shared | {"statistic": "sd", "value": sd, "note": joined_notes(shared["note"], why)},
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


def class_rows(
    totals: ClassTotals,
    table: IncrementTable,
    signal: str,
    class_names: Sequence[str],
    *,
    reference: str,
    absent: str,
) -> list[dict[str, Any]]:
    """Mean, sd, min and max per column of the signal and class, as rows of an analysis table.

    The mean has a 95 % interval clustered by document.

    Args:
        totals: Of every document of ``table``.
        table: What they are of.
        signal: The signal's name.
        class_names: The classes, in the order of their indices.
        reference: What the classes are taken over.
        absent: The note of a class that the text lacks.
    """
    counts, sums = totals.per_document()
    limits = _limits(table, signal)
    rows = []
    for column, name in enumerate(table.columns(signal)):
        for index, class_name in enumerate(class_names):
            shared = class_fields(table, signal, name, class_name, reference)
            n_documents = int((counts[:, index, column] > 0).sum())
            note = totals.note(index, column, absent)
            mean = clustered_mean(
                sums[:, index, column], counts[:, index, column], limits=limits
            ).as_row()
            mean["note"] = joined_notes(mean["note"], note) if mean["n"] else note
            rows.append(shared | mean | {"statistic": "mean"})
            shared |= {"n_documents": n_documents, "note": note}
            rows += totals.spread_rows(index, column, shared)
    return rows


def _limits(table: IncrementTable, signal: str) -> tuple[float, float]:
    """Between what every value lies: increments are positive, and have a bound or none.

    They are stored as float32, in which a bound such as 1.1 is a little larger.
    """
    if signal != "increment":
        return -np.inf, np.inf
    bound: float | None = table.manifest["signals"][signal]["bound"]
    is_changed = table.manifest["intervention"] is not None
    if bound is None or is_changed:
        return 0.0, np.inf
    return 0.0, max(bound, float(np.float32(bound)))


def class_fields(
    table: IncrementTable, signal: str, column: str, class_name: str, reference: str
) -> dict[str, Any]:
    """What the rows about one column of the signal and one class have in common."""
    layer, head = layer_and_head(column)
    return {
        "checkpoint": table.manifest["checkpoint"],
        "signal": signal,
        "layer": layer,
        "head": head,
        "group": class_name,
        "reference": reference,
    }
