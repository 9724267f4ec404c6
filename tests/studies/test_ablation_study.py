import pytest

from interp import tables
from interp.analyses.ablation import ALL_BYTES, AS_THEY_ARE
from interp.studies.ablation import STUDY
from interp.studies.ablation_verdicts import boundary_verdict, one_line, verdicts
from interp.studies.ablations import REPLACEMENTS
from interp.studies.study_input import StudyInput
from interp.tables import rows_of

COSTS, FREE, UNSURE = (0.2, 0.1, 0.3), (0.001, 0.0, 0.002), (0.1, -0.1, 0.3)


def change(name, layer, estimate, group=ALL_BYTES):
    value, low, high = estimate
    return {
        "statistic": "loss_difference",
        "signal": "surprisal",
        "reference": REPLACEMENTS[name].words,
        "layer": layer,
        "group": group,
        "value": value,
        "low": low,
        "high": high,
        "note": None if value is not None else "not defined: no bytes",
    }


def found(default=FREE, **estimates):
    """Rows of all replacements in layers 0, 1 and all; an estimate, or three, by name."""
    rows = [{"statistic": "loss", "group": ALL_BYTES, "reference": AS_THEY_ARE, "value": 2.0}]
    for name in REPLACEMENTS:
        given = estimates.get(name, default)
        each = given if isinstance(given, list) else [given] * 3
        rows += [change(name, layer, e) for layer, e in zip((0, 1, None), each, strict=True)]
    return rows_of(tables.analysis_table(rows))


@pytest.mark.parametrize(
    ("mean", "expected"),
    [
        ([COSTS, FREE, COSTS], "Yes, with all layers together; one layer at a time, it rises"),
        ([FREE, FREE, FREE], "No, with all layers together; one layer at a time, not with L0, L1."),
        ([UNSURE, UNSURE, UNSURE], "Undecided, with all layers together"),
    ],
)
def test_whether_the_loss_cares_is_said_for_all_layers_and_for_each(mean, expected):
    first, *_ = verdicts({"English": found(mean=mean)})
    assert first.claim.startswith("English: the model uses its increments")
    assert first.verdict.startswith(expected)
    assert "all layers " + f"{mean[2][0]:+.4f}" in first.ours


def test_the_bytes_table_is_told_from_the_published_claim():
    _, of_bytes, *_ = verdicts({"English": found(**{"byte-table": COSTS})})
    assert of_bytes.verdict.startswith("English: no, what the text before the byte adds")
    assert "is not tested" in of_bytes.verdict


@pytest.mark.parametrize(
    ("half", "double", "expected"),
    [(FREE, FREE, "yes"), (COSTS, FREE, "no, it costs"), (UNSURE, FREE, "undecided")],
)
def test_whether_scale_alone_counts(half, double, expected):
    of_scale = verdicts({"English": found(**{"scaled-0.5": half, "scaled-2": double})})[2]
    assert of_scale.verdict.startswith(f"English: {expected}")


def test_what_costs_nothing_is_counted_over_replacements_and_layers():
    free = verdicts({"English": found(COSTS, mean=[FREE, COSTS, COSTS], one=FREE)})[3]
    assert free.ours == "English, the layer's mean: L0; English, 1: L0, L1, all layers"
    assert free.verdict.startswith("Yes: 4 of 24")
    none = verdicts({"English": found(COSTS)})[3]
    assert (none.ours, none.verdict[:8]) == ("none", "No: 0 of")


@pytest.mark.parametrize(
    ("at", "elsewhere", "expected"),
    [
        ((0.5, 0.4, 0.6), COSTS, "Yes: "),
        (FREE, COSTS, "No: "),
        (UNSURE, COSTS, "Undecided: the intervals overlap"),
        ((0.5, None, None), COSTS, "Undecided: there is a change without"),
    ],
)
def test_boundaries_matter_most_where_intervals_do_not_meet(at, elsewhere, expected):
    rows = [change("mean", None, at, "here"), change("mean", None, elsewhere, "there")]
    verdict = boundary_verdict("English", rows, ("here", "there"), ("at ends", "elsewhere"))
    assert verdict.verdict.startswith(expected)


def test_without_bytes_at_boundaries_nothing_was_measured():
    verdict = boundary_verdict("English", [], ("here", "there"), ("at ends", "elsewhere"))
    assert verdict.verdict == "Not measured."


def test_the_answer_in_one_line_takes_the_plainest_replacement_that_was_made():
    assert one_line(found(mean=COSTS)) == (
        "Does the loss care? Yes: the layer's mean in all layers adds +0.2000 [+0.1000, +0.3000] "
        "nats per byte; one layer at a time, it rises with L0, L1."
    )
    only = [change("scaled-2", 1, UNSURE)]
    assert one_line(only).startswith("Does the loss care? Undecided: double in L1 adds +0.1000")


@pytest.mark.usefixtures("cache")
def test_the_study_has_every_cell_in_both_languages(study_checkpoints, study_corpus, tmp_path):
    for name in ("en-zh-per-layer", "en-zh-rope"):
        (tmp_path / name).symlink_to(study_checkpoints / name)
    with StudyInput(tmp_path, study_corpus, limit_bytes=2000) as given:
        result = STUDY.run(given)
    whole = rows_of(result.tables["loss-changes"].query("statistic == 'loss_difference'"))
    assert len(whole) == 2 * len(REPLACEMENTS) * 3
    assert {row["group"] for row in whole} == {"English, all bytes", "Chinese, all bytes"}
    boundaries = set(result.tables["boundaries"]["group"])
    assert "English, first letter of a word" in boundaries
    assert "Chinese, after a word end (jieba 0.42.1)" in boundaries
    others = rows_of(result.tables["other-models"].query("statistic == 'loss_difference'"))
    assert {row["checkpoint"] for row in others} == {"en-zh-rope"}
    assert {row["reference"] for row in others} == {"half", "double"}
    titles = [section.title for section in result.sections]
    assert titles == ["At a glance", "Classes of bytes", "Boundaries", "Other models"]
    assert len(result.verdicts) == 2 + 3 + 2
    assert result.picture.startswith("<svg")
