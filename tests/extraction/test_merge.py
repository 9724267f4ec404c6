import json
import os
import random
import shutil
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tiny import TinyCheckpoint, documents, tiny_model

from interp.errors import InputError, OutputError, UsageError
from interp.extraction.extract import extract
from interp.extraction.increment_table import IncrementTable
from interp.extraction.merge import merge
from interp.extraction.shards import Shard

NAMES = ("increment", "surprisal")
TEXTS = (
    b"Hello, Worlds. " * 40,
    "人工智能是计算机科学".encode() * 20,
    b"",
    b"Hy",
    b"\xff\xe4\xb8 ok \xc3\x28" * 9,
    b"",
    "机器学习".encode() * 31,
)
SETTINGS = {"signals": NAMES, "part_tokens": 200}


def extract_shards(checkpoint, folder, count, texts=TEXTS, **settings) -> list[Path]:
    return [
        extract(
            checkpoint,
            documents(*texts),
            folder / f"shard-{index}",
            shard=Shard(index, count),
            **(SETTINGS | settings),
        ).folder
        for index in range(count)
    ]


@pytest.fixture(scope="module")
def whole(checkpoint, tmp_path_factory) -> IncrementTable:
    """The table of one run; not to be changed."""
    folder = tmp_path_factory.mktemp("whole") / "whole"
    return extract(checkpoint, documents(*TEXTS), folder, **SETTINGS)


@pytest.fixture(scope="module")
def kept_shards(checkpoint, tmp_path_factory) -> list[Path]:
    """Three shards; not to be changed."""
    return extract_shards(checkpoint, tmp_path_factory.mktemp("shards"), 3)


@pytest.fixture
def shards(kept_shards, tmp_path) -> list[Path]:
    """Three shards to spoil."""
    return [Path(shutil.copytree(each, tmp_path / each.name)) for each in kept_shards]


def files_of(folder) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def assert_equal_tables(merged: IncrementTable, whole: IncrementTable) -> None:
    """Same files, rows and manifest; values within 1e-5."""
    assert files_of(merged.folder).keys() == files_of(whole.folder).keys()
    pd.testing.assert_frame_equal(merged.documents, whole.documents)
    for signal in whole.signals:
        names = whole.columns(signal)
        for path, expected_path in zip(merged.parts(signal), whole.parts(signal), strict=True):
            found, expected = pd.read_parquet(path), pd.read_parquet(expected_path)
            pd.testing.assert_frame_equal(found.drop(columns=names), expected.drop(columns=names))
            assert (found.dtypes == expected.dtypes).all()
            np.testing.assert_allclose(found[names], expected[names], rtol=0, atol=1e-5)
        found, expected = merged.vocabulary(signal), whole.vocabulary(signal)
        if found is not None and expected is not None:
            pd.testing.assert_frame_equal(found, expected)
    assert merged.manifest == whole.manifest


@pytest.mark.parametrize("count", [1, 2, 4, 7])
def test_merged_shards_are_the_table_of_one_run(checkpoint, whole, tmp_path, count):
    shards = extract_shards(checkpoint, tmp_path, count)
    random.Random(count).shuffle(shards)
    heard = []
    merged = merge(shards, tmp_path / "merged", progress=lambda *each: heard.append(each))
    assert_equal_tables(merged, whole)
    assert len(whole.parts()) > 5
    assert heard == sorted(heard)
    assert heard[-1] == (whole.manifest["n_bytes"],) * 2
    assert [d.content for d in merged.read_documents("surprisal")] == list(TEXTS)


def test_a_merged_table_is_read_in_bounded_pieces(kept_shards, whole, tmp_path, monkeypatch):
    monkeypatch.setattr("interp.extraction.increment_table.ROW_GROUP", 37)
    monkeypatch.setattr("interp.extraction.shard_reader._TEXT_IN_MEMORY", 50)
    assert_equal_tables(merge(kept_shards, tmp_path / "merged"), whole)


def test_a_merge_of_more_shards_than_files_can_be_open(checkpoint, tmp_path):
    resource = pytest.importorskip("resource")
    texts = [b"some text %d" % number for number in range(40)]
    shards = extract_shards(checkpoint, tmp_path, 40, texts)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with (tmp_path / "last").open("wb") as last:
        resource.setrlimit(resource.RLIMIT_NOFILE, (last.fileno() + 20, hard))
    try:
        merged = merge(shards, tmp_path / "merged")
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert [d.content for d in merged.read_documents("surprisal")] == texts


@settings(max_examples=10, deadline=None)
@given(
    texts=st.lists(st.binary(max_size=90) | st.text(max_size=60).map(str.encode), min_size=1),
    count=st.integers(1, 4),
    part_tokens=st.integers(1, 120),
    stride=st.integers(8, 32),
)
def test_merging_undoes_sharding(checkpoint, texts, count, part_tokens, stride):
    texts = [*texts, b"one text at least", *[b""] * count]
    asked = {"part_tokens": part_tokens, "stride": stride}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        one_run = extract(checkpoint, documents(*texts), folder / "whole", **(SETTINGS | asked))
        shards = extract_shards(checkpoint, folder, count, texts, **asked)
        assert_equal_tables(merge(shards, folder / "merged"), one_run)


