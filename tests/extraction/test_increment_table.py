import json
import os

import numpy as np
import pandas as pd
import pytest
from small_table import NAMES, TEXTS, extract
from tiny import TinyCheckpoint, documents, tiny_model

from interp.corpus.documents import Document
from interp.errors import InputError, OutputError
from interp.extraction.increment_table import IncrementTable
from interp.files import replacing


def files_of(folder) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def test_the_parts_are_one_table_for_pandas(table):
    assert len(table.parts()) > 3
    for signal in NAMES:
        frame = pd.read_parquet(table.folder / signal)
        assert frame.columns.tolist() == [
            "doc", "offset", "token", "context", *table.columns(signal)
        ]  # fmt: skip
        assert frame.dtypes.tolist()[:4] == [np.dtype("int32")] * 4
        assert set(frame.dtypes.tolist()[4:]) == {np.dtype("float32")}
        for document in table.read_documents(signal):
            rows = frame[frame["doc"] == document.doc]
            assert rows["offset"].tolist() == list(range(-1, len(document.content)))
            np.testing.assert_array_equal(rows[table.columns(signal)], document.values)
            np.testing.assert_array_equal(rows["context"], document.context)
            assert bytes(rows["token"].tolist()[1:]) == document.content


def test_batches_give_all_rows_in_bounded_pieces(table, monkeypatch):
    monkeypatch.setattr("interp.extraction.increment_table.ROW_GROUP", 50)
    batches = list(table.batches("increment"))
    assert max(batch.num_rows for batch in batches) <= 50
    assert sum(batch.num_rows for batch in batches) == sum(len(t) + 1 for t in TEXTS)
    assert [d.content for d in table.read_documents("surprisal")] == list(TEXTS)


def test_the_manifest_says_what_was_extracted_from_what(table):
    manifest = json.loads((table.folder / "manifest.json").read_text())
    assert manifest["complete"]
    assert (manifest["checkpoint"], manifest["n_layers"], manifest["per_head"]) == (
        "tiny", 2, False
    )  # fmt: skip
    assert (manifest["window"], manifest["stride"], manifest["dtype"]) == (32, 16, "float32")
    assert manifest["signals"]["increment"]["columns"] == ["L0", "L1"]
    assert manifest["signals"]["surprisal"]["units"] == "nats"
    assert {"interp", "torch", "transformer-lens"} <= set(manifest["versions"])


@pytest.mark.parametrize("n_heard", [1, 4, 9])
def test_an_interrupted_extraction_goes_on_and_ends_the_same(checkpoint, tmp_path, n_heard):
    heard = []

    def interrupt(*_args):
        heard.append(1)
        if len(heard) == n_heard:
            raise KeyboardInterrupt

    out = tmp_path / "interrupted"
    settings = {"signals": NAMES, "batch_tokens": 64}
    whole = extract(checkpoint, documents(*TEXTS), tmp_path / "whole", **settings)
    with pytest.raises(KeyboardInterrupt):
        extract(checkpoint, documents(*TEXTS), out, progress=interrupt, **settings)
    with pytest.raises(InputError, match="not complete"):
        IncrementTable.open(out)
    finished = {path: path.stat().st_mtime_ns for path in out.rglob("part-*")}
    extract(checkpoint, documents(*TEXTS), out, **settings)
    assert files_of(out) == files_of(whole.folder)
    assert all(path.stat().st_mtime_ns == time for path, time in finished.items())
    assert not list(out.rglob(".*"))


def test_what_a_killed_run_left_half_written_is_cleared_away(checkpoint, table):
    before = files_of(table.folder)
    killed = [replacing(path) for path in (table.folder / "manifest.json", *table.parts()[:1])]
    for writing in killed:
        writing.__enter__().write_bytes(b"{")
    assert len(files_of(table.folder)) == len(before) + 2
    extract(checkpoint, documents(*TEXTS), table.folder, signals=NAMES)
    assert files_of(table.folder) == before


def test_a_complete_table_is_left_as_it_is(checkpoint, table):
    before = {p: p.stat().st_mtime_ns for p in table.folder.rglob("*")}
    again = extract(
        checkpoint, documents(*TEXTS), table.folder, signals=NAMES[::-1], progress=print
    )
    assert again.manifest == table.manifest
    assert {p: p.stat().st_mtime_ns for p in table.folder.rglob("*")} == before


def test_a_part_that_was_deleted_is_made_again(checkpoint, table):
    before = files_of(table.folder)
    table.parts("surprisal")[1].unlink()
    with pytest.raises(InputError, match=r"part-00001.parquet: missing"):
        IncrementTable.open(table.folder)
    extract(checkpoint, documents(*TEXTS), table.folder, signals=NAMES)
    assert files_of(table.folder) == before


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"signals": ["increment"]}, "differs in signals: increment, surprisal there, increment"),
        ({"stride": 32}, "differs in stride: 16 there, 32 wanted"),
        ({"dtype": "bfloat16"}, "differs in dtype"),
        (
            {"checkpoint": TinyCheckpoint(tiny_model(), fingerprint="1" * 64)},
            "differs in checkpoint",
        ),
        (
            {"checkpoint": TinyCheckpoint(tiny_model(), config={"split": {"fraction": 0.5}})},
            "differs in record of the checkpoint's training text",
        ),
        (
            {"checkpoint": TinyCheckpoint(tiny_model(), config={"token_counts": [1] * 257})},
            "differs in record of the checkpoint's training text",
        ),
        ({"documents": documents(*TEXTS, b"more")}, "differs in text"),
        ({"documents": documents(TEXTS[0][:-1] + b"!", *TEXTS[1:])}, "differs in text"),
    ],
)
def test_another_extraction_is_refused_by_what_differs(checkpoint, table, change, words):
    before = files_of(table.folder)
    asked = {
        "checkpoint": checkpoint,
        "documents": documents(*TEXTS),
        "out": table.folder,
        "signals": NAMES,
    }
    with pytest.raises(OutputError, match=words) as caught:
        extract(**(asked | change))
    assert "\n" not in str(caught.value)
    assert files_of(table.folder) == before


