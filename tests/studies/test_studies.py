import os

import pytest
from saved_checkpoint import save_tiny

from interp import checkpoints, tables
from interp.corpus.sources import TextInput
from interp.errors import OutputError
from interp.studies.demo import demo
from interp.studies.facts import checkpoint_facts, checkpoint_values
from interp.studies.report import report
from interp.studies.results import results
from interp.studies.writing import write_text

pytestmark = pytest.mark.usefixtures("cache")


def test_a_report_says_what_was_measured_on_what(tiny, tmp_path):
    text = TextInput(literal="Two words. 两个词，两个句子。".encode())
    stages = []
    found = report(
        tiny,
        text,
        tmp_path / "page.html",
        command="the <command>",
        progress=lambda name, _n_done, _n_all: stages.append(name),
    )
    assert (tmp_path / "page.html").read_text("utf-8") == found.page
    for words in ("tiny", "the text given", "1 text, 38 bytes", "the &lt;command&gt;", "jieba"):
        assert words in found.page
    assert "not known to be held out" in found.page
    assert list(dict.fromkeys(stages)) == ["increments", "byte classes", "word boundaries"]


def test_a_report_of_a_model_with_shared_increments_per_head(tmp_path):
    checkpoint = checkpoints.load(
        save_tiny(tmp_path / "heads", scope="shared", per_head=True, max_increment=None)
    )
    found = report(checkpoint, TextInput(literal=b"text"), tmp_path / "page.html")
    assert "all layers share their increments, one per head" in found.page


def test_a_demo_runs_again_on_its_own_folder(tiny, tmp_path):
    first = demo(tmp_path / "demo", checkpoint=tiny)
    (tmp_path / "demo" / "report.html").write_text("spoilt", "utf-8")
    again = demo(tmp_path / "demo", checkpoint=tiny)
    assert again.page.read_text("utf-8") == first.found.page
    kept = tables.read_csv(str(again.word_boundaries))
    assert kept.equals(first.found.word_boundaries) or len(kept) == len(first.found.word_boundaries)


def test_a_demo_refuses_a_folder_with_something_else(tiny, tmp_path):
    (tmp_path / "mine.txt").write_text("mine", "utf-8")
    with pytest.raises(OutputError, match=r"holds something else \(mine.txt\)"):
        demo(tmp_path, checkpoint=tiny)


def test_a_demo_refuses_another_checkpoint_and_keeps_what_is_there(tiny, tmp_path):
    demo(tmp_path / "demo", checkpoint=tiny)
    page = (tmp_path / "demo" / "report.html").read_text("utf-8")
    other = checkpoints.load(save_tiny(tmp_path / "other", max_increment=5.0))
    with pytest.raises(OutputError, match="another"):
        demo(tmp_path / "demo", checkpoint=other)
    assert (tmp_path / "demo" / "report.html").read_text("utf-8") == page


def test_results_say_how_they_were_made_and_under_which_licence(tiny, tmp_path):
    written = results(tmp_path, checkpoint=tiny)
    assert {path.relative_to(tmp_path).as_posix() for path in written} == {
        "analyses/first-look/byte-classes.csv",
        "analyses/first-look/word-boundary-auc.csv",
        "analyses/first-look/README.md",
        "reports/first-look.html",
    }
    about = (tmp_path / "analyses/first-look/README.md").read_text("utf-8")
    assert "make results" in about
    assert "MIT" in about
    assert "CC BY-SA 4.0" in about


def test_results_repeat_to_the_last_digit(tiny, tmp_path):
    first = [path.read_bytes() for path in results(tmp_path / "one", checkpoint=tiny)]
    again = [path.read_bytes() for path in results(tmp_path / "two", checkpoint=tiny)]
    assert first == again


def test_what_cannot_be_written_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "page.html"
    write_text(path, "old")

    def fail(*_args):
        raise OSError(28, os.strerror(28))

    monkeypatch.setattr("pathlib.Path.write_bytes", fail)
    with pytest.raises(OutputError, match="no space left on device"):
        write_text(path, "new")
    assert path.read_text("utf-8") == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_facts_of_a_checkpoint_say_what_is_not_known(tiny):
    facts = dict(checkpoint_facts(tiny))
    assert facts["training"] == "not known"
    assert facts["model"].startswith("2 layers, 2 heads; every layer has its own increments")
    assert checkpoint_values(tiny)["split"]["n_hashes"] == 0
