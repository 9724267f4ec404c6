import json
import os
import shutil

import numpy as np
import pytest

from interp import checkpoints
from interp.errors import CheckpointError, InputError
from interp.model.loss import document_losses
from interp.studies.loss_comparison import STUDY
from interp.studies.loss_tables import losses_of, seed_differences
from interp.studies.loss_training import SAME_WINDOWS, recorded_runs, training_table
from interp.studies.loss_verdicts import method_verdict, training_verdicts
from interp.studies.models import PER_HEAD
from interp.studies.study_input import MissingCheckpoint, StudyInput
from interp.tables import rows_of

pytestmark = pytest.mark.usefixtures("cache")


def losses(nats_per_byte):
    return {"en": nats_per_byte, "zh": nats_per_byte}


def record(folder, **facts):
    """Say in a checkpoint what its training found."""
    path = folder / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text("utf-8")) | facts), "utf-8")


def recorded(english, chinese, n_bytes=200):
    return {
        language: {
            "nats_per_byte": nats,
            "bits_per_byte": nats / np.log(2),
            "n_bytes": n_bytes,
            "n_documents": 2,
        }
        for language, nats in (("en", english), ("zh", chinese))
    }


CORPORA = {"en": {"train": ["a.txt"], "held_out": ["b.txt"]}}


def recipe_with(seed, **others):
    return {"name": "a run", "seed": seed, "corpora": CORPORA} | others


@pytest.fixture
def all_runs(study_checkpoints, tmp_path):
    """All models; seed s of shared increments 0.1 + s / 10 above RoPE, of per-layer ones below."""
    shutil.copytree(study_checkpoints, tmp_path / "runs")
    for seed in range(3):
        for kind, english in (("rope", 2.0), ("shared", 2.1 + seed / 10), ("per-layer", 1.9)):
            folder = tmp_path / "runs" / f"en-zh-{kind}-seed{seed}"
            losses = recorded(english, 3.0)
            record(folder, recipe=recipe_with(seed), is_done=True, held_out_loss=losses)
    return tmp_path / "runs"


def of_seeds(*differences):
    """Losses of three models per seed: rope at 2, shared that much above it, per-layer too."""
    found = {}
    for seed, difference in enumerate(differences):
        found[f"en-zh-rope-seed{seed}"] = losses(2.0)
        found[f"en-zh-shared-seed{seed}"] = losses(2.0 + difference)
        found[f"en-zh-per-layer-seed{seed}"] = losses(2.0 + difference)
    return found


def test_losses_are_those_that_training_reports(study_checkpoints, study_corpus):
    with StudyInput(study_checkpoints, study_corpus) as given:
        found = losses_of(given, "en-zh-per-layer")
        model = checkpoints.load(study_checkpoints / "en-zh-per-layer").model
        for language in ("en", "zh"):
            contents = [bytes(document.content[:]) for document in given.documents(language)]
            expected = list(document_losses(model, contents, n_ctx=64, device=model.W_E.device))
            assert found[language].n_bytes.tolist() == [each.n_bytes for each in expected]
            assert found[language].nats == pytest.approx(
                [each.total_nats for each in expected], rel=1e-5
            )


def test_a_missing_long_run_ends_the_study_before_anything_is_read(
    study_checkpoints, study_corpus, tmp_path, cache
):
    shutil.copytree(study_checkpoints / "en-zh-rope", tmp_path / "en-zh-rope")
    with (
        StudyInput(tmp_path, study_corpus) as given,
        pytest.raises(MissingCheckpoint, match="en-zh-shared"),
    ):
        STUDY.run(given)
    assert not cache.exists()


