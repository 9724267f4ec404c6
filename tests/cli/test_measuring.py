import io
import json
import sys
from pathlib import Path

import pandas as pd
import pytest
from bad_inputs import HOSTILE_NAMES, NOT_TEXTS, TEXTS, has_run_code, write_bad_input
from saved_checkpoint import save_tiny

from interp import tables
from interp.text import BYTE_CLASSES

ENGLISH = "Marie Curie, a Polish-born physicist, won two Nobel Prizes.\n"
CHINESE = "人工智能是计算机科学的一个分支。它研究怎样让机器完成需要智能的工作。\n"


@pytest.fixture
def texts(tmp_path):
    paths = [tmp_path / "en.txt", tmp_path / "zh.txt"]
    for path, content in zip(paths, (ENGLISH, CHINESE), strict=True):
        path.write_text(content, "utf-8")
    return [str(path) for path in paths]


def test_byte_classes_fit_a_terminal(interp, tiny, texts):
    done = interp("byte-classes", "--ckpt", tiny, *texts)
    assert done.status == 0
    assert done.err == ""
    assert max(map(len, done.out.splitlines())) <= 80
    assert all(name in done.out for name in BYTE_CLASSES)


@pytest.mark.parametrize("scope", ["shared", "per_layer"])
def test_many_columns_are_shown_in_blocks(interp, texts, tmp_path, scope):
    checkpoint = save_tiny(tmp_path / "heads", n_layers=4, per_head=True, scope=scope)
    done = interp("byte-classes", "--ckpt", str(checkpoint), *texts)
    assert done.status == 0
    assert max(map(len, done.out.splitlines())) <= 80
    last = "L3H1" if scope == "per_layer" else "sharedH1"
    assert last in done.out


def test_json_is_the_analysis_table_and_nothing_else(interp, tiny, texts):
    done = interp("byte-classes", "--ckpt", tiny, "--json", *texts)
    rows = json.loads(done.out)
    assert done.err == ""
    assert list(rows[0]) == list(tables.COLUMNS)
    assert {row["reference"] for row in rows} == {"running text", "vocabulary"}


def test_csv_is_the_analysis_table(interp, tiny, texts, tmp_path):
    done = interp("word-boundary-auc", "--ckpt", tiny, "--csv", *texts)
    (tmp_path / "table.csv").write_text(done.out, "utf-8")
    frame = tables.read_csv(str(tmp_path / "table.csv"))
    assert set(frame["statistic"]) >= {"roc_auc", "tied_share", "base_rate"}


@pytest.mark.parametrize("command", ["byte-classes", "word-boundary-auc"])
def test_a_narrow_terminal_cuts_no_number(interp, tiny, texts, monkeypatch, command):
    expected = interp(command, "--ckpt", tiny, *texts).out
    monkeypatch.setenv("COLUMNS", "40")
    assert interp(command, "--ckpt", tiny, *texts).out == expected
    assert "…" not in expected


@pytest.mark.parametrize("command", ["byte-classes", "word-boundary-auc"])
@pytest.mark.parametrize(
    "spoil",
    [
        {"checkpoint": "escape\x1b[31m"},
        {"signals": {"increment": {"columns": [], "n_parts": 1, "n_rows": 1}}},
        {"signals": {"increment": {"columns": ["L0", "L1"], "n_parts": 1, "saturated": ["x"]}}},
        {"signals": {"\x1b[31m": {"columns": ["L0"], "n_parts": 0, "n_rows": 1}}},
    ],
)
def test_a_hostile_folder_of_increments_is_refused_in_one_line(interp, tiny, texts, command, spoil):
    assert interp("extract", "--ckpt", tiny, "--out", "kept", *texts).status == 0
    manifest = json.loads(Path("kept/manifest.json").read_text("utf-8"))
    Path("kept/manifest.json").write_text(json.dumps(manifest | spoil), "utf-8")
    for form in ("--csv", "--json"):
        done = interp(command, "--increments", "kept", form)
        assert (done.status, done.out) == (1, "")
        assert len(done.err.splitlines()) <= 2
        assert "\x1b" not in done.err


def test_japanese_is_warned_of(interp, tiny, tmp_path):
    (tmp_path / "ja.txt").write_text("東京都に住む人々。", "utf-8")
    done = interp("word-boundary-auc", "--ckpt", tiny, "ja.txt", "--csv")
    assert done.status == 0
    assert done.err.startswith("interp: warning: kana or Hangul in 1 of 1 judged text: jieba")


def test_kept_increments_give_the_same_table_as_the_text(interp, tiny, texts):
    direct = interp("byte-classes", "--ckpt", tiny, "--csv", *texts)
    assert interp("extract", "--ckpt", tiny, "--out", "kept", *texts).status == 0
    kept = interp("byte-classes", "--increments", "kept", "--csv")
    assert kept.out == direct.out


def test_auc_is_shown_with_interval_gaps_and_ceilings(interp, tiny, texts):
    done = interp("word-boundary-auc", "--ckpt", tiny, "--lang", "zh", *texts)
    assert done.status == 0
    assert "jieba" in done.out
    assert "lead byte, in sample" in done.out
    assert "one document only" in done.out
    assert max(map(len, done.out.splitlines())) <= 80


@pytest.mark.parametrize(
    ("name", "reason", "says_more"),
    [
        ("one-class-zh.txt", "one class only", "—"),
        ("no-chinese.txt", "no gap between two Chinese characters", "Is --lang the right one?"),
        ("only-newlines.txt", "no gap between two Chinese characters", "Is --lang the right one?"),
    ],
)
def test_what_is_not_defined_says_why_and_is_no_failure(
    interp, tiny, tmp_path, name, reason, says_more
):
    done = interp("word-boundary-auc", "--ckpt", tiny, write_bad_input(tmp_path, name))
    assert done.status == 0
    assert reason in done.out
    assert says_more in done.out


