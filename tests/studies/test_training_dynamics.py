import json
import shutil

import pandas as pd
import pytest

from interp import tables
from interp.analyses.byte_classes import byte_classes
from interp.studies.study_input import MissingCheckpoint, StudyInput
from interp.studies.training_dynamics import RUNS, STUDY, TEXT_BYTES
from interp.studies.training_dynamics_verdicts import settled_from, verdicts
from interp.tables import rows_of

PER_LAYER, SEED = list(RUNS)[:2]


def save_step(source, folder, step, **facts):
    shutil.copytree(source, folder)
    config = json.loads((folder / "config.json").read_text("utf-8")) | {"step": step} | facts
    (folder / "config.json").write_text(json.dumps(config), "utf-8")


@pytest.fixture(scope="module")
def run_folder(study_checkpoints, tmp_path_factory):
    """A run with two saved steps and its end: other weights at each."""
    top = tmp_path_factory.mktemp("runs")
    sources = ("en-zh-per-layer", "en-zh-shared", "en-zh-per-layer-seed0")
    save_step(study_checkpoints / sources[0], top / PER_LAYER, 300, is_done=True)
    save_step(study_checkpoints / sources[2], top / PER_LAYER / "steps/000100", 100)
    save_step(study_checkpoints / sources[0], top / PER_LAYER / "steps/000200", 200)
    # what a shorter run left that was gone on with: its learning rate had fallen
    save_step(study_checkpoints / sources[2], top / PER_LAYER / "steps/000250", 250, is_done=True)
    (top / PER_LAYER / "steps/not-a-checkpoint").mkdir()
    return top


@pytest.mark.usefixtures("cache")
def test_every_saved_step_and_the_end_are_measured(run_folder, study_corpus):
    stages = []
    progress = lambda name, _n_done, _n_all: stages.append(name)  # noqa: E731
    with StudyInput(run_folder, study_corpus, progress=progress) as given:
        found = STUDY.run(given)
        table = given.extraction(
            given.checkpoint(f"{PER_LAYER}/steps/000100"), "en", limit_bytes=TEXT_BYTES
        )
        wanted = rows_of(byte_classes(table).query("statistic == 'mean' and group == 'space'"))
    names = [f"{PER_LAYER}/steps/000100", f"{PER_LAYER}/steps/000200", PER_LAYER]
    assert (
        list(dict.fromkeys(stages))
        == [  # the end has the weights of the step before
            f"{name} on {words}" for name in names[:2] for words in ("English", "Chinese")
        ]
    )
    for each in found.tables.values():
        assert list(dict.fromkeys(each["checkpoint"])) == names
    assert found.tables["held-out-loss-by-step"]["value"].isna().all()  # none was measured
    classes = rows_of(found.tables["classes-by-step"])
    of_space = [row for row in classes if row["group"] == "space" and row["checkpoint"] == names[0]]
    assert [row["value"] for row in of_space] == [row["value"] for row in wanted]
    assert {row["reference"] for row in classes if row["group"] == "lead E4-E9"} == {
        "running text, Chinese"
    }
    assert found.warnings == ["only 3 steps of long run were saved"]
    assert "of a training run of the per-layer model, long run (300 steps)" in found.question
    charts = [section.parts[1] for section in found.sections[1:]]
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
def test_every_run_with_saved_steps_is_shown_beside_the_others(run_folder, study_corpus, tmp_path):
    unfinished = "en-zh-per-layer-seed1"
    for name in (SEED, unfinished, "en-zh-per-layer-seed2"):
        shutil.copytree(run_folder / PER_LAYER, tmp_path / name)
    about = json.loads((tmp_path / unfinished / "config.json").read_text("utf-8"))
    (tmp_path / unfinished / "config.json").write_text(json.dumps(about | {"is_done": False}))
    shutil.copytree(run_folder / PER_LAYER, tmp_path / PER_LAYER)
    shutil.rmtree(tmp_path / PER_LAYER / "steps")  # nothing is known of its way
    step = tmp_path / SEED / "steps/000100/config.json"
    loss = {"nats_per_byte": 2.5, "n_bytes": 100, "n_documents": 2}
    about = json.loads(step.read_text("utf-8")) | {"held_out_loss": {"en": loss}}
    step.write_text(json.dumps(about), "utf-8")
    with StudyInput(tmp_path, study_corpus, limit_bytes=1_000) as given:
        found = STUDY.run(given)
    assert list(found.tables["classes-by-step"]["checkpoint"].unique()) == [
        f"{name}{step}"
        for name in (SEED, "en-zh-per-layer-seed2")
        for step in ("/steps/000100", "/steps/000200", "")
    ]
    assert found.warnings[0] == "seed 1 is left out: its training is not done"
    losses = rows_of(found.tables["held-out-loss-by-step"])
    assert [(row["group"], row["value"], row["n"]) for row in losses if row["value"]] == [
        ("English", 2.5, 100)
    ]
    _, classes, words = found.sections
    assert [chart.title.rpartition(", ")[2] for chart in classes.parts[1:]] == ["seed 0", "seed 2"]
    (traces, *_) = [words.parts[1].figures["light"]["wide"]["data"]]
    assert {trace["name"] for trace in traces} == {"seed 0", "seed 2"}


