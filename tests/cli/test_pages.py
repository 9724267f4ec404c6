import html
import json
import os
import re
import shutil

import pytest
from bad_inputs import TEXTS, write_bad_input

from interp.cli import main
from interp.cli.results import program

PAGE = "page.html"


def test_report_writes_a_page_about_the_text_given(interp, tiny, tmp_path):
    done = interp("report", "--ckpt", tiny, "--text", "Two words. 两个词。", "--out", PAGE)
    assert done.status == 0
    assert done.out == ""
    assert done.err == f"page: {PAGE}\n"
    page = (tmp_path / PAGE).read_text("utf-8")
    assert "the text given" in page
    assert "--text" in page


def test_a_page_without_chinese_says_once_that_its_boundaries_are_not_defined(
    interp, tiny, tmp_path
):
    for text in ("Two words.", "两个词。"):
        assert interp("report", "--ckpt", tiny, "--text", text, "--out", PAGE).status == 0
        page = (tmp_path / PAGE).read_text("utf-8")
        has_chinese = text != "Two words."
        assert ("no gap between two Chinese characters" in page) != has_chinese
        assert ("Areas under the ROC curve" in page) == has_chinese
        assert ("where Chinese words end" in page) == has_chinese


def command_on(page: str) -> str:
    fact = page[page.index("<dt>Command</dt>") :]
    return html.unescape(re.sub("<[^>]*>", "", fact[: fact.index("</dd>")])).removeprefix("Command")


@pytest.mark.parametrize(
    ("arguments", "shown"),
    [
        (("--text", "a b"), "interp report --text 'a b' --out page.html"),
        (
            ("--text", "x" * 1234),
            "interp report --text '(text of 1,234 characters left out)' --out page.html",
        ),
        (("--", "-x.txt"), "interp report --out page.html -- -x.txt"),
        (("plain.txt",), "interp report --out page.html plain.txt"),
        (("--text", "a\n\x1b[31m\u202e"), "interp report --text 'a␊␛[31m<U+202E>' --out page.html"),
    ],
)
def test_the_page_shows_the_command_and_nothing_in_it_acts(
    interp, tiny, tmp_path, arguments, shown
):
    for name in ("-x.txt", "plain.txt"):
        (tmp_path / name).write_text("text", "utf-8")
    assert interp("report", "--ckpt", tiny, "--out", PAGE, *arguments).status == 0
    page = (tmp_path / PAGE).read_text("utf-8")
    assert command_on(page).replace(f" --ckpt {tiny}", "") == shown


def test_an_existing_page_is_replaced(interp, tiny, tmp_path):
    (tmp_path / PAGE).write_text("old", "utf-8")
    assert interp("report", "--ckpt", tiny, "--text", "new", "--out", PAGE).status == 0
    assert (tmp_path / PAGE).read_text("utf-8").startswith("<!DOCTYPE html>")
    assert [path.name for path in tmp_path.iterdir()] == [PAGE]


def test_all_odd_texts_make_one_page_that_names_the_empty_ones(interp, tiny, tmp_path):
    paths = [write_bad_input(tmp_path, name) for name in TEXTS if name != "one-long-line.txt"]
    done = interp("report", "--ckpt", tiny, *paths, "--out", PAGE)
    assert done.status == 0
    page = (tmp_path / PAGE).read_text("utf-8")
    assert "empty.txt is empty" in page
    assert "byte order mark" in page
    assert "<script>document.title" not in page


def test_a_page_that_fails_leaves_the_old_one(interp, tiny, tmp_path):
    (tmp_path / PAGE).write_text("old", "utf-8")
    empty = write_bad_input(tmp_path, "empty.txt")
    done = interp("report", "--ckpt", tiny, empty, "--out", PAGE)
    assert done.status == 1
    assert (tmp_path / PAGE).read_text("utf-8") == "old"


