import json
import shutil

import numpy as np
import pytest

from interp import checkpoints
from interp.model.loss import document_losses
from interp.reports.chart import rows_of
from interp.studies.loss_comparison import STUDY, method_verdict
from interp.studies.loss_tables import Losses, losses_of, seed_differences
from interp.studies.study import MissingCheckpoint, StudyInput

pytestmark = pytest.mark.usefixtures("cache")


def losses(nats_per_byte):
    """Two documents of 100 bytes in each language."""
    each = Losses(np.array([100.0, 100.0]) * nats_per_byte, np.array([100, 100]))
    return {"en": each, "zh": each}


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


def test_with_every_run_checkpoints_and_method_are_judged_apart(study_checkpoints, study_corpus):
    with StudyInput(study_checkpoints, study_corpus, limit_bytes=4000) as given:
        found = STUDY.run(given)
    assert len(given.used_checkpoints) == 3 + 9 + 1
    of_shared, method_shared, *_ = found.verdicts
    assert of_shared.published == "1.0747 - 1.0753 = -0.0006 nats per byte"
    assert "not about the method" in of_shared.verdict
    assert method_shared.claim.endswith("as a method.")
    assert "equivalence p" in method_shared.ours
    seeds = found.tables["seed-differences"]
    assert len(seeds) == 2 * 2 * (3 + 2)
    values = seeds.query("statistic == 'loss_difference' and `group` == 'English'")["value"]
    (mean,) = seeds.query(
        "statistic == 'mean_loss_difference' and `group` == 'English' "
        "and checkpoint == 'en-zh-shared'"
    )["value"]
    assert mean == pytest.approx(values.iloc[:3].mean())
    per_head = found.tables["checkpoint-differences"]
    assert "en-zh-per-layer-per-head" not in set(per_head["checkpoint"])  # its seed is not known


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
    path = tmp_path / "en-zh-shared" / "config.json"
    config = json.loads(path.read_text("utf-8"))
    path.write_text(json.dumps(config | {"step": 7, "n_steps": 7}), "utf-8")
    with StudyInput(tmp_path, study_corpus, limit_bytes=2000) as given:
        (warning,) = STUDY.run(given).warnings
    assert warning.startswith("en-zh-rope, en-zh-shared, en-zh-per-layer were not trained alike")
    assert "differ in step." in warning


@pytest.mark.parametrize(
    ("differences", "answer"),
    [
        ((-0.0001, 0.0, 0.0001), "English: neutral, shown to be within 0.005 nats per byte."),
        ((0.0021, 0.002, 0.0019), "and higher by less than that"),
        ((-0.1, -0.11, -0.12), "English: not neutral, lower."),
        ((-0.02, 0.01, 0.03), "English: undecided, neither a difference nor its absence"),
    ],
)
def test_three_seeds_are_neutral_different_or_undecided(differences, answer):
    table = seed_differences(of_seeds(*differences), [0, 1, 2])
    assert answer in method_verdict("en-zh-shared", table, [0, 1, 2]).verdict


def test_the_interval_and_the_test_of_three_seeds():
    table = seed_differences(of_seeds(0.001, 0.002, 0.003), [0, 1, 2])
    rows = [row for row in rows_of(table) if row["checkpoint"] == "en-zh-shared"]
    mean, p_value = [row for row in rows if row["group"] == "English"]
    half_width = 4.302653 * 0.001 / np.sqrt(3)
    assert mean["low"] == pytest.approx(0.002 - half_width)
    assert mean["high"] == pytest.approx(0.002 + half_width)
    assert p_value["value"] == pytest.approx(0.0175, abs=5e-4)  # t = 0.003 / 0.000577 = 5.2
    assert p_value["note"] == "margin 0.005 nats per byte"
