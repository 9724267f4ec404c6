import pytest
from bad_inputs import TEXTS, write_bad_input

PAGE = "page.html"


def test_report_writes_a_page_about_the_text_given(interp, tiny, tmp_path):
    done = interp("report", "--ckpt", tiny, "--text", "Two words. 两个词。", "--out", PAGE)
    assert done.status == 0
    assert done.out == ""
    assert done.err == f"page: {PAGE}\n"
    page = (tmp_path / PAGE).read_text("utf-8")
    assert "the text given" in page
    assert "--text" in page


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


@pytest.mark.parametrize("out", ["missing/page.html", ".", "file/page.html"])
def test_a_page_that_has_no_place_is_one_line(interp, tiny, tmp_path, out):
    (tmp_path / "file").write_text("", "utf-8")
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
    import json

    values = json.loads(interp("inspect", "--json", tiny).out)
    assert values["architecture"]["n_layers"] == 2
    assert len(values["fingerprint"]) == 64
    assert interp("inspect", "--csv", tiny).out.startswith("name,value\nname,tiny\n")


@pytest.mark.parametrize("ckpt", ["missing", ".", "a-file"])
def test_a_checkpoint_that_is_none_is_one_line(interp, tmp_path, ckpt):
    (tmp_path / "a-file").write_text("", "utf-8")
    done = interp("inspect", ckpt)
    assert done.status == 1
    assert done.err.startswith("interp: load checkpoint ")
    assert len(done.err.splitlines()) == 2
