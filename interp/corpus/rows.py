"""Rows with a text: JSON lines and Parquet, streamed, one document per row.

Parquet is read with pyarrow and JSON lines with the standard library, not through
``datasets.load_dataset``: for local files that (5.2) looks up a server on the network, leaves
lock files in the home folder's cache, reads ``a[1].parquet`` and ``x::y.parquet`` as patterns
and addresses, and refuses a JSON text with half of a surrogate pair. Data sets on the Hub do
go through it (`interp.corpus.hub`).
"""

import json
import re
from collections.abc import Callable, Generator, Iterable, Iterator
from dataclasses import dataclass
from typing import IO, Any

from interp.corpus.documents import Document
from interp.corpus.files import N_HEAD_BYTES, shown
from interp.errors import InputError, reason
from interp.text import BYTE_ORDER_MARK, counted, n_invalid_bytes, one_line

Warn = Callable[[str], None]

N_ROWS_PER_BATCH = 256
"""Parquet rows that are held at a time, beside what its format makes it decode."""


_FORM = 'Each line is one object, such as {"text": "..."}.'


@dataclass(frozen=True)
class Row:
    """One row: its text as bytes (None for null) and its id (None where it has none)."""

    text: bytes | None
    id: str | None


def documents_from_rows(
    rows: Iterable[Row], *, source: str, warn: Warn
) -> Generator[Document, None, None]:
    """One document per row; null texts are skipped, and what is odd is counted in a warning.

    Args:
        rows: In order.
        source: What the documents give as their source, and the warnings as their place.
        warn: Called after the last row, with one line for each kind of oddity.

    Yields:
        Documents; the id is the row's own, else its number, counted from 0 with null rows.
    """
    n_rows = n_null = n_empty = n_invalid = 0
    is_read = False
    try:
        for number, row in enumerate(rows):
            n_rows += 1
            if row.text is None:
                n_null += 1
                continue
            n_empty += not row.text
            n_invalid += n_invalid_bytes(row.text)
            yield Document(source, str(number) if row.id is None else row.id, row.text)
        is_read = True
    finally:  # also when a limit ends the reading early
        place = shown(source)
        if is_read and not n_rows:
            warn(f"{place} has no rows")
        if n_null:
            warn(f"{place}: {counted(n_null, 'row')} without a text (null), skipped")
        if n_empty:
            warn(f"{place}: {counted(n_empty, 'empty text')}")
        if n_invalid:
            warn(invalid_bytes_warning(place, n_invalid))


def json_rows(file: IO[bytes], path: str) -> Iterator[Row]:
    """The rows of a file with one JSON object per line; blank lines are passed over.

    A text keeps its bytes: half of a surrogate pair that is written as an escape becomes its
    three bytes, and bytes that are not UTF-8 stay as they are.

    Raises:
        InputError: A line that is no JSON object with a text, with the line's number; or the
            file begins a list, which is found out before a whole one on one line is read.
    """
    head = file.read(N_HEAD_BYTES)
    file.seek(0)
    if head.removeprefix(BYTE_ORDER_MARK).lstrip().startswith(b"["):
        raise InputError(
            f"{shown(path)}: expected a JSON object with a text on each line, not a list", _FORM
        )
    for number, line in enumerate(file, start=1):
        content = line.removeprefix(BYTE_ORDER_MARK) if number == 1 else line
        if not content.strip():
            continue
        where = f"{shown(path)}, line {number}"
        is_utf8 = n_invalid_bytes(content) == 0
        try:
            value = json.loads(content.decode("utf-8", "surrogateescape"))
        except (ValueError, RecursionError) as error:
            raise _json_error(where, content, error) from error
        if not isinstance(value, dict):
            raise InputError(
                f"{where}: expected a JSON object with a text, not {_json_kind(value)}",
                _FORM,
            )
        yield row_from_object(value, where=where, keeps_invalid_bytes=not is_utf8)


