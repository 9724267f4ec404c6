"""The file of character counts: Parquet with one row per pair, checked as it is read.

A row has ``first``, ``second`` and ``count``. ``""`` stands for what is no letter; null for any
letter whose pair was dropped. What was counted stands in the file's metadata, under ``interp``.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from jaxtyping import Int

from interp.errors import InputError, OutputError, reason
from interp.files import check_writable, named_file, replacing

FORMAT = "interp character counts"
FORMAT_VERSION = 1

MOST_ROWS = 1 << 24
"""Of a file that is read; the counts of 44 MB of Chinese have 1.2 million."""

MOST_CODE_POINTS = 16
"""Of a letter."""

_MOST_BYTES = 1 << 30  # of all rows, unpacked
_MOST_COUNTED = 1 << 53  # which float64 still counts exactly
_COLUMNS = {"first": pa.string(), "second": pa.string(), "count": pa.int64()}
_METADATA = b"interp"


@dataclass(frozen=True)
class CountRows:
    """The rows of a file of counts.

    Attributes:
        about: What was counted, as JSON takes it.
        letters: Every letter in order, ``""`` among them.
        first: The letter before, as an index into ``letters``; -1 for any whose pair was dropped.
        second: The letter after.
        count: How often.
    """

    about: dict[str, Any]
    letters: tuple[str, ...]
    first: Int[np.ndarray, " row"]
    second: Int[np.ndarray, " row"]
    count: Int[np.ndarray, " row"]


def write_rows(path: Path, rows: CountRows) -> None:
    """Write a file of counts, whole or not at all.

    Raises:
        OutputError: It cannot be written.
    """
    about = {"format": FORMAT, "format_version": FORMAT_VERSION, **rows.about}
    order = np.lexsort((-rows.count, rows.first))  # the frequent pairs of a letter first: smaller
    names = np.array([*rows.letters, None], dtype=object)  # the last is that of -1
    columns = [names[rows.first[order]].tolist(), names[rows.second[order]].tolist()]
    table = pa.table(
        [*columns, rows.count[order]],
        schema=pa.schema(_COLUMNS, {_METADATA: json.dumps(about)}),
    )
    target = check_writable(path)
    try:
        with replacing(target) as beside:
            pq.write_table(table, beside, compression="zstd", row_group_size=MOST_ROWS)
    except OSError as error:
        raise OutputError(f"{path}: cannot be written: {reason(error)}") from None


def read_rows(path: Path) -> CountRows:
    """The rows of a file of counts; whether they add up is for the caller to check.

    Raises:
        InputError: It cannot be read, is damaged, or holds something else.
    """
    try:
        with named_file(path).open("rb") as file:
            return _rows_of(file)
    except OSError as error:
        why = reason(error) if error.errno else str(error).splitlines()[0]
        raise InputError(f"{path}: cannot be read: {why}") from None
    except (pa.ArrowException, ValueError, TypeError, KeyError, RecursionError) as error:
        raise no_counts(path, error) from None


def no_counts(path: Path, error: Exception) -> InputError:
    """That ``path`` holds no counts, because of ``error``."""
    why = (str(error).splitlines() or ["not Parquet"])[0]
    return InputError(
        f"{path}: no character counts, or damaged: {why:.200}",
        "make them anew: interp count --corpus TEXT --out counts.parquet",
    )


def _rows_of(file: IO[bytes]) -> CountRows:
    """What is in an opened file.

    Raises:
        ValueError: No counts; and whatever Arrow raises.
    """
    schema = pq.read_schema(file)
    about = json.loads((schema.metadata or {}).get(_METADATA, b"null"))
    if not isinstance(about, dict) or about.get("format") != FORMAT:
        raise ValueError("it does not say that it is such a file")
    if about.get("format_version") != FORMAT_VERSION:
        version = about.get("format_version")
        raise ValueError(f"format version {version!r:.40}; this interp reads {FORMAT_VERSION}")
    if schema.names != list(_COLUMNS):
        raise ValueError(f"its columns are not {', '.join(_COLUMNS)}")
    parquet = pq.ParquetFile(file, read_dictionary=["first", "second"])
    groups = [parquet.metadata.row_group(i) for i in range(parquet.num_row_groups)]
    n_rows, n_bytes = parquet.metadata.num_rows, sum(group.total_byte_size for group in groups)
    if n_rows > MOST_ROWS or n_bytes > _MOST_BYTES:
        raise ValueError(f"{n_rows} rows of {n_bytes} bytes, which are too many")
    rows = parquet.read().unify_dictionaries().combine_chunks()
    count = rows.column("count")
    if count.type != pa.int64() or count.null_count:
        raise ValueError("its counts are not whole numbers")
    ends = [_dictionary(rows, name) for name in ("first", "second")]
    letters = tuple(sorted({"", *(letter for names, _ in ends for letter in names)}))
    if max(map(len, letters)) > MOST_CODE_POINTS:
        raise ValueError(f"a letter of more than {MOST_CODE_POINTS} code points")
    place = {letter: index for index, letter in enumerate(letters)}
    first, second = (
        np.array([*(place[name] for name in names), -1], dtype=np.int64)[codes]
        for names, codes in ends
    )
    counts = count.to_numpy()
    if counts.min(initial=1) < 1 or counts.sum(dtype=np.float64) > _MOST_COUNTED:
        raise ValueError("its counts are not above 0, or too large")
    return CountRows(about, letters, first, second, counts)


def _dictionary(rows: pa.Table, column: str) -> tuple[Sequence[str], Int[np.ndarray, " row"]]:
    """The strings of a column and which of them each row has; -1 for null."""
    kind = rows.schema.field(column).type
    if not pa.types.is_dictionary(kind) or kind.value_type != pa.string():
        raise ValueError(f"its column {column} is not of strings")
    chunks = rows.column(column).chunks
    names = chunks[0].dictionary.to_pylist() if chunks else []
    codes = [chunk.indices.fill_null(-1).to_numpy(zero_copy_only=False) for chunk in chunks]
    return names, np.concatenate([*codes, np.empty(0, dtype=np.int32)])
