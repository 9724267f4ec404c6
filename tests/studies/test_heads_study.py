import pytest
from saved_checkpoint import save_tiny

from interp.analyses.heads import MIN_CONTEXT, P_VALUE, SIGNALS, WITHIN_LAYERS
from interp.errors import CheckpointError, InputError
from interp.reports.chart import Chart
from interp.studies.heads import STUDY, TOGETHER, over_all_verdict, within_layers_verdict
from interp.studies.models import PER_HEAD
from interp.studies.study_input import MissingCheckpoint, StudyInput
from interp.tables import analysis_table, rows_of

WORDS = {
    "en": "A heron stood in the shallow water and waited for the fish to come nearer. ",
    "zh": "一只苍鹭站在浅水里等着鱼游过来。",
}


def correlations(value, p_value, note=None):
    return analysis_table(
        {"statistic": f"{statistic}{ending}", "value": number, "n": 48, "note": note}
        for statistic in ("spearman", WITHIN_LAYERS)
        for ending, number in (("", value), (P_VALUE, p_value))
    )


@pytest.mark.parametrize(
    ("found", "answer"),
    [
        ((-0.5, 0.001), "Yes: the relation is negative"),
        ((0.5, 0.001), "No: the relation is the opposite one"),
        ((-0.2, 0.2), "Undecided: 20% of random permutations"),
        ((None, None, "not defined: why"), "Undecided: not defined: why."),
    ],
)
def test_the_answer_goes_by_sign_and_p(found, answer):
    for verdict in (within_layers_verdict, over_all_verdict):
        given = verdict(correlations(*found))
        assert given.verdict.startswith(answer)
        assert "-0.48" in given.published


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("study")
    save_tiny(folder / "checkpoints" / PER_HEAD, per_head=True, n_heads=4, n_ctx=512)
    for language, words in WORDS.items():
        for number in range(3):
            text = words * (5 + number)
            (folder / f"{language}-{number}.txt").write_text(text, "utf-8")
    return folder


def corpus(folder, *languages):
    return tuple(f"{language}={folder}/{language}-*.txt" for language in languages)


@pytest.mark.usefixtures("cache")
def test_every_head_is_measured_in_each_language_and_together(folder):
    with StudyInput(folder / "checkpoints", corpus(folder, "en", "zh")) as given:
        found = STUDY.run(given)
    rows = rows_of(found.tables["heads"])
    groups = [TOGETHER, "English", "Chinese"]
    assert list(dict.fromkeys(row["group"] for row in rows)) == groups
    for signal in SIGNALS:
        means = [row for row in rows if row["signal"] == signal and row["statistic"] == "mean"]
        assert len(means) == 3 * 2 * 4
        of_group = {row["group"]: row["n"] for row in means}
        assert of_group[TOGETHER] == of_group["English"] + of_group["Chinese"]
    distances = [row["value"] for row in rows if row["signal"] == "attention_distance"]
    assert all(0 < value < 512 for value in distances)
    answers = [each.verdict.split(":")[0] for each in found.verdicts]
    assert len(answers) == 4
    assert set(answers) <= {"Yes", "No", "Undecided"}
    (chart,) = [part for part in found.sections[0].parts if isinstance(part, Chart)]
    assert len(chart.figures["light"]["wide"]["data"]) == 2
    assert found.picture.startswith("<svg")


@pytest.mark.usefixtures("cache")
def test_short_texts_are_refused_in_a_line(folder, tmp_path):
    (tmp_path / "zh.txt").write_text("短。", "utf-8")
    given = (*corpus(folder, "en"), f"zh={tmp_path}/zh.txt")
    with (
        StudyInput(folder / "checkpoints", given) as study_input,
        pytest.raises(InputError, match=f"no token has {MIN_CONTEXT} tokens of context"),
    ):
        STUDY.run(study_input)


def test_a_model_without_heads_of_their_own_is_refused_before_the_text_is_read(tmp_path):
    save_tiny(tmp_path / PER_HEAD)
    with (
        StudyInput(tmp_path, ("en=nowhere.txt", "zh=nowhere.txt")) as given,
        pytest.raises(CheckpointError, match="every layer has its own increments"),
    ):
        STUDY.run(given)
    with StudyInput(tmp_path / "none", ()) as given, pytest.raises(MissingCheckpoint):
        STUDY.run(given)
