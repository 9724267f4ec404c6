"""Writing a file of a study: where it may be written, then whole or not at all."""

import os
from pathlib import Path

from interp.errors import OutputError, reason
from interp.files import replacing


def check_writable(path: Path) -> Path:
    """Find out before the work that ``path`` can't be written.

    Returns:
        What to write: where ``path`` is a link, the file that it leads to.

    Raises:
        OutputError: It is a folder or a device, its folder is not there, or it may not be
            written to.
    """
    target = Path(os.path.realpath(path))
    folder = target.parent
    try:
        if path.is_dir():
            raise OutputError(f"cannot write {path}: it is a folder", "Name a file.")
        if path.exists() and not path.is_file():  # to be renamed over, a device would be gone
            raise OutputError(f"cannot write {path}: it is no regular file", "Name a file.")
        if not folder.is_dir():
            problem = "is not a folder" if folder.exists() else "does not exist"
            raise OutputError(f"cannot write {path}: {folder} {problem}", "Make that folder first.")
    except OSError as error:
        raise OutputError(f"cannot write {path}: {reason(error)}") from error
    if not os.access(folder, os.W_OK | os.X_OK):
        raise OutputError(f"cannot write {path}: permission denied", "Choose another --out.")
    return target


def write_text(path: Path, content: str) -> None:
    """Write ``content`` as UTF-8; an existing file is replaced, whole or not at all.

    Raises:
        OutputError: It cannot be written.
    """
    target = check_writable(path)
    try:
        with replacing(target) as beside:
            beside.write_bytes(content.encode("utf-8", "backslashreplace"))
    except OSError as error:
        raise OutputError(f"cannot write {path}: {reason(error)}") from error
