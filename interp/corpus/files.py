"""Files that a user names: found, opened, recognised by their first bytes, or refused in one line.

Whatever is read here is data: nothing in a file is ever run, and a checkpoint or an archive
that is given as a text is refused by its first bytes before anything looks inside.
"""

import glob
import os
import re
import shutil
import stat
import sys
import tempfile
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from interp.errors import InputError, reason
from interp.files import GIT_LFS_POINTER
from interp.text import Content, one_line

STANDARD_INPUT = "-"

MOST_IN_MEMORY_BYTES = 16 * 2**20
"""Larger texts are read from their file as they are used, and larger pipes from a temporary one."""

_BLOCK_BYTES = 1 << 16
"""Read at least at once, because the edges of windows are looked at a few bytes at a time."""

N_HEAD_BYTES = 1024
"""How much of a file's start is looked at to recognise it."""


class OneTimeStreams:
    """Keeps what standard input and pipes gave, so that they can be read several times."""

    def __init__(self) -> None:
        self._kept: dict[str, IO[bytes]] = {}

    def __del__(self) -> None:
        for kept in self._kept.values():
            kept.close()

    @contextmanager
    def opened(self, path: str) -> Iterator[IO[bytes]]:
        """``path`` at its first byte; `InputError` if it, or later a part of it, can't be read."""
        try:
            if not _is_one_time(path):
                with Path(path).open("rb") as file:
                    yield file
                return
            if path not in self._kept:
                self._kept[path] = _spooled(path)
            self._kept[path].seek(0)
            yield self._kept[path]
        except OSError as error:
            hint = _missing_hint(path) if isinstance(error, FileNotFoundError) else None
            raise InputError(f"cannot read {shown(path)}: {reason(error)}", hint) from error


def shown(path: str) -> str:
    """A file name on one line, with every control and invalid byte made visible."""
    return "standard input" if path == STANDARD_INPUT else one_line(path)


def source_name(path: str) -> str:
    """A file name as given, for tables; bytes of it that are not UTF-8 are written as escapes."""
    return path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def expand(pattern: str) -> list[str]:
    """The files that a path or a glob names, in sorted order.

    A path that exists is taken as it is, also when its name has glob characters. Folders that
    a glob matches are left out.

    Raises:
        InputError: Nothing is there, it is a folder, or no file system can hold the name.
    """
    if pattern == STANDARD_INPUT:
        return [pattern]
    try:
        os.fsencode(pattern)
    except UnicodeEncodeError:
        pattern_is_possible = False
    else:
        pattern_is_possible = bool(pattern) and "\0" not in pattern
    if not pattern_is_possible:
        raise InputError(
            f"not a possible file name: {shown(pattern) if pattern else 'it is empty'}",
            "Name a file, a glob such as 'texts/*.txt', or - for standard input.",
        )
    try:
        return _found(pattern)
    except OSError as error:  # a name that is too long, a folder that may not be looked into
        raise InputError(f"cannot read {shown(pattern)}: {reason(error)}") from error


class FileContent:
    """The bytes of a file, read as they are used, so that memory stays small.

    No memory map: where the file is cut short meanwhile, using one ends the process. Of a file
    that was written to since, no byte is given. It stays open for as long as this lives.
    """

    def __init__(self, file: IO[bytes], path: str) -> None:
        """Of an open file, and its name for messages."""
        self._path = path
        self._descriptor = os.dup(file.fileno())
        weakref.finalize(self, os.close, self._descriptor)
        self._opened = os.fstat(self._descriptor)
        self._last_block = 0, b""

    def __len__(self) -> int:
        """Of the file as it was opened."""
        return self._opened.st_size

    def __getitem__(self, key: slice, /) -> bytes:
        """Its bytes; `InputError` if they can't be read, or are no longer what they were."""
        start, stop, step = key.indices(len(self))
        stop = max(start, stop)
        if stop - start > _BLOCK_BYTES:
            return self._read(start, stop)[::step]
        first, block = self._last_block
        if not first <= start <= stop <= first + len(block):
            first, block = start, self._read(start, min(start + _BLOCK_BYTES, len(self)))
            self._last_block = first, block
        return block[start - first : stop - first : step]

    def _read(self, start: int, stop: int) -> bytes:
        pieces = []
        try:
            while start < stop:  # one call gives at most 2 GiB
                pieces.append(os.pread(self._descriptor, stop - start, start))
                start += len(pieces[-1])
                now = os.fstat(self._descriptor)
                if not pieces[-1] or now.st_mtime_ns != self._opened.st_mtime_ns:
                    raise InputError(
                        f"{shown(self._path)} changed while it was read",
                        "Run it again when nothing writes to that file any more.",
                    )
        except OSError as error:
            raise InputError(f"cannot read {shown(self._path)}: {reason(error)}") from error
        return b"".join(pieces)


