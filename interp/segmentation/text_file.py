"""Files that a reference is read from: UTF-8, or refused in a line that says where it is not."""

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path

from interp.errors import InputError, reason
from interp.text import display, drop_byte_order_mark


@dataclass(frozen=True)
class TextFile:
    """What a file says.

    Attributes:
        name: Its name without its folder, in which nothing acts on a terminal.
        sha256: SHA-256 of its bytes, in hex.
        text: Its text without a byte order mark.
    """

    name: str
    sha256: str
    text: str

    @property
    def stem(self) -> str:
        """Its name without its ending."""
        return Path(self.name).stem


def read_text_file(path: str | Path, what: str) -> TextFile:
    """A file of text.

    Args:
        path: The file; UTF-8.
        what: What it should be, for messages, such as ``treebank``.

    Raises:
        InputError: It cannot be read, is not UTF-8, or has nothing in it.
    """
    where = Path(path)
    try:
        content = where.read_bytes()
    except OSError as error:
        raise InputError(f"cannot read the {what} {where}: {reason(error)}") from error
    except ValueError as error:  # a name with a NUL in it
        raise InputError(f"cannot read the {what} {where}: {error}") from error
    marked, n_dropped = drop_byte_order_mark(content)
    try:
        text = marked.decode("utf-8")
    except UnicodeDecodeError as error:
        line = marked.count(b"\n", 0, error.start) + 1
        raise InputError(
            f"cannot read the {what} {where}: it is not UTF-8 (line {line}, byte "
            f"0x{marked[error.start]:02X} at offset {error.start + n_dropped})",
            "Convert it first, such as with: iconv -f GB18030 -t UTF-8",
        ) from error
    if not text.strip():
        raise InputError(f"the {what} {where} is empty", "Is it the right file?")
    name = display(os.fsencode(where.name))
    return TextFile(name, hashlib.sha256(content).hexdigest(), text)
