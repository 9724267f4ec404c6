import pytest
from small_family import TEXT, save_family

from interp import checkpoints
from interp.analyses.position_spans import IN_TRAINING, RATIO, SPAN
from interp.corpus.documents import Document
from interp.extraction.extract import extract
from interp.reports.chart import Chart
from interp.studies import length_extrapolation, rope_scaling
from interp.studies.family import MEMBERS
from interp.studies.length_verdicts import (
    Beyond,
    falls_apart_verdict,
    flat_verdict,
    increments_verdict,
)
from interp.studies.published import FAMILY, PUBLISHED
from interp.studies.rope_scaling_verdicts import scaling_verdict
from interp.studies.study_input import StudyInput
from interp.tables import rows_of

BANDS = ["positions 0-7", "positions 8-15", "positions 16-31"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("family")
    members = ("none", "learned-absolute", "alibi", "rope", "increments")
    save_family(folder / "checkpoints" / "family-characters", members=members)
    (folder / "text.txt").write_bytes(TEXT)
    return folder


def study_input(folder):
    return StudyInput(folder / "checkpoints", (f"characters={folder}/text.txt",))


@pytest.fixture(scope="module")
def longer(folder):
    with study_input(folder) as given:
        return length_extrapolation.STUDY.run(given)


@pytest.fixture(scope="module")
def stretched(folder):
    with study_input(folder) as given:
        return rope_scaling.STUDY.run(given)


def band_losses(found, checkpoint):
    table = found.tables["bands"]
    rows = rows_of(table[table["reference"].isna()].query("statistic == 'band_loss'"))
    return {row["group"]: row["value"] for row in rows if row["checkpoint"] == checkpoint}


def surprisal_by_position(folder, tmp_path, window, scaling=None):
    """Of the held-out text by hand: a list of values for each input position."""
    checkpoint = checkpoints.load(
        folder / "checkpoints/family-characters/rope-seed0", rope_scaling=scaling
    )
    part = checkpoint.split.held_out_part(TEXT)
    document = Document("text", "", bytes(part[:]))
    table = extract(
        checkpoint,
        lambda: [document],
        tmp_path / "table",
        signals=("surprisal",),
        window=window,
        stride=window,
    )
    found = {}
    for batch in table.batches("surprisal"):
        rows = zip(batch["context"].to_pylist(), batch["value"].to_pylist(), strict=True)
        for context, value in rows:
            if context:
                found.setdefault(context - 1, []).append(value)
    return found


def test_bands_are_means_over_the_positions_of_longer_windows(folder, longer, tmp_path):
    by_position = surprisal_by_position(folder, tmp_path, 32)
    means = [
        sum(sum(by_position[p]) for p in band) / sum(len(by_position[p]) for p in band)
        for band in (range(8), range(8, 16), range(16, 32))
    ]
    found = band_losses(longer, "rope-seed0")
    assert list(found) == BANDS
    assert list(found.values()) == pytest.approx(means, rel=1e-5)


def test_a_learned_table_is_read_as_far_as_it_goes_and_its_refusal_is_quoted(longer):
    assert list(band_losses(longer, "learned-absolute-seed0")) == BANDS[:1]
    (verdict,) = [each for each in longer.verdicts if "cannot run" in each.claim]
    assert verdict.verdict.startswith("Yes")
    assert "8" in verdict.ours
    (section,) = [each for each in longer.sections if each.title == "Learned absolute"]
    assert any("it says" in part for part in section.parts if isinstance(part, str))


def test_published_bands_stand_apart_from_ours(longer, stretched):
    for found in (longer, stretched):
        bands = found.tables["bands"]
        published = bands[bands["reference"] == PUBLISHED]
        assert set(published["statistic"]) == {"band_loss"}
        assert published["n"].isna().all()
        assert PUBLISHED not in set(found.tables["by-position"]["reference"].dropna())
    rows = rows_of(longer.tables["bands"].query("reference == @PUBLISHED"))
    of_rope = [row["value"] for row in rows if row["checkpoint"] == "rope-seed0"]
    assert of_rope == list(FAMILY["rope"].bands)


def test_members_are_told_in_order_with_what_lies_beyond(longer):
    titles = [section.title for section in longer.sections]
    there = ("none", "learned-absolute", "alibi", "rope", "increments")
    assert titles == [*(MEMBERS[member].title for member in there), "Side by side"]
    (chart,) = [part for part in longer.sections[-1].parts if isinstance(part, Chart)]
    lines = chart.figures["light"]["wide"]["data"]
    assert {line["name"] for line in lines} == {"seed 0", "seed 1", "RoPE, to compare with"}
    assert longer.picture.startswith("<svg")


def test_spans_of_learned_positions_are_set_beside_those_of_training(longer):
    rows = rows_of(longer.tables["position-spans"])
    trained = [row for row in rows if row["reference"] == IN_TRAINING and row["statistic"] == SPAN]
    assert {row["value"] for row in trained} == {8.0}
    ratios = [row for row in rows if row["statistic"] == RATIO]
    assert {row["group"] for row in ratios} == {"8 tokens", "16 tokens", "32 tokens"}
    for row in ratios:
        (span,) = [
            each
            for each in rows
            if each["statistic"] == SPAN
            and all(each[key] == row[key] for key in ("checkpoint", "layer", "group"))
        ]
        assert row["value"] == pytest.approx(span["value"] / 8)


@pytest.mark.parametrize("scaling", ["pi:2", "ntk:2", "yarn:2"])
def test_stretched_bands_are_those_of_the_stretched_model(folder, stretched, tmp_path, scaling):
    by_position = surprisal_by_position(folder, tmp_path, 16, scaling)
    first = [value for position in range(8) for value in by_position[position]]
    found = band_losses(stretched, f"rope ({scaling})-seed0")
    assert list(found) == BANDS[:2]
    assert found[BANDS[0]] == pytest.approx(sum(first) / len(first), rel=1e-5)
    assert found != band_losses(stretched, "rope (plain)-seed0")


def test_angles_before_and_after_are_those_of_the_definitions(stretched):
    rows = rows_of(stretched.tables["angles"])
    turns = {}
    for row in (row for row in rows if row["statistic"] == "turns"):
        turns.setdefault((row["signal"], row["scored_at"]), []).append(row["value"])
    trained = turns["plain", "8 tokens"]
    assert turns["plain", "16 tokens"] == pytest.approx([2 * value for value in trained])
    assert turns["pi:2", "16 tokens"] == pytest.approx(trained)
    fastest, slowest = (turns["ntk:2", "16 tokens"][end] / trained[end] for end in (0, -1))
    assert (fastest, slowest) == pytest.approx((2, 1))
    ratios = [row["value"] for row in rows if row["statistic"] == "turns_ratio"]
    assert ratios[:8] == pytest.approx([1] * 4 + [2] * 4)


def made(member, *bands):
    return {member: {f"band {n}": dict(enumerate(band)) for n, band in enumerate(bands)}}


@pytest.mark.parametrize(
    ("second", "answer"),
    [((3.1, 3.2, 3.15), "Yes."), ((2.1, 2.2, 2.15), "No."), ((2.1, 3.9, 2.5), "Undecided")],
)
def test_falling_apart_is_more_than_the_margin(second, answer):
    beyond = Beyond.of(made("sinusoidal", (2.0, 2.0, 2.0), second), "sinusoidal")
    assert falls_apart_verdict(beyond).verdict.startswith(answer)


@pytest.mark.parametrize(
    ("second", "third", "answer"),
    [
        ((2.0, 2.01, 1.99), (2.0, 2.01, 2.0), "Yes: band 1 flat; band 2 flat."),
        ((2.0, 2.01, 1.99), (2.3, 2.31, 2.3), "No: band 1 flat; band 2 worse by more."),
        ((2.0, 2.01, 1.99), (1.7, 1.71, 1.7), "No: band 1 flat; band 2 better by more."),
        ((2.0, 2.2, 1.8), (2.0, 2.01, 2.0), "Undecided: band 1 undecided; band 2 flat."),
    ],
)
def test_flat_has_to_be_shown_in_every_band(second, third, answer):
    losses = made("alibi", (2.0, 2.0, 2.0), second, third)
    assert flat_verdict(Beyond.of(losses, "alibi")).verdict == answer


def test_costs_of_increments_are_paired_with_those_of_rope():
    rope = Beyond.of(made("rope", (2.0, 2.1, 2.2), (2.5, 2.6, 2.71)), "rope")
    cheaper = Beyond.of(made("increments", (2.0, 2.1, 2.2), (2.3, 2.41, 2.5)), "increments")
    assert increments_verdict(cheaper, rope).verdict == "Yes: band 1 less."
    assert increments_verdict(rope, cheaper).verdict == "No: band 1 more."
    one = Beyond.of(made("increments", (2.0,), (2.3,)), "increments")
    assert increments_verdict(one, rope).verdict.startswith("Undecided")


@pytest.mark.parametrize(
    ("stretched", "is_worse_claimed", "answer"),
    [
        ((1.0, 1.1, 1.2), False, "Yes: its loss is lower."),
        ((3.0, 3.1, 3.2), False, "No: its loss is higher."),
        ((3.0, 3.1, 3.2), True, "Yes: its loss is higher."),
        ((1.0, 3.1, 2.2), False, "Undecided: the interval holds 0."),
        ((), False, "Undecided: no model to compare."),
    ],
)
def test_scalings_are_judged_by_their_interval_over_seeds(stretched, is_worse_claimed, answer):
    losses = {
        "rope (plain)": {BANDS[1]: dict(enumerate((2.0, 2.12, 2.2)))},
        "rope (ntk:2)": {BANDS[1]: dict(enumerate(stretched))},
    }
    found = scaling_verdict(
        losses, "rope", "ntk:2", BANDS[1], "A claim.", is_worse_claimed=is_worse_claimed
    )
    assert found.verdict == answer
    assert "-0.063" in found.published