@pytest.mark.parametrize("out", ["missing/page.html", ".", "file/page.html", "pipe"])
def test_a_page_that_has_no_place_is_one_line(interp, tiny, tmp_path, out):
    (tmp_path / "file").write_text("", "utf-8")
    os.mkfifo(tmp_path / "pipe")
    done = interp("report", "--ckpt", tiny, "--text", "text", "--out", out)
    assert done.status == 1
    assert done.err.startswith("interp: cannot write ")
    assert len(done.err.splitlines()) == 2


def test_demo_prints_both_tables_and_where_the_page_is(interp, tiny, tmp_path, monkeypatch):
    monkeypatch.setattr("interp.checkpoints.default_checkpoint", lambda: tiny)
    done = interp("demo")
    assert done.status == 0
    assert "Mean increment by byte class" in done.out
    assert "ROC-AUC" in done.out
    assert "interp-demo/report.html" in done.err
    made = tmp_path / "interp-demo"
    assert {path.name for path in made.iterdir()} == {
        "increments",
        "byte-classes.csv",
        "word-boundary-auc.csv",
        "report.html",
    }


def test_without_input_the_sample_text_is_read(interp, tiny, monkeypatch):
    monkeypatch.setattr("interp.checkpoints.default_checkpoint", lambda: tiny)
    done = interp("byte-classes", "--csv")
    assert done.status == 0
    assert ",60," in done.out


def test_inspect_says_what_a_checkpoint_is(interp, tiny):
    done = interp("inspect", tiny)
    assert done.status == 0
    assert "every layer has its own increments" in done.out
    assert max(map(len, done.out.splitlines())) <= 80


def test_inspect_gives_plain_values(interp, tiny):
    values = json.loads(interp("inspect", "--json", tiny).out)
    assert values["architecture"]["n_layers"] == 2
    assert len(values["fingerprint"]) == 64
    assert interp("inspect", "--csv", tiny).out.startswith("name,value\nname,tiny\n")


@pytest.mark.parametrize("form", [(), ("--csv",), ("--json",), ("-q",)])
def test_nothing_that_a_checkpoint_says_of_itself_acts_on_a_terminal(interp, tiny, tmp_path, form):
    shutil.copytree(tiny, tmp_path / "hostile")
    path = tmp_path / "hostile" / "config.json"
    words = "\x1b[31m\x9b31m\u202e\n\ud800"
    told = {
        "weights": words,
        "versions": {words: words},
        "hardware": words,
        "held_out_loss": {words: {"bits_per_byte": 1.0}},
    }
    path.write_text(json.dumps(json.loads(path.read_text("utf-8")) | told), "utf-8")
    done = interp("inspect", *form, "hostile")
    assert done.status == 0
    assert not {"\x1b", "\x9b", "\u202e"} & set(done.out)


def test_results_are_those_of_the_embedded_checkpoint(tiny, tmp_path, monkeypatch, capfd):
    monkeypatch.setattr("interp.checkpoints.default_checkpoint", lambda: tiny)
    with pytest.raises(SystemExit) as stopped:
        main(["--out", "kept"], program=program)
    assert not stopped.value.code
    assert (tmp_path / "kept" / "reports" / "first-look.html").is_file()
    assert "wrote kept/analyses/first-look/byte-classes.csv" in capfd.readouterr().err
    (tmp_path / "file").touch()
    with pytest.raises(SystemExit) as stopped:
        main(["--out", "file"], program=program)
    assert stopped.value.code == 1
    assert capfd.readouterr().err.startswith("interp: cannot make the folder file/")


@pytest.mark.parametrize("ckpt", ["missing", ".", "a-file"])
def test_a_checkpoint_that_is_none_is_one_line(interp, tmp_path, ckpt):
    (tmp_path / "a-file").write_text("", "utf-8")
    done = interp("inspect", ckpt)
    assert done.status == 1
    assert done.err.startswith("interp: load checkpoint ")
    assert len(done.err.splitlines()) == 2