def whole_content(file: IO[bytes], path: str) -> Content:
    """All bytes of an open file called ``path``, which are not read yet where they are many."""
    content = file.read(MOST_IN_MEMORY_BYTES + 1)
    return content if len(content) <= MOST_IN_MEMORY_BYTES else FileContent(file, path)


def refuse_binary(file: IO[bytes], path: str, *, wanted: str) -> None:
    """Raises `InputError` if the file starts as a known binary format or is a Git LFS pointer.

    Only clear signs count: a text may hold NULs, controls and broken UTF-8.

    Args:
        file: Open at its first byte, and again so afterwards.
        path: Its name, for the message.
        wanted: ``text``, ``JSON lines`` or ``Parquet``; a Parquet file may start as one.
    """
    head = file.read(N_HEAD_BYTES)
    file.seek(0)
    if head.startswith(GIT_LFS_POINTER) and b"\noid sha256:" in head:
        raise InputError(
            f"{shown(path)} is a Git LFS pointer, not the file itself",
            "Fetch the file with: git lfs pull",
        )
    kind = binary_kind(head)
    if kind is None or kind == wanted:
        return
    if kind == "Parquet":
        hint = "Give it a name that ends in .parquet to have it read as one."
    elif kind in _COMPRESSED:
        hint = "Unpack it first and name the text inside; a checkpoint is given as --ckpt."
    else:
        hint = "Texts are plain text, JSON lines or Parquet; a checkpoint is given as --ckpt."
    raise InputError(f"cannot read {shown(path)} as {wanted}: its format is {kind}", hint)


def binary_kind(head: bytes) -> str | None:
    """The binary format that ``head``, a file's first bytes, is the start of; None if unknown."""
    for sign, kind in _SIGNS:
        if sign.match(head):
            return kind
    # 8 bytes of header length, little-endian and by the format at most 100 MB, then JSON
    if head[8:10] == b'{"' and 2 <= int.from_bytes(head[:8], "little") <= 100_000_000:
        return "safetensors"
    return None


