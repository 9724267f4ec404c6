"""Writing an IncrementTable so that each file is whole or absent, and a stopped run goes on."""

import hashlib
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from interp.corpus.documents import Document
from interp.errors import InputError, OutputError, reason
from interp.extraction.batches import Rows, forget_pages
from interp.extraction.increment_table import DOCUMENT_SCHEMA, ROW_GROUP
from interp.extraction.manifest import FORMAT, FORMAT_VERSION, MANIFEST, read_manifest
from interp.files import is_partial, make_folder, remove_partial, replacing
from interp.text import Content

IDENTITY = {
    "checkpoint_fingerprint": "checkpoint",
    "training_fingerprint": "record of the checkpoint's training text",
    "model": "model configuration",
    "corpus_fingerprint": "text",
    "window": "window",
    "stride": "stride",
    "dtype": "dtype",
    "signals": "signals",
    "part_tokens": "size of the parts",
}
"""What must be the same for an extraction to go on in a folder, with the words for it."""

_READ_BYTES = 1 << 20
_MOST_BYTES = 2**31 - 1  # offsets are int32


@dataclass(frozen=True)
class Corpus:
    """What a first reading of the documents found.

    Attributes:
        fingerprint: SHA-256 over the documents: where they came from and every byte.
        n_documents: How many there are.
        n_bytes: Of all of them.
    """

    fingerprint: str
    n_documents: int
    n_bytes: int


class CorpusHash:
    """The fingerprint of a corpus, document by document."""

    def __init__(self) -> None:
        self._hash = hashlib.sha256()
        self.n_documents = 0
        self.n_bytes = 0

    def add(self, document: Document) -> None:
        """Take in one document; its bytes are read in pieces."""
        content = document.content
        about = [document.source, document.id, document.dropped_bytes, len(content)]
        # escaped, because names of files need not be valid Unicode; and free of line breaks
        self._hash.update(json.dumps(about).encode() + b"\n")
        for start in range(0, len(content), _READ_BYTES):
            self._hash.update(content[start : start + _READ_BYTES])
            forget_pages(content)
        self.n_documents += 1
        self.n_bytes += len(content)

    def corpus(self) -> Corpus:
        """What was taken in so far."""
        return Corpus(self._hash.hexdigest(), self.n_documents, self.n_bytes)


def survey(
    documents: Iterable[Document], is_held_out: Callable[[Content], bool | None], file: IO[bytes]
) -> Corpus:
    """Read all documents once, writing documents.parquet to ``file``.

    Raises:
        InputError: There is no text at all, or a document is too long for 32-bit offsets.
    """
    corpus_hash = CorpusHash()
    rows: list[dict[str, Any]] = []
    with pq.ParquetWriter(file, DOCUMENT_SCHEMA, compression="zstd") as writer:
        for doc, document in enumerate(documents):
            content = document.content
            if len(content) > _MOST_BYTES:
                raise InputError(
                    f"{document.source}: one text of {len(content)} bytes; "
                    f"the most is {_MOST_BYTES}",
                    "split the file",
                )
            corpus_hash.add(document)
            rows.append(
                {
                    "doc": doc,
                    "source": _as_text(document.source),
                    "id": _as_text(document.id),
                    "n_bytes": len(content),
                    "dropped_bytes": document.dropped_bytes,
                    "held_out": is_held_out(content),
                }
            )
            if len(rows) == ROW_GROUP:
                writer.write_table(pa.Table.from_pylist(rows, DOCUMENT_SCHEMA))
                rows = []
        writer.write_table(pa.Table.from_pylist(rows, DOCUMENT_SCHEMA))
    corpus = corpus_hash.corpus()
    if corpus.n_bytes == 0:
        what = "the input is empty" if corpus.n_documents else "there is no document"
        raise InputError(f"extraction: {what}", "give a text of one byte or more")
    return corpus


def started(folder: Path) -> dict[str, Any] | None:
    """The manifest of the extraction that was begun in ``folder``, or None where it is free.

    Raises:
        OutputError: The folder holds something else, or is a file.
    """
    try:
        manifest = read_manifest(folder)
        entries = [path.name for path in folder.iterdir() if not is_partial(path)]
    except InputError as error:
        raise OutputError(str(error), "choose another --out, or delete that folder") from None
    except FileNotFoundError:
        manifest, entries = None, []
        _check_can_be_made(folder)
    except OSError as error:
        raise OutputError(f"{folder}: {reason(error)}", "choose another --out") from None
    if manifest is None and entries:
        raise OutputError(
            f"{folder}: holds something else ({sorted(entries)[0]}) and no IncrementTable",
            "choose another --out",
        )
    return manifest


