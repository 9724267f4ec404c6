import json
import shutil

import pytest

from interp import tables
from interp.analyses.byte_classes import byte_classes
from interp.reports.chart import rows_of
from interp.studies.study import MissingCheckpoint, StudyInput
from interp.studies.training_dynamics import RUNS, STUDY, TEXT_BYTES
from interp.studies.training_dynamics_verdicts import settled_from, verdicts

PER_LAYER = RUNS[0]


def save_step(source, folder, step):
    shutil.copytree(source, folder)
    config = json.loads((folder / "config.json").read_text("utf-8")) | {"step": step}
    (folder / "config.json").write_text(json.dumps(config), "utf-8")


@pytest.fixture(scope="module")
def run_folder(study_checkpoints, tmp_path_factory):
    """A run with two saved steps and its end: other weights at each."""
    top = tmp_path_factory.mktemp("runs")
    sources = ("en-zh-per-layer", "en-zh-shared", "en-zh-per-layer-seed0")
    save_step(study_checkpoints / sources[0], top / PER_LAYER, 300)
    save_step(study_checkpoints / sources[2], top / PER_LAYER / "steps/000100", 100)
    save_step(study_checkpoints / sources[0], top / PER_LAYER / "steps/000200", 200)
    (top / PER_LAYER / "steps/not-a-checkpoint").mkdir()
    return top


@pytest.mark.usefixtures("cache")
def test_every_saved_step_and_the_end_are_measured(run_folder, study_corpus):
    with StudyInput(run_folder, study_corpus) as given:
        found = STUDY.run(given)
        table = given.extraction(
            given.checkpoint(f"{PER_LAYER}/steps/000100"), "en", limit_bytes=TEXT_BYTES
        )
        wanted = rows_of(byte_classes(table).query("statistic == 'mean' and group == 'space'"))
    names = [f"{PER_LAYER}/steps/000100", f"{PER_LAYER}/steps/000200", PER_LAYER]
    for each in found.tables.values():
        assert list(dict.fromkeys(each["checkpoint"])) == names
    classes = rows_of(found.tables["classes-by-step"])
    of_space = [row for row in classes if row["group"] == "space" and row["checkpoint"] == names[0]]
    assert [row["value"] for row in of_space] == [row["value"] for row in wanted]
    assert {row["reference"] for row in classes if row["group"] == "lead E4-E9"} == {
        "running text, Chinese"
    }
    assert found.warnings == ["only 3 steps were saved"]
    assert "At 3 steps of its training" in found.question
    charts = [section.parts[1] for section in found.sections]
    for chart in charts:
        (first, *_) = chart.figures["light"]["wide"]["data"]
        assert first["x"] == [100, 200, 300]


@pytest.mark.usefixtures("cache")
def test_the_text_of_a_step_is_limited(run_folder, study_corpus):
    with StudyInput(run_folder, study_corpus, limit_bytes=1_000) as given:
        smaller = given.extraction(given.checkpoint(PER_LAYER), "en", limit_bytes=TEXT_BYTES)
        assert 0 < smaller.documents["n_bytes"].sum() <= 1_000
    with StudyInput(run_folder, study_corpus) as given:
        smaller = given.extraction(given.checkpoint(PER_LAYER), "en", limit_bytes=1_000)
        assert 0 < smaller.documents["n_bytes"].sum() <= 1_000


@pytest.mark.usefixtures("cache")
def test_the_steps_may_be_those_of_the_first_seed(run_folder, study_corpus, tmp_path):
    shutil.copytree(run_folder / PER_LAYER, tmp_path / RUNS[1])
    shutil.copytree(run_folder / PER_LAYER, tmp_path / PER_LAYER)
    shutil.rmtree(tmp_path / PER_LAYER / "steps")
    with StudyInput(tmp_path, study_corpus, limit_bytes=1_000) as given:
        found = STUDY.run(given)
    assert set(found.tables["classes-by-step"]["checkpoint"]) == {
        f"{RUNS[1]}/steps/000100",
        f"{RUNS[1]}/steps/000200",
        RUNS[1],
    }


def test_without_saved_steps_the_study_says_which_would_do(study_checkpoints):
    wanted = "no step of en-zh-per-layer or en-zh-per-layer-seed0 is saved in"
    with pytest.raises(MissingCheckpoint, match=wanted) as refused:
        STUDY.run(StudyInput(study_checkpoints, ()))
    assert "keep_steps" in refused.value.hint


def test_what_has_settled_holds_from_a_step_to_the_end():
    rows = [{"value": value} for value in (3, 1, 3, 4)]
    assert settled_from(rows, lambda row: row["value"] > 2) is rows[2]
    assert settled_from(rows, lambda row: row["value"] > 0) is rows[0]
    assert settled_from(rows, lambda row: row["value"] > 3) is rows[3]
    assert settled_from(rows, lambda row: row["value"] < 4) is None


STEPS = {"a": 10, "b": 100, "c": 1000}


def table_of(*layers, **about):
    """Rows of every layer at the three steps, from its values; 0.05 to either side."""
    return tables.analysis_table(
        {
            "checkpoint": checkpoint,
            "signal": "increment",
            "layer": layer,
            "value": value,
            "low": value - 0.05,
            "high": value + 0.05,
        }
        | about
        for layer, values in enumerate(layers)
        for checkpoint, value in zip(STEPS, values, strict=True)
    )


def answers(*, spaces=((1, 1, 2),), letters=((1, 1, 1),), areas=((0.5,) * 3,), shares=((0,) * 3,)):
    import pandas as pd

    classes = pd.concat(
        [
            table_of(*spaces, group="space", statistic="mean"),
            table_of(*letters, group="lowercase, word-internal", statistic="mean"),
        ]
    )
    return verdicts(
        STEPS,
        classes,
        table_of(*areas, statistic="roc_auc"),
        table_of(*shares, statistic="saturated_share", group="English"),
    )


def test_delimiters_are_found_from_the_step_at_which_they_stay_apart():
    found = answers(spaces=((1, 1.2, 2), (2, 2, 1)), letters=((1, 1, 1), (1, 1, 1)))[0]
    assert found.ours == "L0 from step 100 on; not at the end: L1"
    assert found.verdict == "In 1 of 2 layers."
    assert answers(spaces=((1, 1.05, 1.08),))[0].verdict.startswith("Not in this run")


def test_layers_leave_chance_at_their_step_and_side():
    found = answers(areas=((0.5, 0.6, 0.6), (0.4, 0.5, 0.4), (0.6, 0.5, 0.5)))[1]
    assert found.ours == (
        "L0 above from step 100 on; L1 below from step 1,000 on; not at the end: L2"
    )
    assert found.verdict.startswith("Yes")
    together = answers(areas=((0.5, 0.6, 0.6), (0.5, 0.4, 0.4)))[1]
    assert together.verdict.startswith("No: those")
    assert answers()[1].verdict.startswith("Not shown")


def test_a_layer_that_turns_round_is_named():
    found = answers(areas=((0.6, 0.5, 0.4), (0.5, 0.5, 0.6)))[2]
    assert found.ours == "L0 from above at step 10 to below at step 1,000"
    assert found.verdict.startswith("No")
    assert answers(areas=((0.6, 0.5, 0.7),))[2].verdict == "Yes, in this run."


def test_a_layer_at_its_bound_is_named_with_its_first_step():
    found = answers(shares=((0, 0.02, 0.5), (0.5, 0, 0)))[3]
    assert found.ours == "L0 50% of English at the end, above 1 % first at step 100"
    assert found.verdict.startswith("Yes")
    assert answers()[3].verdict == "No."
