"""How trainings went on the way: the losses and gradients of their steps, beside plain RoPE."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from interp.reports.chart import Chart
from interp.reports.line_chart import Axis, Line, Panel, line_chart
from interp.studies.facts import recipe_of
from interp.studies.loss_tables import VARIANTS
from interp.studies.models import ROPE, SEEDS, of_seed
from interp.studies.study_input import StudyInput
from interp.studies.training_record import Step, in_points, recorded_steps
from interp.tables import analysis_table, rows_of
from interp.training.recipe import Recipe

STEPS_OF_A_POINT = 100
"""Steps whose training losses are one point of a curve: single steps are noisy."""

JUMP_NORM = 10.0
"""The norm of a gradient from which on a step counts as a jump; it is clipped at 1."""

BY_STEP, JUMPS, LARGEST_NORM = "training_loss", "jumps", "largest_gradient_norm"
DIFFERENCE, SAME_WINDOWS = "training_loss_difference", "mean_absolute_training_loss_difference"
"""Statistics: from plain rotary positions step by step; of two runs of one recipe and seed."""


@dataclass(frozen=True)
class Run:
    """What a run wrote down.

    Attributes:
        name: Of its checkpoint.
        kind: The long run of its kind: with it begins the name.
        reference: The run with plain rotary positions of the same seed and budget.
        steps: In order.
        recipe: Of the run.
        hardware: That it ran on, in words.
    """

    name: str
    kind: str
    reference: str
    steps: Sequence[Step]
    recipe: Recipe
    hardware: str

    @property
    def warm(self) -> list[Step]:
        """The steps after the warm-up."""
        warmup = self.recipe.optimization.warmup_steps
        return [step for step in self.steps if step.number > warmup]


def recorded_runs(given: StudyInput, seeds: Sequence[int]) -> dict[str, Run]:
    """The long runs and those of ``seeds``, by name; without those that have no record.

    Raises:
        InputError: A record cannot be read, or is not one.
        CheckpointError: The recipe of such a run is none.
    """
    found = {}
    kinds = (ROPE, *VARIANTS)
    named = [(kind, kind, ROPE) for kind in kinds]
    named += [(of_seed(kind, seed), kind, of_seed(ROPE, seed)) for seed in seeds for kind in kinds]
    for name, kind, reference in named:
        steps = recorded_steps(given, name)
        if steps:
            checkpoint = given.checkpoint(name)
            recipe, hardware = recipe_of(checkpoint), checkpoint.config["hardware"] or ""
            if recipe is not None:
                found[name] = Run(name, kind, reference, steps, recipe, hardware)
    return found


def training_table(runs: Mapping[str, Run]) -> pd.DataFrame:
    """Training losses by step, how often gradients jumped, and what rounding alone does.

    Returns:
        An analysis table in nats per token. Its ``group`` is the last step of a mean over
        `STEPS_OF_A_POINT`; or ``after warm-up``; or the steps of which two runs had the same
        recipe, seed, windows and learning rate.
    """
    rows: list[dict[str, Any]] = []
    for run in runs.values():
        reference = runs.get(run.reference)
        rows += _by_step(run, reference if run.kind != ROPE else None)
        norms = np.array([step.gradient_norm for step in run.warm])
        about = {"checkpoint": run.name, "group": "after warm-up", "n": len(norms)}
        if len(norms):
            jumps = int((norms > JUMP_NORM).sum())
            rows.append(about | {"statistic": LARGEST_NORM, "value": float(norms.max())})
            note = f"steps with a gradient norm above {JUMP_NORM:g}"
            rows.append(about | {"statistic": JUMPS, "value": jumps, "note": note})
    for kind in (ROPE, *VARIANTS):
        names = [name for name, run in runs.items() if run.kind == kind and name != kind]
        for name in names if kind in runs else []:
            rows += _of_same_windows(runs[kind], runs[name])
    return analysis_table(rows)


def way_chart(table: pd.DataFrame) -> Chart:
    """By how much the training loss of each run differs from that of plain RoPE, over steps."""
    rows = [row for row in rows_of(table) if row["statistic"] == DIFFERENCE]
    panels = []
    for kind, words in VARIANTS.items():
        lines = []
        called = {kind: "long"} | {of_seed(kind, seed): f"short, seed {seed}" for seed in SEEDS}
        for name, run_name in called.items():
            of_run = [row for row in rows if row["checkpoint"] == name]
            steps = [int(row["group"].removeprefix("step ")) for row in of_run]
            lines.append(Line(run_name, steps, [row["value"] for row in of_run]))
        panels.append(Panel(words, lines))
    return line_chart(
        panels,
        key="training-differences",
        title="Training loss less that of plain rotary positions on the same windows",
        x=Axis("step"),
        y=Axis("nats per token", marks=(0.0,)),
        note=f"Means over {STEPS_OF_A_POINT} steps. Below 0 learned increments have the lower "
        "loss.",
    )


def _by_step(run: Run, reference: Run | None) -> list[dict[str, Any]]:
    beside = {step.number: step.loss_nats for step in reference.steps} if reference else {}
    rows = []
    for steps in in_points(run.steps, STEPS_OF_A_POINT):
        about = {"checkpoint": run.name, "group": f"step {steps[-1].number}", "n": len(steps)}
        loss = float(np.mean([step.loss_nats for step in steps]))
        rows.append(about | {"statistic": BY_STEP, "value": loss})
        pairs = [(s.loss_nats, beside[s.number]) for s in steps if s.number in beside]
        if reference and len(pairs) == len(steps):
            difference = float(np.mean([one - other for one, other in pairs]))
            of_rope = {"statistic": DIFFERENCE, "reference": reference.name}
            rows.append(about | of_rope | {"value": difference})
    return rows


def _of_same_windows(long: Run, short: Run) -> list[dict[str, Any]]:
    """How far two runs are apart up to where the recipe of one parts from the other's.

    The mean over points of `STEPS_OF_A_POINT` of the absolute difference of their mean losses:
    a run that jumps first is above the other and then below it.
    """
    last = min(run.recipe.optimization.decay_start for run in (long, short))
    beside = {step.number: step.loss_nats for step in short.warm}
    shared = [step for step in long.warm if step.number <= last and step.number in beside]
    if _before_decay(long.recipe) != _before_decay(short.recipe) or not shared:
        return []
    points = [
        abs(np.mean([step.loss_nats - beside[step.number] for step in steps]))
        for steps in in_points(shared, STEPS_OF_A_POINT)
    ]
    return [
        {
            "checkpoint": long.name,
            "reference": short.name,
            "statistic": SAME_WINDOWS,
            "group": f"steps {shared[0].number:,} to {shared[-1].number:,}",
            "value": float(np.mean(points)),
            "n": len(shared),
            "note": _on_hardware(long.hardware, short.hardware),
        }
    ]


def _on_hardware(long: str, short: str) -> str:
    return f"both on {long}" if long == short else f"on {long}, and on {short}"


def _before_decay(recipe: Recipe) -> dict[str, Any]:
    """What decides the steps of a run before its learning rate falls."""
    values = recipe.to_dict()
    for key in ("name", "keeping", "licence"):
        del values[key]
    if recipe.optimization.schedule == "constant":
        for key in ("steps", "decay_steps"):
            del values["optimization"][key]
    return values
