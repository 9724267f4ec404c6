import os
import sys
import threading

import pytest
from corpus_inputs import give_standard_input, write_lines

from interp.corpus import files
from interp.corpus.sources import TextInput, corpus_fingerprint, sample_documents
from interp.errors import InputError, UsageError


def test_nothing_given_is_the_sample():
    documents = list(TextInput().documents())
    assert documents == list(sample_documents())
    assert documents == [*sample_documents("en"), *sample_documents("zh")]
    assert TextInput().describe() == "the embedded sample text"
    with pytest.raises(UsageError):
        list(sample_documents("fr"))


def test_a_text_then_files_then_corpora_are_read_one_after_the_other(tmp_path):
    (tmp_path / "a.txt").write_bytes(b"a")
    write_lines(tmp_path / "b.jsonl", {"text": "b"}, {"text": "c"})
    given_input = TextInput(
        files=(str(tmp_path / "a.txt"),), corpora=(str(tmp_path / "*.jsonl"),), literal=b"0"
    )
    assert b"".join(document.content for document in given_input.documents()) == b"0abc"
    assert given_input.describe().startswith("the text given, ")


@pytest.mark.parametrize("most_in_memory", [4, 2**20])
def test_standard_input_can_be_read_again(most_in_memory, monkeypatch):
    monkeypatch.setattr(files, "MOST_IN_MEMORY_BYTES", most_in_memory)
    give_standard_input(monkeypatch, b"\xef\xbb\xbftyped \xff")
    given_input = TextInput(files=("-",))
    for _ in range(2):
        (document,) = given_input.documents()
        assert bytes(document.content[:]) == b"typed \xff"
        assert document.dropped_bytes == 3
    assert given_input.fingerprint() == given_input.fingerprint()
    assert given_input.describe() == "standard input"


def test_closed_standard_input_is_one_clear_line(monkeypatch):
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(InputError, match="closed"):
        list(TextInput(files=("-",)).documents())


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_a_pipe_can_be_read_again(tmp_path):
    path = tmp_path / "pipe.jsonl"
    os.mkfifo(path)
    writer = threading.Thread(target=path.write_text, args=('{"text": "piped"}\n',))
    writer.start()
    given_input = TextInput(files=(str(path),))
    assert [document.content for document in given_input.documents()] == [b"piped"]
    assert [document.content for document in given_input.documents()] == [b"piped"]
    writer.join()


def test_an_empty_text_among_others_is_kept_with_a_warning(tmp_path):
    for name, content in [("a.txt", b""), ("b.txt", b"b"), ("c.txt", b"")]:
        (tmp_path / name).write_bytes(content)
    warnings: list[str] = []
    paths = tuple(str(tmp_path / name) for name in ("a.txt", "b.txt", "c.txt"))
    documents = list(TextInput(files=paths).documents(warnings.append))
    assert [document.content for document in documents] == [b"", b"b", b""]
    assert [warning.endswith("is empty") for warning in warnings] == [True, True]


@pytest.mark.parametrize("lines", [[], [{"text": None}], [{"text": ""}, {"text": ""}]])
def test_nothing_but_empty_input_is_refused_before_any_document(lines, tmp_path):
    (tmp_path / "a.txt").write_bytes(b"\xef\xbb\xbf")
    rows_path = write_lines(tmp_path / "b.jsonl", *lines)
    given_input = TextInput(files=(str(tmp_path / "a.txt"), str(rows_path)))
    with pytest.raises(InputError, match="there is no text in"):
        next(given_input.documents())


def test_an_empty_literal_is_no_sample():
    with pytest.raises(InputError, match="the text given"):
        next(TextInput(literal=b"").documents())


def test_a_limit_without_a_corpus_or_below_one_is_a_usage_error(tmp_path):
    with pytest.raises(UsageError, match="limit"):
        TextInput(files=("a.txt",), limit_bytes=5)
    with pytest.raises(UsageError, match="limit"):
        TextInput(corpora=(str(tmp_path),), limit_bytes=0)


def test_a_fingerprint_follows_the_bytes_and_not_the_names(tmp_path):
    for name, content in [("a.txt", b"1"), ("b.txt", b"1"), ("c.txt", b"2"), ("d.jsonl", b"1")]:
        (tmp_path / name).write_bytes(content)

    def key(*names: str, limit_bytes: int | None = None) -> str:
        return corpus_fingerprint([], [str(tmp_path / name) for name in names], limit_bytes)

    assert key("a.txt") == key("b.txt")
    others = [
        key("c.txt"),
        key("d.jsonl"),
        key("a.txt", "b.txt"),
        key("a.txt", "c.txt"),
        key("c.txt", "a.txt"),
        key("a.txt", limit_bytes=1),
        corpus_fingerprint([str(tmp_path / "a.txt")], [], None),
        TextInput(literal=b"1").fingerprint(),
        TextInput().fingerprint(),
    ]
    assert len({key("a.txt"), *others}) == len(others) + 1
    assert all(len(other) == 64 for other in others)
