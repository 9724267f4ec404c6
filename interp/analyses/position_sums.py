"""Sums over the predictions of a text by input position and cluster, in bounded memory."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float, Int

from interp.analyses.statistics import Estimate, clustered_mean, paired_difference
from interp.analyses.statistics.estimate import UNRELIABLE_BELOW
from interp.errors import InputError
from interp.extraction.increment_table import IncrementTable
from interp.tables import joined_notes

SIGNAL = "surprisal"
"""What is summed, in nats."""

BLOCKS = 50
"""About so many blocks of consecutive windows stand for documents where those are few."""

_MOST_SUMS = 1 << 23  # with as many counts 128 MiB; a corpus of more documents is read again
_ONE_TEXT = (
    "fewer than {few} documents: clustered by {windows}, so that the interval is about more of the "
    "same text and not about other texts"
)


@dataclass(frozen=True)
class WindowClusters:
    """What windows are clustered by: their document, or the block of windows that they are in.

    Attributes:
        first: The first cluster of each document, and after them the number of clusters.
        n_windows: How many windows a block has; None where clusters are documents.
    """

    first: Int[np.ndarray, " _"]
    n_windows: int | None

    @classmethod
    def of(cls, table: IncrementTable, length: int) -> "WindowClusters":
        """Documents, or blocks where there are fewer than 20; ``length`` is that of a window."""
        n_bytes = table.documents["n_bytes"].to_numpy()
        if len(n_bytes) >= UNRELIABLE_BELOW:
            return cls(np.arange(len(n_bytes) + 1), None)
        # a window is up to three tokens shorter where it would cut a code point
        most = -(-(n_bytes + 1) // (length - 3))
        n_windows = max(1, -(-table.manifest["signals"][SIGNAL]["n_rows"] // (length * BLOCKS)))
        return cls(np.cumsum([0, *-(-most // n_windows)]), n_windows)

    @property
    def n_clusters(self) -> int:
        """How many there are; some may have no prediction."""
        return int(self.first[-1])

    def number(
        self, document: Int[np.ndarray, " row"], window: Int[np.ndarray, " row"]
    ) -> Int[np.ndarray, " row"]:
        """The cluster of each row, by its document and the number of its window in it."""
        if self.n_windows is None:
            return document
        return np.minimum(self.first[document] + window // self.n_windows, self.n_clusters - 1)

    def mean(
        self, nats: Float[np.ndarray, " cluster"], counts: Int[np.ndarray, " cluster"]
    ) -> Estimate:
        """The mean of what is summed, with its interval."""
        return self._told(
            clustered_mean(nats, counts, limits=(0.0, np.inf), cluster=self._noun), counts
        )

    def difference(
        self,
        first: Float[np.ndarray, " cluster"],
        second: Float[np.ndarray, " cluster"],
        counts: Int[np.ndarray, " cluster"],
    ) -> Estimate:
        """The mean of the first less that of the second, of the same predictions."""
        return self._told(paired_difference(first, second, counts, cluster=self._noun), counts)

    @property
    def _noun(self) -> str:
        return "document" if self.n_windows is None else "block"

    def _told(self, found: Estimate, counts: Int[np.ndarray, " cluster"]) -> Estimate:
        """The estimate with its documents counted, and with a note where they are few."""
        if self.n_windows is None or found.value is None:
            return found
        document = np.repeat(np.arange(len(self.first) - 1), np.diff(self.first))
        n = self.n_windows
        windows = "window" if n == 1 else f"blocks of {n} consecutive windows"
        few = _ONE_TEXT.format(few=UNRELIABLE_BELOW, windows=windows)
        n_documents = len(np.unique(document[counts > 0]))
        return replace(found, n_documents=n_documents, note=joined_notes(found.note, few))


def position_sums(
    table: IncrementTable,
    clusters: WindowClusters,
    length: int,
    progress: Callable[[int, int], None] | None,
) -> Iterator[tuple[int, Float[np.ndarray, "cluster pos"], Int[np.ndarray, "cluster pos"]]]:
    """Sums and counts by cluster and position: all at once, or as many positions as memory holds.

    Args:
        table: The signal in windows that do not overlap.
        clusters: Of its windows.
        length: Tokens of a window.
        progress: Called with rows read and rows in all; the table is read for each stretch of
            positions.

    Yields:
        The first position, and the sums and counts from there on.
    """
    n_positions = max(1, _MOST_SUMS // max(1, clusters.n_clusters))
    begins = range(0, length, n_positions)
    n_all = table.manifest["signals"][SIGNAL]["n_rows"] * len(begins)
    n_done = 0
    for begin in begins:
        width = min(n_positions, length - begin)
        nats = np.zeros(clusters.n_clusters * width)
        counts = np.zeros(clusters.n_clusters * width, dtype=np.int64)
        for n_rows, cluster, position, values in _predictions(table, clusters, length):
            here = (position >= begin) & (position < begin + width)
            cell = cluster[here] * width + position[here] - begin
            np.add.at(nats, cell, values[here])
            np.add.at(counts, cell, 1)
            n_done += n_rows
            if progress is not None:
                progress(n_done, n_all)
        yield begin, nats.reshape(-1, width), counts.reshape(-1, width)


def _predictions(
    table: IncrementTable, clusters: WindowClusters, length: int
) -> Iterator[
    tuple[int, Int[np.ndarray, " row"], Int[np.ndarray, " row"], Float[np.ndarray, " row"]]
]:
    """Cluster, input position and surprisal of every prediction, batch by batch.

    Yields:
        The number of rows read, then the three for those of them that are predictions.
    """
    numbers = table.documents["doc"].to_numpy()
    last, n_before = -1, 0  # the document that goes on from batch to batch, and its windows
    for batch in table.batches(SIGNAL, ["value"]):
        docs, context = (batch.column(name).to_numpy() for name in ("doc", "context"))
        values = batch.column("value").to_numpy(zero_copy_only=False)  # null becomes NaN
        document = np.searchsorted(numbers, docs).clip(max=len(numbers) - 1)
        if (numbers[document] != docs).any() or context.min() < 0 or context.max() > length:
            raise InputError(
                f"{table.folder}: damaged: rows of signal {SIGNAL} are not those of its windows",
                "extract again to a new folder",
            )
        begins = context == 1  # of a window, the first token that it predicts
        n_begun = np.cumsum(begins)
        is_first = np.diff(docs, prepend=last) != 0
        # windows of documents before; below 0 for those of a document that went on
        others = np.maximum.accumulate(np.where(is_first, n_begun - begins, -n_before))
        window = n_begun - others - 1
        last, n_before = docs[-1], int(window[-1]) + 1
        own = (context > 0) & ~np.isnan(values)
        number = clusters.number(document[own], window[own])
        yield len(docs), number, context[own].astype(np.int64) - 1, values[own].astype(np.float64)
