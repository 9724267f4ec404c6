"""Which documents are held out: by a rule over a document's hash, or because they were given.

The split travels with the checkpoint, so that any text can later be asked whether training
is known not to have seen it.
"""

import hashlib
from dataclasses import dataclass

from interp.text import Content

_PIECE_BYTES = 1 << 20


@dataclass(frozen=True)
class Split:
    """Documents that training leaves out, by the first 64 bits of SHA-256 of their bytes.

    Attributes:
        fraction: A document is held out if its hash is below this fraction of 2^64.
        hashes: Hashes of documents that were given as held out.
    """

    fraction: float = 0.0
    hashes: frozenset[int] = frozenset()

    def __post_init__(self) -> None:
        if not 0 <= self.fraction < 1:
            raise ValueError(f"the held-out fraction must be 0 to below 1, not {self.fraction}")

    def is_held_out(self, content: Content) -> bool:
        """Whether training left this document out; else it may or may not have seen it."""
        value = document_hash(content)
        return value in self.hashes or value < self.fraction * 2**64


def document_hash(content: Content) -> int:
    """The first 64 bits of SHA-256 of a document's bytes."""
    digest = hashlib.sha256()
    for start in range(0, len(content), _PIECE_BYTES):
        digest.update(content[start : start + _PIECE_BYTES])
    return int.from_bytes(digest.digest()[:8], "big")
