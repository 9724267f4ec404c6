"""A corpus packed into one memory-mapped stream of tokens, kept in the cache.

Each document stands after its separator; the stream's layout is what training windows are
cut from. The cache is keyed by content, so a changed file makes a new entry.
"""

import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from jaxtyping import UInt16

from interp.cache import cache_folder
from interp.corpus.documents import Document
from interp.corpus.split import Split
from interp.errors import InputError, OutputError, reason
from interp.text import D_VOCAB, encode

_FORMAT = "packed-1"


@dataclass(frozen=True)
class PackedCorpus:
    """The training part of one corpus.

    Attributes:
        fingerprint: SHA-256 of what was packed and of the split, in hex.
        tokens: The stream, a read-only memory map.
        n_documents: How many documents it has.
        n_bytes: How many bytes of text: tokens less separators.
        token_counts: How often each id stands in it; 257 entries.
    """

    fingerprint: str
    tokens: UInt16[np.ndarray, " token"]
    n_documents: int
    n_bytes: int
    token_counts: tuple[int, ...]


def pack(
    documents: Callable[[], Iterable[Document]], *, fingerprint: str, split: Split, name: str
) -> PackedCorpus:
    """The documents that ``split`` does not hold out, packed; from the cache if they are there.

    Args:
        documents: Gives the documents anew each time it is called.
        fingerprint: Of those documents; the cache's key, together with the split.
        split: Which documents to leave out.
        name: The corpus's name, for messages.

    Raises:
        InputError: No document is left to train on.
        OutputError: The cache folder cannot be written.
    """
    key = hashlib.sha256(
        json.dumps([_FORMAT, fingerprint, split.fraction, sorted(split.hashes)]).encode()
    ).hexdigest()
    folder = cache_folder() / "corpora" / key
    if not (folder / "corpus.json").is_file():
        try:
            _pack_into(folder, documents(), split, name)
        except OSError as error:
            raise OutputError(
                f"pack corpus {name}: cannot write to {folder.parent}: {reason(error)}",
                "Set INTERP_CACHE to a folder with space that can be written.",
            ) from error
    facts = json.loads((folder / "corpus.json").read_text())
    tokens = np.memmap(folder / "tokens.uint16", dtype="<u2", mode="r")
    return PackedCorpus(key, tokens, facts["n_documents"], facts["n_bytes"], tuple(facts["counts"]))


def _pack_into(folder: Path, documents: Iterable[Document], split: Split, name: str) -> None:
    folder.parent.mkdir(parents=True, exist_ok=True)
    beside = Path(tempfile.mkdtemp(dir=folder.parent, prefix=".packing-"))
    try:
        n_documents = n_bytes = 0
        counts = np.zeros(D_VOCAB, dtype=np.int64)
        with (beside / "tokens.uint16").open("wb") as file:
            for document in documents:
                content = document.content[:]
                if not content or split.is_held_out(content):
                    continue
                ids = encode(content)
                file.write(ids.astype("<u2").tobytes())
                counts += np.bincount(ids, minlength=D_VOCAB)
                n_documents += 1
                n_bytes += len(content)
        if not n_bytes:
            raise InputError(
                f"pack corpus {name}: no document is left to train on",
                "Give more text, or hold out less.",
            )
        facts = {"n_documents": n_documents, "n_bytes": n_bytes, "counts": counts.tolist()}
        (beside / "corpus.json").write_text(json.dumps(facts))
        try:
            os.rename(beside, folder)  # noqa: PTH104  (Path.rename says the same)
        except OSError:
            if not (folder / "corpus.json").is_file():  # else another process was first
                raise
    finally:
        shutil.rmtree(beside, ignore_errors=True)
