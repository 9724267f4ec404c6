import io
import json

import pyarrow as pa
import pytest
from bad_inputs import (
    NOT_TEXTS,
)
from corpus_inputs import read, refusal, write_lines, write_parquet
from hypothesis import given
from hypothesis import strategies as st

from interp.corpus import rows
from interp.corpus.documents import Document


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


@pytest.mark.parametrize("start", ["", " \n", "\ufeff"])
def test_a_list_is_refused_by_its_first_byte(start, tmp_path, monkeypatch):
    (tmp_path / "a.json").write_text(start + '[{"text": "t"}]')
    monkeypatch.setattr("json.loads", None)
    error = refusal(tmp_path / "a.json")
    assert "a.json: expected a JSON object with a text on each line, not a list" in str(error)
    assert "Each line is one object" in error.hint


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
    path = write_parquet(tmp_path / "b.parquet", {"-": ["a"]})
    assert str(refusal(path)).endswith("it has: -")  # which is standard input only as a file name


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
