import json
import shutil

import pytest
import torch
from small_family import TEXT, save_family

from interp import checkpoints
from interp.analyses.score_terms import VARIANCE_SHARE
from interp.errors import InputError
from interp.model.score_terms import TERMS
from interp.reports.chart import Chart
from interp.studies.family import MEMBERS, family_of
from interp.studies.family_losses import curve_table, losses_of
from interp.studies.position_encoding_verdicts import (
    near_published_verdict,
    order_verdict,
    paired_verdict,
)
from interp.studies.position_encodings import STUDY
from interp.studies.published import FAMILY, PUBLISHED
from interp.studies.study_input import MissingCheckpoint, StudyInput
from interp.tables import analysis_table, rows_of
from interp.training import family as trained_family


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("family")
    save_family(folder / "checkpoints" / "family-characters")
    (folder / "text.txt").write_bytes(TEXT)
    return folder


@pytest.fixture(scope="module")
def found(folder):
    with StudyInput(folder / "checkpoints", (f"characters={folder}/text.txt",)) as given:
        return STUDY.run(given)


def test_every_member_that_can_be_trained_is_told_of():
    assert list(MEMBERS) == list(trained_family.MEMBERS)


def test_the_lesson_has_a_section_for_each_in_order_and_then_all_side_by_side(found):
    titles = [section.title for section in found.sections]
    assert titles[:10] == [member.title for member in MEMBERS.values()]
    assert titles[10:] == ["Side by side", "Ranking, seed by seed", "How they learn"]
    for section, member in zip(found.sections, MEMBERS.values(), strict=False):
        assert section.parts[0] == member.what
        assert "2 seeds" in section.parts[1]


def test_published_numbers_stand_apart_from_ours(found):
    for stem, table in found.tables.items():
        has_published = set(table["reference"].dropna()) & {PUBLISHED}
        assert bool(has_published) == (stem in ("losses", "parameters", "published-differences")), (
            stem
        )
    losses = found.tables["losses"]
    ours = rows_of(losses[losses["reference"].isna()].query("statistic == 'loss'"))
    assert [row["value"] for row in ours[:2]] == pytest.approx([2.5, 2.51])
    theirs = rows_of(losses[losses["reference"] == PUBLISHED].query("statistic == 'mean_loss'"))
    assert {row["checkpoint"]: row["value"] for row in theirs} == {
        member: known.mean for member, known in FAMILY.items()
    }


def test_means_and_differences_are_over_seeds_and_paired(found):
    losses = found.tables["losses"]
    of_rope = losses[(losses["checkpoint"] == "rope") & losses["reference"].isna()]
    by_statistic = {row["statistic"]: row for row in rows_of(of_rope)}
    assert by_statistic["mean_loss"]["value"] == pytest.approx(2.5 - 0.05 * 5 + 0.005)
    assert by_statistic["sd_loss"]["value"] == pytest.approx(0.01 / 2**0.5)
    paired = found.tables["paired-differences"]
    of_none = rows_of(paired.query("checkpoint == 'none' and reference == 'rope'"))
    assert of_none[0]["value"] == pytest.approx(0.25)
    ranks = {row["checkpoint"]: row["value"] for row in rows_of(found.tables["ranks"])}
    assert ranks["none-seed0"] == 10
    assert ranks["rope-nope-seed1"] == 1


def test_score_terms_are_those_of_the_held_out_end(folder, found):
    terms = found.tables["score-terms"]
    assert set(terms["checkpoint"]) == {
        f"{member}{seed}"
        for member in ("sinusoidal", "learned-absolute")
        for seed in ("", "-seed0", "-seed1")
    }
    of_all = terms[(terms["checkpoint"] == "sinusoidal-seed0") & terms["head"].isna()]
    shares = rows_of(of_all[of_all["statistic"] == VARIANCE_SHARE])
    assert [row["group"] for row in shares] == list(TERMS)
    assert sum(row["value"] for row in shares) == pytest.approx(1)
    # 128 windows of 8 tokens: 36 pairs each, in 2 heads
    assert {row["n"] for row in shares} == {128 * 36 * 2}
    checkpoint = checkpoints.load(folder / "checkpoints/family-characters/sinusoidal-seed0")
    part = checkpoint.split.held_out_part(TEXT)
    assert part is not None
    ids = checkpoint.tokenizer.read(part).ids(0, 128 * 8).reshape(128, 8)
    name = "blocks.0.attn.hook_attn_scores"
    _, cache = checkpoint.model.run_with_cache(torch.from_numpy(ids).long(), names_filter=name)
    (size,) = rows_of(of_all.query("statistic == 'mean_absolute' and group == 'score'"))
    scores = cache[name]
    assert size["value"] == pytest.approx(scores[scores.isfinite()].abs().mean().item(), rel=1e-4)


def test_curves_are_means_of_ten_steps(found):
    rows = rows_of(found.tables["loss-curves"].query("checkpoint == 'none-seed0'"))
    assert [row["group"] for row in rows] == ["step 10", "step 20"]
    assert rows[0]["value"] == pytest.approx(2.5 + sum(1 / step for step in range(1, 11)) / 10)


def test_the_page_shows_tables_frequencies_and_curves(found):
    parts = [part for section in found.sections for part in section.parts]
    charts = {part.key: part for part in parts if isinstance(part, Chart)}
    assert list(charts) == ["frequencies", "table-cosines", "losses", "loss-curves"]
    assert all(chart.figures for chart in charts.values())
    shown = "".join(part for part in parts if isinstance(part, str))
    assert shown.count('class="cells"') == 3


