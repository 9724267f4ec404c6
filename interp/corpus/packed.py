"""A corpus packed into one memory-mapped stream of tokens, kept in the cache.

Of bytes, each document stands after its separator; training windows are cut from the stream as
it lies. The cache is keyed by content, so a changed file makes a new entry; an entry that
something damaged is made anew.
"""

import hashlib
import json
import re
import shutil
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from jaxtyping import UInt16

from interp.cache import cache_folder
from interp.corpus.documents import Document
from interp.corpus.split import Split
from interp.errors import InputError, OutputError, reason
from interp.files import own_file
from interp.text import Content
from interp.tokenizer import BYTES, Tokenizer

_FOLDER = "corpora-2"  # a new form of an entry gets a new folder; fingerprints stay
_PIECE_TOKENS = 1 << 20
_UNFINISHED = ".packing-"
_STALE_SECONDS = 86_400.0


@dataclass(frozen=True)
class PackedCorpus:
    """The training part of one corpus.

    Attributes:
        fingerprint: SHA-256 of what was packed and of the split, in hex.
        tokens: The stream, a read-only memory map.
        n_documents: How many documents it has.
        n_bytes: How many bytes of text.
    """

    fingerprint: str
    tokens: UInt16[np.ndarray, " token"]
    n_documents: int
    n_bytes: int


def pack(
    documents: Callable[[], Iterable[Document]],
    *,
    fingerprint: str,
    split: Split,
    name: str,
    tokenizer: Tokenizer = BYTES,
) -> PackedCorpus:
    """What ``split`` does not hold out of the documents, packed; from the cache if it is there.

    Args:
        documents: Gives the documents anew each time it is called.
        fingerprint: Of those documents; the cache's key, together with the split.
        split: Which documents to leave out.
        name: The corpus's name, for messages.
        tokenizer: Makes tokens of them.

    Raises:
        InputError: No document is left to train on.
        OutputError: The cache folder cannot be written.
    """
    key = hashlib.sha256(
        json.dumps(
            [fingerprint, tokenizer.to_dict(), [split.fraction, split.last, sorted(split.hashes)]]
        ).encode()
    ).hexdigest()
    found = packed(key, tokenizer)
    if found is not None:
        return found
    folder = _entry(key)
    try:
        _pack_into(folder, documents(), split, name, tokenizer)
    except OSError as error:
        raise OutputError(
            f"pack corpus {name}: cannot write to {folder.parent}: {reason(error)}",
            "Set INTERP_CACHE to a folder with space that can be written.",
        ) from error
    made = packed(key, tokenizer)
    if made is None:
        raise OutputError(
            f"pack corpus {name}: what was written to {folder} cannot be read back",
            "Set INTERP_CACHE to another folder.",
        )
    return made


def packed(key: str, tokenizer: Tokenizer = BYTES) -> PackedCorpus | None:
    """The corpus that the cache keeps under ``key``; None if there is none, or a damaged one.

    Args:
        key: The fingerprint of a `PackedCorpus`.
        tokenizer: What made its tokens.
    """
    if not re.fullmatch("[0-9a-f]{64}", key):
        return None
    try:
        facts = json.loads(own_file(_entry(key) / "corpus.json").read_text("utf-8"))
        n_documents, n_bytes, n_tokens = (
            int(facts[key]) for key in ("n_documents", "n_bytes", "n_tokens")
        )
        tokens = np.memmap(own_file(_entry(key) / "tokens.uint16"), dtype="<u2", mode="r")
    except (OSError, ValueError, KeyError, TypeError, OverflowError, RecursionError):
        return None
    if len(tokens) != n_tokens:  # cut short, as by a full disk
        return None
    if tokens.max() >= tokenizer.d_vocab:  # a tenth of a second for 1 GB
        return None
    return PackedCorpus(key, tokens, n_documents, n_bytes)


def _entry(key: str) -> Path:
    return cache_folder() / _FOLDER / key


def _ids(content: Content, tokenizer: Tokenizer) -> Iterator[UInt16[np.ndarray, " token"]]:
    """A document's tokens, in pieces of bounded memory."""
    text = tokenizer.read(content)
    for start in range(0, len(text), _PIECE_TOKENS):
        yield text.ids(start, min(start + _PIECE_TOKENS, len(text))).astype("<u2")


def _pack_into(
    folder: Path, documents: Iterable[Document], split: Split, name: str, tokenizer: Tokenizer
) -> None:
    folder.parent.mkdir(parents=True, exist_ok=True)
    _remove_stale(folder.parent)
    beside = Path(tempfile.mkdtemp(dir=folder.parent, prefix=_UNFINISHED))
    try:
        n_documents = n_bytes = n_tokens = 0
        with (beside / "tokens.uint16").open("wb") as file:
            for document in documents:
                content = split.training_part(document.content)
                if not len(content):
                    continue
                for ids in _ids(content, tokenizer):
                    file.write(ids.tobytes())
                    n_tokens += len(ids)
                n_documents += 1
                n_bytes += len(content)
        if not n_bytes:
            raise InputError(
                f"pack corpus {name}: no document is left to train on",
                "Give more text, or hold out less.",
            )
        facts = {"n_documents": n_documents, "n_bytes": n_bytes, "n_tokens": n_tokens}
        (beside / "corpus.json").write_text(json.dumps(facts), "utf-8")
        if packed(folder.name, tokenizer) is None:
            shutil.rmtree(folder, ignore_errors=True)
        try:
            beside.rename(folder)
        except OSError:
            if packed(folder.name, tokenizer) is None:  # else another process was first
                raise
    finally:
        shutil.rmtree(beside, ignore_errors=True)


def _remove_stale(folder: Path) -> None:
    """Delete what a kill left unfinished more than a day ago; younger may be in the making."""
    for entry in folder.glob(f"{_UNFINISHED}*"):
        with suppress(OSError):
            written = max(path.stat().st_mtime for path in (entry, *entry.iterdir()))
            if time.time() - written > _STALE_SECONDS:
                shutil.rmtree(entry, ignore_errors=True)
