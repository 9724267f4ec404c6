"""Study: how the increments of a model come to be what they are, step by step of its training."""

from pathlib import Path

import pandas as pd

from interp.analyses.byte_classes import byte_classes
from interp.analyses.word_boundaries import word_boundary_auc
from interp.corpus.files import shown
from interp.extraction.saturation import saturated_shares
from interp.reports.pictures import value_picture
from interp.studies.facts import training_in_words
from interp.studies.loss_tables import seed_of
from interp.studies.models import PER_LAYER, SEEDS, of_seed
from interp.studies.study import Finding, Study
from interp.studies.study_input import LANGUAGES, MissingCheckpoint, StudyInput
from interp.studies.training_dynamics_sections import SHOWN_CLASSES, sections
from interp.studies.training_dynamics_verdicts import (
    CHANCE,
    Runs,
    verdicts,
)
from interp.tables import analysis_table, rows_of, select

SEED_OF_RUN = {of_seed(PER_LAYER, seed): seed for seed in SEEDS}

RUNS = {PER_LAYER: "long run"} | {name: f"seed {seed}" for name, seed in SEED_OF_RUN.items()}
"""Runs whose steps may have been saved, and what a reader calls them."""

TEXT_BYTES = 100_000
"""Of each language, read at every step: about 25 000 gaps between Chinese characters."""

ENOUGH_STEPS = 8
"""Saved steps of a run from which on the page does not say that they are few."""

_QUESTION = (
    "What has been published of learned increments is their end: what a finished model has. Here "
    "is the way there. Before its first step a model puts every byte 1 from the one before it, in "
    "every layer, as plain rotary positions do. At several steps of {runs} it was put aside, and "
    "each of these models was asked the same: how far apart does it put which bytes, and does it "
    f"know where Chinese words end? They read at most {TEXT_BYTES // 1000} kB of each language."
)
_LIMITS = (
    "A few runs, with a seed each. Which layer finds word boundaries differs between published "
    "runs too, and what holds in every run here need not hold in the next.",
    "The learning rate changes on the way, so that what is due to more text and what to a smaller "
    "rate cannot be told apart here.",
    "Steps between the saved ones were not looked at. “From a step on” means at all saved steps "
    "from there. The intervals of the areas are simultaneous over the layers of a step, those of "
    "the classes of bytes are not; none is over steps or runs.",
    f"Every step is measured on the same text, at most {TEXT_BYTES // 1000} kB of each language, "
    "so that the points of a line are not independent of one another. Where that is fewer than 20 "
    "documents the intervals are unreliable, and the tables say so.",
    "A run of another length, batch or learning rate need not go the same way; the layers of the "
    "shipped model are in zh-word-boundaries.",
    "Models on the way are measured as they were in training, in float32; a finished one with its "
    "weights as they are stored, which may be bfloat16.",
    "When a pattern appears says nothing of what it is good for.",
)


def run(given: StudyInput) -> Finding:
    """Classes of bytes and word boundaries at every saved step of the per-layer models."""
    runs, left_out = _saved_steps(given)
    classes, areas, saturation = [], [], []
    for steps in runs.values():
        for name in steps:
            tables = {
                language: given.extraction(given.checkpoint(name), language, limit_bytes=TEXT_BYTES)
                for language in LANGUAGES
            }
            for language, table in tables.items():
                found = byte_classes(table).query("statistic == 'mean'").assign(checkpoint=name)
                shown_here = [each for each, of in SHOWN_CLASSES.items() if of == language]
                reference = f"running text, {LANGUAGES[language]}"
                of_class = found[found["group"].isin(shown_here)].assign(reference=reference)
                classes.append(of_class)
                shares = saturated_shares(table).assign(checkpoint=name)
                saturation.append(shares.assign(group=LANGUAGES[language]))
            of_words = word_boundary_auc(tables["zh"], is_simultaneous=True)
            areas.append(of_words.assign(checkpoint=name))
    found = {
        "classes-by-step": pd.concat(classes, ignore_index=True),
        "word-boundary-auc-by-step": pd.concat(areas, ignore_index=True),
        "saturation-by-step": pd.concat(saturation, ignore_index=True),
    }
    finished = {run_name: given.checkpoint(list(steps)[-1]) for run_name, steps in runs.items()}
    named = [f"{run_name} ({training_in_words(each)})" for run_name, each in finished.items()]
    of_runs = "a training run" if len(runs) == 1 else f"{len(runs)} training runs"
    losses = _loss_rows(given, runs)
    return Finding(
        question=_QUESTION.format(runs=f"{of_runs} of the per-layer model, {', '.join(named)}"),
        verdicts=verdicts(runs, *found.values()),
        tables=found | {"held-out-loss-by-step": losses},
        sections=sections(runs, found, losses, finished),
        limits=_LIMITS,
        warnings=[
            *left_out,
            *(
                f"only {len(steps)} steps of {run_name} were saved"
                for run_name, steps in runs.items()
                if len(steps) < ENOUGH_STEPS
            ),
        ],
        picture=_picture(runs, found["word-boundary-auc-by-step"]),
    )


