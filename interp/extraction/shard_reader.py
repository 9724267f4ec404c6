"""Reading shards as one corpus: its texts, and the signals of its parts."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from tempfile import TemporaryFile

import numpy as np

from interp.corpus.documents import Document
from interp.corpus.files import FileContent
from interp.errors import InputError
from interp.extraction.batches import Part
from interp.extraction.increment_table import KEYS, IncrementTable
from interp.extraction.table_writer import PartSignals
from interp.text import Content

_TEXT_IN_MEMORY = 1 << 22  # bytes; a longer document lies in a temporary file meanwhile


def documents_of(tables: Sequence[IncrementTable]) -> Iterator[Document]:
    """The texts of the whole corpus, in its order, from the tokens in its shards.

    Where they came from is left out.

    Args:
        tables: All shards, in order.
    """
    texts = [_texts(table) for table in tables]
    for doc in range(sum(len(table.documents) for table in tables)):
        yield Document(source="", id="", content=next(texts[doc % len(texts)]))


class ShardReader:
    """Reads the signals of the parts of a corpus from its shards, each part after the last."""

    def __init__(self, tables: Sequence[IncrementTable]) -> None:
        """Open all shards, given in order."""
        self._tables = tables
        self._signals = tables[0].manifest["signals"]
        self._rows = {
            signal: [_Rows(table, signal, table.columns(signal)) for table in tables]
            for signal in self._signals
        }
        n_tokens = [table.documents["n_bytes"].to_numpy() + 1 for table in tables]
        self._first_rows = [np.cumsum(each) - each for each in n_tokens]

    def read(self, part: Part, on_tokens: Callable[[int], None]) -> PartSignals:
        """The rows of ``part``, as its text makes them, with the values in the shards.

        Raises:
            InputError: The rows of a shard are not these.
        """
        found = {}
        for signal, about in self._signals.items():
            rows = part.next_rows if about["describes_next"] else part.rows
            keys = np.empty((len(KEYS), len(rows)), dtype=np.int32)
            values = np.empty((len(about["columns"]), len(rows)), dtype=np.float32)
            for begin, end in pairwise([0, *np.flatnonzero(np.diff(rows.doc)) + 1, len(rows)]):
                if begin < end:
                    doc, offset = int(rows.doc[begin]), int(rows.offset[begin])
                    self._copy(signal, doc, offset, keys[:, begin:end], values[:, begin:end])
            expected = np.stack([getattr(rows, name) for name in KEYS])
            is_other = (keys != expected).any(axis=0)
            if is_other.any():
                doc = int(rows.doc[is_other.argmax()])
                raise InputError(
                    f"{self._tables[doc % len(self._tables)].folder}: damaged: rows of document "
                    f"{doc} in signal {signal} are not those of its text",
                    "extract that shard again",
                )
            found[signal] = (rows, dict(zip(about["columns"], values, strict=True)))
        on_tokens(int((part.length - part.n_old).sum()))
        return found

    def _copy(
        self, signal: str, doc: int, offset: int, keys: np.ndarray, values: np.ndarray
    ) -> None:
        """Copy the rows of a document from ``offset`` on into ``keys`` and ``values``."""
        place, shard = divmod(doc, len(self._tables))
        first, done = int(self._first_rows[shard][place]) + offset + 1, 0
        for its_keys, its_values in self._rows[signal][shard].read(first, keys.shape[1]):
            rows = slice(done, done + its_keys.shape[1])
            keys[:, rows], values[:, rows] = its_keys, its_values
            done = rows.stop


def _texts(table: IncrementTable) -> Iterator[Content]:
    """The bytes of each document of a shard; those of a long one from a temporary file."""
    rows = _Rows(table, table.signals[0], [])
    first = 0
    for n_bytes in table.documents["n_bytes"].tolist():
        pieces = (
            keys[KEYS.index("token")].astype(np.uint8).tobytes()
            for keys, _ in rows.read(first + 1, n_bytes)  # after the separator
        )
        first += n_bytes + 1
        # not kept in a name here, else each shard would keep the file of its last text open
        yield b"".join(pieces) if n_bytes <= _TEXT_IN_MEMORY else _in_file(pieces)


def _in_file(pieces: Iterable[bytes]) -> Content:
    with TemporaryFile() as file:
        file.writelines(pieces)
        file.flush()
        return FileContent(file, "a temporary file")


class _Rows:
    """The rows of one signal of one shard, read forward, `ROW_GROUP` at a time."""

    def __init__(self, table: IncrementTable, signal: str, columns: list[str]) -> None:
        self._table, self._signal, self._columns = table, signal, columns
        self._batches = table.batches(signal, columns)
        self._keys = np.empty((len(KEYS), 0), dtype=np.int32)
        self._values = np.empty((len(columns), 0), dtype=np.float32)
        self._first = 0  # of what is in memory

    def read(self, first: int, n_rows: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Keys and values of ``n_rows`` rows from ``first`` on, ``[column, row]``, in pieces.

        Raises:
            InputError: The shard has fewer rows.
        """
        while n_rows > 0:
            begin = first - self._first
            assert begin >= 0, "rows are read forward"
            keys = self._keys[:, begin : begin + n_rows]
            if keys.shape[1] == 0:
                self._next_batch()
                continue
            yield keys, self._values[:, begin : begin + n_rows]
            first += keys.shape[1]
            n_rows -= keys.shape[1]

    def _next_batch(self) -> None:
        self._first += self._keys.shape[1]
        batch = next(self._batches, None)
        if batch is None:
            raise InputError(
                f"{self._table.folder}: damaged: rows are missing in signal {self._signal}",
                "extract that shard again",
            )
        self._keys = np.stack([batch.column(name).to_numpy() for name in KEYS])
        self._values = np.empty((len(self._columns), batch.num_rows), dtype=np.float32)
        for values, name in zip(self._values, self._columns, strict=True):
            values[:] = batch.column(name).to_numpy(zero_copy_only=False)  # null becomes NaN