def test_half_widths_are_shown_only_where_there_are_some(interp, tiny, tmp_path, texts):
    one = interp("byte-classes", "--ckpt", tiny, write_bad_input(tmp_path, "no-chinese.txt"))
    assert "one document only" in one.out
    assert "Half width" not in one.out
    assert "Half width" in interp("byte-classes", "--ckpt", tiny, *texts).out


def test_characters_that_the_reference_cannot_judge_are_counted(interp, tiny, tmp_path):
    path = write_bad_input(tmp_path, "rare-ideographs.txt")
    done = interp("word-boundary-auc", "--ckpt", tiny, path)
    assert "Left out: 7 of 12 characters" in done.out


@pytest.mark.parametrize("name", [name for name in TEXTS if TEXTS[name].strip(b"\xef\xbb\xbf")])
def test_every_odd_text_is_measured_to_its_last_byte(interp, tiny, tmp_path, name):
    done = interp("byte-classes", "--ckpt", tiny, "--csv", write_bad_input(tmp_path, name))
    assert done.status == 0
    frame = pd.read_csv(io.StringIO(done.out))
    means = frame[(frame["statistic"] == "mean") & (frame["reference"] == "running text")]
    content = TEXTS[name].removeprefix(b"\xef\xbb\xbf")
    assert means[means["layer"] == 1]["n"].sum() == len(content) + 1


@pytest.mark.parametrize("name", NOT_TEXTS)
def test_what_is_no_text_is_refused_in_one_line(interp, tiny, tmp_path, name):
    done = interp("byte-classes", "--ckpt", tiny, write_bad_input(tmp_path, name))
    assert done.status == 1
    assert done.out == ""
    assert name in done.err.splitlines()[0]
    assert len(done.err.splitlines()) <= 2
    assert not has_run_code()


@pytest.mark.parametrize("name", ["empty.txt", "only-bom.txt"])
def test_nothing_but_empty_text_is_one_line_and_status_1(interp, tiny, tmp_path, name):
    done = interp("byte-classes", "--ckpt", tiny, write_bad_input(tmp_path, name))
    assert done.status == 1
    assert done.err.startswith("interp: there is no text in ")
    assert "warning" not in done.err


def test_an_empty_text_among_others_is_a_warning(interp, tiny, texts, tmp_path):
    done = interp("byte-classes", "--ckpt", tiny, write_bad_input(tmp_path, "empty.txt"), *texts)
    assert done.status == 0
    assert done.err == f"interp: warning: {tmp_path}/empty.txt is empty\n"


@pytest.mark.parametrize("name", HOSTILE_NAMES)
def test_hostile_file_names_are_shown_on_one_line(interp, tiny, tmp_path, name):
    (tmp_path / name).write_bytes(b"\xff text")
    done = interp("byte-classes", "--ckpt", tiny, str(tmp_path / name))
    assert done.status == 0
    assert done.err.count("\n") == 1
    assert "1 byte is not valid UTF-8" in done.err
    assert "\x1b" not in done.err
    assert "\u202e" not in done.err


def test_a_file_that_is_named_like_an_option_is_read_after_two_hyphens(interp, tiny, tmp_path):
    (tmp_path / "--json").write_text("text", "utf-8")
    done = interp("byte-classes", "--ckpt", tiny, "--csv", "--", "--json")
    assert done.status == 0
    assert done.out.startswith("checkpoint,")


def test_a_hyphen_is_standard_input(interp, tiny, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"abc")))
    done = interp("byte-classes", "--ckpt", tiny, "--csv", "-")
    frame = pd.read_csv(io.StringIO(done.out))
    letters = frame[frame["group"].str.startswith("lowercase") & (frame["layer"] == 1)]
    assert letters[letters["statistic"] == "mean"]["n"].sum() == 3


def test_corpora_are_read_to_their_limit(interp, tiny, tmp_path):
    rows = [json.dumps({"id": str(n), "text": "ten bytes."}) for n in range(9)]
    (tmp_path / "rows.jsonl").write_text("\n".join(rows), "utf-8")
    done = interp("byte-classes", "--ckpt", tiny, "--corpus", "*.jsonl", "--limit", "35", "--csv")
    frame = pd.read_csv(io.StringIO(done.out))
    separator = frame[(frame["group"] == "separator") & (frame["reference"] == "running text")]
    assert set(separator["n"]) == {3}


def test_a_corpus_on_the_hub_needs_a_limit(interp, tiny):
    done = interp("byte-classes", "--ckpt", tiny, "--corpus", "hub:owner/name/config")
    assert done.status == 2
    assert "limit" in done.err


def test_a_stream_that_lacks_characters_gets_escapes(tiny, texts, monkeypatch):
    from interp.cli import main

    written = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(written, encoding="ascii"))
    with pytest.raises(SystemExit) as stopped:
        main(["byte-classes", "--ckpt", tiny, *texts])
    assert stopped.value.code == 0
    sys.stdout.flush()
    assert rb"\u2014" in written.getvalue()


def test_json_is_utf_8_whatever_the_locale(tmp_path, monkeypatch):
    from interp.cli import main

    checkpoint = save_tiny(tmp_path / "模型")
    written = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(written, encoding="ascii"))
    (tmp_path / "text.txt").write_text("text", "utf-8")
    with pytest.raises(SystemExit):
        main(["byte-classes", "--ckpt", str(checkpoint), "--json", str(tmp_path / "text.txt")])
    assert json.loads(written.getvalue().decode("utf-8"))[0]["checkpoint"] == "模型"
