"""Where text comes from: files, corpora, the sample inside the package, or a text given.

A text file is one document, read as bytes. JSON lines (``.jsonl``, ``.ndjson``, ``.json``)
and Parquet (``.parquet``) have one document per row, in the field or column ``text``.
"""

import hashlib
import importlib.resources
import json
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from importlib.resources.abc import Traversable
from pathlib import PurePath

from interp.corpus.documents import Document
from interp.corpus.files import (
    STANDARD_INPUT,
    OneTimeStreams,
    expand,
    refuse_binary,
    shown,
    source_name,
    whole_content,
)
from interp.corpus.hub import PREFIX, HubCorpus
from interp.corpus.rows import (
    Warn,
    documents_from_rows,
    invalid_bytes_warning,
    json_rows,
    parquet_rows,
)
from interp.corpus.split import Stretch
from interp.errors import InputError, UsageError
from interp.text import BYTE_ORDER_MARK, Content, counted, n_invalid_bytes, one_line

SAMPLE_LANGUAGES = ("en", "zh")

LITERAL_SOURCE = "text"
"""The source of a document whose text was given itself, not in a file."""


def ignore(_warning: str) -> None:
    """Takes a warning and does nothing; the default of everything that reads."""


@dataclass(frozen=True)
class TextInput:
    """What a command reads: a text given, then files, then corpora, one after the other.

    With none of them it is the sample inside the package. Standard input and pipes are read
    once and kept, so that `documents` can be called again; the revision of a data set on the
    Hub is asked once and kept, so that documents and fingerprint are of the same.

    Attributes:
        files: Paths, or ``-`` for standard input.
        corpora: Paths, globs, or ``hub:OWNER/NAME/CONFIG``.
        limit_bytes: The most bytes of each corpus, in whole documents; a first document that
            is larger is taken alone. It must be given for the Hub.
        literal: A text itself.
        revisions: By data set on the Hub, the commit at which it is read; what is asked is added.
    """

    files: tuple[str, ...] = ()
    corpora: tuple[str, ...] = ()
    limit_bytes: int | None = None
    literal: bytes | None = None
    revisions: dict[str, str] = field(default_factory=dict, repr=False, compare=False)
    _streams: OneTimeStreams = field(
        default_factory=OneTimeStreams, init=False, repr=False, compare=False
    )

    def __post_init__(self) -> None:
        _check_limit(self.limit_bytes)
        if self.limit_bytes is not None and not self.corpora:
            raise UsageError(
                "a limit is for a corpus, and none is given",
                "Give the text with --corpus, or leave --limit out.",
            )
        for spec in self.corpora:
            if spec.startswith(PREFIX):
                _hub_corpus(spec, self.limit_bytes)

    @property
    def is_sample(self) -> bool:
        """Whether it is the sample inside the package, because nothing was given."""
        return not self.files and not self.corpora and self.literal is None

    def documents(self, warn: Warn = ignore) -> Iterator[Document]:
        """All documents, in order; empty ones too, each with a warning.

        Args:
            warn: Called with one line for what is odd but can be read.

        Raises:
            InputError: Something cannot be read, or there is nothing but empty text; the
                latter before any document is given.
        """
        empty: list[Document] = []
        has_text = False
        for document in self._all_documents(warn):
            if not has_text and not len(document.content):
                empty.append(document)
                continue
            if not has_text:
                has_text = True
                yield from empty
            yield document
        if not has_text:
            raise InputError(
                f"there is no text in {self.describe()}", "Give at least one text with a byte."
            )

    def fingerprint(self) -> str:
        """SHA-256, in hex, that changes when the documents could; names of files don't count."""
        if self.is_sample:
            files = [_sample_file(language) for language in SAMPLE_LANGUAGES]
            return _digest([["sample", hashlib.sha256(f.read_bytes()).hexdigest()] for f in files])
        corpus = corpus_fingerprint(
            self.files,
            self.corpora,
            self.limit_bytes,
            streams=self._streams,
            revisions=self.revisions,
        )
        if self.literal is None:
            return corpus
        return _digest([["literal", hashlib.sha256(self.literal).hexdigest()], corpus])

    def names(self) -> tuple[list[str], list[str]]:
        """The files that `files` and those that `corpora` name; an address on the Hub as it is."""
        files = [file for pattern in self.files for file in expand(pattern)]
        return files, [
            file
            for spec in self.corpora
            for file in ([spec] if spec.startswith(PREFIX) else expand(spec))
        ]

    def describe(self) -> str:
        """What is read, in a few words for the head of a page; plain text on one line."""
        if self.is_sample:
            return "the embedded sample text"
        parts = ["the text given"] if self.literal is not None else []
        names = [shown(name) for name in (*self.files, *self.corpora)]
        parts += names[:4]
        if len(names) > 4:
            parts.append(f"{len(names) - 4} more")
        described = ", ".join(parts[:-1]) + " and " + parts[-1] if len(parts) > 1 else parts[0]
        if self.limit_bytes is not None:
            described += f" (at most {counted(self.limit_bytes, 'byte')} of each corpus)"
        return described

    def _all_documents(self, warn: Warn) -> Iterator[Document]:
        if self.is_sample:
            yield from sample_documents()
        if self.literal is not None:
            yield from _text_document(self.literal, LITERAL_SOURCE, "the text given", warn)
        yield from documents_from_files(self.files, warn=warn, streams=self._streams)
        for spec in self.corpora:
            yield from documents_from_corpus(
                spec,
                limit_bytes=self.limit_bytes,
                warn=warn,
                streams=self._streams,
                revisions=self.revisions,
            )


