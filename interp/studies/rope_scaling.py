"""Study: can rotary positions be stretched to windows twice as long, without training?"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from interp.analyses.seed_tables import paired_values, seed_rows
from interp.checkpoints import Checkpoint
from interp.model.rotary import Rope
from interp.model.stretching import FASTEST, SLOWEST
from interp.reports.chart import Chart
from interp.reports.line_chart import Axis, Line, Panel, line_chart
from interp.reports.markup import Html
from interp.reports.page import Section
from interp.reports.pictures import value_picture
from interp.reports.verdicts import side_by_side
from interp.studies.family import CHARACTERS, INCREMENTS, MEMBERS, ROPE, Family, family_of
from interp.studies.length_sections import band_cells, band_titles
from interp.studies.length_tables import (
    BandLosses,
    Lengths,
    band_losses,
    band_table,
    by_position,
)
from interp.studies.published import rope_scaling_rows
from interp.studies.rope_scaling_verdicts import PLAIN, difference_in_words, verdicts
from interp.studies.study import Finding, Study
from interp.studies.study_input import StudyInput
from interp.tables import analysis_table, rows_of, select

TEXT = "characters"

FACTOR = 2

SCALINGS: Mapping[str, tuple[str, str]] = {
    PLAIN: (
        "Plain",
        "Nothing is done: the model reads on, and beyond the training length its slow pairs of "
        "channels turn to angles that it never saw.",
    ),
    f"pi:{FACTOR}": (
        "Position interpolation",
        "All positions are divided by two, so that a window of twice the length covers the angles "
        "of training and no others. But two neighbours now lie half a step apart, which the model "
        "never saw either.",
    ),
    f"ntk:{FACTOR}": (
        "NTK-aware",
        "The base of the frequencies grows, so that the slowest pair is slowed by two and the "
        "fastest not at all: neighbours keep their distance, and far tokens stay in the range "
        "of angles that is known.",
    ),
    f"yarn:{FACTOR}": (
        "YaRN",
        f"Pairs that turn less than {SLOWEST:g} time over the training length are slowed by two, "
        f"those that turn more than {FASTEST:g} times are left alone, those between in "
        "proportion; and scores are made a little larger.",
    ),
}
"""Title and what it is, by the name that --rope-scaling takes."""

_QUESTION = (
    "A RoPE model was trained on windows of {trained} tokens and is to read windows of {window}, "
    "untrained. Its frequencies can be stretched as it is loaded. Which way keeps its predictions "
    "good, and what do the same ways do to learned increments?"
)
_HOW_ANGLES = (
    "Each pair of channels turns at a speed of its own. The chart shows how many turns each pair "
    "makes over a window. The grey line is the training window (position interpolation lies on "
    "it): what lies below or on it the model has seen. Slow pairs, at the right, made less than "
    "one turn there, so that a longer window takes them to new angles; fast pairs have been all "
    "round many times."
)
_HOW_INCREMENTS = (
    "Learned increments are RoPE with steps of their own, so that the same frequencies can be "
    "stretched. How far positions reached in training is known of each layer from its "
    "checkpoint, which YaRN needs instead of the number of tokens."
)
_LIMITS = (
    "Untrained means that nothing was fine-tuned. Interpolation was published together with a "
    "short training at the new length, and is at its worst without one.",
    "Bands: the second is the one that is new to the model; what stretching costs in the first "
    "is the price where it was not needed.",
    "The intervals are over seeds: other runs on this text. They say nothing of other texts, and "
    "there is no correction for the number of comparisons.",
    "YaRN was made for longer windows, in which some pairs turn often; how many do here stands "
    "under the angles.",
)


def run(given: StudyInput) -> Finding:
    """Losses by band of both models, as they are and stretched in three ways."""
    family = family_of(given, CHARACTERS, (ROPE, INCREMENTS))
    lengths = Lengths.of(given.checkpoint(family.first(next(iter(family.seeds)))), FACTOR)
    names = {
        stretched_name(member, scaling): {
            seed: f"{stretched_name(member, scaling)}-seed{seed}" for seed in seeds
        }
        for member, seeds in family.seeds.items()
        for scaling in SCALINGS
    }
    found = []
    for member, seeds in family.seeds.items():
        for scaling in SCALINGS:
            for seed in seeds:
                checkpoint = _stretched(given, family.name(member, seed), scaling)
                name = names[stretched_name(member, scaling)][seed]
                found.append(by_position(given, checkpoint, TEXT, lengths, name))
    curves = pd.concat(found, ignore_index=True)
    losses = band_losses(curves, names)
    published = analysis_table(rope_scaling_rows())
    tables = {
        "bands": pd.concat([band_table(losses), published], ignore_index=True),
        "differences": difference_table(losses),
        "by-position": curves,
    }
    if ROPE in family.seeds:
        tables["angles"] = angle_table(given, family.first(ROPE), lengths)
    return Finding(
        question=_QUESTION.format(trained=lengths.trained, window=lengths.window),
        verdicts=verdicts(losses, lengths.names),
        tables=tables,
        sections=_sections(family, losses, tables, lengths),
        limits=_LIMITS,
        warnings=family.missing,
        picture=_picture(losses, lengths),
    )


STUDY = Study(
    name="rope-scaling",
    title="Stretching RoPE to twice its length",
    sentence="Position interpolation, NTK-aware scaling and YaRN on a small RoPE model and on "
    "learned increments: angles before and after, and what becomes of the predictions.",
    run=run,
    texts=(TEXT,),
)


def stretched_name(member: str, scaling: str) -> str:
    """What a model and its scaling are called in the tables.

    >>> stretched_name("rope", "ntk:2")
    'rope (ntk:2)'
    """
    return f"{member} ({scaling})"


def difference_table(losses: BandLosses) -> pd.DataFrame:
    """A scaling less plain, band by band and paired by seed, in nats per token.

    Returns:
        An analysis table: ``loss_difference`` of each seed, its mean with a t interval, its sd.
    """
    rows: list[dict[str, Any]] = []
    for member in (ROPE, INCREMENTS):
        plain = losses.get(stretched_name(member, PLAIN), {})
        for scaling in SCALINGS:
            name = stretched_name(member, scaling)
            for band in plain if scaling != PLAIN and name in losses else ():
                values = paired_values(losses[name].get(band, {}), plain[band])
                about = {"signal": "surprisal", "group": band, "reference": PLAIN}
                rows += seed_rows(name, values, "loss_difference", about)
    return analysis_table(rows)


def angle_table(given: StudyInput, name: str, lengths: Lengths) -> pd.DataFrame:
    """The turns that each pair of channels makes over a window, in layer 0, by scaling.

    Returns:
        An analysis table: ``signal`` is the scaling, ``group`` the pair of channels, and
        ``scored_at`` the tokens of the window: of the training window without scaling, and of
        the long one with each. ``turns_ratio`` is over those of the training window.
    """
    plain = given.checkpoint(name)
    lines = [(PLAIN, lengths.trained, plain)]
    lines += [(each, lengths.window, _stretched(given, name, each)) for each in SCALINGS]
    rows: list[dict[str, Any]] = []
    trained: dict[int, float] = {}
    for scaling, length, checkpoint in lines:
        encoding = checkpoint.model.position
        assert isinstance(encoding, Rope)
        frequencies, _ = encoding.frequencies(0)
        for pair, frequency in enumerate(frequencies.tolist()):
            about = {"checkpoint": plain.name, "signal": scaling, "statistic": "turns", "layer": 0}
            about |= {"group": f"pair {pair}", "scored_at": f"{length} tokens"}
            rows.append(about | {"value": frequency * length / (2 * math.pi)})
            seen = trained.setdefault(pair, frequency * length)
            ratio = {"statistic": "turns_ratio", "reference": "training"}
            rows.append(about | ratio | {"value": frequency * length / seen})
    return analysis_table(rows)


def _stretched(given: StudyInput, name: str, scaling: str) -> Checkpoint:
    return given.checkpoint(name, None if scaling == PLAIN else scaling)


def _sections(
    family: Family, losses: BandLosses, tables: Mapping[str, pd.DataFrame], lengths: Lengths
) -> list[Section]:
    sections = []
    if "angles" in tables:
        parts = [_HOW_ANGLES, *_angle_charts(tables["angles"], lengths)]
        parts.append(_pairs_in_words(tables["angles"]))
        sections.append(Section("Angles before and after", parts))
    if ROPE in family.seeds:
        for scaling, (title, what) in SCALINGS.items():
            found = found_in_words(losses, ROPE, scaling)
            sections.append(Section(title, [what, *([found] if found else [])]))
        shown = _bands(tables["bands"], ROPE, lengths)
        sections.append(Section("RoPE, side by side", [shown]))
    if INCREMENTS in family.seeds:
        found = [found_in_words(losses, INCREMENTS, scaling) for scaling in SCALINGS]
        shown = _bands(tables["bands"], INCREMENTS, lengths)
        parts = [_HOW_INCREMENTS, *filter(None, found), shown]
        sections.append(Section("Learned increments", parts))
    return sections


def found_in_words(losses: BandLosses, member: str, scaling: str) -> str:
    """A scaling less plain, band by band; nothing of plain itself."""
    if scaling == PLAIN:
        return ""
    said = difference_in_words(
        losses[stretched_name(member, scaling)], losses[stretched_name(member, PLAIN)]
    )
    title = SCALINGS[scaling][0]
    return f"{title} less plain, {MEMBERS[member].title}, nats per character by seed: {said}."


def _pairs_in_words(angles: pd.DataFrame) -> str:
    """How many pairs YaRN treats how."""
    window = angles["scored_at"].iloc[0]
    first = select(angles, signal=PLAIN, scored_at=window, statistic="turns")
    turns = np.array(first["value"], dtype=float)
    n_slow, n_fast = int((turns < SLOWEST).sum()), int((turns > FASTEST).sum())
    return (
        f"Over the training window the fastest pair of this model makes {turns.max():.1f} turns "
        f"and the slowest {turns.min():.4f}; {n_slow} of {len(turns)} pairs make less than "
        f"{SLOWEST:g}, and {n_fast} more than {FASTEST:g}."
    )


def _angle_charts(table: pd.DataFrame, lengths: Lengths) -> list[Chart]:
    """Turns before and after, and the second over the first."""
    turns = _angle_lines(select(table, statistic="turns"), lengths)
    ratios = _angle_lines(select(table, statistic="turns_ratio"), lengths)
    x = Axis("pair of channels, from the fastest")
    return [
        line_chart(
            [Panel("", turns)],
            key="angles",
            title="Turns of each pair of channels over a window",
            x=x,
            y=Axis("turns", is_log=True, marks=(1.0,)),
            note="The dotted line is one whole turn.",
        ),
        line_chart(
            [Panel("", ratios)],
            key="angle-ratios",
            title="How much further each pair turns than in the training window",
            x=x,
            y=Axis("times the turns of training", marks=(1.0,)),
            note="At 1 a pair stays within the angles of training, and its steps from token to "
            "token are half as long; at 2 its steps are those of training, and it goes on to new "
            "angles.",
        ),
    ]


def _angle_lines(table: pd.DataFrame, lengths: Lengths) -> list[Line]:
    rows, lines = rows_of(table), []
    for key in dict.fromkeys((row["signal"], row["scored_at"]) for row in rows):
        of_line = [row for row in rows if (row["signal"], row["scored_at"]) == key]
        pairs = [float(row["group"].removeprefix("pair ")) for row in of_line]
        is_training = key == (PLAIN, f"{lengths.trained} tokens")
        title = "training" if is_training else SCALINGS[key[0]][0]
        values = [row["value"] for row in of_line]
        lines.append(Line(f"{title}, {key[1]}", pairs, values, is_quiet=is_training))
    return lines


def _bands(table: pd.DataFrame, member: str, lengths: Lengths) -> Html:
    rows = [
        [title, *band_cells(table, stretched_name(member, scaling), lengths.names)]
        for scaling, (title, _) in SCALINGS.items()
    ]
    caption = f"{MEMBERS[member].title}: loss by band in nats per character, mean ± sd over seeds"
    return side_by_side(caption, ["scaling", *band_titles(lengths.names)], rows)


def _picture(losses: BandLosses, lengths: Lengths) -> str:
    """The mean loss in the last band, scaling by scaling."""
    values: Sequence[float | None] = [
        float(np.mean(list(by_band[lengths.names[-1]].values())))
        if by_band.get(lengths.names[-1])
        else None
        for by_band in losses.values()
    ]
    return value_picture(values)