def test_with_every_run_checkpoints_and_method_are_judged_apart(all_runs, study_corpus):
    with StudyInput(all_runs, study_corpus, limit_bytes=4000) as given:
        found = STUDY.run(given)
        read = {key.checkpoint for key in given.used_tables}
    assert len(given.used_checkpoints) == 3 + 9 + 1
    assert not any("seed" in name for name in read)  # their losses are known
    of_shared, method_shared, *_ = found.verdicts
    assert of_shared.published == "1.0747 - 1.0753 = -0.0006 nats per byte"
    assert "not about the method" in of_shared.verdict
    assert method_shared.claim.endswith("as a method.")
    assert "equivalence p" in method_shared.ours
    seeds = found.tables["seed-differences"]
    assert len(seeds) == 2 * 3 * (3 + 3)  # kinds; languages and both; seeds, and all together
    values = seeds.query("statistic == 'loss_difference' and `group` == 'English'")["value"]
    assert list(values) == pytest.approx([0.1, 0.2, 0.3, -0.1, -0.1, -0.1])
    (mean,) = seeds.query(
        "statistic == 'mean_loss_difference' and `group` == 'English' "
        "and checkpoint == 'en-zh-shared'"
    )["value"]
    assert mean == pytest.approx(0.2)
    per_head = found.tables["checkpoint-differences"]
    assert "en-zh-per-layer-per-head" not in set(per_head["checkpoint"])  # its seed is not known
    of_seed = [r for r in rows_of(found.tables["losses"]) if r["checkpoint"] == "en-zh-rope-seed1"]
    assert [(row["value"], row["n"], row["low"]) for row in of_seed] == [
        (2.0, 200, None),
        (3.0, 200, None),
    ]


def test_baselines_stand_beside_the_models_that_read_as_much(all_runs, study_corpus):
    for name in ("en-zh-rope", "en-zh-shared", "en-zh-per-layer"):
        record(all_runs / name, n_bytes_seen=5000)
    for seed in range(3):
        for kind in ("rope", "shared", "per-layer"):
            bits = {"en": {"xz": 3.0, "5-gram": 4.0}, "zh": {"xz": 4.0}}
            folder = all_runs / f"en-zh-{kind}-seed{seed}"
            record(folder, n_bytes_seen=2000, baselines=bits if seed == 1 else None)
    with StudyInput(all_runs, study_corpus, limit_bytes=4000) as given:
        found = STUDY.run(given)
    rows = [r for r in rows_of(found.tables["losses"]) if r["statistic"] == "baseline_loss"]
    note = "given the training text of en-zh-rope-seed1"
    assert [(r["checkpoint"], r["signal"], r["group"], r["value"], r["note"]) for r in rows] == [
        ("en-zh-rope-seed1", "xz", "English", pytest.approx(3 * np.log(2)), note),
        ("en-zh-rope-seed1", "5-gram", "English", pytest.approx(4 * np.log(2)), note),
        ("en-zh-rope-seed1", "xz", "Chinese", pytest.approx(4 * np.log(2)), note),
    ]
    assert found.verdicts[-1].ours == (
        "English after 2,000 bytes: models 1.900 to 2.300, xz 2.079, 5-gram 2.773; "
        "Chinese after 2,000 bytes: models 3.000 to 3.000, xz 2.773"
    )
    assert found.verdicts[-1].verdict == "English: 6 of 9 models do. Chinese: 0 of 9 models do."


def test_baselines_of_other_text_or_after_another_amount_are_not_compared(
    study_checkpoints, study_corpus, tmp_path
):
    """The best of all baselines of an amount counts, whichever model recorded it."""
    long_runs = ("en-zh-rope", "en-zh-shared", "en-zh-per-layer")
    for name in long_runs:
        shutil.copytree(study_checkpoints / name, tmp_path / name)
    with StudyInput(tmp_path, study_corpus, limit_bytes=4000) as given:
        n_read = {
            language: int(losses_of(given, "en-zh-rope")[language].n_bytes.sum())
            for language in ("en", "zh")
        }
    facts = recorded(2.0, 2.0)
    held_out = {language: facts[language] | {"n_bytes": n} for language, n in n_read.items()}
    bits = ({"en": {"xz": 99.0}, "zh": {"xz": 99.0}}, {"en": {"xz": 99.0, "5-gram": 0.5}}, None)
    for name, baselines in zip(long_runs, bits, strict=True):
        record(tmp_path / name, n_bytes_seen=5000, baselines=baselines, held_out_loss=held_out)

    def verdict() -> str:
        with StudyInput(tmp_path, study_corpus, limit_bytes=4000) as given:
            return STUDY.run(given).verdicts[-1].verdict

    assert verdict() == "English: 0 of 3 models do. Chinese: 3 of 3 models do."
    for name in long_runs:
        record(tmp_path / name, n_bytes_seen=None)
    assert verdict().startswith("Not known")
    for name in long_runs:
        record(tmp_path / name, n_bytes_seen=5000, held_out_loss=facts)
    assert verdict().startswith("Not known")