@pytest.mark.usefixtures("cache")
def test_what_is_no_step_of_the_run_is_said(run_folder, study_checkpoints, study_corpus, tmp_path):
    recipe = {
        "name": "a run",
        "seed": 7,
        "corpora": {"en": {"train": ["a.txt"], "held_out": ["b.txt"]}},
    }
    for name in (PER_LAYER, SEED):
        shutil.copytree(run_folder / PER_LAYER, tmp_path / name)
    save_step(study_checkpoints / PER_LAYER, tmp_path / PER_LAYER / "steps/later", 400)
    save_step(study_checkpoints / PER_LAYER, tmp_path / PER_LAYER / "steps/null", None)
    save_step(study_checkpoints / PER_LAYER, tmp_path / PER_LAYER / "steps/seed", 50, recipe=recipe)
    (tmp_path / PER_LAYER / "steps/000120").symlink_to(tmp_path / PER_LAYER / "steps/000100")
    config = tmp_path / SEED / "config.json"
    config.write_text(json.dumps(json.loads(config.read_text("utf-8")) | {"recipe": recipe}))
    with StudyInput(tmp_path, study_corpus, limit_bytes=1_000) as given:
        found = STUDY.run(given)
    assert found.warnings == [
        *(
            f"{PER_LAYER}/steps/{name} is left out: it is no earlier step of long run"
            for name in ("later", "null", "seed")
        ),
        "seed 0 is left out: it was trained with seed 7",
        "only 3 steps of long run were saved",
    ]


def test_an_end_without_a_step_is_no_end(run_folder, study_corpus, tmp_path):
    shutil.copytree(run_folder / PER_LAYER, tmp_path / PER_LAYER)
    config = tmp_path / PER_LAYER / "config.json"
    config.write_text(json.dumps(json.loads(config.read_text("utf-8")) | {"step": None}))
    with pytest.raises(MissingCheckpoint, match="does not say at which step it ended"):
        STUDY.run(StudyInput(tmp_path, study_corpus))


def test_without_saved_steps_the_study_says_which_would_do(study_checkpoints):
    wanted = "no step of en-zh-per-layer or en-zh-per-layer-seed0 or .* is saved in"
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
LONGER = STEPS | {"c2": 2000}
OTHER = {"d": 10, "e": 100, "f": 1000}


def table_of(*layers, steps=STEPS, ends=0.05, **about):
    """Rows of every layer at the three steps, from its values; ``ends`` to either side."""
    return tables.analysis_table(
        {
            "checkpoint": checkpoint,
            "signal": "increment",
            "layer": layer,
            "value": value,
            "low": None if None in (ends, value) else value - ends,
            "high": None if None in (ends, value) else value + ends,
            "n_documents": 9,
        }
        | about
        for layer, values in enumerate(layers)
        for checkpoint, value in zip(steps, values, strict=True)
    )


