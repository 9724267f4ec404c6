"""Study: do learned increments cost or save loss?"""

from collections.abc import Sequence

import pandas as pd

from interp.analyses.seeds import MARGIN_NATS
from interp.reports.chart import Chart
from interp.reports.dot_chart import dot_chart
from interp.reports.markup import Html
from interp.reports.page import Section
from interp.reports.pictures import row_picture
from interp.reports.verdicts import number_in_words, side_by_side
from interp.studies.loss_baselines import baseline_table, baseline_verdict
from interp.studies.loss_tables import (
    VARIANTS,
    beside_per_head,
    complete_seeds,
    differences,
    loss_table,
    losses_of,
    misnamed,
    names_of_seed,
    per_head_differences,
    read_otherwise,
    recorded_losses,
    seed_differences,
    trained_differently,
)
from interp.studies.loss_training import recorded_runs, training_table, way_chart
from interp.studies.loss_verdicts import (
    checkpoint_verdict,
    method_verdict,
    per_head_verdict,
    training_verdicts,
)
from interp.studies.models import PER_HEAD, ROPE, of_seed
from interp.studies.published import LOSS_NATS
from interp.studies.study import Finding, Study
from interp.studies.study_input import LANGUAGES, StudyInput
from interp.tables import Row, rows_of
from interp.training.continuation import METRICS_FILE

_QUESTION = (
    "A model with learned increments has a little more to learn than one with plain rotary "
    "positions. Is its loss on text that it never saw the same, lower or higher?"
)
_HOW_LOSS = (
    "Loss is the mean surprisal of a byte of held-out text, in nats, read in consecutive windows "
    "that do not overlap. A nat is 1.44 bits. Beside the models: what a compressor and an n-gram "
    "model make of the same held-out text after the same training windows."
)
_HOW_CHECKPOINTS = (
    "Both models read the same bytes, so the differences are paired: the intervals, clustered by "
    "document, say how the difference between these two checkpoints would change with other text "
    "of the same kind. They say nothing of what another training run would give."
)
_HOW_SEEDS = (
    "Of the method only training runs can tell. Within a seed the models begin with the same "
    "weights wherever they have the same ones and read the same windows in the same order; from "
    "seed to seed both change. Each run recorded the loss on this held-out text, which is taken "
    "as given; the seed-paired differences are three numbers, and the interval is that of t with "
    "2 degrees of freedom. That a method is neutral is shown only where two one-sided tests "
    f"reject, at level 0.05, that the mean difference is {MARGIN_NATS} nats per byte or more; a "
    "mean of both languages stands beside them, because the models read as much of either. The "
    "margin, about as large as the largest published difference, was chosen before the seed runs."
)
_HOW_TRAINING = (
    "What a loss at the end does not show. The difference of the training loss on the same windows "
    "falls to nothing where two models learn alike, and leaps where the training of one of them "
    "jumps and has to recover."
)
_LIMITS = (
    f"Where the three observed differences have an sd above {0.6 * MARGIN_NATS:.3f} nats per byte, "
    "neutrality cannot be shown, whatever their mean; a difference can only be seen if it is above "
    "2.5 of their sd. Where runs jump, three differences are not normal, and the t interval need "
    "not hold 95 %.",
    "Nothing is corrected for several tests: of each model there are an interval and a test of "
    "neutrality per language. That it is neutral in both needs both tests and no correction; that "
    "it is in one of the two would need one.",
    "The three long runs have a seed that three of the short ones have too, and the same windows "
    "at first: they are no fourth seed.",
    "The method is judged at the budget of the short runs, about 1/200 of the published one (1.6 "
    "GB of text): neither neutral nor not neutral need carry over to more training, larger batches "
    "or another learning rate.",
    "A loss that positions hardly enter would be neutral too. How much they matter in a small "
    "set-up is in the study position-encodings.",
    "Cost is loss after equally many steps. Time and memory were not compared here.",
    "The published losses are over English and Chinese mixed, of other documents; only their "
    "differences compare.",
)


def run(given: StudyInput) -> Finding:
    """Losses of all models, differences of the long runs, and what three seeds tell."""
    long_runs = [ROPE, *VARIANTS]
    for name in long_runs:  # a missing one is said before the first is read
        given.checkpoint(name)
    seeds, beside = complete_seeds(given), beside_per_head(given)
    runs = recorded_runs(given, seeds)
    losses = {name: losses_of(given, name) for name in long_runs}
    of_seeds = [name for seed in seeds for name in names_of_seed(seed)]
    short = [*of_seeds, *(name for name in beside if name not in of_seeds)]
    recorded = recorded_losses(given, [*short, *([PER_HEAD] if beside else [])])
    all_losses = loss_table(given, losses, recorded)
    baselines = baseline_table(given, [*losses, *recorded])
    checkpoints = differences(losses, [(name, ROPE) for name in VARIANTS])
    by_seed = seed_differences(recorded, seeds)
    per_head = per_head_differences(recorded, beside)
    training = training_table(runs)
    alike = [long_runs, *map(names_of_seed, seeds), *([[PER_HEAD, *beside]] if beside else [])]
    rope_of_seeds = [of_seed(ROPE, seed) for seed in seeds]
    verdicts = []
    for name in VARIANTS:
        verdicts += [checkpoint_verdict(name, checkpoints), method_verdict(name, by_seed, seeds)]
    verdicts += [per_head_verdict(per_head)] if beside else []
    verdicts += training_verdicts(training)
    verdicts.append(baseline_verdict(given, all_losses, baselines))
    sections = [
        Section("Losses", [_HOW_LOSS, _losses_beside(given, all_losses, baselines)]),
        Section("These checkpoints", [_HOW_CHECKPOINTS, _checkpoint_chart(checkpoints)]),
        Section("The method", [_HOW_SEEDS, *_seed_parts(by_seed, seeds), *_heads(per_head)]),
    ]
    tables = {
        "losses": pd.concat([all_losses, baselines], ignore_index=True),
        "checkpoint-differences": pd.concat([checkpoints, per_head], ignore_index=True),
    }
    if seeds:
        tables["seed-differences"] = by_seed
    if runs:
        sections.append(Section("On the way", [_HOW_TRAINING, way_chart(training)]))
        tables["training"] = training
    unrecorded = [name for name in [*long_runs, *of_seeds] if name not in runs]
    warnings = [words for names in alike for words in trained_differently(given, names)]
    warnings += trained_differently(given, rope_of_seeds, but=["seed"])
    warnings += [*misnamed(given), *read_otherwise(given, losses, recorded)]
    if unrecorded:
        warnings.append(
            f"{', '.join(unrecorded)} came without {METRICS_FILE} or a recipe: how their training "
            "went is not shown"
        )
    return Finding(
        question=_QUESTION,
        verdicts=verdicts,
        tables=tables,
        sections=sections,
        limits=_LIMITS,
        warnings=warnings,
        picture=_picture(checkpoints),
    )