def test_without_recorded_baselines_that_is_not_known(study_checkpoints, study_corpus, tmp_path):
    for name in ("en-zh-rope", "en-zh-shared", "en-zh-per-layer"):
        shutil.copytree(study_checkpoints / name, tmp_path / name)
        record(tmp_path / name, baselines=None)
    with StudyInput(tmp_path, study_corpus, limit_bytes=4000) as given:
        found = STUDY.run(given)
    assert found.verdicts[-1].verdict.startswith("Not known: no baseline is recorded")
    assert "seed-differences" not in found.tables  # there is no seed


def test_the_per_head_model_is_compared_with_those_of_its_seed(all_runs, study_corpus):
    losses = recorded(2.0, 2.9)
    record(all_runs / PER_HEAD, recipe=recipe_with(1), is_done=True, held_out_loss=losses)
    with StudyInput(all_runs, study_corpus, limit_bytes=4000) as given:
        found = STUDY.run(given)
    rows = rows_of(found.tables["checkpoint-differences"])
    of_heads = [row for row in rows if row["checkpoint"] == PER_HEAD]
    assert [(row["reference"], row["group"], row["value"], row["low"]) for row in of_heads] == [
        ("en-zh-rope-seed1", "English", pytest.approx(0.0), None),
        ("en-zh-rope-seed1", "Chinese", pytest.approx(-0.1), None),
        ("en-zh-per-layer-seed1", "English", pytest.approx(0.1), None),
        ("en-zh-per-layer-seed1", "Chinese", pytest.approx(-0.1), None),
    ]
    (verdict,) = [each for each in found.verdicts if "heads" in each.claim]
    assert verdict.verdict.startswith(
        "In these runs lower than plain RoPE in Chinese, higher than per-layer in English, lower "
        "than per-layer in Chinese. With one run of each"
    )
    names = [row["checkpoint"] for row in rows_of(found.tables["losses"])]
    assert names.count("en-zh-rope-seed1") == names.count(PER_HEAD) == 2  # English and Chinese


def test_an_unfinished_seed_does_not_count_and_other_text_is_said(all_runs, study_corpus):
    record(all_runs / "en-zh-shared-seed0", is_done=False)
    record(all_runs / "en-zh-shared-seed1", held_out_loss=recorded(2.2, 3.0, n_bytes=100))
    with StudyInput(all_runs, study_corpus, limit_bytes=4000) as given:
        found = STUDY.run(given)
    methods = [each for each in found.verdicts if each.claim.endswith("as a method.")]
    assert [each.ours for each in methods] == ["2 of 3 seeds are there"] * 2
    differ, other_text, _ = found.warnings  # the last one is about records of steps
    assert differ.startswith("en-zh-rope-seed1, en-zh-shared-seed1, en-zh-per-layer-seed1")
    assert "differ in held-out text." in differ
    assert other_text.startswith("the losses of en-zh-rope-seed1, en-zh-shared-seed1, ")
    assert "over another amount of text than the one read here" in other_text


def test_three_runs_of_one_seed_are_no_three_seeds(all_runs, study_corpus):
    record(all_runs / "en-zh-rope-seed2", recipe=recipe_with(0))
    record(all_runs / "en-zh-rope-seed1", step=7)
    record(all_runs / "en-zh-shared-seed2", recipe=None)
    with StudyInput(all_runs, study_corpus, limit_bytes=4000) as given:
        found = STUDY.run(given)
    methods = [each for each in found.verdicts if each.claim.endswith("as a method.")]
    assert [each.ours for each in methods] == ["2 of 3 seeds are there"] * 2
    assert "en-zh-rope-seed2 was trained with seed 0, and is left out" in found.warnings
    unknown = "en-zh-shared-seed2 does not say with which seed it was trained, and is left out"
    assert unknown in found.warnings
    (budgets,) = [w for w in found.warnings if w.startswith("en-zh-rope-seed0, en-zh-rope-seed1 ")]
    assert "differ in step." in budgets


