from dataclasses import replace

import pytest

from interp import tables
from interp.analyses.entity_order import (
    FIRST_WORD,
    FIRST_WORD_MATCHED,
    MATCHED,
    MEDIAN_DIFFERENCE,
    ORDER,
    P_HOLM,
    P_VALUE,
    SHARE_SMALLER,
    EntityOrder,
)
from interp.analyses.word_pairs import FIRST_BYTE, SECOND_WORD, SPACE
from interp.studies.entity_file import read_pairs
from interp.studies.entity_order import STUDY
from interp.studies.entity_order_verdicts import verdicts
from interp.studies.entity_texts import CARRIERS, ENTITIES, ORDINARY_PAIRS
from interp.studies.publishing import run_study
from interp.studies.study_input import MissingCheckpoint, StudyInput
from interp.tables import rows_of

BOTH = (FIRST_BYTE, SECOND_WORD)
EVERYWHERE = [
    (ORDER, SPACE),
    (MATCHED, SPACE),
    *((each, place) for each in (FIRST_WORD, FIRST_WORD_MATCHED) for place in BOTH),
]


def made(comparison, place, layer, median, p, signal="increment"):
    """The rows of one layer; a median of None is that of a layer without any difference."""
    about = {"group": comparison, "scored_at": place, "layer": layer, "signal": signal}
    if median is None:
        note = "no difference at all: all 200 are 0"
        values = {MEDIAN_DIFFERENCE: 0.0, SHARE_SMALLER: None, P_VALUE: None, P_HOLM: None}
        n = {MEDIAN_DIFFERENCE: 200, SHARE_SMALLER: 0, P_VALUE: 0, P_HOLM: 0}
    else:
        share = 0.7 if median < 0 else 0.3
        values = {MEDIAN_DIFFERENCE: median, SHARE_SMALLER: share, P_VALUE: p, P_HOLM: p}
        n, note = dict.fromkeys(values, 200), None
    return [
        about | {"statistic": name, "value": value, "n": n[name], "note": note}
        for name, value in values.items()
    ]


def found(effects):
    """What a model of two layers shows: nothing in L0, in L1 what is said or nothing clear."""
    rows = []
    for where in EVERYWHERE:
        rows += made(*where, 0, None, None)
        rows += made(*where, 1, *effects.get(where, (-0.01, 0.6)))
    rows += made(FIRST_WORD, SECOND_WORD, None, -0.3, 0.001, "surprisal")
    shares = [
        {"group": each, "statistic": "share_matched", "value": 0.75, "n": 200}
        for each in (MATCHED, FIRST_WORD_MATCHED)
    ]
    return EntityOrder(tables.analysis_table(rows), tables.analysis_table(shares))


def test_without_a_clear_difference_nothing_is_claimed():
    answers = [each.verdict for each in verdicts(found({}))]
    assert answers[0].startswith("Not repeated")
    assert all(answer.startswith("Not shown") for answer in answers[1:4])
    assert answers[4] == "Yes, as it must."


@pytest.mark.parametrize(
    ("index", "where", "begins", "holds"),
    [
        (0, (ORDER, SPACE), "Repeated in L1", "expectation"),
        (1, (MATCHED, SPACE), "Yes, in L1", "still not grouping"),
        (2, (FIRST_WORD, FIRST_BYTE), "Yes, in L1 at its first byte", "cannot tell apart"),
        (3, (FIRST_WORD_MATCHED, SECOND_WORD), "Yes, in L1 over the word", "more than forward"),
    ],
)
def test_a_clear_difference_says_what_it_can_show(index, where, begins, holds):
    verdict = verdicts(found({where: (-0.02, 0.001)}))[index]
    assert verdict.verdict.startswith(begins)
    assert holds in verdict.verdict
    assert "L1 -0.02 (smaller in 70 % of pairs, p 0.001)" in verdict.ours
    assert "exactly 0 in L0" in verdict.ours
    turned = verdicts(found({where: (0.02, 0.001)}))[index].verdict
    assert turned.startswith("Not")
    assert "the larger one" in turned


def test_a_layer_0_that_differs_is_an_error_and_not_passed_over():
    broken = found({})
    rows = broken.comparisons
    moved = rows.assign(n=rows["n"].where(rows["n"] > 0, 3))
    answer = verdicts(replace(broken, comparisons=moved))[4]
    assert answer.verdict.startswith("No: the scores compare different bytes")
    assert "in 0 of 6 comparisons" in answer.ours


def test_the_lists_are_what_the_page_says_of_them():
    words = [word for pair in (*ENTITIES, *ORDINARY_PAIRS) for word in (pair.first, pair.second)]
    assert len(ENTITIES) >= 150
    assert len(CARRIERS) == 5
    assert len(words) == len({word.casefold() for word in words})
    assert all(pair.first[0].isupper() for pair in (*ENTITIES, *ORDINARY_PAIRS))
    assert all(pair.second[0].islower() for pair in ORDINARY_PAIRS)
    assert all(carrier.before.endswith(" ") for carrier in CARRIERS)


def test_the_study_needs_no_corpus_and_its_page_says_what_can_be_shown(
    study_checkpoints, tmp_path, monkeypatch
):
    monkeypatch.setattr("interp.studies.entity_order.ENTITIES", ENTITIES[::8])
    monkeypatch.setattr("interp.studies.entity_order.ORDINARY_PAIRS", ORDINARY_PAIRS[::6])
    run_study(STUDY, StudyInput(study_checkpoints, ()), tmp_path)
    page = (tmp_path / "reports/entity-order.html").read_text("utf-8")
    for words in ("expectation only", "expectation or grouping", "more than expectation"):
        assert words in page
    assert "not comparable" not in page
    table = tables.read_csv(str(tmp_path / "analyses/entity-order/entity-order.csv"))
    layer_0 = rows_of(table.query("layer == 0 and statistic == @MEDIAN_DIFFERENCE"))
    assert {(row["group"], row["scored_at"]) for row in layer_0} == set(EVERYWHERE)
    assert all(row["value"] == 0 for row in layer_0)
    matching = tables.read_csv(str(tmp_path / "analyses/entity-order/matching.csv"))
    assert len(matching.query("statistic == 'distance'")) == 2 * len(ENTITIES[::8])


def test_a_missing_checkpoint_is_named(tmp_path):
    with pytest.raises(MissingCheckpoint, match="en-zh-per-layer"):
        STUDY.run(StudyInput(tmp_path, ()))


def test_pairs_are_read_from_lines_with_spaces_tabs_or_commas(tmp_path):
    path = tmp_path / "own.csv"
    lines = 'first,second\nNew,York\n\n# a remark\n"Tel","Aviv"\nAddis\tAbaba\n北 京\n'
    path.write_bytes(b"\xef\xbb\xbf" + lines.encode())
    found = [str(pair) for pair in read_pairs(str(path))]
    assert found == ["New York", "Tel Aviv", "Addis Ababa", "北 京"]
