"""Increments of a text for one study: kept in the cache, so that the model runs once."""

import hashlib
import json
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from pathlib import Path

import filelock

import interp
from interp.cache import cache_folder
from interp.checkpoints import Checkpoint
from interp.corpus.documents import Document
from interp.corpus.sources import TextInput, ignore
from interp.errors import InputError, OutputError
from interp.extraction.extract import extract, training_fingerprint
from interp.extraction.increment_table import IncrementTable
from interp.extraction.interventions import Intervention
from interp.extraction.probe import ridge_probe
from interp.extraction.table_writer import started
from interp.segmentation.gaps import Gaps, Reference
from interp.segmentation.references import SegmenterReference
from interp.tables import PROBE

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
    window: int | None = None,
    stride: int | None = None,
    dtype: str = "float32",
    intervention: Intervention | None = None,
    reference: Reference | None = None,
    held_out_of: Sequence[Checkpoint] = (),
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
        signals: Names as for `interp.extraction.extract.extract`.
        window: Tokens of a window; None for the model's n_ctx.
        stride: Tokens from window to window; None for half a window.
        dtype: As for `interp.extraction.extract.extract`.
        intervention: What is done to the increments; None for nothing.
        reference: Who says where words end, where that also says what is to be read.
        held_out_of: Read only what the training of all these is known to have left out.
        warn: Called with one line for what is odd but can be read; each line once.
        progress: Called as the extraction goes on.

    Raises:
        InterpError: As in `interp.extraction.extract.extract`.
    """
    warnings = warn if isinstance(warn, Warnings) else Warnings(warn)

    def documents() -> Iterator[Document]:
        given = documents_of(text_input, warnings)
        if held_out_of:
            given = held_out_documents(given, held_out_of)
        return given if reference is None else _documents_to_judge(reference, given)

    key = _key(
        checkpoint,
        text_input,
        signals,
        window=window,
        stride=stride,
        dtype=dtype,
        intervention=intervention,
        reference=reference,
        held_out_of=held_out_of,
    )
    with _own_folder(key) as folder:
        yield extract(
            checkpoint,
            documents,
            folder,
            signals=signals,
            window=window,
            stride=stride,
            dtype=dtype,
            intervention=intervention,
            progress=stage(EXTRACTING, progress),
        )


@contextmanager
def probe_of(
    checkpoint: Checkpoint,
    text_input: TextInput,
    reference: Reference,
    *,
    warn: Callable[[str], None] = ignore,
    progress: Progress | None = None,
) -> Iterator[IncrementTable]:
    """The scores of a ridge probe for a reference's boundaries, kept as `increments_of` does.

    Args:
        checkpoint: The model.
        text_input: The text.
        reference: Who says where words end.
        warn: Called with one line for what is odd but can be read; each line once.
        progress: Called as the two passes go on.

    Raises:
        InterpError: As in `interp.extraction.probe.ridge_probe`.
    """
    warnings = warn if isinstance(warn, Warnings) else Warnings(warn)
    key = _key(checkpoint, text_input, [PROBE], reference=reference)
    with _own_folder(key) as folder:
        yield ridge_probe(
            checkpoint,
            lambda: judged_documents(reference, documents_of(text_input, warnings)),
            folder,
            progress=stage(PROBE, progress),
        )


def judged_documents(
    reference: Reference, documents: Iterable[Document]
) -> Iterator[tuple[Document, Gaps]]:
    """The documents that a reference judges, each with its gaps.

    Args:
        reference: Who says where words end.
        documents: Those of the input; the reference judges them, or what it makes or brings
            instead.
    """
    if isinstance(reference, SegmenterReference):
        for document in documents:
            yield document, reference.segmenter.gaps(document.content[:])
        return
    contents = (document.content[:] for document in documents)
    for number, (content, gaps) in enumerate(reference.read(contents)):
        yield Document(source=reference.reference, id=str(number), content=content), gaps


def _documents_to_judge(reference: Reference, given: Iterator[Document]) -> Iterator[Document]:
    if isinstance(reference, SegmenterReference):
        return given  # no need to ask it for gaps
    return (document for document, _ in judged_documents(reference, given))


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


def held_out_documents(
    documents: Iterable[Document], checkpoints: Sequence[Checkpoint]
) -> Iterator[Document]:
    """What the training of every one of ``checkpoints`` is known to have left out.

    Of a text that is whole documents, or the end of each where the end was left out: then the
    shortest end that they have in common.

    Raises:
        InputError: There is nothing.
    """
    has_any, known_to = False, set[str]()
    for document in documents:
        parts = [each.split.held_out_part(document.content) for each in checkpoints]
        known = [part for part in parts if part is not None]
        known_to |= {
            each.name for each, part in zip(checkpoints, parts, strict=True) if part is not None
        }
        part = min(known, key=len) if len(known) == len(parts) else b""
        if len(part):
            has_any = True
            yield replace(document, content=part)
    if not has_any:
        names = dict.fromkeys(each.name for each in checkpoints)
        others = [name for name in names if name not in known_to] or list(names)
        raise InputError(
            "nothing of the text is known to have been held out from the training of "
            f"{', '.join(others)}",
            "Give the text that it was trained on, whose held-out part is known.",
        )


def stage(name: str, progress: Progress | None) -> Callable[[int, int | None], None]:
    """``progress`` with what is being done filled in."""

    def report(n_done: int, n_all: int | None) -> None:
        if progress is not None:
            progress(name, n_done, n_all)

    return report


def _key(
    checkpoint: Checkpoint,
    text_input: TextInput,
    signals: Sequence[str],
    *,
    window: int | None = None,
    stride: int | None = None,
    dtype: str = "float32",
    intervention: Intervention | None = None,
    reference: Reference | None = None,
    held_out_of: Sequence[Checkpoint] = (),
) -> str:
    parts = [
        interp.__version__,
        checkpoint.fingerprint,
        [checkpoint.config["architecture"], checkpoint.tokenizer.to_dict()],
        training_fingerprint(checkpoint),
        text_input.fingerprint(),
        # names count too: they stand in the table
        [*text_input.names(), checkpoint.name],
        [list(signals), stride],
    ]
    if window not in (None, checkpoint.model.config.n_ctx):
        parts.append(["window", window])
    if held_out_of:
        parts.append(["held out of", sorted(map(training_fingerprint, held_out_of))])
    if dtype != "float32":
        parts.append(dtype)
    if intervention is not None:
        parts.append(intervention.about())
    is_asked = PROBE in signals or not isinstance(reference, SegmenterReference)
    if reference is not None and is_asked:
        parts.append([reference.reference, reference.judged, reference.details])
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