def test_members_and_texts_that_are_not_there_are_left_out_with_a_line(tmp_path):
    save_family(tmp_path / "family-characters", members=("none", "rope"), seeds=(0,))
    config = tmp_path / "family-characters/none-seed0/config.json"
    about = json.loads(config.read_text("utf-8")) | {"step": 10}
    config.write_text(json.dumps(about), "utf-8")
    with StudyInput(tmp_path, ()) as given:
        found = STUDY.run(given)
    assert list(found.tables["ranks"]["checkpoint"]) == ["rope-seed0"]
    lines = "\n".join(found.warnings)
    assert "family-characters/none-seed0 is left out: its training is at step 10 of 20" in lines
    assert "there is no finished model family-characters/alibi-seed0" in lines
    assert "give the text with --corpus characters=FILE" in lines
    assert "no second setting" in lines
    verdicts = [each.verdict for each in found.verdicts]
    assert all(verdict.startswith("Undecided") for verdict in verdicts[1:])


def test_a_second_setting_has_its_own_section_and_tables(tmp_path):
    for setting in ("family-characters", "family-bytes"):
        save_family(tmp_path / setting, members=("none", "rope"))
    with StudyInput(tmp_path, ()) as given:
        found = STUDY.run(given)
    assert found.sections[-1].title == "A second setting: bytes"
    assert PUBLISHED not in set(found.tables["bytes-losses"]["reference"].dropna())
    assert set(found.tables["bytes-losses"]["scored_at"]) == {"family-bytes"}


def test_without_any_model_the_study_says_how_to_train_them(tmp_path):
    with StudyInput(tmp_path, ()) as given, pytest.raises(MissingCheckpoint) as refused:
        STUDY.run(given)
    assert "interp train-family family-characters" in refused.value.hint


@pytest.mark.parametrize(
    "line",
    [
        "[]",
        "{",
        '{"step": "1", "loss_nats": 2, "gradient_norm": 1}',
        '{"step": 1, "loss_nats": NaN, "gradient_norm": 1}',
        '{"step": 1}',
    ],
)
def test_a_record_of_steps_that_is_none_is_named(tmp_path, line):
    runs = save_family(tmp_path / "family-characters", members=("none",), seeds=(0,))
    (runs / "none-seed0/metrics.jsonl").write_text(line, "utf-8")
    with StudyInput(tmp_path, ()) as given, pytest.raises(InputError, match="line 1 is no step"):
        curve_table(given, family_of(given, "family-characters"))


def test_models_without_a_held_out_loss_are_refused_in_a_line(tmp_path):
    runs = save_family(tmp_path / "family-characters", members=("none",), seeds=(0,))
    config = runs / "none-seed0/config.json"
    about = json.loads(config.read_text("utf-8")) | {"held_out_loss": None}
    config.write_text(json.dumps(about), "utf-8")
    with StudyInput(tmp_path, ()) as given, pytest.raises(InputError, match="no held-out loss"):
        losses_of(given, family_of(given, "family-characters"))


def differences(values):
    rows = [{"checkpoint": member, "value": value} for member, value in values.items()]
    return analysis_table(rows)


@pytest.mark.parametrize(
    ("values", "answer"),
    [
        (dict.fromkeys(FAMILY, 0.05), "Yes."),
        (dict.fromkeys(FAMILY, 0.05) | {"none": -0.07}, "No: No positions lies further away."),
        (dict.fromkeys(FAMILY, 0.05) | {"none": None}, "Undecided: two seeds are needed of No pos"),
    ],
)
def test_nearness_to_the_published_means_goes_by_the_margin(values, answer):
    assert near_published_verdict(differences(values)).verdict.startswith(answer)


@pytest.mark.parametrize(
    ("seeds", "answer"),
    [
        (((1, 2, 3, 4, 5, 6), (1, 2, 3, 4, 5, 6)), "Yes, in every seed."),
        (((1, 2, 3, 4, 5, 6), (2, 1.9, 3, 4, 5, 6)), "By the mean, but not in every seed."),
        (((2, 1, 3, 4, 5, 6),), "No: not by the mean."),
    ],
)
def test_the_order_is_judged_seed_by_seed(seeds, answer):
    published = sorted(FAMILY, key=lambda member: FAMILY[member].mean)
    losses = {
        member: {seed: values[place] for seed, values in enumerate(seeds)}
        for place, member in enumerate(published)
    }
    assert order_verdict(losses).verdict == answer


def interval(member, low, high):
    about = {"checkpoint": member, "reference": "rope", "statistic": "mean_loss_difference"}
    return about | {"value": (low + high) / 2, "low": low, "high": high}


@pytest.mark.parametrize(
    ("ends", "answer"),
    [
        ([(-0.2, -0.1)], "Yes."),
        ([(0.1, 0.2)], "No: higher: RoPE and ALiBi."),
        ([(-0.1, 0.2)], "Undecided"),
        ([(-0.2, -0.1), (-0.1, 0.1)], "Not shown of all: lower: RoPE and ALiBi; undecided: "),
        ([(-0.2, -0.1), (0.1, 0.2)], "No, not each: lower: "),
    ],
)
def test_differences_are_judged_by_their_intervals(ends, answer):
    members = ("rope-alibi", "rope-nope")[: len(ends)]
    table = analysis_table(interval(m, *pair) for m, pair in zip(members, ends, strict=True))
    assert paired_verdict(table, members, "rope", "A claim.").verdict.startswith(answer)


def test_a_model_that_is_not_what_its_folder_says_is_left_out(tmp_path):
    family = save_family(tmp_path / "family-characters", members=("alibi", "rope"), seeds=(0,))
    shutil.copytree(family / "alibi-seed0", family / "rope-seed1")
    with StudyInput(tmp_path, ()) as given:
        found = family_of(given, "family-characters")
    assert found.seeds == {"alibi": [0], "rope": [0]}
    assert any("rope-seed1 is left out: its position encoding is alibi" in m for m in found.missing)