STUDY = Study(
    name="loss-comparison",
    title="Do learned increments cost anything?",
    sentence="The held-out loss of models with learned increments beside plain rotary positions: "
    "these checkpoints, and what three seeds tell of the method.",
    run=run,
    texts=tuple(LANGUAGES),
)


def _label(row: Row) -> str:
    names = (row[name].removeprefix("en-zh-") for name in ("checkpoint", "reference"))
    first, second = (name.replace("per-layer-per-head", "per-head") for name in names)
    first, _, seed = first.partition("-seed")
    of_seed = f", seed {seed}" if seed else ""
    is_mean = row["statistic"] == "mean_loss_difference"
    return (
        f"{first} − {second.partition('-seed')[0]}, {row['group']}"
        f"{', mean' if is_mean else of_seed}"
    )


def _losses_beside(given: StudyInput, losses: pd.DataFrame, baselines: pd.DataFrame) -> Html:
    """Every model with its budget, and the baselines that were given as much text."""
    rows = []
    for (name, _), nats in _by_language(losses).items():
        config = given.checkpoint(name).config
        published = LOSS_NATS.get(name.removeprefix("en-zh-"))
        steps = "not known" if config["step"] is None else f"{config['step']:,}"
        rows.append(
            [
                name,
                f"{given.checkpoint(name).model.n_parameters:,}",
                steps,
                _megabytes(config["n_bytes_seen"]),
                *nats,
                "" if published is None else f"{published:.4f}",
            ]
        )
    for (name, baseline), nats in _by_language(baselines).items():
        n_bytes = given.checkpoint(name).config["n_bytes_seen"]
        rows.append([baseline, "", "", _megabytes(n_bytes), *nats, ""])
    head = ["model", "parameters", "steps", "MB read", *LANGUAGES.values(), "published"]
    caption = "Held-out loss in nats per byte; published: both languages mixed, after 1,600 MB"
    return side_by_side(caption, head, rows)


def _by_language(losses: pd.DataFrame) -> dict[tuple[str, str], list[str]]:
    """By checkpoint and signal, the loss in each language, in words."""
    found: dict[tuple[str, str], dict[str, float | None]] = {}
    for row in rows_of(losses):
        found.setdefault((row["checkpoint"], row["signal"]), {})[row["group"]] = row["value"]
    return {
        key: [number_in_words(nats.get(words), ".4f") for words in LANGUAGES.values()]
        for key, nats in found.items()
    }


def _megabytes(n_bytes: int | None) -> str:
    return "not known" if n_bytes is None else f"{n_bytes / 1e6:.1f}"


def _checkpoint_chart(checkpoints: pd.DataFrame) -> Chart:
    title = "Difference of loss, long runs"
    note = "Left of 0 learned increments have the lower loss."
    return _chart(checkpoints, "checkpoint-differences", title, note)


def _heads(per_head: pd.DataFrame) -> list[Chart]:
    if not len(per_head):
        return []
    title = "Difference of loss, the per-head model beside others of its seed"
    note = "Left of 0 the per-head model has the lower loss. There is one run of each."
    return [_chart(per_head, "per-head-differences", title, note)]


def _seed_parts(by_seed: pd.DataFrame, seeds: Sequence[int]) -> Sequence[Chart | str]:
    if not seeds:
        return ["No seed is there with all three models."]
    drawn = by_seed.query("statistic in ('loss_difference', 'mean_loss_difference')")
    note = (
        "Left of 0 learned increments have the lower loss. The test of neutrality asks whether the "
        "90 % interval, 0.68 times as wide as the bar, lies between the outer lines."
    )
    margins = [
        (f"−{MARGIN_NATS}, lower end of the margin", -MARGIN_NATS),
        (f"+{MARGIN_NATS}, upper end", MARGIN_NATS),
    ]
    title = "Difference of loss, seed by seed"
    return [_chart(drawn, "seed-differences", title, note, margins)]


def _chart(
    table: pd.DataFrame,
    key: str,
    title: str,
    note: str,
    margins: Sequence[tuple[str, float]] = (),
) -> Chart:
    return dot_chart(
        table,
        _label,
        key=key,
        title=f"{title}, nats per byte",
        note=note,
        lines=[("no difference", 0.0), *margins],
    )


def _picture(checkpoints: pd.DataFrame) -> str:
    return row_picture(rows_of(checkpoints), reference=0.0)