STUDY = Study(
    name="training-dynamics",
    title="How the increments come about",
    sentence="The increments of every layer while a model is trained: when it begins to step "
    "further at spaces and punctuation, and when a layer begins to know where Chinese words end.",
    run=run,
    texts=tuple(LANGUAGES),
)


def _saved_steps(given: StudyInput) -> tuple[dict[str, dict[str, int]], list[str]]:
    """Of finished runs with saved steps, the step of each model, the last included.

    A model that was finished before its run was given more steps is not on the way: its learning
    rate had fallen already.

    Returns:
        The runs by what a reader calls them, and a line for each run or step that is left out.
    """
    runs, left_out = {}, []
    for folder, run_name in RUNS.items():
        saved = [f"{folder}/steps/{path.name}" for path in _folders(given, folder)]
        saved = [name for name in saved if given.has_checkpoint(name)]
        if not saved:
            continue
        why = _why_not(given, folder)
        if why:
            left_out.append(f"{run_name} is left out: {why}")
            continue
        last, seed = given.checkpoint(folder).config["step"], seed_of(given.checkpoint(folder))
        steps = {}
        for name in saved:
            checkpoint = given.checkpoint(name)
            step = checkpoint.config["step"]
            if checkpoint.config.get("is_done"):
                continue
            if step and step < last and seed_of(checkpoint) == seed:
                steps[name] = step
            else:
                left_out.append(f"{name} is left out: it is no earlier step of {run_name}")
        runs[run_name] = dict(sorted(steps.items(), key=lambda item: item[1])) | {folder: last}
    if not runs:
        raise MissingCheckpoint(
            "; ".join(left_out)
            or f"no step of {' or '.join(RUNS)} is saved in {shown(str(given.checkpoints))}",
            "Train one with keeping.keep_steps in its recipe; saved steps are not shipped.",
        )
    return runs, left_out


def _folders(given: StudyInput, name: str) -> list[Path]:
    """The folders of the steps that a run saved; links are not followed."""
    steps = given.checkpoints / name / "steps"
    return [] if steps.is_symlink() else sorted(p for p in steps.glob("*") if not p.is_symlink())


def _why_not(given: StudyInput, name: str) -> str | None:
    """Why a run with saved steps cannot be shown; None if it can."""
    if not given.has_checkpoint(name) or not given.checkpoint(name).config.get("is_done"):
        return "its training is not done"
    if not given.checkpoint(name).config["step"]:
        return "its config does not say at which step it ended"
    wanted, found = SEED_OF_RUN.get(name), seed_of(given.checkpoint(name))
    if wanted is not None and found not in (wanted, None):
        return f"it was trained with seed {found}"
    return None


def _loss_rows(given: StudyInput, runs: Runs) -> pd.DataFrame:
    """The held-out loss that training recorded at each step; a finished model's is over more."""
    rows = []
    for steps in runs.values():
        for name in steps:
            losses = given.checkpoint(name).config["held_out_loss"] or {}
            for language, words in LANGUAGES.items():
                loss = losses.get(language, {})
                about = {"checkpoint": name, "signal": "surprisal", "statistic": "loss"}
                sizes = {"n": loss.get("n_bytes"), "n_documents": loss.get("n_documents")}
                nats = loss.get("nats_per_byte")
                note = None if nats is not None else "not measured at this step"
                rows.append(about | sizes | {"group": words, "value": nats, "note": note})
    return analysis_table(rows)


def _picture(runs: Runs, areas: pd.DataFrame) -> str:
    """The area of the layer that ends furthest from chance in the first run, step by step."""
    steps = next(iter(runs.values()))
    rows = [
        row
        for row in rows_of(select(areas, statistic="roc_auc", signal="increment"))
        if row["checkpoint"] in steps
    ]
    last = list(steps)[-1]
    ends = [row for row in rows if row["checkpoint"] == last and row["value"] is not None]
    if not ends:
        return ""
    layer = max(ends, key=lambda row: abs(row["value"] - CHANCE))["layer"]
    of_layer = [row["value"] for row in rows if row["layer"] == layer]
    return value_picture(of_layer, reference=CHANCE)
