import json
import re
import shutil

import pytest
from saved_checkpoint import save_tiny
from small_family import LINE, save_family

from interp import checkpoints, tables
from interp.checkpoints import save
from interp.corpus.sources import TextInput
from interp.errors import OutputError
from interp.model import IncrementsConfig, ModelConfig, RopeConfig, Transformer
from interp.reports.document import plotly_file
from interp.studies.demo import demo
from interp.studies.report import report
from interp.studies.results import results
from interp.training.family import run_name

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


def test_a_report_of_a_model_of_characters_does_not_speak_of_bytes(tmp_path):
    save_family(tmp_path / "family", members=("increments",), seeds=(0,))
    checkpoint = checkpoints.load(tmp_path / "family" / run_name("increments", 0))
    found = report(checkpoint, TextInput(literal=LINE.encode()), tmp_path / "page.html")
    assert "Character classes" in found.page
    assert "says with every character" in found.page
    for words in ("separator", "jieba", "lead byte", "Lead byte", "yte class", "every byte"):
        assert words not in re.sub(r"<(script|style).*?</\1>", "", found.page, flags=re.DOTALL)


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
        "reports/index.html",
        f"reports/{plotly_file()}",
    }
    about = (tmp_path / "analyses/first-look/README.md").read_text("utf-8")
    assert "make results" in about
    assert "MIT" in about
    assert "CC BY-SA 4.0" in about


def test_results_run_the_model_anew_and_repeat_to_the_last_digit(tiny, tmp_path, cache):
    first = [path.read_bytes() for path in results(tmp_path / "one", checkpoint=tiny)]
    again = [path.read_bytes() for path in results(tmp_path / "two", checkpoint=tiny)]
    assert first == again
    assert not (cache / "increments").exists()


@pytest.mark.parametrize(
    ("position", "says", "never"),
    [
        (IncrementsConfig(), "advance by a learned increment instead of 1", "plain rotary"),
        (RopeConfig(), "plain rotary positions puts every byte 1", "a learned increment instead"),
    ],
)
def test_the_page_opens_with_what_holds_for_the_model(tmp_path, position, says, never):
    sizes = {"d_model": 32, "n_heads": 2, "n_layers": 2, "d_mlp": 48, "n_ctx": 64}
    save(tmp_path / "model", Transformer(ModelConfig(**sizes, position=position)), name="model")
    checkpoint = checkpoints.load(tmp_path / "model")
    page = report(checkpoint, TextInput(literal=b"text"), tmp_path / "page.html").page
    lead = page[page.index('class="lead"') :][:300]
    assert says in lead
    assert never not in lead


def test_the_page_says_which_byte_values_it_counts(tiny, tmp_path):
    unknown = report(tiny, TextInput(literal=b"text"), tmp_path / "page.html").page
    assert "it is not known which of them training saw" in unknown
    assert "only those that training saw" not in unknown
    config = json.loads((tiny.folder / "config.json").read_text("utf-8"))
    shutil.copytree(tiny.folder, tmp_path / "counted")
    written = json.dumps(config | {"token_counts": [3] * 257})
    (tmp_path / "counted" / "config.json").write_text(written, "utf-8")
    counted = checkpoints.load(tmp_path / "counted")
    known = report(counted, TextInput(literal=b"text"), tmp_path / "page.html").page
    assert "only those that training saw" in known
    assert "it is not known which of them" not in known


@pytest.mark.parametrize(
    ("bound", "says"), [(1.0001, "L0 100.0%"), (1e6, "none above 1 %"), (None, None)]
)
def test_the_page_says_how_much_is_saturated(tmp_path, bound, says):
    checkpoint = checkpoints.load(save_tiny(tmp_path / "model", max_increment=bound))
    page = report(checkpoint, TextInput(literal=b"text"), tmp_path / "page.html").page
    if says is None:
        assert "of the bound" not in page
    else:
        assert says in page[page.index("Within 0.1 % of the bound") :][:100]


def test_japanese_text_is_warned_of_on_the_page_and_to_the_user(tiny, tmp_path):
    heard = []
    text = TextInput(literal="東京都に住む人々。".encode())
    found = report(tiny, text, tmp_path / "page.html", warn=heard.append)
    (warning,) = heard
    assert warning.startswith("kana or Hangul in 1 of 1 judged text: jieba")
    assert warning in found.page


def test_nothing_in_a_command_or_a_name_acts_on_the_page(tmp_path, tiny):
    found = report(
        tiny, TextInput(literal=b"text"), tmp_path / "page.html", command="a \x1b[31m \u202e b"
    )
    assert not set("\x1b\u202e") & set(found.page)
    assert "a ␛[31m &lt;U+202E&gt; b" in found.page