def test_extraction_takes_a_merged_table_for_its_own(checkpoint, kept_shards, whole, tmp_path):
    merged = merge(kept_shards, tmp_path / "merged")
    before = files_of(merged.folder)
    extract(checkpoint, documents(*TEXTS), merged.folder, progress=print, **SETTINGS)
    assert files_of(merged.folder) == before
    merged.parts("surprisal")[2].unlink()
    again = extract(checkpoint, documents(*TEXTS), merged.folder, **SETTINGS)
    assert_equal_tables(again, whole)


def test_the_same_merge_is_left_as_it_is_or_makes_what_is_missing(kept_shards, tmp_path):
    merged = merge(kept_shards, tmp_path / "merged")
    before = files_of(merged.folder)
    times = {path: path.stat().st_mtime_ns for path in merged.folder.rglob("*")}
    merge(kept_shards[::-1], merged.folder, progress=print)
    assert {path: path.stat().st_mtime_ns for path in merged.folder.rglob("*")} == times
    for path in (merged.parts("increment")[3], merged.folder / "documents.parquet"):
        path.unlink()
    merge(kept_shards, merged.folder)
    assert files_of(merged.folder) == before


@pytest.mark.parametrize("n_heard", [1, 4])
def test_an_interrupted_merge_goes_on_and_ends_the_same(kept_shards, whole, tmp_path, n_heard):
    heard = []

    def interrupt(*_args):
        heard.append(1)
        if len(heard) == n_heard:
            raise KeyboardInterrupt

    out = tmp_path / "merged"
    with pytest.raises(KeyboardInterrupt):
        merge(kept_shards, out, progress=interrupt)
    with pytest.raises(InputError, match="not complete"):
        IncrementTable.open(out)
    finished = {path: path.stat().st_mtime_ns for path in out.rglob("part-*")}
    assert_equal_tables(merge(kept_shards, out), whole)
    assert all(path.stat().st_mtime_ns == time for path, time in finished.items())


def test_a_missing_shard_is_named(kept_shards, tmp_path):
    with pytest.raises(InputError, match="of 3 shards, 1/3 is missing") as caught:
        merge([kept_shards[0], kept_shards[2]], tmp_path / "merged")
    assert "--shard 1/3" in str(caught.value.hint)
    with pytest.raises(InputError, match="of 3 shards, 0/3, 2/3 are missing"):
        merge([kept_shards[1]], tmp_path / "merged")
    with pytest.raises(UsageError, match="no shard is given"):
        merge([], tmp_path / "merged")
    assert not (tmp_path / "merged").exists()


def test_a_shard_that_is_there_twice_is_named(kept_shards, shards, tmp_path):
    with pytest.raises(InputError, match=r"shard 1/3 is there twice: .*shard-1 and .*shard-1"):
        merge([*kept_shards, shards[1]], tmp_path / "merged")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"stride": 32}, "in stride: 32, not 16"),
        ({"dtype": "bfloat16"}, "in dtype: bfloat16, not float32"),
        ({"part_tokens": 300}, "in size of the parts: 300, not 200"),
        ({"signals": ["increment"]}, "in signals: increment, not increment, surprisal"),
        ({"texts": (*TEXTS, b"more")}, "in text"),
        ({"texts": (TEXTS[0] + b"!", *TEXTS[1:])}, "in text"),
        ({"checkpoint": TinyCheckpoint(tiny_model(), fingerprint="1" * 64)}, "in checkpoint"),
        ({"checkpoint": TinyCheckpoint(tiny_model(), name="other")}, "in checkpoint"),
        ({"checkpoint": TinyCheckpoint(tiny_model(max_increment=9.0))}, "in model"),
        ({"count": 4}, "is shard 1/4, but .* is shard 0/3"),
    ],
)
def test_shards_of_different_extractions_are_refused(
    checkpoint, kept_shards, tmp_path, change, words
):
    asked = {"checkpoint": checkpoint, "folder": tmp_path / "others", "count": 3} | change
    others = extract_shards(**asked)
    with pytest.raises(InputError, match=words) as caught:
        merge([kept_shards[0], others[1], *kept_shards[2:]], tmp_path / "merged")
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "merged").exists()


def test_a_whole_table_among_shards_is_refused(kept_shards, whole, tmp_path):
    with pytest.raises(InputError, match=r"is shard 0/1, but .* is shard 0/3"):
        merge([*kept_shards, whole.folder], tmp_path / "merged")


