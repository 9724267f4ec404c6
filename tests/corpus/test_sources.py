import io
import json
import os
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from bad_inputs import (
    HOSTILE_NAMES,
    N_INVALID_BYTES,
    NOT_TEXTS,
    TEXTS,
    has_run_code,
    write_bad_input,
)
from hypothesis import given
from hypothesis import strategies as st

from interp.corpus import files, rows
from interp.corpus.documents import Document
from interp.corpus.sources import (
    TextInput,
    corpus_fingerprint,
    documents_from_corpus,
    documents_from_files,
    sample_documents,
)
from interp.errors import InputError, UsageError
from interp.text import n_invalid_bytes


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


# Text files


@pytest.mark.parametrize("name", TEXTS)
def test_every_byte_of_a_bad_text_is_read(name, tmp_path):
    path = write_bad_input(tmp_path, name)
    (document,) = read(path)
    n_dropped = 3 if "bom" in name else 0
    assert (document.source, document.id) == (path, "")
    assert document.content == TEXTS[name][n_dropped:]
    assert document.dropped_bytes == n_dropped


@pytest.mark.parametrize(("name", "n_invalid"), N_INVALID_BYTES.items())
def test_a_warning_counts_the_bytes_that_are_not_utf8(name, n_invalid, tmp_path):
    warnings: list[str] = []
    read(write_bad_input(tmp_path, name), warn=warnings.append)
    assert len(warnings) == 1
    assert f"{n_invalid} bytes are not valid UTF-8" in warnings[0]


def test_utf16_is_recognised_in_the_warning(tmp_path):
    warnings: list[str] = []
    read(write_bad_input(tmp_path, "utf-16.txt"), warn=warnings.append)
    assert "looks like UTF-16" in warnings[0]


@pytest.mark.parametrize("name", NOT_TEXTS)
def test_binary_files_are_refused_and_never_run(name, tmp_path):
    error = refusal(write_bad_input(tmp_path, name))
    assert name in str(error)
    assert error.hint
    assert not has_run_code()


def test_a_large_text_is_mapped_and_not_read(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "MAPPED_FROM_BYTES", 10)
    path = tmp_path / "large.txt"
    path.write_bytes("汉字 and text".encode())
    (document,) = read(path)
    assert not isinstance(document.content, bytes)
    assert document.content[:3] == "汉".encode()
    assert len(document.content) == 15


def test_a_large_text_loses_its_byte_order_mark_too(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "MAPPED_FROM_BYTES", 10)
    path = tmp_path / "large.txt"
    path.write_bytes(b"\xef\xbb\xbf" + b"a" * 20)
    (document,) = read(path)
    assert (document.content, document.dropped_bytes) == (b"a" * 20, 3)


@given(
    st.lists(st.sampled_from([b"a", "é".encode(), "汉".encode(), "🎉".encode(), b"\x80", b"\xe4"]))
)
def test_invalid_bytes_are_counted_in_blocks_as_at_once(pieces):
    content = b"".join(pieces)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rows, "_N_BLOCK_BYTES", 5)
        assert rows.count_invalid_bytes(content) == n_invalid_bytes(content)


# Names


@pytest.mark.parametrize("name", HOSTILE_NAMES)
def test_a_hostile_name_is_read_as_it_is_and_shown_on_one_line(name, tmp_path):
    path = tmp_path / name
    path.write_bytes(b"")
    warnings: list[str] = []
    (document,) = read(path, warn=warnings.append)
    assert document.source == str(path)
    assert len(warnings[0].splitlines()) == 1
    assert "\x1b" not in warnings[0]
    assert "\u202e" not in warnings[0]


def test_a_name_that_is_not_utf8_can_be_read_and_written_to_a_table(tmp_path):
    path = os.fsdecode(os.fsencode(tmp_path) + b"/\xd6\xd0.txt")
    try:
        Path(path).write_bytes(b"text")
    except OSError:
        pytest.skip("this file system takes UTF-8 names only")
    (document,) = read(path)
    assert document.source.endswith(r"\xd6\xd0.txt")
    pa.array([document.source])


