"""The manifest of an IncrementTable: what was extracted from what, checked as it is read."""

import json
import re
from contextlib import suppress
from pathlib import Path
from typing import Any

from interp.errors import InputError, reason
from interp.extraction.shards import MOST_SHARDS
from interp.files import own_file, own_folder
from interp.tokenizer import BYTES, tokenizer_from

FORMAT = "interp IncrementTable"
FORMAT_VERSION = 1
MANIFEST = "manifest.json"
COLUMN = re.compile(r"(?:L(?P<layer>[0-9]{1,6})|shared)(?:H(?P<head>[0-9]{1,6}))?|value")
"""What a column of a signal can be called."""

_MOST_PARTS = 100_000


def read_manifest(folder: Path) -> dict[str, Any] | None:
    """The manifest in ``folder``, or None where there is none.

    Raises:
        InputError: It cannot be read, is not the manifest of an IncrementTable, or the folder of
            a signal is a link.
    """
    path = folder / MANIFEST
    try:
        manifest = json.loads(own_file(path).read_bytes())
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {reason(error)}") from None
    except (ValueError, RecursionError):
        raise InputError(f"{path}: damaged: not JSON", "extract again to a new folder") from None
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise InputError(f"{path}: not the manifest of an IncrementTable")
    version = manifest.get("format_version")
    if version != FORMAT_VERSION:
        raise InputError(
            f"{path}: format version {version!r:.40}; this interp reads {FORMAT_VERSION}",
            "extract again, or use the interp that made it",
        )
    # which the first tables do not say
    first = {"shard": [0, 1], "intervention": None, "tokenizer": BYTES.to_dict()}
    manifest = {**first, **manifest}
    if not _is_well_formed(manifest):
        raise InputError(
            f"{path}: damaged: fields are missing or wrong", "extract again to a new folder"
        )
    for name, signal in manifest["signals"].items():
        signal.setdefault("sees", "token")  # the first tables do not say it either
        _refuse_link(folder / folder_name(name))
    return manifest


def folder_name(signal: str) -> str:
    """The signal's name as a folder: every character outside ``[a-z0-9_.-]`` as ``_``."""
    return re.sub(r"[^a-z0-9_.-]|^\.+", "_", signal)


def _refuse_link(parts: Path) -> None:
    """Before a part is read or written in the folder ``parts``, which need not be there yet."""
    try:
        with suppress(FileNotFoundError):
            own_folder(parts)
    except OSError as error:
        raise InputError(f"{parts}: cannot be read: {reason(error)}") from None


def _is_well_formed(manifest: dict[str, Any]) -> bool:
    name, signals, is_complete = (manifest.get(k) for k in ("checkpoint", "signals", "complete"))
    return (
        isinstance(is_complete, bool)
        and isinstance(name, str)
        and name.isprintable()
        and isinstance(manifest.get("versions"), dict)
        and isinstance(signals, dict)
        and all(name.isprintable() for name in signals)
        and all(_is_signal(signal, is_complete) for signal in signals.values())
        and _is_shard(manifest["shard"])
        and isinstance(manifest["intervention"], dict | None)
        and _is_tokenizer(manifest["tokenizer"])
        and (not is_complete or (len(signals) > 0 and _is_count(manifest.get("n_bytes"))))
    )


def _is_signal(signal: Any, is_complete: bool) -> bool:
    if not isinstance(signal, dict) or not _are_columns(signal.get("columns")):
        return False
    if signal.get("sees", "token") not in ("before", "token"):
        return False
    decided = signal.get("token_determined")
    if not isinstance(decided, list) or decided != signal["columns"][: len(decided)]:
        return False
    if not is_complete:
        return True
    saturated = signal.get("saturated")
    return (
        "bound" in signal
        and _is_bound(signal["bound"])
        and _is_count(signal.get("n_parts"), most=_MOST_PARTS)
        and _is_count(signal.get("n_rows"))
        and (saturated is None or _are_shares(saturated, signal["columns"]))
    )


def _is_bound(value: Any) -> bool:
    """Whether no increment can be larger: a number, or None where there is no bound."""
    return value is None or (isinstance(value, float | int) and 0 < value < 1e30)


def _is_tokenizer(tokenizer: Any) -> bool:
    try:
        tokenizer_from(tokenizer)
    except (ValueError, AttributeError):
        return False
    return True


def _is_shard(shard: Any) -> bool:
    return (
        isinstance(shard, list)
        and len(shard) == 2
        and all(map(_is_count, shard))
        and shard[0] < shard[1] <= MOST_SHARDS
    )


def _are_columns(columns: Any) -> bool:
    return (
        isinstance(columns, list)
        and len(columns) > 0
        and all(isinstance(column, str) and COLUMN.fullmatch(column) for column in columns)
        and len(set(columns)) == len(columns)
    )


def _are_shares(shares: Any, columns: list[str]) -> bool:
    return (
        isinstance(shares, dict)
        and list(shares) == columns
        and all(isinstance(share, int | float) and 0 <= share <= 1 for share in shares.values())
    )


def _is_count(value: Any, *, most: int = 2**63 - 1) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= most
