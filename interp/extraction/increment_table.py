"""The IncrementTable: any signal, one row per token, kept in a folder and read in pieces.

    manifest.json                     what was extracted from what, and whether it is complete
    documents.parquet                 doc, source, id, n_bytes, dropped_bytes, held_out
    SIGNAL/part-00000.parquet, ...    doc, offset, token, context and the signal's columns
    SIGNAL.vocabulary.parquet         token, n_in_training and the columns the token alone decides

The parts of a signal are one table, in the order of the text: ``pandas.read_parquet`` (or
DuckDB, or Polars) reads the signal's folder as it is. The parts of two signals need not be cut at
the same row, so join on ``doc`` and ``offset``.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from jaxtyping import Float32, Int32

from interp.corpus.files import shown
from interp.errors import InputError, reason
from interp.extraction.manifest import COLUMN, MANIFEST, folder_name, read_manifest
from interp.extraction.shards import Shard
from interp.files import own_file
from interp.tokenizer import BYTES, ByteTokenizer, CharacterTokenizer, tokenizer_from

DOCUMENTS = "documents.parquet"
DOCUMENT_SCHEMA = pa.schema(
    {
        "doc": pa.int32(),
        "source": pa.string(),
        "id": pa.string(),
        "n_bytes": pa.int64(),
        "dropped_bytes": pa.int32(),
        "held_out": pa.bool_(),
    }
)
KEYS = ("doc", "offset", "token", "context")
ROW_GROUP = 65_536
"""Rows that are read and written together."""


@dataclass(frozen=True)
class DocumentSignal:
    """One signal of one whole document.

    Attributes:
        doc: The document's number in the corpus.
        source: Where it came from.
        id: Its id there.
        content: Its bytes.
        values: One row per token (the separator, then every byte), one column per column of the
            table; what is undefined is NaN, as is all of the separator where there is none.
        context: How many tokens of its window stood before each token.
    """

    doc: int
    source: str
    id: str
    content: bytes
    values: Float32[np.ndarray, "pos column"]
    context: Int32[np.ndarray, " pos"]


@dataclass(frozen=True)
class IncrementTable:
    """A complete table on disk; made by `interp.extraction.extract` and `IncrementTable.open`.

    Attributes:
        folder: Where it lies.
        manifest: What was extracted from what: ``checkpoint`` (its name), ``n_layers``,
            ``n_heads``, ``per_head``, ``max_increment``, ``window``, ``stride``, ``dtype``,
            ``shard``, ``signals`` (``columns``, ``units``, ``sees``, ``saturated`` of each),
            ``intervention``, ...
    """

    folder: Path
    manifest: dict[str, Any]

    @classmethod
    def open(cls, folder: str | Path) -> "IncrementTable":
        """The table in ``folder``.

        Raises:
            InputError: There is none, it is not complete, or a file of it is missing or damaged.
        """
        folder = Path(folder)
        manifest = read_manifest(folder)
        if manifest is None:
            raise InputError(
                f"{folder}: no IncrementTable ({MANIFEST} is missing)"
                if folder.is_dir()
                else f"{folder}: no such folder",
                "make one with interp extract --out DIR",
            )
        if not manifest["complete"]:
            raise InputError(
                f"{folder}: the extraction is not complete",
                "run the same extraction again: it goes on where it stopped",
            )
        table = cls(folder, manifest)
        for path in table._files():
            if not is_whole(path):
                raise InputError(
                    f"{path}: missing from the IncrementTable, damaged, or a link",
                    "run the same extraction again: it makes only what is missing",
                )
        return table

    @property
    def signals(self) -> tuple[str, ...]:
        """Names of the signals in the table."""
        return tuple(self.manifest["signals"])

    @property
    def tokenizer(self) -> ByteTokenizer | CharacterTokenizer:
        """What the ids of the table are."""
        return tokenizer_from(self.manifest["tokenizer"])

    @property
    def shard(self) -> Shard:
        """Which documents of the corpus the table is about: all, or every n-th."""
        return Shard(*self.manifest["shard"])

    @cached_property
    def documents(self) -> pd.DataFrame:
        """One row per document: doc, source, id, n_bytes, dropped_bytes, held_out (nullable)."""
        path = self.folder / DOCUMENTS
        with _opened(path) as file:
            _require_columns(file, {field.name: field.type for field in DOCUMENT_SCHEMA})
            read = file.read(DOCUMENT_SCHEMA.names)
            if any(read.column(name).null_count for name in DOCUMENT_SCHEMA.names[:-1]):
                raise ValueError("a value is null")
            documents = read.to_pandas(ignore_metadata=True).astype({"held_out": "boolean"})
            if not np.array_equal(documents["doc"], self.shard.doc(np.arange(len(documents)))):
                raise ValueError(f"its documents are not numbered as those of shard {self.shard}")
            if (documents["n_bytes"] < 0).any():
                raise ValueError("a document has a negative size")
            return documents

    def columns(self, signal: str = "increment") -> list[str]:
        """Names of the signal's columns: ``L0``..., ``L0H0``..., ``shared``... or ``value``."""
        return list(self._signal(signal)["columns"])

    def parts(self, signal: str = "increment") -> list[Path]:
        """The signal's files, in the order of the text."""
        n_parts = self._signal(signal)["n_parts"]
        return [part_path(self.folder, signal, index) for index in range(n_parts)]

    def vocabulary(self, signal: str = "increment") -> pd.DataFrame | None:
        """What the token alone decides, one row per token; None where nothing is decided so.

        Returns:
            Columns ``token``, ``n_in_training`` (null where not known) and the signal's columns
            that the token decides (``shared``..., or those of L0).
        """
        decided = self._signal(signal)["token_determined"]
        if not decided:
            return None
        with _opened(vocabulary_path(self.folder, signal)) as file:
            kinds = {"token": pa.int32(), "n_in_training": pa.int64()}
            kinds |= dict.fromkeys(decided, pa.float32())
            _require_columns(file, kinds)
            read = file.read(list(kinds))
            _require_finite(read, decided)
            vocabulary = read.to_pandas(ignore_metadata=True)
            if vocabulary["token"].tolist() != list(range(self.tokenizer.d_vocab)):
                raise ValueError(f"its tokens are not 0 to {self.tokenizer.d_vocab - 1}")
            return vocabulary.astype({"n_in_training": "Int64"})

    def batches(
        self, signal: str = "increment", columns: Sequence[str] | None = None
    ) -> Iterator[pa.RecordBatch]:
        """The signal's rows in order, at most `ROW_GROUP` at a time.

        No file stays open from one batch to the next, so that hundreds of tables can be read side
        by side.

        Args:
            signal: The signal's name.
            columns: The columns to read beside those of `KEYS`; None for all of the signal's.

        Raises:
            InputError: A part is damaged.
        """
        names = self.columns(signal) if columns is None else columns
        kinds = dict.fromkeys(KEYS, pa.int32()) | dict.fromkeys(names, pa.float32())
        for path in self.parts(signal):
            with _opened(path) as part:
                _require_columns(part, kinds)
                n_groups = part.num_row_groups
            for group in range(n_groups):
                with _opened(path) as part:
                    rows = part.read_row_group(group, list(kinds))
                    if any(rows.column(name).null_count for name in KEYS):
                        raise ValueError("a value that tells where a row belongs is null")
                    _require_finite(rows, names)
                yield from rows.to_batches(max_chunksize=ROW_GROUP)

    def read_documents(self, signal: str = "increment") -> Iterator[DocumentSignal]:
        """The signal document by document, in order; memory is that of the longest document.

        Where tokens are characters, each must be one byte: whoever reads by documents knows no
        other tokens than bytes.

        Raises:
            InputError: A part is damaged, rows are missing, or a token is of several bytes.
        """
        stretches = self._stretches(signal)
        stretch = next(stretches, None)
        about = [self.documents[name].tolist() for name in ("doc", "source", "id", "n_bytes")]
        for doc, source, name, n_bytes in zip(*about, strict=True):
            of_document: list[_Stretch] = []
            while stretch is not None and stretch.doc == doc:
                of_document.append(stretch)
                stretch = next(stretches, None)
            offsets = np.concatenate([s.offsets for s in of_document] or [np.empty(0, np.int32)])
            tokens = np.concatenate([s.tokens for s in of_document] or [np.empty(0, np.int32)])
            values = [s.values for s in of_document]
            context = [s.context for s in of_document]
            if self.tokenizer != BYTES:  # as if an undefined separator stood before it
                tokens = self._as_bytes(tokens, n_bytes, f"{shown(source)}: document {doc}")
                offsets = np.concatenate([[-1], offsets])
                values.insert(0, np.full((1, len(self.columns(signal))), np.nan, np.float32))
                context.insert(0, np.zeros(1, np.int32))
            if len(offsets) != n_bytes + 1 or not _is_text(offsets, tokens):
                raise InputError(
                    f"{self.folder}: document {doc} has {n_bytes + 1} tokens, but the "
                    f"{len(offsets)} rows of it in signal {signal} are not these",
                    "extract again to a new folder",
                )
            yield DocumentSignal(
                doc=doc,
                source=source,
                id=name,
                content=tokens[1:].astype(np.uint8).tobytes(),
                values=np.concatenate(values),
                context=np.concatenate(context),
            )

    def _as_bytes(self, tokens: np.ndarray, n_bytes: int, where: str) -> np.ndarray:
        """The ids of characters as those of a byte model, the separator before them.

        Args:
            tokens: The ids.
            n_bytes: Of the document.
            where: What it is called.

        Raises:
            InputError: A character has several bytes.
        """
        characters = self.tokenizer.to_dict()["characters"]
        as_bytes = np.array([ord(c) if c.isascii() else -1 for c in characters])
        is_known = tokens.min(initial=0) >= 0 and tokens.max(initial=0) < len(characters)
        found = as_bytes[tokens] if is_known else np.full(1, -1)
        if len(tokens) != n_bytes or found.min(initial=0) < 0:
            raise InputError(
                f"{where}: of a model whose tokens are characters only ASCII text is analysed, "
                "and some characters here are of several bytes",
                "Use a text of ASCII characters alone, or a model of bytes.",
            )
        return np.concatenate([[BYTES.d_vocab - 1], found])

    def _stretches(self, signal: str) -> Iterator["_Stretch"]:
        """The rows of each batch, cut where a document ends."""
        columns = self.columns(signal)
        for batch in self.batches(signal):
            docs, offsets, tokens, context = (_numpy(batch, name) for name in KEYS)
            values = np.stack([_numpy(batch, name) for name in columns], axis=1)
            cuts = [0, *(np.flatnonzero(np.diff(docs)) + 1).tolist(), len(docs)]
            for begin, end in pairwise(cuts):
                if end > begin:
                    rows = slice(begin, end)
                    yield _Stretch(
                        doc=int(docs[begin]),
                        offsets=offsets[rows],
                        tokens=tokens[rows],
                        context=context[rows],
                        values=values[rows],
                    )

    def _files(self) -> Iterator[Path]:
        """All files that a complete table has beside its manifest."""
        yield self.folder / DOCUMENTS
        for name, about in self.manifest["signals"].items():
            yield from self.parts(name)
            if about["token_determined"]:
                yield vocabulary_path(self.folder, name)

    def _signal(self, signal: str) -> dict[str, Any]:
        try:
            return self.manifest["signals"][signal]
        except KeyError:
            raise InputError(
                f"{self.folder}: has no signal {signal!r}, only {', '.join(self.signals)}",
                f"extract again with --signal {signal}",
            ) from None