def answers(
    *,
    spaces=((1, 1, 2),),
    letters=((1, 1, 1),),
    areas=((0.5,) * 3,),
    others=None,
    shares=((0,) * 3,),
    ends=0.05,
    ceiling=0.55,
    of_one=STEPS,
    note=None,
    n_documents=9,
):
    """Verdicts about one run, or about two of which ``others`` are the areas of the second."""
    runs = {"one": of_one} if others is None else {"one": of_one, "two": OTHER}
    about = {"note": note, "n_documents": n_documents}
    of_runs = [(of_one, areas), (OTHER, others)][: len(runs)]
    classes = [
        table_of(*values, steps=steps, group=group, statistic="mean", ends=ends_of, **about)
        for steps, _ in of_runs
        for values, group, ends_of in (
            (spaces, "space", ends),
            (letters, "lowercase, word-internal", 0.05),
        )
    ]
    lead_byte = {"signal": "lead_byte_ceiling", "statistic": "roc_auc", "value": ceiling}
    return verdicts(
        runs,
        pd.concat(classes),
        pd.concat(
            [
                *(
                    table_of(*each, steps=steps, statistic="roc_auc", **about)
                    for steps, each in of_runs
                ),
                tables.analysis_table([lead_byte]),
            ]
        ),
        pd.concat(
            [
                table_of(*shares, steps=steps, statistic="saturated_share", group="English")
                for steps, _ in of_runs
            ]
        ),
    )


def test_spaces_are_farther_from_the_step_at_which_they_stay_apart():
    found = answers(spaces=((1, 1.2, 2), (2, 2, 1), (1, 1, 0.5)), letters=((1, 1, 1),) * 3)[0]
    assert found.ours == (
        "L0 from step 100 on (1.200 times there, 2.00 times at the end), L1 alike at the end "
        "(1.00 times), L2 less at the end (0.50 times)"
    )
    assert found.verdict == "In part: L0."
    assert answers(spaces=((1, 1.05, 1.08),))[0].verdict == "In no layer at the end."
    assert answers(others=((0.5,) * 3,))[0].verdict == "In every layer."


def test_a_layer_that_steps_equally_at_every_space_can_be_farther():
    found = answers(spaces=((1, 1.2, 2),), ends=None)[0]  # one byte, one increment: no interval
    assert found.ours == "L0 from step 100 on (1.200 times there, 2.00 times at the end)"
    assert found.verdict == (
        "In every layer. At every space the increment of L0 is the same: without an interval, any "
        "difference from the letters counts."
    )


def test_a_class_that_the_text_lacks_is_not_defined():
    found = answers(spaces=((None,) * 3,))[0]
    assert found.ours == "L0 not defined"


def test_where_no_class_is_defined_nothing_is_said_of_layers():
    found = answers(spaces=((None,) * 3,), note="not defined: no such byte in the text")[0]
    assert found.verdict == "Not defined: no such byte in the text."


def test_a_mean_of_nothing_has_no_multiples():
    found = answers(spaces=((1, 1, 1),), letters=((0, 0, 0),))[0]
    assert found.ours == "L0 from step 10 on (letters at 0 there, letters at 0 at the end)"


def test_one_document_is_no_constant():
    found = answers(spaces=((1, 2, 3),), ends=None, n_documents=1)[0]
    assert found.verdict == "In no layer at the end."


def test_without_intervals_of_areas_their_verdicts_are_not_defined():
    note = "not defined: no gap between two Chinese characters in the text"
    found = answers(areas=((None,) * 3,), others=((None,) * 3,), note=note)
    assert [each.verdict for each in found[1:-1]] == [
        "Not defined: no gap between two Chinese characters in the text."
    ]


