"""Study: what happens when a model reads windows longer than those of its training?"""

import pandas as pd
import torch

from interp.analyses.seeds import seed_interval
from interp.errors import InputError
from interp.reports.pictures import value_picture
from interp.studies.family import CHARACTERS, INCREMENTS, LEARNED, Family, family_of
from interp.studies.family_losses import trained_differently
from interp.studies.length_sections import lesson, side_by_side
from interp.studies.length_tables import (
    BandLosses,
    Lengths,
    band_losses,
    band_table,
    by_position,
    span_table,
)
from interp.studies.length_verdicts import Beyond, verdicts
from interp.studies.published import family_band_rows
from interp.studies.study import Finding, Study
from interp.studies.study_input import StudyInput
from interp.tables import analysis_table
from interp.training.family import run_name

TEXT = "characters"

FACTOR = 4
"""Windows are so many times as long as those of training."""

_QUESTION = (
    "Models are trained on windows of some length, and then asked to read further. What becomes "
    "of their predictions at positions that they never saw? The same small models as in "
    "position-encodings, one for each way of telling positions, read windows {factor} times as "
    "long as those of their training ({trained} tokens)."
)
_LIMITS = (
    "Bands differ in what a model can know as well as in positions: further in, there is more "
    "context to go by. A model that used it well would fall from band to band, so that a flat "
    "curve is not the best there could be.",
    "“Flat” and “falls apart” are what a margin makes of them, which was fixed before any model "
    "was trained.",
    "The intervals are over seeds: other runs on this text. They say nothing of other texts.",
    "Training windows of 64 characters are short. What holds from 64 to 256 need not hold from "
    "4 000 to 16 000.",
    "A learned absolute model is read in windows of the training length, which begin at other "
    "places than those of the others.",
)


def run(given: StudyInput) -> Finding:
    """Surprisal by position of every member and seed, in windows longer than in training."""
    family = family_of(given, CHARACTERS)
    lengths = Lengths.of(given.checkpoint(family.first(next(iter(family.seeds)))), FACTOR)
    names = {m: {seed: run_name(m, seed) for seed in seeds} for m, seeds in family.seeds.items()}
    found = []
    for member, seeds in family.seeds.items():
        for seed in seeds:
            checkpoint = given.checkpoint(family.name(member, seed))
            found.append(by_position(given, checkpoint, TEXT, lengths, names[member][seed]))
    curves = pd.concat(found, ignore_index=True)
    losses = band_losses(curves, names)
    published = analysis_table(family_band_rows())
    tables = {
        "bands": pd.concat([band_table(losses), published], ignore_index=True),
        "by-position": curves,
    }
    if INCREMENTS in family.seeds:
        tables["position-spans"] = span_table(given, family, INCREMENTS, TEXT, lengths)
    refusal = _refusal(given, family, lengths)
    return Finding(
        question=_QUESTION.format(factor=FACTOR, trained=lengths.trained),
        verdicts=verdicts(losses, tables.get("position-spans"), refusal),
        tables=tables,
        sections=[
            *lesson(family, losses, tables, refusal),
            side_by_side(family, losses, tables, lengths),
        ],
        limits=_LIMITS,
        warnings=[*family.missing, *trained_differently(given, family)],
        picture=_picture(losses),
    )


STUDY = Study(
    name="length-extrapolation",
    title="Reading further than a model was trained to",
    sentence="What ten position encodings make of windows up to four times as long as those of "
    "their training, position by position.",
    run=run,
    texts=(TEXT,),
)


def _refusal(given: StudyInput, family: Family, lengths: Lengths) -> str:
    """What a model with a learned table says of a window longer than the table."""
    if LEARNED not in family.seeds:
        return ""
    model = given.checkpoint(family.first(LEARNED)).model
    try:
        model(torch.zeros(1, lengths.window, dtype=torch.int64, device=model.W_E.device))
    except InputError as refused:
        return str(refused)
    return ""


def _picture(losses: BandLosses) -> str:
    """What the last band costs beyond the first, member by member."""
    costs = [list(Beyond.of(losses, member).last.values()) for member in losses]
    means = [seed_interval(values).value for values in costs]
    return value_picture(means, reference=0.0)
