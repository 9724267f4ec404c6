"""What studies are asked of: checkpoints and texts, and which of them a study asked for."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import TracebackType

from interp import checkpoints
from interp.checkpoints import Checkpoint
from interp.corpus.documents import Document
from interp.corpus.files import shown
from interp.corpus.sources import TextInput, ignore
from interp.errors import CheckpointError, InputError, UsageError
from interp.extraction.increment_table import IncrementTable
from interp.extraction.interventions import Intervention
from interp.segmentation.gaps import Reference
from interp.segmentation.treebank import Treebank, read_treebank
from interp.segmentation.treebank_reference import TreebankReference
from interp.studies.facts import model_in_words
from interp.studies.models import is_as_named
from interp.studies.reading import (
    Progress,
    Warnings,
    documents_of,
    increments_of,
    probe_of,
    stage,
)
from interp.studies.text_files import require_files

LANGUAGES = {"en": "English", "zh": "Chinese"}
"""Languages of the articles that the bilingual models read, by the prefix of a corpus."""

TEXTS = {**LANGUAGES, "python": "Python source", "characters": "Character-level"}
"""All kinds of held-out text that studies ask for, by the prefix of a corpus."""

TREEBANK_LANGUAGES = ("zh", "ja", "th")
"""Languages of the treebanks that studies read."""

TREEBANK = "ud:"
"""What stands before the file of a treebank."""


def treebank_of(spec: str) -> tuple[str, str]:
    """Language and file of a treebank as the user named it; no file for what is none.

    >>> treebank_of("ud:gsd.conllu"), treebank_of("ja=ud:gsd.conllu"), treebank_of("gsd.conllu")
    (('zh', 'gsd.conllu'), ('ja', 'gsd.conllu'), ('zh', ''))
    """
    before, colon, path = spec.partition(TREEBANK)
    if not colon or (before and not before.endswith("=")):
        return "zh", ""
    return before.removesuffix("=") or "zh", path


class MissingCheckpoint(CheckpointError):
    """A study needs a checkpoint that is not there."""


class MissingText(InputError):
    """A study needs text in a language of which none was given."""


@dataclass(frozen=True)
class TableKey:
    """What a study asked to be read: everything that tells one table from another.

    Attributes:
        checkpoint: Its name.
        fingerprint: Of its weights.
        language: A key of `TEXTS`; with who says where words end, where that was asked too.
    """

    checkpoint: str
    fingerprint: str
    language: str
    signals: tuple[str, ...]
    stride: int | None
    limit_bytes: int | None
    dtype: str
    intervention: str
    window: int | None
    held_out_of: tuple[str, ...]


@dataclass(frozen=True)
class StudyInput:
    """The checkpoints and texts that a study can ask for, and which of them it did.

    It is a context: tables of `extraction` can be read until the block ends.

    Attributes:
        checkpoints: The folder in which every folder is a checkpoint.
        corpus: Held-out texts, each as ``LANGUAGE=SPEC`` (see `interp.corpus.sources.TextInput`).
        limit_bytes: The most bytes of each corpus, in whole documents.
        device: Where the models go, such as ``cuda``; the CPU by default.
        references: Treebanks in which people marked the words, each as ``ud:FILE`` (Chinese) or
            ``LANGUAGE=ud:FILE``.
        warn: Called with one line for what is odd but can be read.
        remark: Called with one line for each verdict.
        progress: Called with what is being done, the bytes done, and those in all.
        used_checkpoints: Those that were asked for, by name.
        used_texts: Texts that were asked for, by language.
        used_tables: Tables that were asked for.
        used_treebanks: Those of `references` that were asked for, by name.
    """

    checkpoints: Path
    corpus: tuple[str, ...]
    limit_bytes: int | None = None
    device: str | None = None
    references: tuple[str, ...] = ()
    warn: Callable[[str], None] = ignore
    remark: Callable[[str], None] = ignore
    progress: Progress | None = None
    used_checkpoints: dict[str, Checkpoint] = field(default_factory=dict, init=False, repr=False)
    used_texts: dict[str, TextInput] = field(default_factory=dict, init=False, repr=False)
    used_tables: dict[TableKey, IncrementTable] = field(
        default_factory=dict, init=False, repr=False
    )
    used_treebanks: dict[str, Treebank] = field(default_factory=dict, init=False, repr=False)
    _read_treebanks: dict[str, Treebank] = field(default_factory=dict, init=False, repr=False)
    _open: ExitStack = field(default_factory=ExitStack, init=False, repr=False)
    _texts: dict[str, TextInput] = field(default_factory=dict, init=False, repr=False)
    _warnings: dict[str, Warnings] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self) -> None:
        specs: dict[str, list[str]] = {}
        for spec in self.corpus:
            language, _, place = spec.partition("=")
            if language not in TEXTS or not place:
                prefixes = " or ".join(f"--corpus {prefix}=SPEC" for prefix in TEXTS)
                raise UsageError(
                    f"study: --corpus {shown(spec)} does not say which language it is",
                    f"Write {prefixes}.",
                )
            specs.setdefault(language, []).append(place)
        for language, places in specs.items():
            text = TextInput(corpora=tuple(places), limit_bytes=self.limit_bytes)
            self._texts[language] = text
        names: set[str] = set()
        for spec in self.references:
            language, path = treebank_of(spec)
            if language not in TREEBANK_LANGUAGES or not path:
                raise UsageError(
                    f"study: --reference {shown(spec)} is no treebank",
                    f"Write --reference {TREEBANK}FILE.conllu for Chinese, or --reference "
                    f"LANGUAGE={TREEBANK}FILE.conllu; languages: {', '.join(TREEBANK_LANGUAGES)}.",
                )
            if Path(path).stem in names:
                raise UsageError(
                    f"study: --reference {shown(spec)} has the name of another treebank, and "
                    "tables go by names",
                    "Give each once, or rename the file.",
                )
            names.add(Path(path).stem)

    def __enter__(self) -> "StudyInput":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._open.__exit__(kind, error, trace)

    @property
    def warnings(self) -> tuple[str, ...]:
        """Every warning about the texts so far."""
        return tuple(words for each in self._warnings.values() for words in each.messages)

    def has_checkpoint(self, name: str) -> bool:
        """Whether there is a checkpoint of this name."""
        return (self.checkpoints / name / "config.json").is_file()

    def checkpoint(self, name: str, rope_scaling: str | None = None) -> Checkpoint:
        """The checkpoint in the folder ``name``; it may have folders of its own, with slashes.

        Args:
            name: Of the folder.
            rope_scaling: How its rotary positions are stretched, such as ``ntk:2``.

        Raises:
            MissingCheckpoint: There is none.
            CheckpointError: It is damaged, or not the model that its name says.
        """
        key = name if rope_scaling is None else f"{name} ({rope_scaling})"
        if key not in self.used_checkpoints:
            if not self.has_checkpoint(name):
                raise MissingCheckpoint(
                    f"there is no checkpoint {name} in {shown(str(self.checkpoints))}",
                    "Train it with its recipe, or name the folder that has a folder of this name "
                    "with --checkpoints DIR.",
                )
            found = checkpoints.load(
                self.checkpoints / name, device=self.device, rope_scaling=rope_scaling
            )
            if not is_as_named(name, found.model.config):
                raise CheckpointError(
                    f"load checkpoint {shown(str(self.checkpoints / name))}: this name is for "
                    f"another model; here are {model_in_words(found)}",
                    "docs/text.md says how the models of the studies are trained.",
                )
            self.used_checkpoints[key] = found
        return self.used_checkpoints[key]

    def has_text(self, language: str) -> bool:
        """Whether text in this language was given."""
        return language in self._texts

    def text(self, language: str) -> TextInput:
        """The held-out text in a language of `TEXTS`.

        Raises:
            MissingText: None was given.
        """
        if not self.has_text(language):
            raise MissingText(
                f"there is no {TEXTS[language]} text",
                f"Give held-out text with --corpus {language}=SPEC.",
            )
        if language not in self.used_texts:
            require_files(self._texts[language].corpora)
            self.used_texts[language] = self._texts[language]
            self._warnings[language] = Warnings(self.warn)
        return self.used_texts[language]

    def treebanks(self, language: str = "zh") -> list[Treebank]:
        """The treebanks of a language among `references`, in order.

        Raises:
            InputError: One cannot be read.
        """
        found = []
        for spec in self.references:
            of_language, path = treebank_of(spec)
            if of_language == language:
                if spec not in self._read_treebanks:
                    self._read_treebanks[spec] = read_treebank(path)
                treebank = self._read_treebanks[spec]
                self.used_treebanks[treebank.name] = treebank
                found.append(treebank)
        return found

    def documents(self, language: str, limit_bytes: int | None = None) -> Iterator[Document]:
        """The documents of a language, in order.

        Args:
            language: A key of `TEXTS`.
            limit_bytes: As in `extraction`.

        Raises:
            InputError: There is no such text, or it cannot be read.
        """
        text = _limited(self.text(language), limit_bytes)
        return documents_of(text, self._warnings[language])

    def extraction(
        self,
        checkpoint: Checkpoint,
        language: str,
        signals: Sequence[str] = ("increment",),
        stride: int | None = None,
        limit_bytes: int | None = None,
        dtype: str = "float32",
        intervention: Intervention | None = None,
        reference: Reference | None = None,
        window: int | None = None,
        held_out_of: Sequence[Checkpoint] = (),
    ) -> IncrementTable:
        """Signals of the text in a language: read once, kept in the cache for other studies.

        Args:
            checkpoint: The model.
            language: A key of `TEXTS`.
            signals: Names as for `interp.extraction.extract.extract`.
            stride: Tokens from window to window; None for half a window.
            limit_bytes: The most bytes of each corpus, where that is less than for the study.
            dtype: As for `interp.extraction.extract.extract`.
            intervention: What is done to the increments; None for nothing.
            reference: Who says where words end, where that also says what is to be read; of a
                treebank, whose text it is, no text in the language need be given.
            window: Tokens of a window; None for the model's n_ctx.
            held_out_of: Read only what the training of all these is known to have left out.

        Raises:
            InputError: There is no such text, or it cannot be read.
        """
        text = _limited(self._text_for(language, reference), limit_bytes)
        read = language if reference is None else f"{language}, {reference.reference}"
        key = TableKey(
            checkpoint=checkpoint.name,
            fingerprint=checkpoint.fingerprint,
            language=read,
            signals=tuple(signals),
            stride=stride,
            limit_bytes=text.limit_bytes,
            dtype=dtype,
            intervention="" if intervention is None else str(intervention.about()),
            window=window,
            held_out_of=tuple(each.fingerprint for each in held_out_of),
        )
        if key not in self.used_tables:
            self.used_tables[key] = self._open.enter_context(
                increments_of(
                    checkpoint,
                    text,
                    signals=signals,
                    window=window,
                    stride=stride,
                    dtype=dtype,
                    intervention=intervention,
                    reference=reference,
                    held_out_of=held_out_of,
                    warn=self._warnings[language],
                    progress=self._progress_of(
                        f"{self._name_of(checkpoint)} on {TEXTS.get(read, read)}"
                    ),
                )
            )
        return self.used_tables[key]

    def probe(
        self,
        checkpoint: Checkpoint,
        language: str,
        reference: Reference,
        limit_bytes: int | None = None,
    ) -> IncrementTable:
        """A ridge probe for the boundaries of a reference; see `interp.extraction.probe`.

        Args:
            checkpoint: The model.
            language: Of the text, and the others as in `extraction`.
            reference: Who says where words end.
            limit_bytes: The most bytes of each corpus.
        """
        text = _limited(self._text_for(language, reference), limit_bytes)
        return self._open.enter_context(
            probe_of(
                checkpoint,
                text,
                reference,
                warn=self._warnings[language],
                progress=self._progress_of(
                    f"probe of {self._name_of(checkpoint)}, {reference.reference}"
                ),
            )
        )

    def _text_for(self, language: str, reference: Reference | None) -> TextInput:
        """The text of a language; none is needed for a reference that brings its own."""
        if isinstance(reference, TreebankReference):
            self._warnings.setdefault(language, Warnings(self.warn))
            return TextInput()
        return self.text(language)

    def stage(self, what: str) -> Callable[[int, int | None], None]:
        """A callback for an analysis, which says how far it is with ``what``."""
        return stage(what, self.progress)

    def _name_of(self, checkpoint: Checkpoint) -> str:
        """Its folder's name: all saved steps of a run are called like the run."""
        names = [name for name, each in self.used_checkpoints.items() if each is checkpoint]
        return names[0] if names else checkpoint.name

    def _progress_of(self, what: str) -> Progress | None:
        progress = self.progress
        if progress is None:
            return None
        return lambda _name, n_done, n_all: progress(what, n_done, n_all)


def _limited(text: TextInput, limit_bytes: int | None) -> TextInput:
    """``text`` with at most this many bytes of each corpus, if it had not fewer before."""
    is_less = limit_bytes is not None and (text.limit_bytes or limit_bytes) >= limit_bytes
    if not is_less or not text.corpora:
        return text
    return replace(text, limit_bytes=limit_bytes)
