"""What the page of training dynamics shows: charts over steps, and how to read them."""

from collections.abc import Mapping

import pandas as pd

from interp.checkpoints import Checkpoint
from interp.reports.chart import Chart
from interp.reports.line_chart import Axis, Line, Panel, line_chart
from interp.reports.page import Section
from interp.reports.series import Series
from interp.reports.step_chart import step_chart
from interp.studies.facts import recipe_of
from interp.studies.study_input import LANGUAGES
from interp.studies.training_dynamics_verdicts import CHANCE, LETTER, SPACE, Runs, ceiling_of
from interp.tables import Row, rows_of, select
from interp.training.recipe import Optimization

SHOWN_CLASSES = {
    LETTER: "en",
    "lowercase, word-initial": "en",
    "uppercase": "en",
    SPACE: "en",
    ", ; : -": "en",
    ". ! ?": "en",
    "newline": "en",
    "lead E4-E9": "zh",
    "continuation after E4-E9": "zh",
}
"""Classes of bytes, with the language of the text in which they are looked at."""


_HOW_LOSSES = (
    "What a model knows at each step: the loss on a little held-out text, as its training measured "
    "it. Where it rises, the training jumped, and what changes there may be the accident and not "
    "the way. {rates}"
)
_HOW_CLASSES = (
    "One panel per layer, training from left to right, both axes logarithmic: all lines begin near "
    "1. Latin classes are measured in English text, Chinese bytes in Chinese text; a Chinese "
    "character is a lead byte and two continuation bytes."
)
_HOW_AREAS = (
    "The area under the ROC curve of the increment at the next character's lead byte against "
    "jieba's word ends: 0.5 is chance, and below it the increment at a word's end is the smaller "
    "one. {ceiling}The area knows the order of increments and not how far apart they are: at the "
    "first steps they hardly differ."
)
_HOW_CEILING = (
    "What that lead byte alone tells reaches {value:.3f} at most on this text, and layer 0, which "
    "sees nothing else, cannot do better. "
)


def sections(
    runs: Runs,
    found: Mapping[str, pd.DataFrame],
    losses: pd.DataFrame,
    finished: Mapping[str, Checkpoint],
) -> list[Section]:
    """Losses, classes of bytes and areas, step by step.

    Args:
        runs: By what a run is called: the step of each of its checkpoints.
        found: The tables of the study.
        losses: Its table of held-out losses.
        finished: The finished model of each run, whose recipe is told.
    """
    step_of_name = {name: step for steps in runs.values() for name, step in steps.items()}

    def step_of(row: Row) -> int:
        return step_of_name[row["checkpoint"]]

    means = rows_of(found["classes-by-step"])
    class_charts = []
    for place, (run_name, steps) in enumerate(runs.items()):
        of_run = [row for row in means if row["checkpoint"] in steps]
        by_class = [
            Series(name, [row for row in of_run if row["group"] == name], hue=name)
            for name in SHOWN_CLASSES
        ]
        class_charts.append(
            step_chart(
                by_class,
                step_of,
                key=f"classes-by-step-{place}",
                title=f"Mean increment by class of byte, {run_name}",
                note="The dotted line is 1, the step of plain rotary positions. Bars are 95 % "
                "intervals clustered by document; most are shorter than the marks.",
                line=1.0,
                is_log=True,
            )
        )
    table = found["word-boundary-auc-by-step"]
    areas = rows_of(select(table, statistic="roc_auc", signal="increment"))
    areas_chart = step_chart(
        [
            Series(run_name, [row for row in areas if row["checkpoint"] in steps])
            for run_name, steps in runs.items()
        ],
        step_of,
        key="areas-by-step",
        title="Chinese word boundaries: ROC-AUC of the increment",
        note="The dotted line is chance. Bars are 95 % intervals, clustered by document and "
        "simultaneous over layers.",
        line=CHANCE,
    )
    ceiling = ceiling_of(table)
    known = "" if ceiling is None else _HOW_CEILING.format(value=ceiling)
    rates = _HOW_LOSSES.format(rates=_rates_in_words(finished))
    return [
        Section("Loss", [rates, _loss_chart(runs, losses)]),
        Section("Classes of bytes", [_HOW_CLASSES, *class_charts]),
        Section("Chinese words", [_HOW_AREAS.format(ceiling=known), areas_chart]),
    ]


def _loss_chart(runs: Runs, losses: pd.DataFrame) -> Chart:
    rows = [row for row in rows_of(losses) if row["value"] is not None]
    panels, sizes = [], []
    for words in LANGUAGES.values():
        lines = []
        for run_name, steps in runs.items():
            of_run = [row for row in rows if row["checkpoint"] in steps and row["group"] == words]
            of_run = [row for row in of_run if row["n"] == of_run[0]["n"]]
            sizes += [f"{words} {row['n']:,} bytes" for row in of_run if row["n"] is not None]
            xs = [steps[row["checkpoint"]] for row in of_run]
            lines.append(Line(run_name, xs, [row["value"] for row in of_run]))
        panels.append(Panel(words, lines))
    texts = ", ".join(dict.fromkeys(sizes))
    is_one_text = len(set(sizes)) <= len(LANGUAGES)
    return line_chart(
        panels,
        key="losses-by-step",
        title="Held-out loss on the way",
        x=Axis("step", is_log=True),
        y=Axis("nats per byte"),
        note=f"Held-out text: {texts}. "
        + ("" if is_one_text else "Runs measured on different amounts do not compare. ")
        + "The finished models were measured on more; their losses are in the table.",
    )


def _rates_in_words(finished: Mapping[str, Checkpoint]) -> str:
    """The learning rate on the way, of all runs that have the same together."""
    runs_of: dict[str, list[str]] = {}
    for run_name, checkpoint in finished.items():
        recipe = recipe_of(checkpoint)
        words = _rate_in_words(recipe.optimization) if recipe else "is not known"
        runs_of.setdefault(words, []).append(run_name)
    if len(runs_of) == 1:
        return f"The learning rate {next(iter(runs_of))}."
    return " ".join(
        f"The learning rate of {', '.join(names)} {words}." for words, names in runs_of.items()
    )


def _rate_in_words(optimization: Optimization) -> str:
    rises = f"rises to {optimization.learning_rate:g} until step {optimization.warmup_steps:,}"
    if optimization.schedule == "cosine":
        return f"{rises} and falls from there to the end, step {optimization.steps:,}"
    return (
        f"{rises}, stays, and falls from step {optimization.decay_start:,} to 0 at step "
        f"{optimization.steps:,}"
    )
