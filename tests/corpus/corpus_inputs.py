"""Inputs written for the tests of a corpus, and how they are read."""

import io
import json
import sys
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from interp.corpus.documents import Document
from interp.corpus.sources import documents_from_files
from interp.errors import InputError


def read(*paths: object, warn: Callable[[str], None] = lambda _: None) -> list[Document]:
    return list(documents_from_files([str(path) for path in paths], warn=warn))


def refusal(*paths: object) -> InputError:
    with pytest.raises(InputError) as caught:
        read(*paths)
    assert len(str(caught.value).splitlines()) == 1
    return caught.value


def write_parquet(path: Path, columns: dict) -> Path:
    pq.write_table(pa.table(columns), path)
    return path


def write_lines(path: Path, *lines: str | dict) -> Path:
    texts = [line if isinstance(line, str) else json.dumps(line) for line in lines]
    path.write_text("\n".join(texts) + "\n")
    return path


def give_standard_input(monkeypatch: pytest.MonkeyPatch, content: bytes) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