def documents_from_files(
    paths: Sequence[str], *, warn: Warn = ignore, streams: OneTimeStreams | None = None
) -> Generator[Document, None, None]:
    """The documents of files, in order; globs are expanded, ``-`` is standard input.

    Args:
        paths: As the user gave them.
        warn: Called with one line for empty texts, bytes that are not UTF-8, null rows.
        streams: What keeps standard input and pipes, where they are to be read again.

    Raises:
        InputError: A file is missing, a folder, unreadable, binary, damaged, or has no texts.
    """
    streams = streams or OneTimeStreams()
    for path in [file for pattern in paths for file in expand(pattern)]:
        yield from _file_documents(path, warn=warn, streams=streams)


def documents_from_corpus(
    spec: str,
    *,
    limit_bytes: int | None = None,
    warn: Warn = ignore,
    streams: OneTimeStreams | None = None,
    revisions: dict[str, str] | None = None,
) -> Iterator[Document]:
    """The documents of a corpus: a path, a glob, or ``hub:OWNER/NAME/CONFIG`` (streamed).

    Args:
        spec: As the user gave it.
        limit_bytes: Reading ends before the document that would exceed it; the first document
            is given even if it does. It must be given for the Hub.
        warn: As in `documents_from_files`.
        streams: As in `documents_from_files`.
        revisions: By repo, at which revision to read it; what is asked is added.

    Raises:
        InputError: As in `documents_from_files`, or the Hub cannot be reached.
        UsageError: The address is not of that form, or the Hub is to be read without a limit.
    """
    _check_limit(limit_bytes)
    if spec.startswith(PREFIX):
        corpus = _hub_corpus(spec, limit_bytes)
        rows = corpus.rows(_revision(corpus, revisions))
        documents = documents_from_rows(rows, source=corpus.address, warn=warn)
    else:
        documents = documents_from_files([spec], warn=warn, streams=streams)
    with closing(documents):
        yield from _limited(documents, limit_bytes)


def sample_documents(language: str | None = None) -> Iterator[Document]:
    """The short articles inside the package, in one language (``en``, ``zh``) or in all."""
    if language is not None and language not in SAMPLE_LANGUAGES:
        raise UsageError(
            f"there is no sample text in {one_line(language)}",
            f"There is one in: {', '.join(SAMPLE_LANGUAGES)}.",
        )
    for name in SAMPLE_LANGUAGES if language is None else (language,):
        source = f"sample/{name}.jsonl"
        with _sample_file(name).open("rb") as file:
            yield from documents_from_rows(json_rows(file, source), source=source, warn=ignore)


