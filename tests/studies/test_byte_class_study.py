from pathlib import Path

import pytest

from interp import checkpoints, tables
from interp.analyses.byte_classes import vocabulary_byte_classes
from interp.corpus.sources import sample_documents
from interp.extraction.extract import extract
from interp.studies.byte_class_study import (
    STUDY,
    chinese_signs_verdict,
    farthest_verdict,
    means,
    order_verdict,
    words_apart_verdict,
)
from interp.studies.published import LAYER_0_CLASSES, SHARED_CLASSES
from interp.studies.study_input import StudyInput
from interp.tables import rows_of
from interp.text import VOCABULARY_CLASSES

ROOT = Path(__file__).parent.parent.parent


def table_with(values):
    rows = [
        {"statistic": "mean", "group": group, "value": value} for group, value in values.items()
    ]
    return tables.analysis_table(rows)


def published_means():
    return {each.group: each.middle for each in SHARED_CLASSES}


def test_a_model_like_the_published_one_repeats_it():
    table = table_with(published_means())
    order = order_verdict("The shared model", table, SHARED_CLASSES)
    assert order.verdict == "Repeated, class by class."
    assert order.published == (
        "lowercase < continuation < lead E4-E9 < space < uppercase < , ; : - < . ! ? < newline "
        "< separator"
    )
    assert "tau 1.00 over 9 classes" in order.ours
    apart = words_apart_verdict("the shared model", table, SHARED_CLASSES)
    assert apart.verdict.startswith("Repeated")
    assert apart.published == "means inside of words 0.79 to 0.92, between them 1.05 to 2.90"
    assert apart.ours == apart.published


def test_a_model_that_is_the_other_way_round_does_not():
    table = table_with({group: -value for group, value in published_means().items()})
    order = order_verdict("The shared model", table, SHARED_CLASSES)
    assert order.verdict.startswith("Not repeated")
    apart = words_apart_verdict("the shared model", table, SHARED_CLASSES)
    assert apart.verdict == "Not repeated: separator has a mean of -2.900, lowercase of -0.790."


def test_neighbours_that_change_places_are_repeated_in_kind():
    swapped = published_means() | {"lowercase": 0.80, "continuation": 0.79}
    verdict = order_verdict("The shared model", table_with(swapped), SHARED_CLASSES)
    assert verdict.verdict.startswith("In part: the orders agree better than chance")
    # 3 pairs inside, 15 among the six others, of which one is turned round
    assert "18 of the 18 pairs of a class inside of words with one that is not" in verdict.verdict
    assert "17 of the 18 pairs on one side of that line" in verdict.verdict


def test_classes_that_are_level_in_the_published_table_have_no_order():
    table = table_with({each.group: each.middle for each in LAYER_0_CLASSES})
    verdict = order_verdict("Layer 0", table, LAYER_0_CLASSES)
    assert verdict.verdict == "Repeated, class by class."
    assert verdict.published.endswith("space = newline")


def test_the_farthest_classes_are_named():
    alike = farthest_verdict(table_with(published_means()), SHARED_CLASSES)
    assert alike.verdict == "Repeated."
    assert alike.ours == alike.published == "separator 2.90, newline 2.12, . ! ? 1.18"
    other = farthest_verdict(table_with(published_means() | {"space": 2.5}), SHARED_CLASSES)
    assert other.verdict == "Not repeated."
    assert other.ours.startswith("separator 2.90, space 2.50")


@pytest.mark.parametrize(
    ("signs", "answer"), [(1.1, "Yes."), (0.9, "No: they are nearer."), (1.01, "Undecided")]
)
def test_full_width_signs_are_judged_in_chinese_text(signs, answer):
    about = {"checkpoint": "en-zh-shared", "statistic": "mean"}
    table = tables.analysis_table(
        about
        | {"group": group, "reference": f"running text, {language}"}
        | {"value": value, "low": value - 0.02, "high": value + 0.02}
        for language, shift in (("Chinese", 0.0), ("English", 5.0))
        for group, value in (("lead, other", signs + shift), ("lead E4-E9", 1.0))
    )
    assert chinese_signs_verdict(table).verdict.startswith(answer)


@pytest.mark.parametrize(
    ("values", "answer"),
    [
        ({}, "Undecided: too few classes."),
        ({"space": 1.0, "newline": 2.0}, "Undecided: too few classes."),
        (dict.fromkeys(published_means(), 1.0), "Not repeated: there is no order."),
    ],
)
def test_too_little_or_all_alike_has_no_order(values, answer):
    assert order_verdict("It", table_with(values), SHARED_CLASSES).verdict == answer


@pytest.mark.usefixtures("cache")
def test_published_and_ours_stand_in_one_table(study_checkpoints, study_corpus):
    with StudyInput(study_checkpoints, study_corpus, limit_bytes=3000) as given:
        found = STUDY.run(given)
    by_byte = found.tables["byte-values"]
    published = by_byte.query("reference == 'published' and `group` == 'space'")
    assert published.query("checkpoint == 'en-zh-shared'")["value"].tolist() == [1.05] * 3
    ours = by_byte.query("reference == 'vocabulary'")
    assert set(ours["checkpoint"]) == {"en-zh-shared", "en-zh-per-layer"}
    running = found.tables["running-text"]
    assert set(running["reference"]) == {"running text, English", "running text, Chinese"}
    assert len(found.verdicts) == 6
    _, beside, *_ = found.sections[0].parts
    assert '<th scope="row">separator</th><td class="number">2.90</td>' in str(beside)


@pytest.mark.parametrize("each", [*SHARED_CLASSES, *LAYER_0_CLASSES])
def test_every_published_class_is_a_class_of_byte_values(each):
    assert each.group in VOCABULARY_CLASSES
    assert each.low <= each.middle <= each.high


@pytest.mark.parametrize("path", ["first-look/byte-classes.csv", "byte-classes/byte-values.csv"])
def test_the_table_that_is_kept_is_made_again(path, tmp_path):
    """Of the shipped model, on the opening of the sample text: a byte alone needs no more."""
    kept = ROOT / "analyses" / path
    if not kept.exists():
        pytest.skip(f"there is no analyses/{path}")
    wanted = tables.read_csv(str(kept)).query(
        "reference == 'vocabulary' and checkpoint == 'en-zh-per-layer'"
    )
    checkpoint = checkpoints.load(checkpoints.default_checkpoint())
    document = next(sample_documents("en"))
    increments = extract(checkpoint, lambda: iter([document]), tmp_path / "increments")
    again = rows_of(vocabulary_byte_classes(increments))
    assert len(again) == len(wanted) > 0
    for old, new in zip(rows_of(wanted), again, strict=True):
        value = old.pop("value")
        assert new.pop("value") == (None if value is None else pytest.approx(value, rel=1e-4))
        assert new == old


def test_means_leave_out_what_is_not_there():
    assert means(table_with({"space": 1.0, "digit": None})) == {"space": 1.0}