def test_without_the_seeds_the_method_is_undecided(study_checkpoints, study_corpus, tmp_path):
    for name in ("en-zh-rope", "en-zh-shared", "en-zh-per-layer", "en-zh-rope-seed0"):
        (tmp_path / name).symlink_to(study_checkpoints / name)
    with StudyInput(tmp_path, study_corpus, limit_bytes=4000) as given:
        found = STUDY.run(given)
    methods = [each for each in found.verdicts if each.claim.endswith("as a method.")]
    assert [each.verdict for each in methods] == ["Undecided: needs the three seed runs."] * 2
    assert methods[0].ours == "0 of 3 seeds are there"


def test_a_difference_of_training_is_said(study_checkpoints, study_corpus, tmp_path):
    for name in ("en-zh-rope", "en-zh-shared", "en-zh-per-layer"):
        shutil.copytree(study_checkpoints / name, tmp_path / name)
    record(tmp_path / "en-zh-shared", step=7, n_steps=7)
    with StudyInput(tmp_path, study_corpus, limit_bytes=2000) as given:
        (warning, _) = STUDY.run(given).warnings
    assert warning.startswith("en-zh-rope, en-zh-shared, en-zh-per-layer were not trained alike")
    assert "differ in step." in warning


@pytest.mark.parametrize(
    ("differences", "summary", "answer"),
    [
        ((-0.0001, 0.0, 0.0001), "Neutral", "neutral, within 0.005 nats per byte"),
        ((0.0021, 0.002, 0.0019), "Neutral", "nats per byte, though not zero: higher"),
        ((-0.1, -0.11, -0.12), "Not neutral", "not neutral, lower by more than 0.005 nats"),
        ((0.003, 0.004, 0.005), "Undecided", "higher, but whether by more than 0.005 is undecided"),
        ((-0.02, 0.01, 0.03), "Undecided", "undecided, neither a difference nor its absence"),
        ((0.01, 0.001, 0.05), "Undecided", "undecided, though higher in every seed"),
        ((0.001, 0.001, 0.001), "Undecided", "undecided, the test is not defined"),
    ],
)
def test_three_seeds_are_neutral_different_or_undecided(differences, summary, answer):
    table = seed_differences(of_seeds(*differences), [0, 1, 2])
    verdict = method_verdict("en-zh-shared", table, [0, 1, 2]).verdict
    assert verdict.startswith(f"{summary}. English: ")
    assert verdict.count(answer) == 3  # English, Chinese and both are alike here


def test_the_interval_and_the_test_of_three_seeds():
    table = seed_differences(of_seeds(0.001, 0.002, 0.003), [0, 1, 2])
    rows = [row for row in rows_of(table) if row["checkpoint"] == "en-zh-shared"]
    *_, mean, sd, p_value = [row for row in rows if row["group"] == "English"]
    half_width = 4.302653 * 0.001 / np.sqrt(3)
    assert mean["low"] == pytest.approx(0.002 - half_width)
    assert mean["high"] == pytest.approx(0.002 + half_width)
    assert sd["value"] == pytest.approx(0.001)
    assert p_value["value"] == pytest.approx(0.0175, abs=5e-4)  # t = 0.003 / 0.000577 = 5.2
    assert p_value["note"] == "margin 0.005 nats per byte"


def test_a_verdict_says_in_how_many_seeds_the_loss_is_higher():
    table = seed_differences(of_seeds(-0.001, 0.02, 0.03), [0, 1, 2])
    said = method_verdict("en-zh-shared", table, [0, 1, 2]).ours
    assert said.count("higher in 2 of 3 seeds") == 3  # English, Chinese and both are alike here


def test_the_mean_of_both_languages_has_their_weights_alike():
    losses = {
        f"en-zh-{kind}-seed{seed}": {"en": 1.0 + english, "zh": 2.0 + chinese}
        for kind, english, chinese in (
            ("rope", 0, 0),
            ("shared", 0.01, 0.03),
            ("per-layer", 0.02, -0.02),
        )
        for seed in range(3)
    }
    table = seed_differences(losses, [0, 1, 2]).query("statistic == 'mean_loss_difference'")
    values = {(row["checkpoint"], row["group"]): row["value"] for row in rows_of(table)}
    assert values["en-zh-shared", "both"] == pytest.approx(0.02)
    assert values["en-zh-per-layer", "both"] == pytest.approx(0.0)
    assert values["en-zh-per-layer", "Chinese"] == pytest.approx(-0.02)


