"""How surprised a model is at every input position: what context is worth, and how far it lasts.

Index rule: input position p is the place of a token in its window, counted from 0; the prediction
made there is of token p + 1, which for the last place is the next window's first token.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Float, Int

from interp.analyses.position_sums import SIGNAL, WindowClusters, position_sums
from interp.analyses.statistics import Estimate
from interp.errors import InputError
from interp.extraction.increment_table import IncrementTable
from interp.model.config import scaling_of
from interp.tables import analysis_table

MEAN, SMOOTHED = "mean_surprisal", "smoothed_mean_surprisal"
DIFFERENCE = "mean_surprisal_difference"
"""Statistics, in nats per token."""

FIRST_BAND = 64
"""Positions of the first band where nobody says otherwise."""

SMOOTHING = 8
"""A smoothed value spans the position over this to both sides."""

SMOOTHED_HOW = (
    "Smoothed: each point is the mean over the positions up to an eighth of its own to both sides, "
    "as far as the window reaches; no mean crosses the end of the training length."
)
"""How values are smoothed, for whoever draws them."""

Band = tuple[int, int]
"""The first and the last position of a band."""


def trained_length(model: dict[str, Any]) -> int:
    """Tokens of a training window of the model that a manifest describes.

    That is its n_ctx, or, where its positions are stretched, n_ctx over the factor.

    Args:
        model: ``manifest["model"]`` of a table, or what `ModelConfig.to_dict` gives.
    """
    scaling = scaling_of(model["position"].get("scaling"))
    # n_ctx was rounded down
    return model["n_ctx"] if scaling is None else math.ceil(model["n_ctx"] / scaling[1] - 1e-6)


def default_bands(length: int, trained: int) -> tuple[Band, ...]:
    """Bands that double: from 64 positions up to the training length, and from there on.

    >>> default_bands(256, 64)
    ((0, 63), (64, 127), (128, 255))
    >>> default_bands(300, 100)
    ((0, 63), (64, 99), (100, 199), (200, 299))
    """
    ends = [0, min(FIRST_BAND, trained, length)]
    while ends[-1] < length:
        end = 2 * ends[-1]
        ends.append(min(end if ends[-1] >= trained else min(end, trained), length))
    return tuple((begin, end - 1) for begin, end in pairwise(ends))


def band_name(band: Band) -> str:
    """The group of a band's rows."""
    return f"positions {band[0]}-{band[1]}"


def position_of(group: str) -> int | None:
    """The position that a row is about, by its group; None for a band.

    >>> position_of("position 7"), position_of("positions 0-63")
    (7, None)
    """
    word, _, number = group.partition(" ")
    return int(number) if word == "position" else None


