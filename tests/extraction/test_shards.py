import json

import numpy as np
import pandas as pd
import pytest
from tiny import documents

from interp.analyses.byte_classes import byte_classes
from interp.analyses.word_boundaries import word_boundary_auc
from interp.errors import InputError, OutputError, UsageError
from interp.extraction.extract import extract
from interp.extraction.increment_table import IncrementTable
from interp.extraction.shards import WHOLE, Shard

NAMES = ("increment", "surprisal")
TEXTS = (
    b"Hello, Worlds. " * 20,
    "人工智能是计算机科学的一个分支。".encode() * 6,
    b"",
    b"x",
    "机器学习是人工智能的一部分。".encode() * 4,
    b"\xff\xe4\xb8 ok \xc3\x28" * 9,
    b"He said so.",
)


@pytest.mark.parametrize("count", [1, 2, 3, 7])
def test_the_shards_together_are_the_table_of_one_run(checkpoint, tmp_path, count):
    whole = extract(checkpoint, documents(*TEXTS), tmp_path / "whole", signals=NAMES)
    shards = [
        extract(
            checkpoint,
            documents(*TEXTS),
            tmp_path / str(index),
            signals=NAMES,
            shard=Shard(index, count),
            part_tokens=200,
        )
        for index in range(count)
    ]
    for index, shard in enumerate(shards):
        assert shard.manifest["shard"] == [index, count]
        assert shard.documents["doc"].tolist() == list(range(index, len(TEXTS), count))
        assert [d.content for d in shard.read_documents()] == list(TEXTS[index::count])
    pd.testing.assert_frame_equal(
        pd.concat([shard.documents for shard in shards]).sort_values("doc", ignore_index=True),
        whole.documents,
    )
    for name in NAMES:
        frames = [pd.read_parquet(shard.folder / name) for shard in shards]
        joined = pd.concat(frames).sort_values(["doc", "offset"], ignore_index=True)
        expected = pd.read_parquet(whole.folder / name)
        values = whole.columns(name)
        pd.testing.assert_frame_equal(joined.drop(columns=values), expected.drop(columns=values))
        np.testing.assert_allclose(joined[values], expected[values], rtol=0, atol=1e-5)


def test_every_analysis_takes_a_shard_as_it_takes_a_table(checkpoint, tmp_path):
    text = [TEXTS[1], TEXTS[0], TEXTS[4], TEXTS[5], TEXTS[1] + TEXTS[4]]
    shard = extract(checkpoint, documents(*text), tmp_path / "shard", shard=Shard(0, 2))
    alone = extract(checkpoint, documents(*text[::2]), tmp_path / "alone")
    for analysis in (byte_classes, word_boundary_auc):
        pd.testing.assert_frame_equal(
            analysis(IncrementTable.open(shard.folder)), analysis(alone), rtol=1e-4
        )


def test_shard_0_of_1_is_the_whole_extraction(checkpoint, tmp_path):
    table = extract(checkpoint, documents(*TEXTS), tmp_path / "t")
    again = extract(checkpoint, documents(*TEXTS), tmp_path / "t", shard=Shard(0, 1))
    assert again.manifest == table.manifest
    assert again.shard == WHOLE


def test_a_table_from_before_there_were_shards_is_whole(checkpoint, tmp_path):
    table = extract(checkpoint, documents(*TEXTS), tmp_path / "t")
    path = table.folder / "manifest.json"
    manifest = json.loads(path.read_text())
    del manifest["shard"]
    path.write_text(json.dumps(manifest))
    assert len(IncrementTable.open(table.folder).documents) == len(TEXTS)
    assert extract(checkpoint, documents(*TEXTS), tmp_path / "t").shard == WHOLE


@pytest.mark.parametrize(
    "words", ["3/2", "2/2", "-1/2", "a/b", "0/0", "", "1", "0/2/3", " 0/2", "0/２", "0/9999999"]
)
def test_a_shard_that_cannot_be_is_refused_in_one_line(words):
    with pytest.raises(UsageError, match="shard must be I/N") as caught:
        Shard.parse(words)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("numbers", [(3, 2), (-1, 2), (0, 0), (0, -1)])
def test_numbers_of_no_shard_are_refused_too(numbers):
    with pytest.raises(UsageError, match="shard must be I/N"):
        Shard(*numbers)


@pytest.mark.parametrize("index", [0, 3])
def test_more_shards_than_documents_are_one_line_and_write_nothing(checkpoint, tmp_path, index):
    with pytest.raises(InputError, match="4 shards of a text of 3 documents") as caught:
        extract(checkpoint, documents(b"a", b"b", b"c"), tmp_path / "t", shard=Shard(index, 4))
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "t").exists()


def test_a_shard_of_empty_documents_is_a_table(checkpoint, tmp_path):
    table = extract(checkpoint, documents(b"", b"abc", b""), tmp_path / "t", shard=Shard(0, 2))
    assert [document.content for document in table.read_documents()] == [b"", b""]


def test_another_shard_is_refused_in_the_folder_of_one(checkpoint, tmp_path):
    extract(checkpoint, documents(*TEXTS), tmp_path / "t", shard=Shard(0, 2))
    with pytest.raises(OutputError, match=r"differs in shard: \[0, 2\] there, \[1, 2\] wanted"):
        extract(checkpoint, documents(*TEXTS), tmp_path / "t", shard=Shard(1, 2))


@pytest.mark.parametrize("changed", [0, 1])
def test_a_shard_belongs_to_the_whole_text(checkpoint, tmp_path, changed):
    shard = Shard(0, 2)
    extract(checkpoint, documents(b"one", b"two"), tmp_path / "t", shard=shard)
    texts = [b"one", b"two"]
    texts[changed] += b"!"
    with pytest.raises(OutputError, match="differs in text"):
        extract(checkpoint, documents(*texts), tmp_path / "t", shard=shard)
    readings = iter([documents(b"one", b"two"), documents(*texts)])
    with pytest.raises(InputError, match="text changed while it was read"):
        extract(checkpoint, lambda: next(readings)(), tmp_path / "u", shard=shard)


@pytest.mark.parametrize("shard", [None, [0], [0, 0], [2, 2], ["0", 2], [0, 2.0], [False, 1]])
def test_a_manifest_with_a_wrong_shard_is_refused_in_one_line(checkpoint, tmp_path, shard):
    path = extract(checkpoint, documents(b"one"), tmp_path / "t").folder / "manifest.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"shard": shard}))
    with pytest.raises(InputError, match="damaged: fields are missing or wrong"):
        IncrementTable.open(tmp_path / "t")
