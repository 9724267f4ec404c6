from pathlib import Path

import pandas as pd
import pytest
from saved_checkpoint import save_tiny

from interp.studies.registry import STUDIES


@pytest.fixture(scope="module")
def models(tmp_path_factory) -> str:
    folder = tmp_path_factory.mktemp("models") / "checkpoints"
    save_tiny(folder / "en-zh-shared", scope="shared", max_increment=None)
    save_tiny(folder / "en-zh-per-layer")
    return str(folder)


@pytest.fixture
def english(tmp_path) -> str:
    texts = ["One, two. Three\nfour!", "A b; c: d.", "Yes? No. Perhaps, or not."]
    pd.DataFrame({"text": texts}).to_parquet(tmp_path / "en.parquet")
    return "en=en.parquet"


@pytest.fixture
def study(interp, models, english):
    """Runs a study on the English text, into the folder o."""
    return lambda name, *more: interp(
        "study", name, "--checkpoints", models, "--corpus", english, *more, "--out", "o"
    )


def test_a_study_says_where_its_page_is(study):
    done = study("en-delimiters")
    assert done.status == 0, done.err
    assert Path("o/analyses/en-delimiters/delimiter-auc.csv").is_file()
    assert done.err.endswith(
        "en-delimiters: o/reports/en-delimiters.html, tables in o/analyses/en-delimiters\n"
    )
    assert "\nThresholding the shared increment finds space, newline" in done.err
    assert "not comparable" in done.err
    assert done.out == ""


def test_the_studies_are_listed(interp):
    done = interp("study", "--list")
    assert (done.status, done.err) == (0, "")
    assert [line.split()[0] for line in done.out.splitlines()] == list(STUDIES)


def test_all_passes_over_what_is_missing_and_says_so(study):
    done = study("all", "--corpus", "python=en.parquet")
    assert done.status == 0, done.err
    assert Path("o/reports/en-delimiters.html").is_file()
    assert "warning: skipped code: there is no checkpoint python-per-layer in" in done.err
    assert "warning: skipped loss-comparison: there is no Chinese text" in done.err
    assert not Path("o/reports/loss-comparison.html").exists()


def test_all_fails_if_none_could_be_run(interp, english):
    done = interp("study", "all", "--checkpoints", "nowhere", "--corpus", english, "--out", "o")
    assert done.status == 1
    assert done.err.count("skipped") == len(STUDIES)
    assert "interp: study: none could be run" in done.err
    assert not Path("o").exists()


def test_a_missing_checkpoint_is_one_line_and_a_hint(study):
    done = study("loss-comparison", "--corpus", "zh=en.parquet")
    assert done.status == 1
    first, hint = done.err.splitlines()
    assert first.startswith("interp: there is no checkpoint en-zh-rope in")
    assert hint.startswith("Train it with its recipe")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ((), "study: which one?"),
        (("nonsense", "--out", "o"), "there is no study 'nonsense'"),
        (("byte-classes",), "nowhere to write"),
        (("byte-classes", "--out", "o", "--corpus", "en.parquet"), "does not say which language"),
        (("byte-classes", "--out", "o", "--corpus", "en=x", "--limit", "0"), "leaves no text"),
    ],
)
def test_what_is_not_understood_is_status_2(interp, models, arguments, says):
    done = interp("study", *arguments, "--checkpoints", models)
    assert (done.status, done.out) == (2, "")
    assert says in done.err
    assert len(done.err.splitlines()) <= 2