@dataclass(frozen=True)
class _Stretch:
    doc: int
    offsets: np.ndarray
    tokens: np.ndarray
    context: np.ndarray
    values: np.ndarray


def is_whole(path: Path) -> bool:
    """Whether a Parquet file is there with its end, which is written last."""
    try:
        # a file, since a path's name could be taken for an address
        with own_file(path).open("rb") as file:
            pq.read_metadata(file)
    except (OSError, pa.ArrowException):
        return False
    return True


def layer_and_head(column: str) -> tuple[int | None, int | None]:
    """The layer and head that a column of an IncrementTable belongs to; None where it has none.

    >>> layer_and_head("L3H1"), layer_and_head("L3"), layer_and_head("sharedH1")
    ((3, 1), (3, None), (None, 1))
    >>> layer_and_head("value")
    (None, None)
    """
    match = COLUMN.fullmatch(column)
    layer, head = match.group("layer", "head") if match else (None, None)
    return (None if layer is None else int(layer)), (None if head is None else int(head))


def part_path(folder: Path, signal: str, index: int) -> Path:
    """Where the signal's part number ``index`` lies."""
    return folder / folder_name(signal) / f"part-{index:05d}.parquet"


def vocabulary_path(folder: Path, signal: str) -> Path:
    """Where the signal's vocabulary lies: beside its folder, which holds parts alone."""
    return folder / f"{folder_name(signal)}.vocabulary.parquet"