def refuse_difference(folder: Path, there: Mapping[str, Any], wanted: Mapping[str, Any]) -> None:
    """Compare what was begun in ``folder`` with what is wanted, as far as ``wanted`` says.

    Raises:
        OutputError: They differ; the message names the first difference.
    """
    for key, words in IDENTITY.items():
        if key not in wanted:
            continue
        has, wants = _comparable(key, there.get(key)), _comparable(key, wanted[key])
        if has != wants:
            shown = "" if key == "model" else f": {str(has)[:40]} there, {str(wants)[:40]} wanted"
            raise OutputError(
                f"{folder}: holds an extraction that differs in {words}{shown}",
                "choose another --out, or delete that folder",
            )


def prepare_folder(folder: Path) -> None:
    """Make ``folder`` where there is none, and clear away what a killed run left half-written."""
    make_folder(folder)
    try:
        for place in (folder, *(path for path in folder.iterdir() if path.is_dir())):
            remove_partial(place)
    except OSError as error:
        raise OutputError(f"{folder}: cannot be written: {reason(error)}") from None


@contextmanager
def written(path: Path) -> Iterator[IO[bytes]]:
    """A file to write to, which takes the place of ``path`` once the block ends without error.

    Raises:
        OutputError: It cannot be written.
    """
    try:
        path.parent.mkdir(exist_ok=True)
        with replacing(path) as beside, beside.open("wb") as file:
            yield file
    except OSError as error:
        raise OutputError(f"{path}: cannot be written: {reason(error)}") from None


def write_manifest(folder: Path, manifest: Mapping[str, Any]) -> None:
    """Write the manifest, whole or not at all."""
    text = json.dumps({"format": FORMAT, "format_version": FORMAT_VERSION, **manifest}, indent=1)
    with written(folder / MANIFEST) as file:
        file.write(text.encode() + b"\n")


def write_part(path: Path, rows: Rows, columns: Mapping[str, np.ndarray]) -> None:
    """Write one part; NaN, which stands for undefined, becomes null."""
    keys = {
        "doc": pa.array(rows.doc),
        "offset": pa.array(rows.offset),
        "token": pa.array(rows.token),
        "context": pa.array(rows.context),
    }
    values = {name: pa.array(column, from_pandas=True) for name, column in columns.items()}
    with written(path) as file:
        pq.write_table(
            pa.table({**keys, **values}),
            file,
            compression="zstd",
            compression_level=1,
            row_group_size=ROW_GROUP,
            use_dictionary=["doc", "token", *columns],  # type: ignore[arg-type]
            column_encoding={key: "DELTA_BINARY_PACKED" for key in ("offset", "context")},
        )


def write_vocabulary(
    path: Path, columns: Mapping[str, np.ndarray], n_in_training: list[int] | None
) -> None:
    """Write what the token alone decides: one row per token of the vocabulary."""
    n_tokens = len(next(iter(columns.values())))
    counts = n_in_training if n_in_training is not None else [None] * n_tokens
    table = pa.table(
        {
            "token": pa.array(range(n_tokens), pa.int32()),
            "n_in_training": pa.array(counts, pa.int64()),
            **{name: pa.array(column) for name, column in columns.items()},
        }
    )
    with written(path) as file:
        pq.write_table(table, file)


def _check_can_be_made(folder: Path) -> None:
    """Find out before a long reading, not after it, that nothing can be written there."""
    above = next(path for path in folder.absolute().parents if path.exists())
    if not os.access(above, os.W_OK | os.X_OK):
        raise OutputError(f"{folder}: cannot be made: permission denied", "choose another --out")


def _comparable(key: str, value: Any) -> Any:
    """``value`` as JSON gives it back; of signals, their names."""
    if key == "signals":
        return ", ".join(sorted(value))
    return json.loads(json.dumps(value))


def _as_text(name: str) -> str:
    """A file name for a column of strings; bytes that are no UTF-8 are escaped."""
    return name.encode("utf-8", "backslashreplace").decode()
