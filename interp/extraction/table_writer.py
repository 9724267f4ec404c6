"""Writing an IncrementTable so that each file is whole or absent, and a stopped run goes on."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import IO, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from interp.corpus.documents import Document
from interp.errors import InputError, OutputError, reason
from interp.extraction.batches import Part, Rows, cut_into_parts
from interp.extraction.increment_table import ROW_GROUP, IncrementTable, is_whole, part_path
from interp.extraction.manifest import FORMAT, FORMAT_VERSION, MANIFEST, read_manifest
from interp.extraction.saturation import SATURATED_FROM, count_saturated
from interp.extraction.shards import Shard
from interp.files import LOCK_FILE, is_partial, remove_partial, replacing
from interp.tokenizer import tokenizer_from

IDENTITY = {
    "checkpoint_fingerprint": "checkpoint",
    "training_fingerprint": "record of the checkpoint's training text",
    "model": "model configuration",
    "tokenizer": "tokenizer",
    "corpus_fingerprint": "text",
    "shard": "shard",
    "window": "window",
    "stride": "stride",
    "dtype": "dtype",
    "signals": "signals",
    "intervention": "intervention",
    "part_tokens": "size of the parts",
}
"""What must be the same for an extraction to go on in a folder, with the words for it."""

Progress = Callable[[int, int | None], None]
"""Called with bytes done and bytes in all (None where that is not known)."""

Columns = Mapping[str, np.ndarray]
"""Columns of a signal over the rows of a part; NaN stands for undefined."""

PartSignals = Mapping[str, tuple[Rows, Columns]]
"""Rows and columns of each signal."""

ReadPart = Callable[[Part, Callable[[int], None]], PartSignals]
"""Gives the signals of a part, and says how many more tokens are done as it goes."""


def started(folder: Path) -> dict[str, Any] | None:
    """The manifest of the extraction that was begun in ``folder``, or None where it is free.

    Raises:
        OutputError: The folder holds something else, or is a file.
    """
    try:
        manifest = read_manifest(folder)
        entries = {path.name for path in folder.iterdir() if not is_partial(path)} - {LOCK_FILE}
    except InputError as error:
        raise OutputError(str(error), "choose another --out, or delete that folder") from None
    except FileNotFoundError:
        return None
    except OSError as error:
        raise OutputError(f"{folder}: {reason(error)}", "choose another --out") from None
    if manifest is None and entries:
        raise OutputError(
            f"{folder}: holds something else ({sorted(entries)[0]}) and no IncrementTable",
            "choose another --out",
        )
    return manifest


def complete_table(folder: Path, there: Mapping[str, Any] | None) -> IncrementTable | None:
    """The table in ``folder`` if it is complete by its manifest, and every file of it is there."""
    if there is None or not there["complete"]:
        return None
    try:
        return IncrementTable.open(folder)
    except InputError:
        return None  # a file of it is gone: it is made again


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
            is_long = key in ("model", "intervention")
            shown = "" if is_long else f": {str(has)[:40]} there, {str(wants)[:40]} wanted"
            raise OutputError(
                f"{folder}: holds an extraction that differs in {words}{shown}",
                "choose another --out, or delete that folder",
            )


def begin(
    folder: Path, there: Mapping[str, Any] | None, manifest: Mapping[str, Any]
) -> dict[str, Any]:
    """Write the manifest of a table that is begun, or gone on with where something is there.

    Returns:
        The manifest; what earlier runs were made with stays in it.
    """
    begun = {**manifest, "complete": False}
    if there is not None:
        begun |= made_with([there, manifest])
    write_manifest(folder, begun)
    return begun


def made_with(manifests: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The versions and the device of all these together: their runs need not have the same."""
    versions = [manifest["versions"] for manifest in manifests]
    return {
        "versions": {
            name: _joined([each.get(name) for each in versions])
            for name in dict.fromkeys(name for each in versions for name in each)
        },
        "device": _joined([manifest.get("device") for manifest in manifests]),
    }


def remove_half_written(folder: Path) -> None:
    """Clear away what a killed run left half-written."""
    try:
        inside = (path for path in folder.iterdir() if path.is_dir() and not path.is_symlink())
        for place in (folder, *inside):
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


