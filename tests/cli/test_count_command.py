import json
import os
from pathlib import Path

import pytest

from interp.analyses.character_counts import CharacterCounts


@pytest.fixture
def text(tmp_path):
    path = tmp_path / "text.txt"
    path.write_text("国王，国王", "utf-8")
    return str(path)


def test_counts_are_kept_in_a_file_and_summed_up(interp, text):
    done = interp("count", text, "--out", "counts.parquet", "--licence", "CC0")
    assert done.status == 0
    assert "n_pairs" in done.out
    assert "counts.parquet" in done.err
    counts = CharacterCounts.read("counts.parquet")
    assert counts.text.licence == "CC0"
    assert counts.n_pairs == 1


def test_json_says_what_was_counted_and_where_it_is_from(interp, text):
    arguments = ("--min-count", "3", "--json", "--quiet")
    done = interp("count", "--corpus", text, "--limit", "100", "--out", "c.parquet", *arguments)
    assert done.err == ""
    summary = json.loads(done.out)
    assert summary == CharacterCounts.read("c.parquet").summary()
    assert (summary["n_characters"], summary["n_pairs"], summary["n_dropped_pairs"]) == (5, 0, 1)
    assert summary["sources"] == [text]


@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        (("absent.txt",), 1),
        (("--min-count", "0"), 2),
        (("--out", "no/folder/c.parquet"), 1),
        (("--out", "."), 1),
        (("--out", ""), 1),
    ],
)
def test_what_cannot_be_counted_is_one_line(interp, tmp_path, arguments, status):
    done = interp("count", "--out", "c.parquet", *arguments)
    assert done.status == status
    assert len(done.err.splitlines()) <= 2
    assert not (tmp_path / "c.parquet").exists()


def test_a_source_with_a_hostile_name_does_not_reach_the_terminal(interp, tmp_path):
    path = tmp_path / "\x1b[31m\u202e.txt"
    path.write_text("国王", "utf-8")
    done = interp("count", str(path), "--out", "c.parquet")
    assert done.status == 0
    assert "\x1b" not in done.out + done.err


def test_neither_a_pipe_nor_the_text_itself_is_replaced(interp, text, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    assert interp("count", text, "--out", "pipe").status == 1
    assert (tmp_path / "pipe").is_fifo()
    for pattern in (text, str(Path(text).parent / "*.txt")):
        done = interp("count", pattern, "--out", text)
        assert done.status == 2
        assert "it would be replaced" in done.err
    assert Path(text).read_text("utf-8") == "国王，国王"


def test_counts_without_a_letter_are_refused(interp, tiny, tmp_path):
    (tmp_path / "signs.txt").write_text("1 2 3.", "utf-8")
    assert interp("count", "signs.txt", "--out", "none.parquet").status == 0
    done = interp("word-boundary-auc", "--ckpt", tiny, "signs.txt", "--counts", "none.parquet")
    assert done.status == 1
    assert "it has no letters" in done.err
