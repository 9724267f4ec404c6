"""Study: what each way of telling a transformer where its tokens are is worth."""

import numpy as np
import pandas as pd

from interp.model.added_positions import Sinusoidal
from interp.reports.pictures import value_picture
from interp.studies.added_positions import cosine_table, frequency_table, score_term_table
from interp.studies.family import ADDED, BYTES, CHARACTERS, family_of
from interp.studies.family_losses import (
    MemberLosses,
    curve_table,
    loss_table,
    losses_of,
    paired_table,
    parameter_table,
    published_differences,
    rank_table,
    trained_differently,
)
from interp.studies.position_encoding_sections import lesson, second_setting, side_by_side
from interp.studies.position_encoding_verdicts import verdicts
from interp.studies.study import Finding, Study
from interp.studies.study_input import MissingCheckpoint, StudyInput
from interp.tables import analysis_table, select

TEXT = "characters"
"""The held-out text of the first setting."""

_N_DISTANCES = 129

_QUESTION = (
    "A transformer compares tokens two by two and knows nothing of their order unless it is told. "
    "There are many ways to tell it. Here small models, alike in everything else and trained on "
    "the same windows in the same order, each with another way: what is each of them, and how "
    "well does its model predict the next character?"
)
_LIMITS = (
    "A few hundred steps on one small text: which encoding learns fastest there need not be the "
    "one that is best after a long training.",
    "Three seeds decide little. An interval that holds 0 does not show that two encodings are "
    "alike, and there is no correction for looking at many of them.",
    "All encodings share one learning rate and one schedule. A better one for an encoding might "
    "change its place.",
    "The published means are of other random numbers, and their loss is that of at least ten "
    "batches of random windows, ours that of all of the held-out text. Of the published mean only "
    "the sd over three seeds is known, so that the difference has no interval.",
    "That a term of the score is large does not say that the model uses it well. In later layers "
    "content and position are mixed, and there is no such split.",
)


def run(given: StudyInput) -> Finding:
    """Losses of both settings, what they say side by side, and each encoding from within."""
    family = family_of(given, CHARACTERS)
    losses = losses_of(given, family)
    corpus = next(iter(losses))
    tables = {
        "losses": loss_table(losses, CHARACTERS, published=True),
        "published-differences": published_differences(losses[corpus]),
        "paired-differences": paired_table(losses, CHARACTERS),
        "ranks": rank_table(losses, CHARACTERS),
        "parameters": parameter_table(given, family),
    }
    tables["loss-curves"], missing = curve_table(given, family)
    missing = [*family.missing, *missing]
    if given.has_text(TEXT):
        tables["score-terms"] = score_term_table(given, family, TEXT)
    else:
        missing.append(f"no score was split: give the text with --corpus {TEXT}=FILE")
    if any(member in family.seeds for member in ADDED):
        tables["table-cosines"] = cosine_table(given, family)
    if "sinusoidal" in family.seeds:
        model = given.checkpoint(family.first("sinusoidal")).model
        encoding = model.position
        assert isinstance(encoding, Sinusoidal)
        table = frequency_table(model.config.d_model, encoding.base, _N_DISTANCES)
        tables["frequencies"] = table
    second, lines = _second_setting(given)
    tables |= second
    terms, paired = tables.get("score-terms", analysis_table([])), tables["paired-differences"]
    return Finding(
        question=_QUESTION,
        verdicts=verdicts(
            losses[corpus],
            tables["parameters"],
            tables["published-differences"],
            select(paired, group=corpus),
            terms,
        ),
        tables=tables,
        sections=[
            *lesson(given, family, tables),
            *side_by_side(given, family, tables),
            *second_setting(tables),
        ],
        limits=_LIMITS,
        warnings=[*missing, *lines, *trained_differently(given, family)],
        picture=_picture(losses[corpus]),
    )


STUDY = Study(
    name="position-encodings",
    title="Ten ways to tell a transformer where its tokens are",
    sentence="A lesson in position encodings, from none over sinusoids to rotations and learned "
    "increments: what each is, and the loss of models that differ in nothing else.",
    run=run,
)


def _second_setting(given: StudyInput) -> tuple[dict[str, pd.DataFrame], list[str]]:
    """Tables of the setting on bytes, and lines about what is not there."""
    try:
        family = family_of(given, BYTES)
    except MissingCheckpoint:
        return {}, [f"no second setting: there is no checkpoint of {BYTES}"]
    losses = losses_of(given, family)
    return {
        "bytes-losses": loss_table(losses, BYTES, published=False),
        "bytes-paired-differences": paired_table(losses, BYTES),
        "bytes-ranks": rank_table(losses, BYTES),
    }, list(family.missing)


def _picture(losses: MemberLosses) -> str:
    """The mean loss of every member, in the order of the lesson."""
    return value_picture([float(np.mean(list(values.values()))) for values in losses.values()])
