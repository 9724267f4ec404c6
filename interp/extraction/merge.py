"""Merging: the shards of one extraction become the table that one run would have written.

The merged table is cut into the same parts as that of one run: its rows and their places are
made anew from the text in the shards, its values are copied. So a merge that was interrupted goes
on like an extraction, and an extraction takes the merged table for its own.
"""

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from interp.errors import InputError, UsageError
from interp.extraction.increment_table import (
    DOCUMENT_SCHEMA,
    DOCUMENTS,
    ROW_GROUP,
    IncrementTable,
    vocabulary_path,
)
from interp.extraction.shard_reader import ShardReader, documents_of
from interp.extraction.shards import WHOLE
from interp.extraction.table_writer import (
    IDENTITY,
    Progress,
    begin,
    complete_table,
    finish,
    made_with,
    refuse_difference,
    remove_half_written,
    started,
    write_parts,
    written,
)
from interp.files import locked

_OF_ONE_SHARD = (
    "shard",
    "n_documents",
    "n_bytes",
    "n_tokens",
    "device",
    "versions",
    "saturated_means",
)
_OF_A_SIGNAL_OF_ONE_SHARD = ("n_parts", "n_rows", "saturated")


def merge(
    shards: Sequence[str | Path], out: str | Path, *, progress: Progress | None = None
) -> IncrementTable:
    """One table in the folder ``out``, as one extraction of the whole corpus would have made it.

    Same rows in the same order and the same parts; a value can differ in its last bits, because
    a shard's windows are batched with others. A merge that was begun in ``out`` is gone on with;
    a complete one is left as it is.

    Memory: one part, and `ROW_GROUP` rows of each shard.

    Args:
        shards: The folders of all shards, in any order.
        out: The folder of the merged table.
        progress: Called as it goes on, with bytes of text.

    Raises:
        InputError: A shard is missing, there twice, damaged, or of another extraction.
        OutputError: ``out`` holds something else, another process writes to it, or it cannot be
            written.
        UsageError: No folder is given.
    """
    tables = _in_order([IncrementTable.open(folder) for folder in shards])
    folder, manifest = Path(out), _merged_manifest(tables)
    with locked(folder):
        there = started(folder)
        if there is not None:
            refuse_difference(folder, there, manifest)
        remove_half_written(folder)
        if table := complete_table(folder, there):
            return table
        manifest = begin(folder, there, manifest)
        _write_documents(folder / DOCUMENTS, tables)
        for signal in tables[0].signals:
            _copy_vocabulary(folder, signal, tables)
        read_part = ShardReader(tables).read
        n_parts = write_parts(folder, manifest, documents_of(tables), read_part, progress)
        return finish(folder, manifest, n_parts)


def _in_order(tables: list[IncrementTable]) -> list[IncrementTable]:
    """The shards by their number, once it is sure that they are all, and belong together.

    Raises:
        InputError: They are not, or do not.
        UsageError: There is none.
    """
    if not tables:
        raise UsageError("merge: no shard is given", "give the folders of all shards")
    first = tables[0]
    by_index: dict[int, IncrementTable] = {}
    for table in tables:
        _check_settings(table)
        _refuse_other_extraction(first, table)
        same = by_index.setdefault(table.shard.index, table)
        if same is not table:
            raise InputError(
                f"merge: shard {table.shard} is there twice: {same.folder} and {table.folder}",
                "give each shard once",
            )
    count = first.shard.count
    missing = [index for index in range(count) if index not in by_index]
    if missing:
        names = ", ".join(f"{index}/{count}" for index in missing[:5])
        more = f" and {len(missing) - 5} more" if len(missing) > 5 else ""
        raise InputError(
            f"merge: of {count} shards, {names}{more} {'is' if len(missing) == 1 else 'are'} "
            "missing",
            f"make it with interp extract --shard {missing[0]}/{count}",
        )
    ordered = [by_index[index] for index in range(count)]
    n_documents = sum(table.manifest["n_documents"] for table in ordered)
    for table in ordered:
        expected = len(range(table.shard.index, n_documents, count))
        if len(table.documents) != expected:
            raise InputError(
                f"{table.folder}: damaged: has {len(table.documents)} documents; of the "
                f"{n_documents} of all shards, {expected} are in shard {table.shard}",
                "extract that shard again",
            )
    return ordered


