import json
import os
import shutil

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from small_table import NAMES, TEXTS, extract
from tiny import documents

from interp.errors import InputError, OutputError
from interp.extraction.increment_table import IncrementTable


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda folder: shutil.rmtree(folder), "no such folder"),
        (lambda folder: (folder / "manifest.json").unlink(), "no IncrementTable"),
        (lambda folder: (folder / "manifest.json").write_bytes(b"{\xff"), "damaged: not JSON"),
        (lambda folder: (folder / "manifest.json").write_text("[]"), "not the manifest"),
        (
            lambda folder: (folder / "manifest.json").write_text(
                '{"format": "interp IncrementTable", "format_version": 9}'
            ),
            "format version 9",
        ),
        (
            lambda folder: (folder / "manifest.json").write_text(
                '{"format": "interp IncrementTable", "format_version": 1, "complete": true}'
            ),
            "fields are missing",
        ),
        (lambda folder: (folder / "documents.parquet").unlink(), "documents.parquet: missing"),
        (
            lambda folder: (folder / "increment.vocabulary.parquet").unlink(),
            "increment.vocabulary.parquet: missing",
        ),
    ],
)
def test_a_damaged_table_is_refused_in_one_line(table, spoil, words):
    spoil(table.folder)
    with pytest.raises(InputError, match=words) as caught:
        IncrementTable.open(table.folder)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("content", [b"", b"not parquet" * 9, None], ids=["empty", "other", "cut"])
def test_a_damaged_part_is_named_when_it_is_read(table, content):
    path = table.parts("increment")[1]
    path.write_bytes(path.read_bytes()[:-100] if content is None else content)
    with pytest.raises(InputError, match=r"part-00001.parquet: ") as caught:
        list(IncrementTable.open(table.folder).read_documents())
    assert "\n" not in str(caught.value)


def make_pipe(path):
    path.unlink()
    os.mkfifo(path)


def make_link(path):
    path.rename(path.parent.parent / "outside")
    path.symlink_to(path.parent.parent / "outside")


@pytest.mark.parametrize("spoil", [make_pipe, make_link])
@pytest.mark.parametrize(
    "name", ["documents.parquet", "increment.vocabulary.parquet", "increment/part-00001.parquet"]
)
def test_a_pipe_or_link_instead_of_a_file_is_not_read_and_is_made_again(
    checkpoint, table, spoil, name
):
    before = (table.folder / name).read_bytes()
    spoil(table.folder / name)
    with pytest.raises(InputError, match=f"{name}: missing .*, damaged, or a link"):
        IncrementTable.open(table.folder)
    extract(checkpoint, documents(*TEXTS), table.folder, signals=NAMES)
    assert not (table.folder / name).is_symlink()
    assert (table.folder / name).read_bytes() == before


@pytest.mark.parametrize(
    ("spoil", "name", "words"),
    [
        (make_pipe, "manifest.json", "no regular file"),
        (make_link, "manifest.json", "a link, which is not followed"),
        (make_link, "increment", "a link, which is not followed"),
    ],
)
def test_a_link_or_pipe_that_says_what_the_table_is_or_where_is_refused(
    checkpoint, table, spoil, name, words
):
    spoil(table.folder / name)
    with pytest.raises(InputError, match=f"{name}: cannot be read: {words}"):
        IncrementTable.open(table.folder)
    with pytest.raises(OutputError, match=f"{name}: cannot be read: {words}"):
        extract(checkpoint, documents(*TEXTS), table.folder, signals=NAMES)


HOSTILE_FIELDS = [
    {"checkpoint": "escape\x1b[31m"},
    {"checkpoint": "right\u202eleft"},
    {"n_bytes": "many"},
    {"signals": []},
    {"signals": {"increment": None}},
    {"versions": ["2.9"]},
    {"intervention": "one"},
]
HOSTILE_SIGNAL_FIELDS = [
    {"columns": []},
    {"columns": "L0"},
    {"columns": ["L0", "L0"]},
    {"columns": ["L0", "\x1b[31m"]},
    {"columns": ["L0", "L" + "9" * 30]},
    {"columns": ["L0", None]},
    {"token_determined": "L0"},
    {"token_determined": ["L1"]},
    {"sees": "later"},
    {"sees": ["token"]},
    {"bound": "10"},
    {"bound": 0},
    {"n_parts": -1},
    {"n_parts": True},
    {"n_parts": 10**12},
    {"n_rows": None},
    {"saturated": ["x"]},
    {"saturated": {"L0": None, "L1": 0.5}},
    {"saturated": {"L0": 0.5}},
    {"saturated": {"L0": "0.5", "L1": 0.5}},
    {"saturated": {"L0": float("nan"), "L1": 0.5}},
]


@pytest.mark.parametrize(
    ("changed", "of_signal"),
    [*((fields, {}) for fields in HOSTILE_FIELDS), *(({}, f) for f in HOSTILE_SIGNAL_FIELDS)],
)
def test_a_manifest_with_a_wrong_field_is_refused_in_one_line(table, changed, of_signal):
    path = table.folder / "manifest.json"
    manifest = json.loads(path.read_text())
    manifest["signals"]["increment"] |= of_signal
    path.write_text(json.dumps(manifest | changed))
    with pytest.raises(InputError, match="damaged: fields are missing or wrong") as caught:
        IncrementTable.open(table.folder)
    assert "\n" not in str(caught.value)


