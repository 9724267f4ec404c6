"""A table of a tiny model in several parts, for what depends on its files."""

from functools import partial

from interp.extraction.extract import extract as extract_to_long_parts

TEXTS = (b"Hello, Worlds. " * 40, "人工智能是计算机科学".encode() * 20, b"", b"Hy")
NAMES = ("increment", "surprisal")

extract = partial(extract_to_long_parts, part_tokens=200)
