"""Word boundaries in context and in other scripts, on tiny models and a few sentences."""

import numpy as np
import pytest
from made_scored_gaps import gaps_of

from interp.analyses.scored_gaps import ScoreColumn
from interp.analyses.word_boundaries import area_table
from interp.errors import InputError
from interp.studies import other_scripts, zh_boundaries_in_context
from interp.studies.boundary_scores import BoundaryScores, beats
from interp.studies.publishing import run_study
from interp.studies.study_input import StudyInput

CHINESE = [["我们", "喜欢", "喝", "绿茶"], ["河边", "有", "两", "只", "白鸟"], ["他", "明天", "来"]]
JAPANESE = [["川", "に", "鳥", "が", "いる"], ["私", "は", "お茶", "を", "飲む"]]


def treebank(path, sentences):
    """A treebank of these sentences, enough of them for ridge weights of a tiny model."""
    blocks = []
    for number, words in enumerate(sentences * 12):
        lines = [f"# newdoc id = {number // 4}"] if number % 4 == 0 else []
        lines += [f"# sent_id = {number}", f"# text = {''.join(words)}"]
        lines += [
            f"{place}\t{word}\t_\tX\t_\t_\t0\troot\t_\tSpaceAfter=No"
            for place, word in enumerate(words, 1)
        ]
        blocks.append("\n".join(lines))
    path.write_text("\n\n".join(blocks) + "\n\n", "utf-8")
    return path


@pytest.fixture
def asked(study_checkpoints, study_corpus, cache, tmp_path):  # noqa: ARG001
    chinese = treebank(tmp_path / "zh_own.conllu", CHINESE)
    japanese = treebank(tmp_path / "ja_own.conllu", JAPANESE)
    return StudyInput(
        study_checkpoints,
        study_corpus,
        references=(f"ud:{chinese}", f"ja=ud:{japanese}"),
        limit_bytes=6_000,
    )


def test_chinese_boundaries_stand_beside_everything_that_could_explain_them(asked, tmp_path):
    written = run_study(zh_boundaries_in_context.STUDY, asked, tmp_path / "out")
    names = {path.name for path in written}
    assert {"boundary-scores.csv", "boundary-differences.csv"} <= names
    page = (tmp_path / "out/reports/zh-boundaries-in-context.html").read_text("utf-8")
    for words in ("probe L0 (lead byte)", "-PMI (all of it)", "zh_own", "Verdict"):
        assert words in page
    readme = (tmp_path / "out/analyses/zh-boundaries-in-context/README.md").read_text("utf-8")
    assert "--reference ud:$TREEBANKS/zh_own.conllu" in readme
    assert "ja_own" not in readme  # which this study did not read


def test_differences_are_those_of_the_areas(asked):
    with asked:
        found = zh_boundaries_in_context.STUDY.run(asked).tables
    areas = found["boundary-scores"].query("statistic == 'roc_auc' and scored_at == 'lead byte'")
    areas = areas[areas["reference"].str.startswith("jieba")]
    increment = areas.query("signal == 'increment' and layer == 1")["value"].iloc[0]
    surprisal = areas.query("signal == 'surprisal'")["value"].iloc[0]
    differences = found["boundary-differences"]
    differences = differences[differences["reference"].str.startswith("jieba")]
    one = differences.query("layer == 1 and `group` == 'against surprisal'").iloc[0]
    assert one["value"] == pytest.approx(increment - surprisal, abs=1e-6)


def test_other_scripts_are_read_where_they_are_given(asked, tmp_path):
    run_study(other_scripts.STUDY, asked, tmp_path / "out")
    page = (tmp_path / "out/reports/other-scripts.html").read_text("utf-8")
    assert "Japanese (ja_own)" in page
    assert "English without its spaces" in page
    assert "zh_own" not in page


def test_other_scripts_without_any_text_say_what_to_give(study_checkpoints, cache):  # noqa: ARG001
    given = StudyInput(study_checkpoints, ())
    with pytest.raises(InputError, match="neither a Japanese or Thai treebank"), given:
        other_scripts.STUDY.run(given)


def test_a_layer_below_chance_is_not_turned_round_but_said_to_tell_more_that_way():
    draw = np.random.default_rng(2)
    documents, labels = np.repeat(np.arange(30), 40), draw.random(1200) < 0.5
    columns = {
        ScoreColumn("increment", 0, scored_at="lead byte"): -(labels + draw.normal(size=1200)),
        ScoreColumn("surprisal", scored_at="lead byte"): draw.normal(size=1200),
    }
    gaps = gaps_of(labels, documents, scores=columns)
    verdict = beats(BoundaryScores(gaps, area_table(gaps)), "surprisal", "It is better.").verdict
    assert verdict.startswith("No: every layer's increment is worse. But L0 would be better turned")


def test_a_constant_increment_is_the_same_turned_round():
    documents, labels = np.repeat(np.arange(30), 40), np.arange(1200) % 2 == 0
    columns = {
        ScoreColumn("increment", 0, scored_at="lead byte"): np.zeros(1200),
        ScoreColumn("surprisal", scored_at="lead byte"): -1.0 * labels + np.arange(1200) % 3 * 0.6,
    }
    gaps = gaps_of(labels, documents, scores=columns)
    verdict = beats(BoundaryScores(gaps, area_table(gaps)), "surprisal", "It is better.").verdict
    assert verdict == "Yes: L0."  # chance is better than what is below it
