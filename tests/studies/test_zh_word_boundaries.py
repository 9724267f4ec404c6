import json

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from interp import tables
from interp.analyses.word_boundaries import ALL_DOCUMENTS
from interp.corpus.sources import sample_documents
from interp.errors import UsageError
from interp.segmentation import find_segmenter
from interp.studies.publishing import run_study
from interp.studies.study_input import StudyInput
from interp.studies.zh_word_boundaries import STUDY
from interp.studies.zh_word_boundary_verdicts import PUBLISHED_AREAS, verdicts
from interp.tables import LEAD_BYTE_CEILING, rows_of


def areas(*values, low=0.02, ceiling=0.55):
    """A table with an area per layer, each with an interval of ``low`` to either side."""
    rows = [
        {
            "signal": "increment",
            "statistic": "roc_auc",
            "layer": layer,
            "value": value,
            "low": None if value is None else value - low,
            "high": None if value is None else value + low,
            "note": "not defined: no gaps" if value is None else None,
        }
        for layer, value in enumerate(values)
    ]
    about = {"signal": LEAD_BYTE_CEILING, "statistic": "roc_auc"}
    rows += [about | {"group": group, "value": ceiling} for group in ("cross-fitted", "in sample")]
    return tables.analysis_table(rows)


def answers(table, *, shared=None, **scripts):
    found = verdicts({ALL_DOCUMENTS: table} | scripts, shared)
    return [each.verdict for each in found]


@pytest.mark.parametrize(
    ("layers", "layer_0", "middle", "reversed_layers"),
    [
        ((0.5, 0.6, 0.6, 0.5), "Yes", "Yes: L1 is above chance and above the 0.550", "Not found"),
        ((0.47, 0.56, 0.4, 0.8), "Nearly", "but not surely above the 0.550", "Yes: L2, by more"),
        ((0.5, 0.525, 0.4, 0.5), "Yes", "chance, but below the 0.550", "Yes: L2, by more"),
        ((0.7, 0.5, 0.5, 0.9), "No: it is further", "Not shown: no middle layer", "Not found"),
        ((0.5, 0.72, 0.73, 0.5), "Yes", "more than in either published run", "Not found"),
        ((0.5, 0.4, 0.6, 0.5), "Yes", "The other way round, L1 knows more", "Yes: L1, by more"),
        ((0.47, 0.6, 0.4, 0.5), "Nearly", "Yes: L1", "Yes: L2, by more"),
        ((0.47, 0.6, 0.5, 0.5), "Nearly", "Yes: L1", "Not shown: L0, by no more than"),
        ((None, None, None, None), "Not defined", "Not defined", "Not found"),
    ],
)
def test_verdicts_follow_the_intervals(layers, layer_0, middle, reversed_layers):
    found = answers(areas(*layers))
    assert found[0].startswith(layer_0)
    assert middle in found[1]
    assert found[2].startswith(reversed_layers)


def test_a_model_whose_areas_have_no_interval_decides_nothing():
    table = areas(0.5, 0.8, 0.5)
    table[["low", "high"]] = None
    table["note"] = "no interval: one document only"
    assert answers(table)[:2] == ["Undecided: no interval: one document only."] * 2
    assert answers(areas(0.5), shared=table)[3] == "Undecided: no interval: one document only."


def test_the_middle_layer_that_is_surest_counts_and_not_the_one_with_the_largest_area():
    table = areas(0.5, 0.6, 0.7, 0.5)
    table.loc[table["layer"] == 2, ["low", "high"]] = [0.45, 0.95]
    assert answers(table)[1].startswith("Yes: L1 is above chance and above the 0.550")


def test_the_shared_model_is_judged_where_it_is_there():
    table = areas(0.5, 0.6, 0.5)
    assert answers(table)[3] == "Not measured."
    assert answers(table, shared=areas(0.51))[3].startswith("Yes")
    assert answers(table, shared=areas(0.46))[3].startswith("Nearly")
    assert answers(table, shared=areas(0.7))[3].startswith("No")


def test_scripts_are_compared_in_every_layer():
    table = areas(0.5, 0.5, 0.6, 0.5)
    assert answers(table)[4] == "Not measured."
    same = answers(table, simplified=areas(0.5, 0.5, 0.6), traditional=areas(0.5, 0.53, 0.59))
    assert same[4] == "Yes, as far as can be seen: in all 3 layers the intervals meet."
    other = answers(table, simplified=areas(0.5, 0.4, 0.7), traditional=areas(0.5, 0.5, 0.6))
    assert other[4].startswith("In 1 of 3 layers; not in L1, L2.")
    none = answers(table, simplified=areas(0.5, None), traditional=areas(0.5, 0.5))
    assert none[4].startswith("Undecided")