def parquet_rows(file: IO[bytes], path: str) -> Iterator[Row]:
    """The rows of a Parquet file with a column ``text`` of strings (or of their bytes).

    Raises:
        InputError: The file is damaged, or has no such column.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        table = pq.ParquetFile(file)
        columns = _parquet_columns(table.schema_arrow, shown(path))
        for batch in table.iter_batches(N_ROWS_PER_BATCH, columns=columns):
            # as bytes: a string column need not hold valid UTF-8
            texts = _decoded(batch.column("text"))
            if not pa.types.is_null(texts.type):
                texts = texts.cast(pa.large_binary())
            ids = batch.column("id").to_pylist() if "id" in columns else [None] * len(texts)
            for text, row_id in zip(texts, ids, strict=True):
                yield Row(text.as_py(), _id(row_id))
    except (pa.ArrowException, OSError, ValueError) as error:
        words = reason(error) if isinstance(error, OSError) else str(error)
        raise InputError(
            f"cannot read {shown(path)} as Parquet: {first_line(words)}",
            "It may be cut off or damaged: compare its size with the original's.",
        ) from error


def row_from_object(value: dict[str, Any], *, where: str, keeps_invalid_bytes: bool = False) -> Row:
    """The row of a JSON object, or of a data set's row.

    Args:
        value: With a ``text`` (a string or null) and perhaps an ``id``.
        where: The file and line, for the message.
        keeps_invalid_bytes: Whether U+DC80-U+DCFF in the text stand for single bytes.
    """
    if "text" not in value:
        names = ", ".join(one_line(str(name)) for name in list(value)[:12]) or "none"
        raise InputError(
            f'{where}: there is no field "text"; it has: {names}',
            'Give the field that holds the text the name "text".',
        )
    text = value["text"]
    if text is not None and not isinstance(text, str):
        raise InputError(
            f'{where}: "text" is {_json_kind(text)}, not a string',
            "Write the text itself as one string.",
        )
    content = None if text is None else _encoded(text, keeps_invalid_bytes)
    return Row(content, _id(value.get("id")))


def invalid_bytes_warning(place: str, n_invalid: int) -> str:
    """The line that counts bytes outside of valid UTF-8."""
    are = "is" if n_invalid == 1 else "are"
    return f"{place}: {counted(n_invalid, 'byte')} {are} not valid UTF-8 (kept as found)"


def first_line(words: str) -> str:
    """The first line of another library's message, without its full stop."""
    lines = words.strip().splitlines() or ["no reason given"]
    return one_line(re.sub(r"^\[Errno -?\d+\] ", "", lines[0]).rstrip(".")[:300])


def _encoded(text: str, keeps_invalid_bytes: bool) -> bytes:
    if not keeps_invalid_bytes:
        return text.encode("utf-8", "surrogatepass")
    pieces = re.split("([\udc80-\udcff]+)", text)
    handlers = ("surrogatepass", "surrogateescape")
    return b"".join(piece.encode("utf-8", handlers[i % 2]) for i, piece in enumerate(pieces))


def _id(value: object) -> str | None:
    if value is None:
        return None
    return str(value).encode("utf-8", "backslashreplace").decode("utf-8")


def _json_kind(value: object) -> str:
    names = {dict: "an object", list: "a list", str: "a string", bool: "true or false"}
    return "null" if value is None else names.get(type(value), "a number")


def _json_error(where: str, content: bytes, error: Exception) -> InputError:
    """What is wrong with a line, and what the usual cause is."""
    if isinstance(error, json.JSONDecodeError):
        said = error.msg.removesuffix(" at")  # which some of them end with
        what = f"{said[:1].lower()}{said[1:]} at column {error.colno}"
    else:
        what = "nested too deeply" if isinstance(error, RecursionError) else first_line(str(error))
    if content[:2] in (b"\xff\xfe", b"\xfe\xff"):
        hint = "It looks like UTF-16: convert it to UTF-8."
    elif content.strip() in (b"{", b"[") or content.lstrip().startswith(b"["):
        hint = "Write one object per line; one list or object over many lines is not read."
    else:
        hint = "Each line is one JSON object; the last one may have been cut off."
    return InputError(f"{where}: not valid JSON: {what}", hint)


def _parquet_columns(schema: Any, place: str) -> list[str]:
    """The columns to read: ``text``, checked, and ``id`` where there is one."""
    import pyarrow as pa

    names = list(schema.names)
    if names.count("text") != 1:
        found = ", ".join(one_line(name) for name in names[:12]) or "none"
        how_many = "there is no column" if "text" not in names else "more than one column is named"
        raise InputError(
            f'{place}: {how_many} "text"; it has: {found}',
            'Give the column that holds the text the name "text".',
        )
    value_type = schema.field("text").type
    if pa.types.is_dictionary(value_type):
        value_type = value_type.value_type
    is_text = (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view)
    is_bytes = (pa.types.is_binary, pa.types.is_large_binary, pa.types.is_binary_view)
    if not any(is_type(value_type) for is_type in (*is_text, *is_bytes, pa.types.is_null)):
        raise InputError(
            f'{place}: the column "text" is of type {first_line(str(value_type))}, not string',
            "Write the text itself as one string per row.",
        )
    return ["text", "id"] if names.count("id") == 1 else ["text"]


def _decoded(column: Any) -> Any:
    import pyarrow as pa

    return column.dictionary_decode() if pa.types.is_dictionary(column.type) else column
