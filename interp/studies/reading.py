"""Increments of a text for one study: kept in the cache, so that the model runs once."""

import hashlib
import json
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import filelock

import interp
from interp.cache import cache_folder
from interp.checkpoints import Checkpoint
from interp.corpus.documents import Document
from interp.corpus.sources import TextInput, ignore
from interp.errors import OutputError
from interp.extraction.extract import extract, training_fingerprint
from interp.extraction.increment_table import IncrementTable
from interp.extraction.table_writer import started

Progress = Callable[[str, int, int | None], None]
"""Called with what is being done, the bytes done, and those in all (None where not known)."""

EXTRACTING, BYTE_CLASSES, WORD_BOUNDARIES = "increments", "byte classes", "word boundaries"


class Warnings:
    """Takes warnings, passes each on once, and keeps them for the page.

    A text is read several times in a study, and warns each time.
    """

    def __init__(self, warn: Callable[[str], None] = ignore) -> None:
        self._warn = warn
        self._seen: dict[str, None] = {}

    def __call__(self, warning: str) -> None:
        """Take one warning."""
        if warning not in self._seen:
            self._seen[warning] = None
            self._warn(warning)

    @property
    def messages(self) -> tuple[str, ...]:
        """Every warning so far, in order."""
        return tuple(self._seen)


@contextmanager
def increments_of(
    checkpoint: Checkpoint,
    text_input: TextInput,
    *,
    signals: Sequence[str] = ("increment",),
    stride: int | None = None,
    warn: Callable[[str], None] = ignore,
    progress: Progress | None = None,
) -> Iterator[IncrementTable]:
    """The increments of a text, or other signals of it, for as long as the block runs.

    They are kept under ``increments/`` in the cache folder, so that interrupted work goes on
    and a second study of the same text need not run the model again. Where the cache can't be
    written, or another process is at work on the same increments, a temporary folder serves.

    Args:
        checkpoint: The model.
        text_input: The text.
        signals: Names from `interp.extraction.signals.SIGNALS`.
        stride: Tokens from window to window; None for half a window.
        warn: Called with one line for what is odd but can be read; each line once.
        progress: Called as the extraction goes on.

    Raises:
        InterpError: As in `interp.extraction.extract.extract`.
    """
    warnings = warn if isinstance(warn, Warnings) else Warnings(warn)
    with _own_folder(_key(checkpoint, text_input, signals, stride)) as folder:
        yield extract(
            checkpoint,
            lambda: documents_of(text_input, warnings),
            folder,
            signals=signals,
            stride=stride,
            progress=stage(EXTRACTING, progress),
        )


def documents_of(text_input: TextInput, warn: Callable[[str], None]) -> Iterator[Document]:
    """The documents of a text; if there are none, the error alone says so.

    Args:
        text_input: The text.
        warn: Called with the warnings of a text that can be read.
    """
    held: list[str] = []
    has_begun = False

    def warn_later(warning: str) -> None:
        warn(warning) if has_begun else held.append(warning)

    for document in text_input.documents(warn_later):
        if not has_begun:
            has_begun = True
            for warning in held:
                warn(warning)
        yield document


def stage(name: str, progress: Progress | None) -> Callable[[int, int | None], None]:
    """``progress`` with what is being done filled in."""

    def report(n_done: int, n_all: int | None) -> None:
        if progress is not None:
            progress(name, n_done, n_all)

    return report


def _key(
    checkpoint: Checkpoint, text_input: TextInput, signals: Sequence[str], stride: int | None
) -> str:
    parts = [
        interp.__version__,
        checkpoint.fingerprint,
        checkpoint.config["architecture"],
        training_fingerprint(checkpoint),
        text_input.fingerprint(),
        # names count too: they stand in the table
        [text_input.files, text_input.corpora, checkpoint.name],
        [list(signals), stride],
    ]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:32]


@contextmanager
def _own_folder(key: str) -> Iterator[Path]:
    """A folder for this process alone: that of the key in the cache, or a temporary one."""
    cached = cache_folder() / "increments" / key
    with ExitStack() as stack:
        try:
            cached.parent.mkdir(parents=True, exist_ok=True)
            lock = filelock.FileLock(cached.with_suffix(".lock"), timeout=0)
            stack.enter_context(lock)
        except (OSError, filelock.Timeout, NotImplementedError):
            yield Path(stack.enter_context(_temporary_folder())) / "increments"
            return
        try:
            started(cached)
        except OutputError:  # something damaged it; what is there can be made again
            with suppress(OSError):
                shutil.rmtree(cached)
        yield cached


@contextmanager
def _temporary_folder() -> Iterator[str]:
    with tempfile.TemporaryDirectory(prefix="interp-", ignore_cleanup_errors=True) as folder:
        yield folder