def test_a_shard_that_is_not_complete_is_refused(shards, tmp_path):
    path = shards[1] / "manifest.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"complete": False}))
    with pytest.raises(InputError, match="shard-1: the extraction is not complete"):
        merge(shards, tmp_path / "merged")


def test_a_folder_with_something_else_is_refused(kept_shards, shards, tmp_path):
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "thesis.tex").write_text("x")
    with pytest.raises(OutputError, match=r"holds something else \(thesis.tex\)"):
        merge(kept_shards, tmp_path / "thesis")
    before = files_of(shards[0])
    with pytest.raises(OutputError, match=r"differs in shard: \[0, 3\] there, \[0, 1\] wanted"):
        merge(shards, shards[0])
    assert files_of(shards[0]) == before


def copy_part(shard: Path) -> None:
    parts = IncrementTable.open(shard).parts("surprisal")
    shutil.copy(parts[0], parts[1])


def cut_documents(shard: Path) -> None:
    documents = pq.read_table(shard / "documents.parquet")
    pq.write_table(documents.slice(0, len(documents) - 1), shard / "documents.parquet")


def cut_vocabulary(shard: Path) -> None:
    (shard / "increment.vocabulary.parquet").write_bytes(b"zz")


def drop_vocabulary(shard: Path) -> None:
    (shard / "increment.vocabulary.parquet").unlink()


def change_vocabulary(shard: Path) -> None:
    path = shard / "increment.vocabulary.parquet"
    vocabulary = pq.read_table(path)
    pq.write_table(vocabulary.set_column(2, "L0", vocabulary["L0"].take([0] * 257)), path)


def change_setting(**changed):
    def change(shard: Path) -> None:
        path = shard / "manifest.json"
        path.write_text(json.dumps(json.loads(path.read_text()) | changed))

    return change


def change_signal(**changed):
    def change(shard: Path) -> None:
        path = shard / "manifest.json"
        manifest = json.loads(path.read_text())
        manifest["signals"]["surprisal"] |= changed
        path.write_text(json.dumps(manifest))

    return change


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (copy_part, "shard-0: damaged: rows of document 0 in signal surprisal are not those"),
        (cut_documents, "has 2 documents; of the 7 of all shards, 3 are in shard 0/3"),
        (change_signal(n_parts=1), "shard-0: damaged: rows are missing in signal surprisal"),
        (change_setting(window="32"), "lacks what a merge needs"),
        (change_setting(stride=0), "lacks what a merge needs"),
        (change_setting(part_tokens=-1), "lacks what a merge needs"),
        (change_setting(n_documents=None), "lacks what a merge needs"),
        (change_signal(describes_next="no"), "lacks what a merge needs"),
        (change_signal(bound="far"), "damaged: fields are missing or wrong"),
        (change_signal(bound=float("nan")), "damaged: fields are missing or wrong"),
        (change_signal(bound=0), "damaged: fields are missing or wrong"),
        (change_signal(bound=10**400), "damaged: fields are missing or wrong"),
        (cut_vocabulary, "increment.vocabulary.parquet: missing from the .*, damaged, or a link"),
        (drop_vocabulary, "increment.vocabulary.parquet: missing"),
        (change_vocabulary, "increment.vocabulary.parquet is not that of"),
    ],
)
def test_a_damaged_shard_is_refused_in_one_line(shards, tmp_path, spoil, words):
    spoil(shards[0])
    with pytest.raises(InputError, match=words) as caught:
        merge(shards, tmp_path / "merged")
    assert "\n" not in str(caught.value)


def test_a_merge_that_met_a_damaged_shard_leaves_nothing_of_it(shards, whole, tmp_path):
    good = (shards[1] / "documents.parquet").read_bytes()
    documents = pq.read_table(shards[1] / "documents.parquet").to_pandas()
    documents["n_bytes"] += 1
    documents.to_parquet(shards[1] / "documents.parquet", index=False)
    with pytest.raises(InputError, match="shard-1"):
        merge(shards, tmp_path / "merged")
    (shards[1] / "documents.parquet").write_bytes(good)
    assert_equal_tables(merge(shards, tmp_path / "merged"), whole)


@pytest.mark.parametrize("name", ["s3:", "file:", os.fsdecode(b"\xff")])
def test_a_folder_of_any_name_is_a_folder(kept_shards, whole, tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    merge(kept_shards, Path(name) / "merged")
    merged = IncrementTable.open(Path(name) / "merged")
    for ours, expected in zip(merged.read_documents(), whole.read_documents(), strict=True):
        np.testing.assert_allclose(ours.values, expected.values, atol=1e-5)
    assert (tmp_path / name / "merged" / "manifest.json").is_file()


def test_shards_of_several_machines_say_so_together(shards, tmp_path):
    change_setting(device="cuda:0", versions={"torch": "9.9"})(shards[2])
    manifest = merge(shards, tmp_path / "merged").manifest
    assert manifest["device"] == "cpu, cuda:0"
    assert manifest["versions"]["torch"].endswith(", 9.9")