def test_two_seeds_tell_nothing_together():
    table = seed_differences(of_seeds(0.001, 0.002), [0, 1])
    assert set(table["statistic"]) == {"loss_difference"}


def record_steps(folder, losses, norms, *, seed, decay_steps):
    """A record of steps, and a recipe with two steps of warm-up and a constant rate after it."""
    lines = [
        json.dumps({"step": step, "loss_nats": loss, "gradient_norm": norm})
        for step, (loss, norm) in enumerate(zip(losses, norms, strict=True), start=1)
    ]
    (folder / "metrics.jsonl").write_text("\n".join(lines), "utf-8")
    optimization = {
        "steps": len(losses),
        "warmup_steps": 2,
        "schedule": "constant",
        "decay_steps": decay_steps,
    }
    recipe = recipe_with(seed, optimization=optimization)
    record(folder, recipe=recipe, hardware=f"{seed + 1} CPU threads")


def test_training_on_the_way_is_compared_step_by_step(all_runs, study_corpus):
    """Per-layer runs jump once after warm-up; the long one is 0.25 above the short one."""
    for kind, above in (("rope", 0.0), ("shared", 0.001), ("per-layer", 0.5)):
        jumps = [99.0, 1.0, 12.0 if kind == "per-layer" else 9.0]
        for suffix, n_steps, decay_steps in (("", 250, 100), ("-seed0", 120, 40)):
            is_long = suffix == ""
            losses = [3 + above + (0.25 if is_long and kind == "per-layer" else 0)] * n_steps
            norms = [*jumps, *[1.0] * (n_steps - 3)]
            record_steps(
                all_runs / f"en-zh-{kind}{suffix}", losses, norms, seed=0, decay_steps=decay_steps
            )
    with StudyInput(all_runs, study_corpus) as given:
        table = training_table(recorded_runs(given, [0, 1, 2]))
    differences = [
        (row["checkpoint"], row["group"], round(row["value"], 6))
        for row in rows_of(table)
        if row["statistic"] == "training_loss_difference"
    ]
    assert differences == [
        *(("en-zh-shared", f"step {step}", 0.001) for step in (100, 200, 250)),
        *(("en-zh-per-layer", f"step {step}", 0.75) for step in (100, 200, 250)),
        *(("en-zh-shared-seed0", f"step {step}", 0.001) for step in (100, 120)),
        *(("en-zh-per-layer-seed0", f"step {step}", 0.5) for step in (100, 120)),
    ]
    same = [row for row in rows_of(table) if row["statistic"] == SAME_WINDOWS]
    assert [(row["checkpoint"], row["group"], row["n"], row["value"]) for row in same] == [
        ("en-zh-rope", "steps 3 to 80", 78, pytest.approx(0)),
        ("en-zh-shared", "steps 3 to 80", 78, pytest.approx(0)),
        ("en-zh-per-layer", "steps 3 to 80", 78, pytest.approx(0.25)),
    ]
    smooth, rounding = training_verdicts(table)
    assert smooth.ours.endswith("per-layer: 2 of 366 steps, largest norm 12.0")
    assert smooth.verdict == "It does: shared. It jumps: per-layer in 2 of 2 runs."
    assert rounding.verdict.startswith("By less than 0.005: plain RoPE, shared. By 50.0 times that")


def test_a_licence_or_a_longer_decay_makes_no_other_run_and_a_cosine_does(all_runs, study_corpus):
    names = ("en-zh-rope", "en-zh-rope-seed0")
    for changed, n_same in (({"licence": "CC0"}, 1), ({"autocast": "float32"}, 0)):
        for name, n_steps in zip(names, (9, 5), strict=True):
            losses = [2.0] * n_steps
            record_steps(all_runs / name, losses, [1.0] * n_steps, seed=0, decay_steps=1)
        config = json.loads((all_runs / names[0] / "config.json").read_text("utf-8"))
        record(all_runs / names[0], recipe=config["recipe"] | changed)
        with StudyInput(all_runs, study_corpus) as given:
            table = training_table(recorded_runs(given, [0]))
        assert list(table["statistic"]).count(SAME_WINDOWS) == n_same
    for name, n_steps in zip(names, (9, 5), strict=True):
        config = json.loads((all_runs / name / "config.json").read_text("utf-8"))
        optimization = {"steps": n_steps, "warmup_steps": 2, "schedule": "cosine"}
        changed = {"optimization": optimization, "autocast": "bfloat16"}
        record(all_runs / name, recipe=config["recipe"] | changed)
    with StudyInput(all_runs, study_corpus) as given:
        table = training_table(recorded_runs(given, [0]))
    assert SAME_WINDOWS not in set(table["statistic"])


