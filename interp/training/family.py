"""A family: models that differ in nothing but their position encoding, at one or more seeds."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import torch

from interp.checkpoints.load import load
from interp.corpus.sources import ignore
from interp.errors import RecipeError, UsageError
from interp.model import ModelConfig
from interp.model.config import (
    AlibiConfig,
    ForgetGateConfig,
    IncrementsConfig,
    LearnedAbsoluteConfig,
    NoPositionsConfig,
    PositionConfig,
    RelativeBiasConfig,
    RopeConfig,
    SinusoidalConfig,
)
from interp.training.continuation import recorded_run
from interp.training.held_out import HeldOutLoss
from interp.training.progress import TrainingProgress
from interp.training.recipe import Recipe
from interp.training.train import train

MEMBERS: Mapping[str, PositionConfig] = {
    "none": NoPositionsConfig(),
    "sinusoidal": SinusoidalConfig(),
    "learned-absolute": LearnedAbsoluteConfig(),
    "relative-bias": RelativeBiasConfig(),
    "alibi": AlibiConfig(),
    "rope": RopeConfig(),
    "increments": IncrementsConfig(d_hidden=32),  # a quarter of the family recipes' d_model
    "rope-alibi": RopeConfig(recency="alibi"),
    "forget-gate": ForgetGateConfig(),
    "rope-nope": RopeConfig(unrotated_every=4),
}
"""The members of a family by name: the classical six, then learned increments and mixtures."""


@dataclass(frozen=True)
class FamilyRun:
    """One member at one seed.

    Attributes:
        member: Of `MEMBERS`.
        seed: Of the initial weights and of the order of windows.
        recipe: What is trained.
        folder: Where to.
    """

    member: str
    seed: int
    recipe: Recipe
    folder: Path


@dataclass(frozen=True)
class TrainedMember:
    """What a finished run of a family left.

    Attributes:
        run: Which it was.
        held_out: By corpus, the loss over all held-out text.
        n_parameters: Numbers that were learned.
        seconds: How long its training took, if known.
    """

    run: FamilyRun
    held_out: dict[str, HeldOutLoss]
    n_parameters: int
    seconds: float | None


def family_runs(
    recipe: Recipe, out: Path, members: Sequence[str] = (), seeds: Sequence[int] = ()
) -> list[FamilyRun]:
    """The runs of a family in the order in which they are trained: all members of a seed first.

    Args:
        recipe: What they have in common; it leaves the position encoding to them.
        out: A folder; each run is ``OUT/MEMBER-seedN``, and is called ``RECIPE-MEMBER-seedN``.
        members: Names in `MEMBERS`; none means all.
        seeds: None means the recipe's own.

    Raises:
        UsageError: There is no such member.
        RecipeError: The recipe chooses a position encoding, or a seed or name cannot be.
    """
    chosen = dict.fromkeys(members or MEMBERS)
    unknown = [name for name in chosen if name not in MEMBERS]
    if unknown:
        raise UsageError(
            f"train-family: there is no member {unknown[0]!a:.60}", f"Known: {', '.join(MEMBERS)}."
        )
    if recipe.model.position != ModelConfig().position:
        raise RecipeError(
            "train-family: the recipe sets model.position, which is what the members differ in",
            "Leave it out; --encodings chooses members.",
        )
    try:
        return [
            FamilyRun(member, seed, _of_member(recipe, member, seed), out / run_name(member, seed))
            for seed in dict.fromkeys(seeds or (recipe.seed,))
            for member in chosen
        ]
    except ValueError as error:
        raise RecipeError(f"train-family: {error}") from error


def run_name(member: str, seed: int) -> str:
    """The name of a run's folder."""
    return f"{member}-seed{seed}"


def train_family(
    recipe: Recipe,
    out: Path,
    *,
    members: Sequence[str] = (),
    seeds: Sequence[int] = (),
    device: str | None = None,
    progress: Callable[[FamilyRun, TrainingProgress | TrainedMember], None] | None = None,
    warn: Callable[[str], None] = ignore,
) -> list[TrainedMember]:
    """Train the members of a family one after the other, or go on where that was stopped.

    The members of a seed start with the same weights wherever they have the same tensors, and
    read the same windows in the same order. SIGINT and SIGTERM save the run that is trained and
    return; finished runs are left as they are.

    Args:
        recipe: What they have in common.
        out: See `family_runs`.
        members: Names in `MEMBERS`; none means all.
        seeds: None means the recipe's own.
        device: Such as ``cuda``; the CPU by default.
        progress: Called after every step, and with what a run left when it is finished or was
            found finished.
        warn: Called with one line for what is odd in the text.

    Returns:
        The finished runs in their order; fewer than `family_runs` if a signal stopped them.

    Raises:
        OutputError: A folder holds something else or a run of another recipe; nothing is
            trained then.
        InterpError: What `interp.training.train` raises.
    """
    runs = family_runs(recipe, out, members, seeds)
    for run in runs:
        recorded_run(run.recipe, run.folder)
    trained: list[TrainedMember] = []
    for run in runs:

        def on_step(at: TrainingProgress, run: FamilyRun = run) -> None:
            if progress:
                progress(run, at)

        result = train(run.recipe, run.folder, device=device, progress=on_step, warn=warn)
        if result.is_interrupted:
            break
        trained.append(_trained(run, result.held_out))
        if progress:
            progress(run, trained[-1])
        if result.is_signalled:
            break
        if recipe.compile:
            # the graphs of all members belong to one function, and no more than a few are kept
            torch.compiler.reset()
    return trained


def _of_member(recipe: Recipe, member: str, seed: int) -> Recipe:
    model = replace(recipe.model, position=MEMBERS[member])
    return replace(recipe, name=f"{recipe.name}-{run_name(member, seed)}", seed=seed, model=model)


def _trained(run: FamilyRun, held_out: dict[str, HeldOutLoss]) -> TrainedMember:
    checkpoint = load(run.folder)
    seconds = checkpoint.config["wall_seconds"]
    return TrainedMember(run, held_out, checkpoint.model.n_parameters, seconds)