def test_a_folder_with_something_else_is_refused(checkpoint, tmp_path):
    (tmp_path / "thesis.tex").write_text("x")
    with pytest.raises(OutputError, match=r"holds something else \(thesis.tex\)"):
        extract(checkpoint, documents(*TEXTS), tmp_path)
    with pytest.raises(OutputError, match="a file is in the way"):
        extract(checkpoint, documents(*TEXTS), tmp_path / "thesis.tex")
    with pytest.raises(OutputError, match="not a directory"):
        extract(checkpoint, documents(*TEXTS), tmp_path / "thesis.tex" / "deeper")
    assert [p.name for p in tmp_path.iterdir()] == ["thesis.tex"]


def test_a_text_that_changes_between_the_readings_leaves_no_part_of_it(checkpoint, tmp_path):
    changed = (TEXTS[0], TEXTS[1][:-3] + b"...", *TEXTS[2:])
    readings = iter([documents(*TEXTS), documents(*changed)])
    with pytest.raises(InputError, match="text changed while it was read"):
        extract(checkpoint, lambda: next(readings)(), tmp_path / "t")
    # what is gone on with is as if the text had never changed
    extract(checkpoint, documents(*TEXTS), tmp_path / "t")
    whole = extract(checkpoint, documents(*TEXTS), tmp_path / "whole")
    assert files_of(tmp_path / "t") == files_of(whole.folder)


@pytest.mark.parametrize("changed", [TEXTS[:-1], (*TEXTS, b"more")], ids=["fewer", "more"])
def test_a_text_with_other_documents_at_its_second_reading_is_noticed(
    checkpoint, tmp_path, changed
):
    readings = iter([documents(*TEXTS), documents(*changed)])
    with pytest.raises(InputError, match="text changed while it was read"):
        extract(checkpoint, lambda: next(readings)(), tmp_path / "t")


def test_two_extractions_never_write_to_one_folder_at_once(checkpoint, tmp_path):
    out, refusals = tmp_path / "t", []

    def read_while_another_begins():
        for other in (checkpoint, TinyCheckpoint(tiny_model(), fingerprint="1" * 64)):
            with pytest.raises(OutputError, match="another process is writing to it") as caught:
                extract(other, documents(*TEXTS), out)
            refusals.append(caught.value)
        return documents(*TEXTS)()

    table = extract(checkpoint, read_while_another_begins, out)
    assert len(refusals) == 4  # at both readings
    whole = extract(checkpoint, documents(*TEXTS), tmp_path / "whole")
    assert files_of(table.folder) == files_of(whole.folder)


def test_a_resumed_extraction_says_all_that_it_was_made_with(checkpoint, tmp_path, monkeypatch):
    def interrupt(*_args):
        raise KeyboardInterrupt

    out = tmp_path / "t"
    for version in ("1.0", "2.0", "1.0"):
        monkeypatch.setattr("interp.extraction.extract.versions", lambda v=version: {"torch": v})
        with pytest.raises(KeyboardInterrupt):
            extract(checkpoint, documents(*TEXTS), out, progress=interrupt)
    path = out / "manifest.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"device": "cuda:0"}))
    manifest = extract(checkpoint, documents(*TEXTS), out).manifest
    assert manifest["versions"] == {"torch": "1.0, 2.0"}
    assert manifest["device"] == "cuda:0, cpu"


def test_a_file_name_that_is_no_utf_8_is_kept_escaped(checkpoint, tmp_path):
    document = Document(source=os.fsdecode(b"caf\xe9.txt"), id="", content=b"Hello")
    table = extract(checkpoint, lambda: [document], tmp_path / "t")
    (read,) = table.read_documents()
    assert read.source == "caf\\udce9.txt"


def test_a_full_disk_is_one_line_and_leaves_whole_files(checkpoint, tmp_path, monkeypatch):
    def write_table(_table, file, **_settings):
        file.write(b"PAR1")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("pyarrow.parquet.write_table", write_table)
    out = tmp_path / "t"
    with pytest.raises(OutputError, match="no space left on device") as caught:
        extract(checkpoint, documents(*TEXTS), out)
    assert "\n" not in str(caught.value)
    monkeypatch.undo()
    assert not list(out.rglob("part-*"))
    assert not list(out.rglob(".*"))


def test_an_unknown_signal_is_refused_with_those_that_are_there(table):
    for read in (table.columns, table.vocabulary, lambda name: list(table.batches(name))):
        with pytest.raises(InputError, match="no signal 'entropy', only increment, surprisal"):
            read("entropy")