def test_runs_of_other_recipes_are_not_taken_for_two_of_one(all_runs, study_corpus):
    record_steps(all_runs / "en-zh-rope", [2.0] * 5, [1.0] * 5, seed=0, decay_steps=1)
    record_steps(all_runs / "en-zh-rope-seed1", [2.0] * 5, [1.0] * 5, seed=1, decay_steps=1)
    with StudyInput(all_runs, study_corpus) as given:
        table = training_table(recorded_runs(given, [0, 1, 2]))
    assert SAME_WINDOWS not in set(table["statistic"])


def test_a_run_without_a_record_of_its_steps_is_named(all_runs, study_corpus):
    with StudyInput(all_runs, study_corpus, limit_bytes=2000) as given:
        found = STUDY.run(given)
    assert "training" not in found.tables
    (warning,) = [words for words in found.warnings if "metrics.jsonl" in words]
    assert "en-zh-per-layer-seed2" in warning


def test_a_run_whose_recipe_is_not_known_has_no_way_either(all_runs, study_corpus):
    record_steps(all_runs / "en-zh-rope", [2.0], [1.0], seed=0, decay_steps=1)
    record(all_runs / "en-zh-rope", recipe=None)
    with StudyInput(all_runs, study_corpus, limit_bytes=2000) as given:
        found = STUDY.run(given)
    assert any("en-zh-rope, " in words and "or a recipe" in words for words in found.warnings)


def test_another_model_under_the_name_is_refused(all_runs, study_corpus):
    shutil.rmtree(all_runs / "en-zh-rope")
    shutil.copytree(all_runs / "en-zh-per-layer", all_runs / "en-zh-rope")
    with (
        StudyInput(all_runs, study_corpus) as given,
        pytest.raises(CheckpointError, match="en-zh-rope: this name is for another model; here"),
    ):
        STUDY.run(given)


def test_a_damaged_recipe_is_named_with_its_checkpoint(all_runs, study_corpus):
    record(all_runs / "en-zh-rope-seed1", recipe=recipe_with(1.0))
    with (
        StudyInput(all_runs, study_corpus) as given,
        pytest.raises(CheckpointError, match=r"en-zh-rope-seed1: config.json: .*seed must be"),
    ):
        STUDY.run(given)


@pytest.mark.parametrize(
    "line",
    [
        '{"step": 1, "loss_nats": 1e308, "gradient_norm": 1}',
        '{"step": 1, "loss_nats": 1, "gradient_norm": NaN}',
        f'{{"step": 1{"0" * 400}, "loss_nats": 1, "gradient_norm": 1}}',
        '{"step": 0, "loss_nats": 1, "gradient_norm": 1}',
        "[" * 100_000,
    ],
)
def test_what_is_no_step_of_a_training_is_refused(all_runs, study_corpus, line):
    (all_runs / "en-zh-rope" / "metrics.jsonl").write_text(line, "utf-8")
    with (
        StudyInput(all_runs, study_corpus) as given,
        pytest.raises(InputError, match="line 1 is no step of a training run"),
    ):
        STUDY.run(given)


def test_a_record_of_steps_is_no_pipe_and_no_link(all_runs, study_corpus):
    path = all_runs / "en-zh-rope" / "metrics.jsonl"
    for make in (os.mkfifo, lambda path: path.symlink_to("/dev/zero")):
        make(path)
        with (
            StudyInput(all_runs, study_corpus) as given,
            pytest.raises(InputError, match=r"metrics.jsonl: (no regular file|a link)"),
        ):
            STUDY.run(given)
        path.unlink()