def write_parts(
    folder: Path,
    manifest: Mapping[str, Any],
    documents: Iterable[Document],
    read_part: ReadPart,
    progress: Progress | None,
) -> int:
    """Write every part that is not there, and say how many there are.

    Args:
        folder: Of the table.
        manifest: Its ``shard``, ``n_tokens``, ``n_bytes``, ``tokenizer``, ``signals``,
            ``window``, ``stride`` and ``part_tokens`` count.
        documents: Those of the shard.
        read_part: Gives the rows and columns of a part.
        progress: Called as ``read_part`` goes on.
    """
    shard, signals = Shard(*manifest["shard"]), manifest["signals"]
    n_bytes, n_done, n_parts = manifest["n_bytes"], 0, 0
    n_tokens = manifest["n_tokens"]

    def on_tokens(n_tokens_more: int) -> None:
        nonlocal n_done
        n_done += n_tokens_more
        if progress is not None:
            progress(round(n_done / n_tokens * n_bytes), n_bytes)

    for pieces in cut_into_parts(
        documents,
        n_ctx=manifest["window"],
        stride=manifest["stride"],
        part_tokens=manifest["part_tokens"],
        tokenizer=tokenizer_from(manifest["tokenizer"]),
    ):
        paths = {signal: part_path(folder, signal, n_parts) for signal in signals}
        missing = {signal: path for signal, path in paths.items() if not is_whole(path)}
        n_parts += 1
        if not missing:
            on_tokens(sum(piece.n_new for piece in pieces))
            continue
        part = Part.read(pieces)
        part = replace(part, doc=shard.doc(part.doc))
        found = read_part(part, on_tokens)
        for signal, path in missing.items():
            write_part(path, *found[signal])
    return n_parts


def finish(folder: Path, manifest: dict[str, Any], n_parts: int) -> IncrementTable:
    """Count what is saturated, over all parts, and mark the table as complete."""
    for signal in manifest["signals"].values():
        signal["n_parts"] = n_parts
        signal["n_rows"] = manifest["n_tokens"]
    table = IncrementTable(folder, manifest)
    for name, signal in manifest["signals"].items():
        signal["saturated"] = count_saturated(table, name, signal["bound"])
    manifest["saturated_means"] = (
        f"share of all entries that are at least {SATURATED_FROM} x the bound"
    )
    manifest["complete"] = True
    write_manifest(folder, manifest)
    return IncrementTable.open(folder)


def write_part(path: Path, rows: Rows, columns: Columns) -> None:
    """Write one part."""
    keys = {
        "doc": pa.array(rows.doc),
        "offset": pa.array(rows.offset),
        "token": pa.array(rows.token),
        "context": pa.array(rows.context),
    }
    values = _values(path, columns)
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


def write_vocabulary(path: Path, columns: Columns, n_in_training: list[int] | None) -> None:
    """Write what the token alone decides: one row per token of the vocabulary."""
    n_tokens = len(next(iter(columns.values())))
    counts = n_in_training if n_in_training is not None else [None] * n_tokens
    table = pa.table(
        {
            "token": pa.array(range(n_tokens), pa.int32()),
            "n_in_training": pa.array(counts, pa.int64()),
            **_values(path, columns),
        }
    )
    with written(path) as file:
        pq.write_table(table, file)


def _values(path: Path, columns: Columns) -> dict[str, pa.Array]:
    """Columns of a signal as ``path`` keeps them; NaN, which stands for undefined, is null.

    Raises:
        InputError: A value is infinite: no table is read that has one.
    """
    for name, column in columns.items():
        if np.isinf(column).any():
            raise InputError(f"{path}: not written: a value of column {name} would be infinite")
    return {name: pa.array(column, from_pandas=True) for name, column in columns.items()}


def _joined(names: Sequence[Any]) -> str:
    """Each once; one of them may be what was joined before."""
    return ", ".join(dict.fromkeys(each for name in names for each in str(name).split(", ")))


def _comparable(key: str, value: Any) -> Any:
    """``value`` as JSON gives it back; of signals, their names and what they were fitted to."""
    if key == "signals":
        fitted = {name: about.get("fitted") for name, about in value.items()}
        return ", ".join(f"{name} ({to})" if to else name for name, to in sorted(fitted.items()))
    return json.loads(json.dumps(value))