def _check_settings(table: IncrementTable) -> None:
    """Refuse a manifest that lacks what a merge needs, such as what decides the parts."""
    manifest = table.manifest
    sizes = [manifest.get(key) for key in ("stride", "window", "part_tokens", "n_documents")]
    signals = manifest["signals"].values()
    if not (
        all(isinstance(size, int) and size > 0 for size in sizes)
        and 8 <= manifest["stride"] <= manifest["window"]
        and manifest["signals"]
        and all(isinstance(signal.get("describes_next"), bool) for signal in signals)
    ):
        raise InputError(
            f"merge: the manifest of {table.folder} lacks what a merge needs",
            "extract again to a new folder",
        )


def _refuse_other_extraction(first: IncrementTable, table: IncrementTable) -> None:
    """Compare all that the manifests of two shards must have in common."""
    if table.shard.count != first.shard.count:
        raise InputError(
            f"merge: {table.folder} is shard {table.shard}, but {first.folder} is shard "
            f"{first.shard}",
            "give the shards of one extraction",
        )
    has, wants = _common(table.manifest), _common(first.manifest)
    for key in wants | has:
        if has.get(key) != wants.get(key):
            own, other = (
                ", ".join(each["signals"]) if key == "signals" else each.get(key)
                for each in (has, wants)
            )
            is_short = not isinstance(own, dict) and own != other
            shown = f": {str(own)[:40]}, not {str(other)[:40]}" if is_short else ""
            raise InputError(
                f"merge: {table.folder} differs from {first.folder} in "
                f"{IDENTITY.get(key, key)}{shown}",
                "give the shards of one extraction",
            )


def _common(manifest: dict[str, Any]) -> dict[str, Any]:
    """What the manifests of all shards of an extraction have in common."""
    signals = {
        name: {key: each for key, each in signal.items() if key not in _OF_A_SIGNAL_OF_ONE_SHARD}
        for name, signal in manifest["signals"].items()
    }
    common = {key: each for key, each in manifest.items() if key not in _OF_ONE_SHARD}
    return common | {"signals": signals}


def _merged_manifest(tables: list[IncrementTable]) -> dict[str, Any]:
    return {
        **_common(tables[0].manifest),
        **made_with([table.manifest for table in tables]),
        "shard": [WHOLE.index, WHOLE.count],
        "n_documents": sum(len(table.documents) for table in tables),
        "n_bytes": (n_bytes := sum(sum(table.documents["n_bytes"].tolist()) for table in tables)),
        "n_tokens": n_bytes + sum(len(table.documents) for table in tables),
    }


def _copy_vocabulary(folder: Path, signal: str, tables: list[IncrementTable]) -> None:
    """Keep what the token alone decides, once it is sure that all shards say the same.

    Raises:
        InputError: They do not.
    """
    first = tables[0].vocabulary(signal)
    if first is None:
        return
    for table in tables:
        vocabulary = table.vocabulary(signal)
        if vocabulary is None or not vocabulary.equals(first):
            raise InputError(
                f"merge: {vocabulary_path(table.folder, signal)} is not that of {tables[0].folder}",
                "extract that shard again",
            )
    source = vocabulary_path(tables[0].folder, signal)
    with source.open("rb") as vocabulary, written(vocabulary_path(folder, signal)) as file:
        shutil.copyfileobj(vocabulary, file)


def _write_documents(path: Path, tables: list[IncrementTable]) -> None:
    """Write them anew each time: an earlier merge may have begun with a damaged shard."""
    documents = pd.concat([table.documents for table in tables]).sort_values("doc")
    rows = pa.Table.from_pandas(documents, DOCUMENT_SCHEMA, preserve_index=False)
    with written(path) as file:
        pq.write_table(
            rows.replace_schema_metadata(), file, compression="zstd", row_group_size=ROW_GROUP
        )