@pytest.mark.parametrize("name", ["a\0b", "\ud800", "", "x" * 5000])
def test_an_impossible_name_is_one_clear_line(name):
    refusal(name)


def test_a_missing_file_names_itself(tmp_path):
    error = refusal(tmp_path / "missing.txt")
    assert "missing.txt" in str(error)
    assert "no such file" in str(error)


def test_a_name_with_a_tilde_is_a_file_name_where_there_is_no_such_user(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "b.txt").write_bytes(b"at home")
    assert "~nobody-of-this-name" in str(refusal("~nobody-of-this-name/a.txt"))
    assert "~nobody-of-this-name*" in str(refusal("~nobody-of-this-name*"))
    (tmp_path / "~nobody-of-this-name").write_bytes(b"here")
    (tmp_path / "~").mkdir()
    (tmp_path / "~" / "c.txt").write_bytes(b"in a folder of that name")
    assert [d.content for d in read("~nobody-of-this-name", "~/b.txt", "~/c.txt")] == [
        b"here",
        b"at home",
        b"in a folder of that name",
    ]


LIKE_BINARIES = {
    "tar": b"x" * 257 + b"ustar is how a tar archive is told; the rest is text",
    "tar with spaces": b"x" * 257 + b"ustar  and two spaces",
    "GIF": b"GIF89a is the version of GIF with transparency.",
    "GIF on a line": b"GIF87a\nGIF89a\n",
    "PDF": b"%PDF-1.7 is how a PDF file begins.\n",
    "PDF in Chinese": "%PDF-1.7\n%汉字，文件".encode(),
    "bzip2": b"BZh91AY&SY is the sign of bzip2.",
    "WebP": b"RIFFtextWEBPVP8 is how WebP begins.",
    "WAVE": b"RIFFtextWAVEfmt is how WAVE begins.",
    "MP4": b"The ftypisom box.",
    "zip": b"PK, said the man.",
    "Windows program": b"MZ stands for Mark Zbikowski.",
}


@pytest.mark.parametrize("content", LIKE_BINARIES.values(), ids=LIKE_BINARIES.keys())
def test_a_text_that_begins_like_a_binary_is_read(content, tmp_path):
    (tmp_path / "a.txt").write_bytes(content)
    assert [d.content for d in read(tmp_path / "a.txt")] == [content]


BINARIES = {
    "tar": b"name" + bytes(253) + b"ustar\x0000",
    "old GNU tar": b"name" + bytes(253) + b"ustar  \x00",
    "GIF": b"GIF89a\x01\x00\x01\x00\x80\x00\x00",
    "large GIF": b"GIF87a\x20\x0a\x20\x0d\xf7\x00\x00",
    "PDF": b"%PDF-1.4\r\n%\xc7\xec\x8f\xa2\r\n5 0 obj",
    "bzip2": b"BZh91AY&SY\x19\x31\x65\x3d\x00\x00",
    "empty bzip2": b"BZh9\x17rE8P\x90\x00\x00\x00\x00",
    "WebP": b"RIFF\x24\x2a\x00\x00WEBPVP8 \x18\x2a\x00\x00",
    "WAVE": b"RIFF\x24\x2a\x00\x00WAVEfmt \x10\x00\x00\x00",
    "MP4": b"\x00\x00\x00\x20ftypisom\x00\x00\x02\x00",
}


@pytest.mark.parametrize("content", BINARIES.values(), ids=BINARIES.keys())
def test_a_binary_is_told_by_its_first_bytes(content, tmp_path):
    (tmp_path / "a.txt").write_bytes(content)
    assert "its format is" in str(refusal(tmp_path / "a.txt"))


def test_a_data_set_given_as_a_file_is_told_its_address():
    assert "hub:wikimedia/wikipedia/20231101.zh" in refusal("wikimedia/wikipedia/20231101.zh").hint


def test_a_folder_says_which_glob_is_wanted(tmp_path):
    (tmp_path / "a.txt").write_bytes(b"a")
    error = refusal(tmp_path)
    assert "folder" in str(error)
    assert str(tmp_path / "*.txt") in error.hint