def loss_by_position(
    table: IncrementTable,
    *others: IncrementTable,
    bands: Sequence[Band] | None = None,
    names: Sequence[str] | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> pd.DataFrame:
    """Mean surprisal by input position, in nats per token, with 95 % intervals.

    Within the training length it falls as there is more to go by; beyond, it tells what a model
    makes of positions that it never saw. Position 0 has seen one token alone. Since every window
    begins anew, a mean over all positions is the loss of a text read in such windows.

    Intervals are for each position alone, clustered by document. With fewer than 20 documents
    they are clustered by blocks of consecutive windows, and a note says so: then they tell of
    more of the same text, and not of others.

    Memory: two numbers per document and band, and 128 MiB; where there are more documents than
    that can hold, the table is read several times.

    Args:
        table: The signal ``surprisal`` in windows that do not overlap (stride = window), whose
            length is that of the windows.
        *others: Other models on the same text, in windows of the same length.
        bands: First and last position of each band; None for `default_bands` of the shortest
            training length.
        names: What the tables are called; None for their checkpoints' names.
        progress: Called with rows read and rows in all, of one table after the other.

    Returns:
        An analysis table. Of every table ``mean_surprisal`` of each ``position N``, of each band
        (``positions A-B``) and of all positions; ``smoothed_mean_surprisal`` of each position,
        without an interval (see `SMOOTHED_HOW`). Of every table but the first
        ``mean_surprisal_difference`` from the first, by band, paired over the same predictions:
        below 0 where the loss is the smaller one. What no prediction is about is undefined, with
        a note.

    Raises:
        InputError: Windows overlap or differ in length, or a table is damaged.
    """
    tables = (table, *others)
    for each in tables:
        _require_windows(each, table.manifest["window"])
    length = table.manifest["window"]
    if bands is None:
        bands = default_bands(length, min(trained_length(t.manifest["model"]) for t in tables))
    bands = tuple(dict.fromkeys([*bands, (0, length - 1)]))
    called = names or [each.manifest["checkpoint"] for each in tables]
    found = [_Losses.of(t, n, bands, progress) for t, n in zip(tables, called, strict=True)]
    rows = [row for losses in found for row in losses.rows]
    for losses in found[1:]:
        rows += losses.differences(found[0])
    return analysis_table(rows)


@dataclass(frozen=True)
class _Losses:
    """What one table says.

    Attributes:
        name: What it is called.
        read: What another table must have in common with it for a difference.
        clusters: Of its windows.
        bands: First and last position of each.
        nats: Sums of the surprisal by cluster and band.
        counts: How many predictions they are of.
        rows: Of the analysis table.
    """

    name: str
    read: tuple[Any, ...]
    clusters: WindowClusters
    bands: tuple[Band, ...]
    nats: Float[np.ndarray, "cluster band"]
    counts: Int[np.ndarray, "cluster band"]
    rows: list[dict[str, Any]]

    @classmethod
    def of(
        cls,
        table: IncrementTable,
        name: str,
        bands: tuple[Band, ...],
        progress: Callable[[int, int], None] | None,
    ) -> "_Losses":
        length = table.manifest["window"]
        clusters = WindowClusters.of(table, length)
        shape = (clusters.n_clusters, len(bands))
        nats, counts = np.zeros(shape), np.zeros(shape, dtype=np.int64)
        totals, about = [], {"checkpoint": name, "signal": SIGNAL}
        rows: list[dict[str, Any]] = []
        for begin, of_nats, of_counts in position_sums(table, clusters, length, progress):
            for column in range(of_nats.shape[1]):
                estimate = clusters.mean(of_nats[:, column], of_counts[:, column])
                group = {"statistic": MEAN, "group": f"position {begin + column}"}
                rows.append(about | group | estimate.as_row())
            for index, (first, last) in enumerate(bands):
                own = slice(max(0, first - begin), max(0, last + 1 - begin))
                nats[:, index] += of_nats[:, own].sum(axis=1)
                counts[:, index] += of_counts[:, own].sum(axis=1)
            totals.append(np.stack([of_nats.sum(axis=0), of_counts.sum(axis=0)]))
        rows += [about | row for row in _smoothed(table, *np.concatenate(totals, axis=1))]
        for index, band in enumerate(bands):
            estimate = clusters.mean(nats[:, index], counts[:, index])
            group = {"statistic": MEAN, "group": band_name(band)}
            rows.append(about | group | estimate.as_row())
        n_rows = table.manifest["signals"][SIGNAL]["n_rows"]
        read = (table.manifest["corpus_fingerprint"], table.manifest["shard"], n_rows)
        return cls(name, read, clusters, bands, nats, counts, rows)

    def differences(self, first: "_Losses") -> Iterator[dict[str, Any]]:
        """Rows of how much more this table has in each band than ``first``."""
        is_same = self.read == first.read and np.array_equal(self.counts, first.counts)
        for index, band in enumerate(self.bands):
            if is_same:
                difference = self.clusters.difference(
                    self.nats[:, index], first.nats[:, index], self.counts[:, index]
                )
            else:
                why = "not defined: the two are not about the same predictions"
                difference = Estimate(None, note=why)
            about = {"checkpoint": self.name, "signal": SIGNAL, "statistic": DIFFERENCE}
            about |= {"group": band_name(band), "reference": first.name}
            yield about | difference.as_row()


def _require_windows(table: IncrementTable, length: int) -> None:
    window, stride = table.manifest["window"], table.manifest["stride"]
    if stride != window:
        raise InputError(
            f"loss by position: the windows of {table.folder} overlap (stride {stride} of "
            f"{window} tokens)",
            f"Extract surprisal with --window {window} --stride {window}.",
        )
    if window != length:
        raise InputError(
            f"loss by position: {table.folder} was read in windows of {window} tokens, the first "
            f"table in windows of {length}",
            f"Extract it with --window {length} --stride {length}.",
        )


def _smoothed(
    table: IncrementTable, nats: Float[np.ndarray, " pos"], counts: Float[np.ndarray, " pos"]
) -> Iterator[dict[str, Any]]:
    """A row for each position: the mean over its neighbours, as `SMOOTHED_HOW` says."""
    length, trained = len(nats), trained_length(table.manifest["model"])
    up_to = [np.concatenate([[0.0], np.cumsum(each)]) for each in (nats, counts)]
    for position in range(length):
        begin, end = (0, min(trained, length)) if position < trained else (trained, length)
        half = position // SMOOTHING
        low, high = max(begin, position - half), min(end - 1, position + half)
        total, n = (float(each[high + 1] - each[low]) for each in up_to)
        yield {
            "statistic": SMOOTHED,
            "group": f"position {position}",
            "n": int(n),
            "value": total / n if n and math.isfinite(total) else None,
            "method": f"mean over positions {low} to {high}",
            "note": None if n else "not defined: no observations",
        }
