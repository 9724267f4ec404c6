import os
import tempfile
from pathlib import Path

import pyarrow as pa
import pytest
from bad_inputs import (
    HOSTILE_NAMES,
    N_INVALID_BYTES,
    NOT_TEXTS,
    TEXTS,
    has_run_code,
    write_bad_input,
)
from corpus_inputs import read, refusal
from hypothesis import given
from hypothesis import strategies as st

from interp.corpus import files
from interp.corpus.sources import documents_from_corpus
from interp.errors import InputError


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


@pytest.fixture
def large(tmp_path, monkeypatch):
    """A text that is too large for memory; its byte order mark is no part of it."""
    monkeypatch.setattr(files, "MOST_IN_MEMORY_BYTES", 10)
    monkeypatch.setattr(files, "_BLOCK_BYTES", 5)
    path = tmp_path / "large.txt"
    path.write_bytes(b"\xef\xbb\xbf" + "汉字 and text".encode())
    return path


def test_a_large_text_is_read_as_it_is_used(large):
    (document,) = read(large)
    assert not isinstance(document.content, bytes)
    assert document.content[:3] == "汉".encode()
    assert document.content[:] == "汉字 and text".encode()
    assert (len(document.content), document.dropped_bytes) == (15, 3)


@given(st.binary(max_size=20), st.lists(st.tuples(*[st.integers(-25, 25)] * 2), max_size=9))
def test_a_file_is_sliced_as_its_bytes_are(content, slices):
    with tempfile.TemporaryFile() as file, pytest.MonkeyPatch.context() as patch:
        patch.setattr(files, "_BLOCK_BYTES", 6)
        file.write(content)
        file.flush()
        in_file = files.FileContent(file, "a file")
    for start, stop in slices:
        assert in_file[start:stop] == content[start:stop]
        assert in_file[start:stop:2] == content[start:stop:2]


@pytest.mark.parametrize("content", [b"", b"\xef\xbb\xbf another text"], ids=["cut", "written to"])
def test_a_large_text_that_changes_while_it_is_used_is_one_clear_line(large, content):
    (document,) = read(large)
    large.write_bytes(content)
    os.utime(large, (0, 0))
    with pytest.raises(InputError, match=r"large.txt changed while it was read"):
        document.content[5:9]


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