def test_a_file_that_may_not_be_read_says_so(tmp_path, monkeypatch):
    path = tmp_path / "secret.txt"
    path.write_bytes(b"a")

    def refuse(*_args: object, **_kwargs: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", refuse)
    assert "permission denied" in str(refusal(path))


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="no device files here")
def test_an_endless_device_is_refused():
    assert "device" in str(refusal("/dev/zero"))


def test_a_glob_gives_its_files_in_order_and_no_folders(tmp_path):
    for name in ("b.txt", "a.txt", "c.md"):
        (tmp_path / name).write_text(name)
    (tmp_path / "d.txt").mkdir()
    documents = documents_from_corpus(str(tmp_path / "*.txt"))
    assert [document.content for document in documents] == [b"a.txt", b"b.txt"]


def test_a_glob_without_a_match_is_refused(tmp_path):
    assert "no file matches" in str(refusal(tmp_path / "*.txt"))


def test_a_symbolic_link_is_followed(tmp_path):
    (tmp_path / "text.txt").write_bytes(b"linked")
    (tmp_path / "link.txt").symlink_to(tmp_path / "text.txt")
    assert read(tmp_path / "link.txt")[0].content == b"linked"


# JSON lines


def test_json_lines_have_one_document_per_row(tmp_path):
    path = write_lines(tmp_path / "a.jsonl", {"text": "一", "id": "x"}, "", {"text": "two\r\n"})
    assert read(path) == [
        Document(str(path), "x", "一".encode()),
        Document(str(path), "1", b"two\r\n"),
    ]


@pytest.mark.parametrize("suffix", [".jsonl", ".ndjson", ".json", ".JSONL"])
def test_json_lines_are_known_by_their_suffix(suffix, tmp_path):
    assert read(write_lines(tmp_path / f"a{suffix}", {"text": "t"}))[0].content == b"t"


def test_a_byte_order_mark_before_json_is_no_part_of_a_text(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'\xef\xbb\xbf{"text": "t"}\r\n')
    assert read(path)[0].content == b"t"


def test_half_a_surrogate_pair_keeps_its_bytes_and_is_counted(tmp_path):
    warnings: list[str] = []
    path = write_lines(tmp_path / "a.jsonl", r'{"text": "a\ud800b", "id": "\udfff"}')
    (document,) = read(path, warn=warnings.append)
    assert document.content == b"a\xed\xa0\x80b"
    document.id.encode()
    assert "3 bytes" in warnings[0]


@given(st.lists(st.sampled_from(["é", "汉", "🎉", "\ud800", "\udc80", "\udcff", '"', "\n"])))
def test_a_text_of_any_code_points_keeps_its_bytes(pieces):
    text = "".join(pieces)
    (row,) = rows.json_rows(io.BytesIO(json.dumps({"text": text}).encode()), "a.jsonl")
    # json joins two halves that stand side by side, as any reader of JSON does
    assert row.text == json.loads(json.dumps(text)).encode("utf-8", "surrogatepass")


def test_bytes_that_are_not_utf8_inside_json_stay_as_they_are(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'{"text": "\xd6\xd0 \\udc80"}\n')
    assert read(path)[0].content == b"\xd6\xd0 \x80"


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ('{"text": "cut', "not valid JSON"),
        ("[", "not valid JSON"),
        ('["text"]', "not a list"),
        ('{"title": "t", "x\\n": 1}', 'no field "text"'),
        ('{"text": 5}', '"text" is a number'),
        ('{"text": ["a"]}', '"text" is a list'),
        ('{"text": ' + "[" * 100_000, "nested too deeply"),
        ('{"text": ' + "5" * 5000 + "}", "limit"),
    ],
)
def test_a_broken_line_names_file_and_line(line, words, tmp_path):
    error = refusal(write_lines(tmp_path / "a.jsonl", {"text": "good"}, line))
    assert "a.jsonl, line 2" in str(error)
    assert words in str(error)
    assert error.hint


