import pandas as pd
import pytest

from interp import tables
from interp.analyses.delimiters import DELIMITERS, GROUPS
from interp.studies.en_delimiters import STUDY, layer_0_verdict, shared_verdict
from interp.studies.study_input import StudyInput
from interp.tables import rows_of


def areas(value, low, high):
    common = {"checkpoint": "en-zh-shared", "signal": "increment", "group": DELIMITERS}
    dealt = {"statistic": "permuted_roc_auc", "value": 0.5, "low": 0.2, "high": 0.8}
    note = None if value is not None else "not defined: no gaps"
    ours = {"statistic": "roc_auc", "value": value, "low": low, "high": high, "note": note, "n": 9}
    p_value = {"statistic": "permutation_p", "value": 0.001 if value and value > 0.8 else 0.06}
    return tables.analysis_table([common | ours, common | dealt, common | p_value])


@pytest.mark.parametrize(
    ("found", "answer"),
    [
        ((0.98, 0.97, 0.99), "Repeated: at least the published area"),
        ((0.9, 0.89, 0.91), "Repeated in kind"),
        ((0.79, 0.78, 0.81), "Not repeated: 0.06 of random permutations reach as much."),
        ((None, None, None), "Undecided: not defined: no gaps."),
    ],
)
def test_the_answer_compares_with_the_published_area_and_with_chance(found, answer):
    verdict = shared_verdict(areas(*found))
    assert verdict.published == "AUC 0.97"
    assert verdict.verdict.startswith(answer)


@pytest.mark.parametrize(
    ("value", "p_value", "answer"),
    [
        (0.9, 0.01, "It does: only 0.01 of random permutations reach as much."),
        (0.79, 0.03, "Barely: 0.03 of random permutations reach as much, and the two-sided band"),
        (0.79, 0.06, "Not shown: 0.06 of random permutations"),
    ],
)
def test_layer_0_is_judged_by_both_the_test_and_the_band(value, p_value, answer):
    found = areas(value, value - 0.01, value + 0.01)
    found.loc[found["statistic"] == "permutation_p", "value"] = p_value
    assert layer_0_verdict(found).verdict.startswith(answer)


def test_each_kind_of_delimiter_is_judged_alone():
    found = areas(0.98, 0.97, 0.99)
    alone = [
        found[found["statistic"] == "permutation_p"].assign(group=group, value=p_value)
        for group, p_value in (("space", 0.01), ("newline", 0.2), ("punctuation", 0.06))
    ]
    verdict = shared_verdict(pd.concat([found, *alone]))
    assert verdict.verdict.endswith(
        " Each kind alone: space beyond chance; newline, punctuation not."
    )


@pytest.mark.usefixtures("cache")
def test_the_shared_increment_stands_beside_every_layer(study_checkpoints, study_corpus):
    with StudyInput(study_checkpoints, study_corpus[:1]) as given:
        found = STUDY.run(given)
    table = found.tables["delimiter-auc"]
    rows = rows_of(table.query("statistic == 'roc_auc'"))
    assert {(row["checkpoint"], row["layer"]) for row in rows} == {
        ("en-zh-shared", None),
        ("en-zh-per-layer", 0),
        ("en-zh-per-layer", 1),
    }
    assert {row["group"] for row in rows} == set(GROUPS)
    dealt = rows_of(table.query("statistic == 'permuted_roc_auc'"))
    assert {(row["checkpoint"], row["layer"]) for row in dealt} == {
        ("en-zh-shared", None),
        ("en-zh-per-layer", 0),
    }
    assert len(found.verdicts) == 2
    assert found.picture.startswith("<svg")
