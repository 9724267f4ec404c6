"""Writing files so that each is whole or absent, whoever else writes and whenever it is killed.

A folder whose files belong together is one process's alone while it writes there.

And how to tell a file that is absent although there is one by its name: a Git LFS pointer.
"""

import errno
import os
import re
import secrets
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import filelock

from interp.errors import OutputError, reason

GIT_LFS_POINTER = b"version https://git-lfs.github.com/spec/"
"""First bytes of what Git leaves in place of a file that was not fetched."""

LOCK_FILE = ".lock"
"""What is in a folder while `locked` keeps it, or was when the process was killed."""

_PARTIAL = ".interp-partial"
_OF_SAFETENSORS = re.compile(r"\.tmp[A-Za-z0-9]{6}")  # it writes beside, too, and may be killed


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
    """Whether it is what `replacing` or safetensors is writing, or was when it was killed."""
    is_ours = path.name.startswith(".") and path.name.endswith(_PARTIAL)
    return is_ours or bool(_OF_SAFETENSORS.fullmatch(path.name))


def remove_partial(folder: Path) -> None:
    """Delete what a kill left half-written in ``folder``; nobody must be writing there."""
    for path in folder.glob(".*"):
        if is_partial(path):
            path.unlink(missing_ok=True)


def own_file(path: Path) -> Path:
    """A file of a folder that a program wrote, which may have come from anywhere since.

    Reading through a link would lead out of the folder; a pipe or a device never ends.

    Raises:
        OSError: It is a link, a folder, a pipe or a device; or it is not there.
    """
    return _of_kind(path, stat.S_ISREG, "no regular file")


def named_file(path: Path) -> Path:
    """The file that a path which the user named leads to: links are followed, pipes refused.

    Raises:
        OSError: It is a folder, a pipe or a device; or it is not there.
    """
    return own_file(Path(os.path.realpath(path)))


def own_folder(path: Path) -> Path:
    """A folder in such a folder.

    Raises:
        OSError: It is a link or a file; or it is not there.
    """
    return _of_kind(path, stat.S_ISDIR, "no folder")


def _of_kind(path: Path, is_wanted: Callable[[int], bool], otherwise: str) -> Path:
    mode = path.lstat().st_mode
    if not is_wanted(mode):
        words = "a link, which is not followed" if stat.S_ISLNK(mode) else otherwise
        raise OSError(errno.EINVAL, words, str(path))
    return path


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


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Make ``folder``, and keep it for this process alone while the block runs.

    Where nothing was written to it, it is gone again afterwards.

    Raises:
        OutputError: Another process keeps it, or it cannot be made or written to.
    """
    made = [each for each in (folder, *folder.parents) if not os.path.lexists(each)]
    make_folder(folder)
    lock = filelock.FileLock(folder / LOCK_FILE, timeout=0)
    try:
        with suppress(NotImplementedError):  # a file system without locks
            lock.acquire()
    except filelock.Timeout:
        raise OutputError(
            f"{folder}: another process is writing to it", "Wait for it, or choose another --out."
        ) from None
    except OSError as error:
        raise OutputError(
            f"{folder}: cannot be written: {reason(error)}", "Choose another --out."
        ) from error
    try:
        yield
    finally:
        with suppress(OSError):
            # while it is held: who has opened it already finds it deleted, and tries a new one
            (folder / LOCK_FILE).unlink(missing_ok=True)
        lock.release()
        with suppress(OSError):  # something was written
            for each in made:
                each.rmdir()