def test_null_and_empty_texts_are_counted_in_one_warning_each(tmp_path):
    warnings: list[str] = []
    texts = [{"text": None}, {"text": None}, {"text": ""}, {"text": "a"}]
    documents = read(write_lines(tmp_path / "a.jsonl", *texts), warn=warnings.append)
    assert [(document.id, document.content) for document in documents] == [("2", b""), ("3", b"a")]
    assert len(warnings) == 2
    assert "2 rows without a text" in warnings[0]
    assert "1 empty text" in warnings[1]


# Parquet


@pytest.mark.parametrize(
    "value_type",
    [pa.string(), pa.large_string(), pa.binary(), pa.dictionary(pa.int32(), pa.string())],
)
def test_parquet_has_one_document_per_row(value_type, tmp_path):
    text = pa.array(["一", None, "two"], pa.string()).cast(value_type)
    path = write_parquet(tmp_path / "a.parquet", {"id": [7, 8, None], "text": text})
    assert [(d.id, d.content) for d in read(path)] == [("7", "一".encode()), ("2", b"two")]


def test_parquet_text_that_is_not_utf8_keeps_its_bytes(tmp_path):
    broken = pa.array([b"\xd6\xd0"], pa.binary()).view(pa.string())
    path = write_parquet(tmp_path / "a.parquet", {"text": broken})
    assert read(path)[0].content == b"\xd6\xd0"


def test_parquet_without_texts_names_its_columns(tmp_path):
    path = write_parquet(tmp_path / "a.parquet", {"title": ["a"], "body\n": ["b"]})
    assert "it has: title, body␊" in str(refusal(path))


def test_parquet_with_texts_of_another_type_is_refused(tmp_path):
    assert "int64" in str(refusal(write_parquet(tmp_path / "a.parquet", {"text": [1]})))


def test_damaged_parquet_is_one_clear_line(tmp_path):
    texts = [str(number) * 50 for number in range(5000)]
    path = write_parquet(tmp_path / "a.parquet", {"text": texts})
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    assert "as Parquet" in str(refusal(path))
    path.write_bytes(whole[:100] + bytes(len(whole) - 200) + whole[-100:])
    assert "as Parquet" in str(refusal(path))


def test_a_git_lfs_pointer_is_named_as_one_whatever_its_suffix(tmp_path):
    path = tmp_path / "a.parquet"
    path.write_bytes(NOT_TEXTS["lfs-pointer.safetensors"])
    assert "Git LFS pointer" in str(refusal(path))


def test_parquet_under_another_name_is_not_read_as_text(tmp_path):
    path = write_parquet(tmp_path / "a.parquet", {"text": ["a"]}).rename(tmp_path / "a.txt")
    assert "Parquet" in str(refusal(path))


# Limits and the Hub


def test_a_limit_takes_whole_documents(tmp_path):
    path = str(write_lines(tmp_path / "a.jsonl", *[{"text": "1234"}] * 5))
    for limit_bytes, n_documents in [(1, 1), (4, 1), (7, 1), (8, 2), (19, 4), (20, 5), (99, 5)]:
        assert len(list(documents_from_corpus(path, limit_bytes=limit_bytes))) == n_documents


def test_a_limit_reads_no_further_than_it_must(tmp_path):
    path = write_lines(tmp_path / "a.jsonl", {"text": "1234"}, "broken")
    assert len(list(documents_from_corpus(str(path), limit_bytes=4))) == 1


