"""Which files a study read: what its tables are recorded with, and what makes them comparable."""

import hashlib
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from interp.corpus.files import STANDARD_INPUT, expand, shown
from interp.corpus.hub import PREFIX
from interp.corpus.sources import TextInput, documents_from_files
from interp.errors import InputError

RECORDED = {
    "e5669fb0bec5ae23194ed85c12b41294851688c59b721f75c7756c738a8e2acc": "en",
    "b9c03c5d35efa7ee95a7a707ed1b8f0006af3db165d8595b774c8b6a49e050f4": "zh",
    "a4613d874a30849b4d1de8686e140c2a948a3dcf4f0dc804dff77341842c0058": "python",
    "86c4e6aa9db7c042ec79f339dcb96d42b0075e16b8fc2e86bf0ca57e2dc565ed": "characters",
}
"""SHA-256 and language of the files that the tables of this repository are about."""

_WHAT_TO_NAME = "Name files, or a glob of them."


@dataclass(frozen=True)
class TextFile:
    """One file of held-out text.

    Attributes:
        language: A key of `interp.studies.study_input.TEXTS`.
        name: Its path below the folder of the text, or the address of a data set.
        n_bytes: Its size; None where it is no file.
        n_rows: Texts in it; None where it is no file.
        sha256: Of the file, in hex; of a data set on the Hub, its revision and limit count.
    """

    language: str
    name: str
    n_bytes: int | None
    n_rows: int | None
    sha256: str


@dataclass(frozen=True)
class TextRecord:
    """The files of a study's text, and how the text is given without saying where it lies.

    Attributes:
        files: In the order in which they are read.
        arguments: Of the command, with the folder of the text as ``$TEXT``.
        is_recorded: Whether they are, whole, files of `RECORDED`, all of those in their languages.
    """

    files: Sequence[TextFile]
    arguments: str
    is_recorded: bool


def text_record(texts: Mapping[str, TextInput]) -> TextRecord:
    """The record of texts by language; every file is read to its end.

    Raises:
        InputError: A file cannot be read, or is none.
    """
    specs = [(language, spec) for language, text in texts.items() for spec in text.corpora]
    local = [Path(spec).expanduser().absolute() for _, spec in specs if not _is_address(spec)]
    top = Path(os.path.commonpath([path.parent for path in local])) if local else Path()
    limits = {text.limit_bytes for text in texts.values()}
    files, arguments = [], []
    for language, spec in specs:
        if _is_address(spec):
            files.append(TextFile(language, spec, None, None, texts[language].fingerprint()))
            arguments.append(f"--corpus {language}={spec}")
            continue
        files += [_file(language, path, top) for path in expand(spec)]
        arguments.append(f"--corpus {language}=$TEXT/{_below(spec, top)}")
    arguments += [f"--limit {limit}" for limit in limits if limit is not None]
    hashes = {file.sha256 for file in files}
    wanted = {sha for sha, language in RECORDED.items() if language in texts}
    is_recorded = (
        limits <= {None}
        and hashes == wanted
        and len(files) == len(wanted)
        and all(RECORDED[file.sha256] == file.language for file in files)
    )
    return TextRecord(files, " ".join(arguments), is_recorded)


def require_files(specs: Sequence[str]) -> None:
    """Refuse what gives its bytes only once: a study reads its text again and again.

    Raises:
        InputError: A path is no regular file, or nothing is there.
    """
    for path in [path for spec in specs if not _is_address(spec) for path in expand(spec)]:
        if path != STANDARD_INPUT and not Path(path).exists():
            raise InputError(f"study: {shown(path)}: no such file", _WHAT_TO_NAME)
        if not Path(path).is_file():
            raise InputError(
                f"study: {shown(path)} is no file that can be read again", _WHAT_TO_NAME
            )


def _is_address(spec: str) -> bool:
    return spec.startswith(PREFIX)


def _file(language: str, path: str, top: Path) -> TextFile:
    with Path(path).open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    n_rows = sum(1 for _ in documents_from_files([path]))
    return TextFile(language, _below(path, top), Path(path).stat().st_size, n_rows, digest)


def _below(path: str, top: Path) -> str:
    return shown(os.path.relpath(Path(path).expanduser().absolute(), top))