def corpus_fingerprint(
    files: Sequence[str],
    specs: Sequence[str],
    limit_bytes: int | None,
    *,
    streams: OneTimeStreams | None = None,
    revisions: dict[str, str] | None = None,
) -> str:
    """The key of a corpus in caches and manifests: SHA-256, in hex.

    Local files count by their bytes, their format and their order, not by their names; a data
    set on the Hub by repo, current revision (which needs the network) and config; the limit
    counts where there is a corpus.
    """
    streams = streams or OneTimeStreams()
    parts: list[object] = [_file_part(path, streams) for name in files for path in expand(name)]
    for spec in specs:
        if spec.startswith(PREFIX):
            corpus = _hub_corpus(spec, limit_bytes)
            what: object = ["hub", corpus.repo, _revision(corpus, revisions), corpus.config]
        else:
            what = [_file_part(path, streams) for path in expand(spec)]
        parts.append(["corpus", what, limit_bytes])
    return _digest(parts)


def _file_documents(path: str, *, warn: Warn, streams: OneTimeStreams) -> Iterator[Document]:
    wanted = _format(path)
    with streams.opened(path) as file:
        refuse_binary(file, path, wanted=wanted)
        if wanted == "text":
            content = whole_content(file, path)
            yield from _text_document(content, source_name(path), shown(path), warn)
            return
        rows = parquet_rows(file, path) if wanted == "Parquet" else json_rows(file, path)
        yield from documents_from_rows(rows, source=source_name(path), warn=warn)


def _text_document(content: Content, source: str, place: str, warn: Warn) -> Iterator[Document]:
    n_dropped = 0
    if content[: len(BYTE_ORDER_MARK)] == BYTE_ORDER_MARK:
        n_dropped = len(BYTE_ORDER_MARK)
        rest = Stretch(content, n_dropped, len(content))
        content = rest[:] if isinstance(content, bytes) else rest
    if not len(content):
        warn(f"{place} is empty")
    n_invalid = n_invalid_bytes(content)
    if n_invalid:
        is_utf16 = content[:2] in (b"\xff\xfe", b"\xfe\xff")
        hint = "; it looks like UTF-16, convert it to UTF-8 to have it read as text"
        warn(invalid_bytes_warning(place, n_invalid) + (hint if is_utf16 else ""))
    yield Document(source, "", content, n_dropped)


def _limited(documents: Iterator[Document], limit_bytes: int | None) -> Iterator[Document]:
    n_bytes = 0
    for document in documents:
        n_bytes += len(document.content)
        if limit_bytes is not None and n_bytes > limit_bytes and n_bytes > len(document.content):
            return
        yield document
        if limit_bytes is not None and n_bytes >= limit_bytes:
            return


def _format(path: str) -> str:
    suffix = PurePath(path).suffix.lower()
    if suffix == ".parquet":
        return "Parquet"
    return "JSON lines" if suffix in (".jsonl", ".ndjson", ".json") else "text"


def _file_part(path: str, streams: OneTimeStreams) -> list[str]:
    with streams.opened(path) as file:
        wanted = "text" if path == STANDARD_INPUT else _format(path)
        digest = hashlib.sha256()
        while block := file.read(2**20):
            digest.update(block)
    return [wanted, digest.hexdigest()]


def _check_limit(limit_bytes: int | None) -> None:
    if limit_bytes is not None and limit_bytes < 1:
        raise UsageError(f"a limit of {limit_bytes} bytes leaves no text", "Give at least 1.")


def _hub_corpus(spec: str, limit_bytes: int | None) -> HubCorpus:
    corpus = HubCorpus.parse(spec)
    if limit_bytes is None:
        raise UsageError(
            f"{corpus.address} is streamed from the Hub and needs a limit in bytes",
            "Give one, such as --limit 20000000.",
        )
    return corpus


def _revision(corpus: HubCorpus, revisions: dict[str, str] | None) -> str:
    known = {} if revisions is None else revisions
    if corpus.repo not in known:
        known[corpus.repo] = corpus.revision()
    return known[corpus.repo]


def _sample_file(language: str) -> Traversable:
    return importlib.resources.files("interp.corpus").joinpath("sample", f"{language}.jsonl")


def _digest(parts: object) -> str:
    return hashlib.sha256(json.dumps(parts, separators=(",", ":")).encode()).hexdigest()
