"""Writing a file of a study: beside its place, then renamed into it."""

import os
from pathlib import Path

from interp.errors import OutputError, reason


def check_writable(path: Path) -> None:
    """Find out before the work that ``path`` can't be written.

    Raises:
        OutputError: It is a folder, its folder is not there, or it may not be written to.
    """
    if path.is_dir():
        raise OutputError(f"cannot write {path}: it is a folder", "Name a file.")
    folder = path.parent
    if not folder.is_dir():
        problem = "is not a folder" if folder.exists() else "does not exist"
        raise OutputError(f"cannot write {path}: {folder} {problem}", "Make that folder first.")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise OutputError(f"cannot write {path}: permission denied", "Choose another --out.")


def write_text(path: Path, content: str) -> None:
    """Write ``content`` as UTF-8; an existing file is replaced, whole or not at all.

    Raises:
        OutputError: It cannot be written.
    """
    beside = path.with_name(f".{os.getpid()}.interp-partial")
    try:
        check_writable(path)
        try:
            beside.write_bytes(content.encode("utf-8", "backslashreplace"))
            beside.replace(path)
        finally:
            beside.unlink(missing_ok=True)
    except OSError as error:
        raise OutputError(f"cannot write {path}: {reason(error)}") from error


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