@pytest.fixture(scope="module")
def treebank(tmp_path_factory):
    words = ["他", "来到", "了", "北京", "大学", "。"]
    unread = "\t".join("_" * 7)
    lines = [f"{n}\t{word}\t{unread}\tSpaceAfter=No" for n, word in enumerate(words, 1)]
    path = tmp_path_factory.mktemp("treebank") / "zh_tiny.conllu"
    path.write_text("\n".join([f"# text = {''.join(words)}", *lines]) + "\n\n", "utf-8")
    return path


@pytest.mark.usefixtures("cache")
def test_the_study_repeats_a_small_part_on_the_sample_text(
    study_checkpoints, study_corpus, treebank
):
    given = StudyInput(study_checkpoints, study_corpus, references=(f"ud:{treebank}",))
    with given:
        found = STUDY.run(given)
        table = given.extraction(given.checkpoint("en-zh-per-layer"), "zh")
        segmenter = find_segmenter("zh")
        labels, scores, at_lead = [], [], []
        for document in table.read_documents("increment"):
            gaps = segmenter.gaps(document.content)
            labels.append(gaps.is_boundary)
            scores.append(document.values[gaps.tokens, 1])
            is_lead = np.isin(np.frombuffer(document.content, np.uint8), range(0xE4, 0xEA))
            at_lead.append(document.values[1:, 1][is_lead])
    row = only(found, "word-boundary-auc", checkpoint="en-zh-per-layer", layer=1)
    oracle = roc_auc_score(np.concatenate(labels), np.concatenate(scores))
    assert row["value"] == pytest.approx(oracle, abs=1e-9)
    assert row["method"].endswith("simultaneous for 2")
    assert row["n_documents"] == sum(1 for _ in sample_documents("zh"))
    shared = only(found, "word-boundary-auc", checkpoint="en-zh-shared")
    assert shared["layer"] is None
    published = only(found, "word-boundary-auc", checkpoint="the essay", layer=4)
    assert published["value"] == PUBLISHED_AREAS["the essay"][4]
    sizes = found.sections[0].parts[-1]
    mean, deviation = (moment(np.concatenate(at_lead)) for moment in (np.mean, np.std))
    assert f">{mean:.3f}</td>" in sizes
    assert f">{deviation:.3f}</td>" in sizes
    agreement = rows_of(found.tables["segmenter-agreement"])
    assert {row["reference"] for row in agreement} == {"zh_tiny"}


def only(found, table, **where):
    chosen = [
        row
        for row in rows_of(found.tables[table])
        if row["statistic"] == "roc_auc" and where.items() <= row.items()
    ]
    assert len(chosen) == 1
    return chosen[0]


@pytest.mark.usefixtures("cache")
def test_articles_are_told_apart_by_script_and_the_page_says_what_was_not_measured(
    study_checkpoints, tmp_path
):
    texts = ["计算机科学是一门学问。"] * 3 + ["計算機科學是一門學問。"] * 2 + ["计算機科學来來。"]
    path = tmp_path / "texts.jsonl"
    path.write_text("".join(json.dumps({"text": text}) + "\n" for text in texts), "utf-8")
    given = StudyInput(study_checkpoints, (f"zh={path}",))
    run_study(STUDY, given, tmp_path / "out")
    by_script = tables.read_csv(str(tmp_path / "out/analyses/zh-word-boundaries/by-script.csv"))
    base = by_script.query("statistic == 'base_rate'")
    documents = dict(zip(base["group"], base["n_documents"], strict=True))
    assert documents == {"simplified": 3, "traditional": 2, "mixed": 1}
    assert "simplified, in sample" in set(by_script["group"])
    page = (tmp_path / "out/reports/zh-word-boundaries.html").read_text("utf-8")
    assert "agreement with people was not measured" in page


def test_a_reference_that_is_no_treebank_is_refused(study_checkpoints):
    with pytest.raises(UsageError, match="--reference jieba is no treebank") as refused:
        StudyInput(study_checkpoints, (), references=("jieba",))
    assert refused.value.hint.startswith("Write --reference ud:FILE.conllu for Chinese")
    with pytest.raises(UsageError, match=r"en=ud:a\.conllu is no treebank"):
        StudyInput(study_checkpoints, (), references=("en=ud:a.conllu",))  # nobody reads it
    with pytest.raises(UsageError, match=r"ud:new/a\.conllu has the name of another treebank"):
        StudyInput(study_checkpoints, (), references=("ud:old/a.conllu", "ud:new/a.conllu"))
