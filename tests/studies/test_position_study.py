import shutil

import pytest
from safetensors.torch import load_file, save_file

from interp import checkpoints, notebook
from interp.studies.position_study import STUDY
from interp.studies.position_texts import CHINESE, ENGLISH, TEXTS
from interp.studies.publishing import run_study
from interp.studies.study_input import MissingCheckpoint, StudyInput
from interp.tables import rows_of


def test_the_two_sentences_of_the_essay_come_first_and_six_follow():
    assert ENGLISH.words == "Marie Curie, a Polish-born physicist, won two Nobel Prizes."
    assert CHINESE.words == "人工智能是计算机科学的一个分支。"
    assert TEXTS[:2] == (ENGLISH, CHINESE)
    assert len(TEXTS) == len({text.title for text in TEXTS}) == 8


def test_every_text_shows_all_models_above_one_another_in_both_scales(study_checkpoints, tmp_path):
    run_study(STUDY, StudyInput(study_checkpoints, ()), tmp_path)
    page = (tmp_path / "reports/character-positions.html").read_text("utf-8")
    for text in TEXTS:
        start = page.index(f"Character positions of {text.title}, model by model")
        assert "rows rope, shared, L0, L1" in page[start : start + 200]
        assert f"{text.title}, head by head · L1" in page
    assert page.count('name="scale" value="mean"') == page.count('name="scale" value="same"')
    assert page.count('name="scale" value="same"') == 8 * 3  # and a panel per layer of heads


def test_numbers_are_those_of_the_model(study_checkpoints):
    with StudyInput(study_checkpoints, ()) as given:
        found = STUDY.run(given)
    model = checkpoints.load(study_checkpoints / "en-zh-per-layer")
    wanted = notebook.increments(model, ENGLISH.words).increments
    (row,) = [
        row
        for row in rows_of(found.tables["character-spacing"])
        if (row["checkpoint"], row["layer"]) == ("en-zh-per-layer", 1)
        and (row["statistic"], row["group"]) == ("mean", "space")
        and row["reference"] == ENGLISH.title
    ]
    of_spaces = [i + 1 for i, letter in enumerate(ENGLISH.words) if letter == " "]
    assert row["n"] == 8
    assert row["value"] == pytest.approx(wanted[1, of_spaces].mean(), rel=1e-5)


def test_a_model_whose_characters_all_stand_on_one_spot_is_drawn(study_checkpoints, tmp_path):
    shutil.copytree(study_checkpoints / "en-zh-per-layer", tmp_path / "some/en-zh-per-layer")
    path = tmp_path / "some/en-zh-per-layer/model.safetensors"
    weights = load_file(path)
    for name in weights:
        if name.startswith("position.") and name.endswith("fc2.bias"):
            weights[name].fill_(-150.0)  # at which the increment is 0 in float32
    save_file(weights, path)
    _, _, page, _ = run_study(STUDY, StudyInput(tmp_path / "some", ()), tmp_path)
    assert "every increment is 0" in page.read_text("utf-8")


def test_models_that_are_not_there_are_left_out_and_none_is_an_error(study_checkpoints, tmp_path):
    shutil.copytree(study_checkpoints / "en-zh-rope", tmp_path / "some/en-zh-rope")
    with StudyInput(tmp_path / "some", ()) as given:
        found = STUDY.run(given)
    assert [verdict.verdict for verdict in found.verdicts] == ["Not drawn."] * 2
    assert set(found.tables["character-spacing"]["checkpoint"]) == {"en-zh-rope"}
    (tmp_path / "empty").mkdir()
    with pytest.raises(MissingCheckpoint, match="none of en-zh-rope, en-zh-shared"):
        STUDY.run(StudyInput(tmp_path / "empty", ()))
