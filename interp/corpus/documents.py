"""A document: one text with where it came from."""

from dataclasses import dataclass

from interp.text import Content


@dataclass(frozen=True)
class Document:
    """One text of a corpus.

    Attributes:
        source: The file's name as the user gave it, or the corpus address.
        id: The row's id, or its number; empty for a text file, which is one document.
        content: The bytes, without a leading byte order mark; those of a large file are read as
            they are used.
        dropped_bytes: How many bytes were dropped before the text (3 for a byte order mark).
    """

    source: str
    id: str
    content: Content
    dropped_bytes: int = 0