@contextmanager
def _opened(path: Path) -> Iterator[pq.ParquetFile]:
    """A Parquet file; what a damaged one raises becomes one line that names it."""
    try:
        with own_file(path).open("rb") as file, pq.ParquetFile(file) as parquet:
            yield parquet
    except OSError as error:
        if error.errno:  # the system's, such as too many open files
            raise InputError(f"{path}: cannot be read: {reason(error)}") from None
        why = str(error).splitlines()[0]
        raise InputError(f"{path}: cannot be read: {why}", "extract again") from None
    except (pa.ArrowException, ValueError, KeyError) as error:
        why = (str(error).splitlines() or ["not Parquet"])[0]
        raise InputError(f"{path}: damaged: {why}", "extract again") from None


def _numpy(batch: pa.RecordBatch, column: str) -> np.ndarray:
    """A column as numpy; null becomes NaN."""
    return batch.column(column).to_numpy(zero_copy_only=False)


def _require_columns(file: pq.ParquetFile, kinds: Mapping[str, pa.DataType]) -> None:
    schema = file.schema_arrow
    for name, kind in kinds.items():
        index = schema.get_field_index(name)  # -1 also for a name that is there twice
        if index < 0 or schema.field(index).type != kind:
            raise ValueError(f"it has no column {name} of type {kind}")


def _require_finite(rows: pa.Table, columns: Sequence[str]) -> None:
    """What is undefined is null, in a table that was written here."""
    for name in columns:
        if not np.isfinite(rows.column(name).drop_null().to_numpy()).all():
            raise ValueError(f"column {name} has a value that is not finite")


def _is_text(offsets: np.ndarray, tokens: np.ndarray) -> bool:
    """Whether these are the separator and then byte after byte."""
    is_in_order = np.array_equal(offsets, np.arange(-1, len(offsets) - 1))
    separator = BYTES.d_vocab - 1
    is_bytes = tokens[1:].min(initial=0) >= 0 and tokens[1:].max(initial=0) < separator
    return is_in_order and tokens[0] == separator and bool(is_bytes)