def test_runs_need_not_have_the_same_layers():
    deep, flat = ((0.6,) * 3, (0.7,) * 3), ((0.6,) * 3,)
    found = answers(
        areas=deep, others=flat, spaces=((1, 1, 2),), letters=((1, 1, 1),), shares=((0,) * 3,)
    )
    assert found[2].ours == "L0 above, above"
    assert found[2].verdict.startswith("Yes, every layer.")
    assert found[2].verdict.endswith("1.0 of 1 would on average.")
    assert found[0].verdict == "In every layer."


def test_layers_leave_chance_at_their_step_and_side():
    found = answers(areas=((0.5, 0.6, 0.61), (0.4, 0.5, 0.38), (0.6, 0.5, 0.5)))[1]
    assert found.ours == (
        "L0 above from step 100 on (0.610), L1 below from step 1,000 on (0.380), L2 not at the end"
    )
    assert found.verdict == (
        "2 of 3 layers end on one side of it. With their whole interval farther from it than the "
        "next character's lead byte alone is on this text, 0.550 or, turned round, 0.450: L0, L1."
    )
    low = answers(areas=((0.5, 0.6, 0.59),))[1]  # its interval begins below 0.55
    assert low.verdict.endswith("0.450: none.")
    of_two = answers(areas=((0.5, 0.6, 0.61),), others=((0.5, 0.4, 0.38),))[1]
    assert of_two.verdict.endswith("0.450: L0 of one, L0 of two.")


def test_runs_agree_on_a_layer_only_if_it_ends_on_one_side_in_all_of_them():
    areas, others = ((0.6,) * 3, (0.4,) * 3, (0.5,) * 3), ((0.7,) * 3, (0.6,) * 3, (0.5,) * 3)
    found = answers(areas=areas, others=others, spaces=((1,) * 3,) * 3, letters=((1,) * 3,) * 3)[2]
    assert found.ours == "L0 above, above; L1 below, above; L2 undecided, undecided"
    # 1 of 3 layers is above in one run and 2 in the other; below are 1 and none
    assert found.verdict == (
        "Only L0 above. Were the sides of each run dealt to its layers by lot, 0.7 of 3 would on "
        "average."
    )


def test_a_layer_that_turns_round_is_named():
    of_four = {"spaces": ((1,) * 4,) * 2, "letters": ((1,) * 4,) * 2, "shares": ((0,) * 4,) * 2}
    of_five = {"spaces": ((1,) * 5,), "letters": ((1,) * 5,), "shares": ((0,) * 5,)}
    areas = ((0.6, 0.6, 0.4, 0.4), (0.6, 0.6, 0.4, 0.5))  # one step alone is no turn
    found = answers(areas=areas, of_one=LONGER, **of_four)[2]
    assert found.ours == "L0 from above at step 10 to below at step 1,000"
    assert found.verdict == (
        "No: a layer can turn round while it is trained (1 turn). Begun at the first saved step, "
        "the least to go by: 1."
    )
    later = answers(areas=((0.5, 0.6, 0.6, 0.4, 0.4),), of_one=LONGER | {"c3": 3000}, **of_five)[2]
    assert later.verdict == "No: a layer can turn round while it is trained (1 turn)."
    assert answers(areas=((0.6, 0.6, 0.4),))[2].verdict == "Yes, in this run."
    assert answers(areas=((0.6, 0.5, 0.7),))[2].verdict.startswith("Not shown")
    assert answers()[2].verdict.startswith("Not shown")


def test_a_layer_at_its_bound_is_named_with_its_first_step():
    found = answers(shares=((0, 0.02, 0.5), (0, 0, 0)))[3]
    assert found.ours == (
        "L0 50% of the increments in English text at the end, above 1 % first at step 100"
    )
    assert found.verdict.startswith("Yes")
    passing = answers(shares=((0.5, 0.5, 0),))[3]
    assert passing.ours.startswith("L0 hardly any of the increments in English text at the end")
    assert passing.verdict == "No longer at the end."
    assert answers()[3].verdict == "No."
