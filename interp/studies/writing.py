"""Writing a file of a study, whole or not at all."""

from pathlib import Path

from interp.errors import OutputError, reason
from interp.files import check_writable, replacing


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
