"""Study: how the increments of a model come to be what they are, step by step of its training."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from interp.analyses.byte_classes import byte_classes
from interp.analyses.word_boundaries import word_boundary_auc
from interp.corpus.files import shown
from interp.reports.chart import Row, rows_of
from interp.reports.page import Section
from interp.reports.pictures import value_picture
from interp.reports.series import Series
from interp.reports.step_chart import step_chart
from interp.studies.study import LANGUAGES, Finding, MissingCheckpoint, Study, StudyInput
from interp.studies.training_dynamics_verdicts import CHANCE, verdicts
from interp.tables import analysis_table

RUNS = ("en-zh-per-layer", "en-zh-per-layer-seed0")
"""Of these, the first of which steps were saved."""

TEXT_BYTES = 400_000
"""Of each language, read at every step: about 40 000 gaps between Chinese characters."""

ENOUGH_STEPS = 8
"""Saved steps from which on the page does not say that they are few."""

SHOWN_CLASSES = {
    "lowercase, word-internal": "en",
    "lowercase, word-initial": "en",
    "uppercase": "en",
    "space": "en",
    ", ; : -": "en",
    ". ! ?": "en",
    "newline": "en",
    "lead E4-E9": "zh",
    "continuation after E4-E9": "zh",
}
"""Classes of bytes, with the language of the text in which they are looked at."""

_QUESTION = (
    "What has been published of learned increments is their end: what a finished model has. Here "
    "is the way there. Before its first step this model puts every byte 1 from the one before it, "
    "in every layer, as plain rotary positions do. At {n_steps} steps of its training it was put "
    "aside, and each of these models was asked the same: how far apart does it put which bytes, "
    "and does it know where Chinese words end?"
)
_HOW_CLASSES = (
    "One panel per layer, training from left to right, both axes logarithmic: the lines begin near "
    "1 and part as the layer learns to step further at some bytes than at others. Latin classes "
    "are measured in English text, Chinese bytes in Chinese text; a Chinese character is a lead "
    "byte and two continuation bytes."
)
_HOW_AREAS = (
    "The area under the ROC curve of the increment at the next character's lead byte against "
    "jieba's word ends: 0.5 is chance, and below it the increment at a word's end is the smaller "
    "one. Intervals are clustered by document and simultaneous over the layers of one step."
)
_LIMITS = (
    "This is one training run with one seed. Another run may take its steps in another order, and "
    "which layer finds word boundaries differs between published runs.",
    "The learning rate changes on the way, so that what is due to more text and what to a smaller "
    "rate cannot be told apart here.",
    "Steps between the saved ones were not looked at. “From a step on” means at all saved steps "
    "from there; the intervals are simultaneous over layers, not over steps.",
    "Every step is measured on the same text, at most 400 kB of each language, so that the points "
    "of a line are not independent of one another.",
    "When a pattern appears says nothing of what it is good for.",
)


def run(given: StudyInput) -> Finding:
    """Classes of bytes and word boundaries at every saved step of the per-layer model."""
    names = _saved_steps(given)
    steps = {name: int(given.checkpoint(name).config["step"]) for name in names}
    classes, areas, saturation = [], [], []
    for name in names:
        tables = {
            language: given.extraction(given.checkpoint(name), language, limit_bytes=TEXT_BYTES)
            for language in LANGUAGES
        }
        for language, table in tables.items():
            found = byte_classes(table).query("statistic == 'mean'").assign(checkpoint=name)
            shown = [each for each, of in SHOWN_CLASSES.items() if of == language]
            reference = f"running text, {LANGUAGES[language]}"
            classes.append(found[found["group"].isin(shown)].assign(reference=reference))
            saturation += _saturation_rows(name, language, table.manifest, classes[-1])
        of_words = word_boundary_auc(tables["zh"], is_simultaneous=True)
        areas.append(of_words.assign(checkpoint=name))
    found = {
        "classes-by-step": pd.concat(classes, ignore_index=True),
        "word-boundary-auc-by-step": pd.concat(areas, ignore_index=True),
        "saturation-by-step": analysis_table(saturation),
    }
    few = [] if len(names) >= ENOUGH_STEPS else [f"only {len(names)} steps were saved"]
    return Finding(
        question=_QUESTION.format(n_steps=len(names)),
        verdicts=verdicts(steps, *found.values()),
        tables=found,
        sections=_sections(steps, found),
        limits=_LIMITS,
        warnings=few,
        picture=_picture(steps, found["word-boundary-auc-by-step"]),
    )


STUDY = Study(
    name="training-dynamics",
    title="How the increments come about",
    sentence="The increments of every layer while a model is trained: when it begins to step "
    "further at spaces and punctuation, and when a layer begins to know where Chinese words end.",
    run=run,
    texts=tuple(LANGUAGES),
)


def _saved_steps(given: StudyInput) -> list[str]:
    """Names of the saved steps and of the finished model, by step."""
    for run_name in RUNS:
        folder = given.checkpoints / run_name / "steps"
        saved = [f"{run_name}/steps/{path.name}" for path in sorted(folder.glob("*"))]
        saved = [name for name in saved if given.has_checkpoint(name)]
        if saved:
            break
    else:
        raise MissingCheckpoint(
            f"no step of {' or '.join(RUNS)} is saved in {shown(str(given.checkpoints))}",
            "Train one with keeping.keep_steps in its recipe; saved steps are not shipped.",
        )
    by_step = {int(given.checkpoint(name).config["step"] or 0): name for name in saved}
    if given.has_checkpoint(run_name):
        by_step.setdefault(int(given.checkpoint(run_name).config["step"] or 0), run_name)
    return [by_step[step] for step in sorted(by_step) if step > 0]


def _saturation_rows(
    name: str, language: str, manifest: Mapping[str, Any], classes: pd.DataFrame
) -> list[dict[str, Any]]:
    shares = manifest["signals"]["increment"].get("saturated") or {}
    layers = sorted(set(classes["layer"].dropna()))
    return [
        {
            "checkpoint": name,
            "signal": "increment",
            "statistic": "saturated_share",
            "layer": layer,
            "group": LANGUAGES[language],
            "value": shares.get(f"L{layer}"),
            "note": None if f"L{layer}" in shares else "the increment has no bound",
        }
        for layer in layers
    ]


def _sections(steps: Mapping[str, int], found: Mapping[str, pd.DataFrame]) -> list[Section]:
    def step_of(row: Row) -> int:
        return steps[row["checkpoint"]]

    means = rows_of(found["classes-by-step"])
    by_class = [
        Series(name, [row for row in means if row["group"] == name], hue=name)
        for name in SHOWN_CLASSES
    ]
    areas = rows_of(
        found["word-boundary-auc-by-step"].query("statistic == 'roc_auc' and signal == 'increment'")
    )
    classes_chart = step_chart(
        by_class,
        step_of,
        key="classes-by-step",
        title="Mean increment by class of byte",
        note="The dotted line is 1, the step of plain rotary positions. Bars are 95 % intervals "
        "clustered by document; most are shorter than the marks.",
        line=1.0,
        is_log=True,
    )
    areas_chart = step_chart(
        [Series("increment", areas)],
        step_of,
        key="areas-by-step",
        title="Chinese word boundaries: ROC-AUC of the increment",
        note="The dotted line is chance. Bars are 95 % intervals, simultaneous over layers.",
        line=CHANCE,
    )
    return [
        Section("Classes of bytes", [_HOW_CLASSES, classes_chart]),
        Section("Chinese words", [_HOW_AREAS, areas_chart]),
    ]


def _picture(steps: Mapping[str, int], areas: pd.DataFrame) -> str:
    """The area of the layer that ends furthest from chance, step by step."""
    rows = rows_of(areas.query("statistic == 'roc_auc' and signal == 'increment'"))
    last = max(steps, key=steps.__getitem__)
    ends = [row for row in rows if row["checkpoint"] == last and row["value"] is not None]
    if not ends:
        return ""
    layer = max(ends, key=lambda row: abs(row["value"] - CHANCE))["layer"]
    of_layer = sorted(
        (row for row in rows if row["layer"] == layer), key=lambda row: steps[row["checkpoint"]]
    )
    return value_picture([row["value"] for row in of_layer], reference=CHANCE)
