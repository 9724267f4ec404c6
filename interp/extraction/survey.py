"""The first reading of a corpus: its fingerprint, its size, and what documents.parquet says."""

import hashlib
import json
from array import array
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import IO, Any

import pyarrow as pa
import pyarrow.parquet as pq

from interp.corpus.documents import Document
from interp.errors import InputError
from interp.extraction.increment_table import DOCUMENT_SCHEMA, ROW_GROUP
from interp.extraction.shards import WHOLE, Shard
from interp.text import Content, counted
from interp.tokenizer import Tokenizer, with_place

_READ_BYTES = 1 << 20
_MOST_BYTES = 2**31 - 1  # offsets are int32


@dataclass(frozen=True)
class Corpus:
    """What a first reading of the documents found.

    Attributes:
        fingerprint: SHA-256 over all documents: where they came from and every byte.
        n_documents: How many of them are in the shard.
        n_bytes: Of those in the shard.
        n_tokens: The same, in tokens.
        marks: For each document, 64 bits of the hash as far as it: a second reading finds out
            what has changed before anything is made of it.
    """

    fingerprint: str
    n_documents: int
    n_bytes: int
    n_tokens: int
    marks: "array[int]"


def survey(
    documents: Iterable[Document],
    is_held_out: Callable[[Content], bool | None],
    file: IO[bytes],
    tokenizer: Tokenizer,
    shard: Shard = WHOLE,
) -> Corpus:
    """Read all documents once, writing documents.parquet, for those in ``shard``, to ``file``.

    Raises:
        InputError: There is no text at all, fewer documents than shards, one that is too
            long for 32-bit offsets, or a character that is no token.
    """
    digest, marks = hashlib.sha256(), array("Q")
    rows: list[dict[str, Any]] = []
    n_bytes_in_all = n_documents = n_bytes = n_tokens = 0
    doc = -1
    with pq.ParquetWriter(file, DOCUMENT_SCHEMA, compression="zstd") as writer:
        for doc, document in enumerate(documents):
            content = document.content
            if len(content) > _MOST_BYTES:
                raise InputError(
                    f"{document.source}: one text of {len(content)} bytes; "
                    f"the most is {_MOST_BYTES}",
                    "split the file",
                )
            marks.append(_take_in(document, digest))
            n_bytes_in_all += len(content)
            if not shard.has(doc):
                continue
            n_documents += 1
            n_bytes += len(content)
            place = f"{document.source} {document.id}".rstrip()
            n_tokens += with_place(place, tokenizer.n_tokens, content)
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
    if n_bytes_in_all == 0:
        what = "there is no document" if doc < 0 else "the input is empty"
        raise InputError(f"extraction: {what}", "give a text of one byte or more")
    if doc + 1 < shard.count:
        raise InputError(
            f"extraction: {shard.count} shards of a text of {counted(doc + 1, 'document')}: some "
            "would have none",
            f"use {counted(doc + 1, 'shard')} or fewer; one text file is one document",
        )
    return Corpus(digest.hexdigest(), n_documents, n_bytes, n_tokens, marks)


def unchanged(documents: Iterable[Document], corpus: Corpus) -> Iterator[Document]:
    """All documents of ``corpus``, at their second reading, each once it is sure that it is one.

    Raises:
        InputError: They are no longer what they were.
    """
    digest, marks = hashlib.sha256(), iter(corpus.marks)
    for document in documents:
        if _take_in(document, digest) != next(marks, None):
            raise _changed()
        yield document
    if next(marks, None) is not None:
        raise _changed()


def _take_in(document: Document, digest: "hashlib._Hash") -> int:
    """Add a document to the hash of those before it, and give the first 64 bits of that."""
    content = document.content
    about = [document.source, document.id, document.dropped_bytes, len(content)]
    # escaped, because names of files need not be valid Unicode; and free of line breaks
    digest.update(json.dumps(about).encode() + b"\n")
    for start in range(0, len(content), _READ_BYTES):
        digest.update(content[start : start + _READ_BYTES])
    return int.from_bytes(digest.digest()[:8], "big")


def _changed() -> InputError:
    return InputError(
        "extraction: the text changed while it was read",
        "delete the folder of the table and extract again",
    )


def _as_text(name: str) -> str:
    """A file name for a column of strings; bytes that are no UTF-8 are escaped."""
    return name.encode("utf-8", "backslashreplace").decode()
