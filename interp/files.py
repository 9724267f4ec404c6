"""Writing files so that each is whole or absent, whoever else writes and whenever it is killed."""

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from interp.errors import OutputError, reason

_PARTIAL = ".interp-partial"


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A new path beside ``path``; what is written there takes its place as the block ends.

    The name is nobody else's: two processes or threads that write the same file each write
    their own, and the last one to end stays. An error in the block leaves ``path`` as it was.

    Raises:
        OSError: It cannot be written.
    """
    beside = path.with_name(f".{secrets.token_hex(8)}{_PARTIAL}")  # short: ``path`` may be long
    try:
        yield beside
        with beside.open("r+b") as file:
            os.fsync(file.fileno())
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)


def is_partial(path: Path) -> bool:
    """Whether it is what `replacing` is writing, or was writing when it was killed."""
    return path.name.startswith(".") and path.name.endswith(_PARTIAL)


def remove_partial(folder: Path) -> None:
    """Delete what a kill left half-written in ``folder``; nobody must be writing there."""
    for path in folder.glob(f".*{_PARTIAL}"):
        path.unlink(missing_ok=True)


def make_folder(folder: Path) -> None:
    """Make ``folder`` and those above it.

    Raises:
        OutputError: It cannot be made.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        words = "a file is in the way" if isinstance(error, FileExistsError) else reason(error)
        raise OutputError(f"cannot make the folder {folder}: {words}") from error