def test_a_signal_whose_name_acts_on_a_terminal_is_refused(table):
    path = table.folder / "manifest.json"
    manifest = json.loads(path.read_text())
    manifest["signals"]["\x1b[31mred"] = manifest["signals"].pop("surprisal")
    path.write_text(json.dumps(manifest))
    with pytest.raises(InputError, match="damaged: fields are missing or wrong"):
        IncrementTable.open(table.folder)


def test_a_part_that_the_system_can_not_open_is_not_called_damaged(table, monkeypatch):
    def refuse(*_args):
        raise OSError(24, "Too many open files")

    monkeypatch.setattr("pathlib.Path.open", refuse)
    with pytest.raises(InputError, match="too many open files") as caught:
        next(table.batches())
    assert caught.value.hint is None


def test_a_table_that_does_not_say_what_its_signals_see_is_of_signals_that_see_the_token(table):
    path = table.folder / "manifest.json"
    manifest = json.loads(path.read_text())
    for signal in manifest["signals"].values():
        assert signal.pop("sees") == "token"
    del manifest["intervention"]
    path.write_text(json.dumps(manifest))
    assert IncrementTable.open(table.folder).manifest == table.manifest


def rewrite(path, change) -> None:
    """Writes a Parquet file anew with ``change`` made to its columns."""
    read = pq.read_table(path)
    columns = dict(zip(read.column_names, read.columns, strict=True))
    pq.write_table(pa.table(change(columns)), path)


def without(name):
    return lambda columns: {key: column for key, column in columns.items() if key != name}


def with_column(name, make):
    return lambda columns: columns | {name: make(columns[name])}


def as_text(column):
    return column.cast(pa.string())


def as_null(column):
    return pa.nulls(len(column), column.type)


def minus_one(column):
    return pa.array([-1] * len(column), column.type)


def infinite(column):
    return pa.array([float("inf"), *[1.0] * (len(column) - 1)], column.type)


def not_a_number(column):
    return pa.array([float("nan"), *[1.0] * (len(column) - 1)], column.type)


def huge(column):
    return pa.array([2**31 - 1] * len(column), column.type)


@pytest.mark.parametrize(
    "change",
    [
        without("n_bytes"),
        without("source"),
        without("held_out"),
        with_column("n_bytes", as_text),
        with_column("n_bytes", as_null),
        with_column("n_bytes", minus_one),
        with_column("doc", minus_one),
        with_column("source", as_null),
    ],
)
def test_documents_with_a_wrong_column_are_refused_in_one_line(table, change):
    rewrite(table.folder / "documents.parquet", change)
    with pytest.raises(InputError, match=r"documents.parquet: damaged: ") as caught:
        _ = IncrementTable.open(table.folder).documents
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "change",
    [
        without("offset"),
        without("L1"),
        with_column("L0", as_text),
        with_column("doc", as_null),
        with_column("token", as_text),
        with_column("token", minus_one),
        with_column("token", huge),
        with_column("offset", minus_one),
        with_column("doc", huge),
        with_column("L1", infinite),
        with_column("L1", not_a_number),
    ],
)
def test_a_part_with_a_wrong_column_is_refused_in_one_line(table, change):
    rewrite(table.parts()[0], change)
    with pytest.raises(InputError) as caught:
        list(IncrementTable.open(table.folder).read_documents())
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "change",
    [
        without("token"),
        without("n_in_training"),
        with_column("token", minus_one),
        with_column("token", as_null),
        with_column("n_in_training", as_text),
        with_column("L0", as_text),
        with_column("L0", infinite),
    ],
)
def test_a_vocabulary_with_a_wrong_column_is_refused_in_one_line(table, change):
    rewrite(table.folder / "increment.vocabulary.parquet", change)
    with pytest.raises(InputError, match=r"vocabulary.parquet: damaged: ") as caught:
        table.vocabulary()
    assert "\n" not in str(caught.value)


def test_a_document_that_claims_more_bytes_than_there_are_is_refused(table):
    far_more = with_column("n_bytes", lambda column: pa.array([10**17] * len(column), column.type))
    rewrite(table.folder / "documents.parquet", far_more)
    with pytest.raises(InputError, match="are not these"):
        next(IncrementTable.open(table.folder).read_documents())


def test_rows_that_are_missing_are_noticed(table):
    shutil.copy(table.parts()[0], table.parts()[1])
    with pytest.raises(InputError, match="document 0 has 601 tokens, but the 601 rows"):
        list(table.read_documents())


def test_a_manifest_without_the_bound_of_a_signal_is_refused(table):
    path = table.folder / "manifest.json"
    manifest = json.loads(path.read_text())
    del manifest["signals"]["increment"]["bound"]
    path.write_text(json.dumps(manifest))
    with pytest.raises(InputError, match="damaged: fields are missing or wrong"):
        IncrementTable.open(table.folder)
