"""What is held out: documents by a rule over their hash or because they were given, or ends.

The split travels with the checkpoint, so that any text can later be asked whether training
is known not to have seen it.
"""

import hashlib
from dataclasses import dataclass

from interp.text import Content, align

_PIECE_BYTES = 1 << 20


@dataclass(frozen=True)
class Split:
    """What training leaves out, known by the first 64 bits of SHA-256 of its bytes.

    Attributes:
        fraction: A document is held out if its hash is below this fraction of 2^64.
        hashes: Hashes of documents that were given as held out, and of the ends of others.
        last: The last part of a document that is held out, as a fraction of its bytes; for a
            corpus of one text.
    """

    fraction: float = 0.0
    hashes: frozenset[int] = frozenset()
    last: float = 0.0

    def __post_init__(self) -> None:
        for value in (self.fraction, self.last):
            if not 0 <= value < 1:
                raise ValueError(f"the held-out fraction must be 0 to below 1, not {value}")

    def is_held_out(self, content: Content) -> bool:
        """Whether training left this document out; else it may or may not have seen it."""
        value = document_hash(content)
        return value in self.hashes or value < self.fraction * 2**64

    def held_out_part(self, content: Content) -> Content | None:
        """What training is known to have left out: all of a document, its end, or nothing."""
        if self.is_held_out(content):
            return content
        end = self.end_of(content)
        return end if len(end) and document_hash(end) in self.hashes else None

    def training_part(self, content: Content) -> Content:
        """What is trained on, of a document of the training text; empty where nothing is."""
        if self.is_held_out(content):
            return b""
        return Stretch(content, 0, self._cut(content)) if self.last else content

    def end_of(self, content: Content) -> Content:
        """The last part of a document that is held out; empty where ``last`` is 0."""
        return Stretch(content, self._cut(content), len(content))

    def _cut(self, content: Content) -> int:
        """The byte from which on a document is held out, moved back to a code point's first."""
        return align(content, int(len(content) * (1 - self.last)) + 1) - 1


@dataclass(frozen=True)
class Stretch:
    """Bytes ``[start, end)`` of a content, read where they lie."""

    content: Content
    start: int
    end: int

    def __len__(self) -> int:
        """Of the stretch."""
        return self.end - self.start

    def __getitem__(self, key: slice, /) -> bytes:
        """Its bytes."""
        start, stop, step = key.indices(len(self))
        return bytes(self.content[self.start + start : self.start + stop])[::step]


def document_hash(content: Content) -> int:
    """The first 64 bits of SHA-256 of a document's bytes."""
    digest = hashlib.sha256()
    for start in range(0, len(content), _PIECE_BYTES):
        digest.update(content[start : start + _PIECE_BYTES])
    return int.from_bytes(digest.digest()[:8], "big")