# Each sign has a byte that no text has there, such as a control. A PDF without the usual line
# of bytes that are no UTF-8 is read as a text: so may begin what is written about PDF.
_SIGNS = tuple(
    (re.compile(sign, re.DOTALL), kind)
    for sign, kind in (
        (rb"PK(?:\x03\x04|\x05\x06)", "zip (also .docx, .pt, .npz)"),
        (rb"\x1f\x8b", "gzip"),
        (rb"BZh[1-9](?:1AY&SY.{0,8}[\x00-\x08\x0e-\x1f\x80-\xff]|\x17rE8P\x90)", "bzip2"),
        (rb"\xfd7zXZ\x00", "xz"),
        (rb"\x28\xb5\x2f\xfd", "Zstandard"),
        (rb"7z\xbc\xaf\x27\x1c", "7-Zip"),
        (rb"Rar!\x1a\x07", "RAR"),
        (rb".{257}ustar(?:\x00|  \x00)", "tar"),
        (rb"PAR1\x15", "Parquet"),
        (rb"ARROW1\x00", "Arrow"),
        (rb"\xff\xff\xff\xff\x10\x00\x00\x00", "Arrow"),
        (rb"GGUF[\x02\x03]\x00\x00\x00", "GGUF"),
        (rb"\x93NUMPY", "NumPy"),
        (rb"\x89HDF\r\n\x1a\n", "HDF5"),
        (rb"SQLite format 3\x00", "SQLite"),
        (rb"%PDF-\d\.\d\s+%(?:[\x80-\xbf]|[\xc0-\xff][^\x80-\xbf])", "PDF"),
        (rb"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "Microsoft Office"),
        (rb"\x89PNG\r\n\x1a\n", "PNG"),
        (rb"\xff\xd8\xff", "JPEG"),
        (rb"GIF8[79]a.{0,6}\x00", "GIF"),
        (rb"RIFF.{3}[\x00-\x08]WEBPVP8", "WebP"),
        (rb"RIFF.{3}[\x00-\x08]WAVE", "WAVE"),
        (rb"\x00.{3}ftyp", "MP4"),
        (rb"OggS\x00", "Ogg"),
        (rb"fLaC\x00", "FLAC"),
        (rb"\x7fELF", "ELF"),
        (rb"MZ\x90\x00", "Windows program"),
        (rb"\xcf\xfa\xed\xfe", "Mach-O"),
        (rb"\x00asm", "WebAssembly"),
        (rb"\x80[\x02-\x05]", "pickle"),
    )
)

_COMPRESSED = ("zip (also .docx, .pt, .npz)", "gzip", "bzip2", "xz", "Zstandard", "7-Zip", "RAR")


def _found(pattern: str) -> list[str]:
    # unlike Path.expanduser, this leaves ~NAME as it is where there is no such user
    path = pattern if os.path.lexists(pattern) else os.path.expanduser(pattern)  # noqa: PTH111
    if Path(path).is_dir():
        raise _folder_error(Path(path))
    if os.path.lexists(path) or not glob.has_magic(pattern):
        return [path]
    # glob.glob and not Path.glob: it takes absolute and relative patterns alike
    matches = sorted(glob.glob(path, recursive=True))  # noqa: PTH207
    files = [match for match in matches if not Path(match).is_dir()]
    if not files:
        found = "only folders match" if matches else "no file matches"
        raise InputError(
            f"{found} {shown(pattern)}",
            "A glob is read from the current folder; ** stands for any folders between.",
        )
    return files


def _is_one_time(path: str) -> bool:
    """Whether ``path`` gives its bytes only once; a device other than the null one is refused."""
    if path == STANDARD_INPUT:
        return True
    mode = Path(path).stat().st_mode
    if stat.S_ISBLK(mode) or (stat.S_ISCHR(mode) and not Path(path).samefile(os.devnull)):
        raise InputError(
            f"cannot read {shown(path)}: it is a device", "Standard input is written as -."
        )
    return stat.S_ISFIFO(mode)


def _spooled(path: str) -> IO[bytes]:
    """What a pipe gives until it ends, in memory or, if it is much, in a nameless file."""
    if path != STANDARD_INPUT:
        with Path(path).open("rb") as stream:
            return _copied(stream)
    stream = getattr(sys.stdin, "buffer", None)
    if stream is None or stream.closed:
        raise InputError("cannot read standard input: it is closed", "Name a file instead.")
    return _copied(stream)


def _copied(stream: IO[bytes]) -> IO[bytes]:
    kept = tempfile.SpooledTemporaryFile(max_size=MOST_IN_MEMORY_BYTES)  # noqa: SIM115
    try:
        shutil.copyfileobj(stream, kept)
    except BaseException:
        kept.close()
        raise
    return kept


def _folder_error(folder: Path) -> InputError:
    """Says what the folder holds, so that the right glob can be written."""
    try:
        suffixes = sorted(
            {file.suffix for file in folder.iterdir() if file.is_file() and file.suffix}
        )
    except OSError as error:
        return InputError(f"cannot read the folder {shown(str(folder))}: {reason(error)}")
    texts = [suffix for suffix in suffixes if suffix.lower() in _TEXT_SUFFIXES] or suffixes
    if not texts:
        hint = "Name a file; nothing directly in this folder looks like a text."
    else:
        globs = " or ".join(f"'{shown(str(folder / ('*' + suffix)))}'" for suffix in texts[:3])
        hint = f"Name its files, or a corpus by a glob: {globs}."
    return InputError(f"cannot read {shown(str(folder))}: it is a folder", hint)


_TEXT_SUFFIXES = (".txt", ".jsonl", ".ndjson", ".json", ".parquet", ".md")


def _missing_hint(path: str) -> str | None:
    if "://" in path:
        return "Addresses are not fetched: download the file first, or use hub:OWNER/NAME/CONFIG."
    is_like_repo = path.count("/") in (1, 2) and path[0] not in "/.~"
    if is_like_repo and Path(path).suffix.lower() not in _TEXT_SUFFIXES:
        return f"A data set on the Hugging Face Hub is written as hub:{shown(path)}."
    return None