class FakeHub:
    """Stands in for the Hub: what it was asked, and rows that count how many were taken."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, texts: list[object]) -> None:
        import datasets
        import huggingface_hub

        self.texts, self.n_taken, self.calls = texts, 0, []
        monkeypatch.setattr(datasets, "load_dataset", self.load_dataset)
        monkeypatch.setattr(huggingface_hub, "HfApi", lambda: self)

    def dataset_info(self, repo: str, *, timeout: float) -> "FakeHub":
        assert timeout
        self.repo = repo
        return self

    sha = "c0ffee"

    def load_dataset(self, *args: object, **kwargs: object):
        self.calls.append((args, kwargs))
        for text in self.texts:
            if isinstance(text, Exception):
                raise text
            self.n_taken += 1
            yield {"id": "9", "url": "u", "title": "t", "text": text}


def test_a_data_set_is_streamed_at_its_revision_until_the_limit(monkeypatch):
    hub = FakeHub(monkeypatch, ["汉", None, "字", "never read"])
    address = "hub:wikimedia/wikipedia/20231101.zh"
    documents = list(documents_from_corpus(address, limit_bytes=6))
    assert documents == [Document(address, "9", c.encode()) for c in "汉字"]
    options = {"split": "train", "streaming": True, "revision": "c0ffee"}
    assert hub.calls == [(("wikimedia/wikipedia", "20231101.zh"), options)]
    assert hub.n_taken == 3


def test_a_data_set_may_have_no_config(monkeypatch):
    hub = FakeHub(monkeypatch, ["a"])
    list(documents_from_corpus("hub:owner/name", limit_bytes=6))
    assert hub.calls[0][0] == ("owner/name", None)


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (ConnectionError("Couldn't reach it\nsecond line"), "Couldn't reach it"),
        (ValueError("Config name is missing.\nPick one of: ['zh']"), "Pick one of: ['zh']"),
    ],
)
def test_what_fails_on_the_hub_is_one_clear_line(error, words, monkeypatch):
    FakeHub(monkeypatch, ["a", error])
    with pytest.raises(InputError, match="hub:owner/name") as caught:
        list(documents_from_corpus("hub:owner/name", limit_bytes=100))
    assert words in str(caught.value)
    assert len(str(caught.value).splitlines()) == 1
    assert caught.value.hint


def test_without_a_network_the_hub_is_one_clear_line(monkeypatch):
    hub = FakeHub(monkeypatch, ["a"])

    def refuse(*_args: object, **_kwargs: object) -> None:
        raise OSError(-2, "Name or service not known")

    monkeypatch.setattr(hub, "dataset_info", refuse)
    with pytest.raises(InputError, match="Name or service not known") as caught:
        list(documents_from_corpus("hub:owner/name", limit_bytes=100))
    assert "network" in caught.value.hint
    assert not hub.calls


@pytest.mark.parametrize("spec", ["hub:", "hub:name", "hub:a/b/c/d", "hub:a/b c", "hub:a\n/b"])
def test_a_wrong_address_is_a_usage_error(spec):
    with pytest.raises(UsageError, match="not the address"):
        TextInput(corpora=(spec,), limit_bytes=9)


def test_the_hub_needs_a_limit():
    with pytest.raises(UsageError, match="needs a limit"):
        TextInput(corpora=("hub:owner/name",))
    with pytest.raises(UsageError, match="needs a limit"):
        list(documents_from_corpus("hub:owner/name"))


# The input of a command


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


@pytest.mark.parametrize("mapped_from_bytes", [4, 2**20])
def test_standard_input_can_be_read_again(mapped_from_bytes, monkeypatch):
    monkeypatch.setattr(files, "MAPPED_FROM_BYTES", mapped_from_bytes)
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


def test_a_fingerprint_of_the_hub_follows_its_revision(monkeypatch):
    hub = FakeHub(monkeypatch, [])
    before = corpus_fingerprint([], ["hub:owner/name"], 10)
    assert before == corpus_fingerprint([], ["hub:owner/name"], 10)
    hub.sha = "decaf"
    assert before != corpus_fingerprint([], ["hub:owner/name"], 10)


def test_an_input_reads_one_revision_of_a_data_set(monkeypatch):
    hub = FakeHub(monkeypatch, ["a"])
    text = TextInput(corpora=("hub:owner/name",), limit_bytes=10)
    before = text.fingerprint()
    hub.sha = "decaf"
    list(text.documents())
    assert hub.calls[0][1]["revision"] == "c0ffee"
    assert text.fingerprint() == before
    assert TextInput(corpora=("hub:owner/name",), limit_bytes=10).fingerprint() != before
