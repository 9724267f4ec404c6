"""Study: do learned increments cost or save loss?"""

from collections.abc import Sequence

import pandas as pd

from interp.reports.chart import Chart, Row, rows_of
from interp.reports.dot_chart import dot_chart
from interp.reports.markup import Html
from interp.reports.page import Section
from interp.reports.pictures import value_picture
from interp.reports.verdicts import Verdict, side_by_side
from interp.studies.loss_tables import (
    MARGIN_NATS,
    PER_HEAD,
    ROPE,
    SEEDS,
    VARIANTS,
    beside_per_head,
    complete_seeds,
    differences,
    loss_table,
    losses_of,
    names_of_seed,
    seed_differences,
    seed_losses,
    trained_differently,
)
from interp.studies.published import LOSS_NATS
from interp.studies.study import LANGUAGES, Finding, Study, StudyInput

_QUESTION = (
    "A model with learned increments has a little more to learn than one with plain rotary "
    "positions. Is its loss on text that it never saw the same, lower or higher?"
)
_HOW_LOSS = (
    "Loss is the mean surprisal of a byte of held-out text, in nats, read in consecutive windows "
    "that do not overlap. A nat is 1.44 bits."
)
_HOW_CHECKPOINTS = (
    "Both models read the same bytes, so the differences are paired: the intervals, clustered by "
    "document, say how the difference between these two checkpoints would change with other text "
    "of the same kind. They say nothing of what another training run would give."
)
_HOW_SEEDS = (
    "Of the method only training runs can tell. Each of three seeds trained all models on the same "
    "data in the same order, at a smaller budget, and recorded their loss; the seed-paired "
    "differences are three numbers, and the interval is that of t with 2 degrees of freedom. That "
    "the methods are equal is shown only where two one-sided tests reject, at level 0.05, that "
    "they are more than 0.005 nats per byte apart."
)
_LIMITS = (
    "Three seeds decide little: where their differences spread (sd) by more than 0.003 nats per "
    "byte, their equality cannot be shown, and undecided is the likely answer.",
    "Each language is judged apart and each model too, without a correction for four tests.",
    "A difference at this size and length of training need not be the one at another. The "
    "published models were trained on about 1.6 GB of text.",
    "The published losses are over English and Chinese mixed, of other documents; only their "
    "differences compare.",
)


def run(given: StudyInput) -> Finding:
    """Losses of all models, differences of the long runs, and what three seeds tell."""
    long_runs = [ROPE, *VARIANTS]
    for name in long_runs:  # a missing one is said before the first is read
        given.checkpoint(name)
    seeds, beside = complete_seeds(given), beside_per_head(given)
    read = [*long_runs, *([PER_HEAD] if given.has_checkpoint(PER_HEAD) else []), *beside]
    losses = {name: losses_of(given, name) for name in read}
    of_seeds = seed_losses(given, seeds)
    all_losses = loss_table(given, losses, of_seeds)
    checkpoints = differences(losses, [(name, ROPE) for name in VARIANTS])
    by_seed = seed_differences(of_seeds, seeds)
    per_head = differences(losses, [(PER_HEAD, name) for name in beside])
    alike = [long_runs, *map(names_of_seed, seeds), *([[PER_HEAD, *beside]] if beside else [])]
    verdicts = []
    for name in VARIANTS:
        verdicts += [checkpoint_verdict(name, checkpoints), method_verdict(name, by_seed, seeds)]
    return Finding(
        question=_QUESTION,
        verdicts=verdicts,
        tables={
            "losses": all_losses,
            "checkpoint-differences": pd.concat([checkpoints, per_head], ignore_index=True),
            "seed-differences": by_seed,
        },
        sections=[
            Section("Losses", [_HOW_LOSS, _losses_beside(all_losses)]),
            Section("These checkpoints", [_HOW_CHECKPOINTS, *_charts(checkpoints, per_head)]),
            Section("The method", [_HOW_SEEDS, *_seed_parts(by_seed, seeds)]),
        ],
        limits=_LIMITS,
        warnings=[words for names in alike for words in trained_differently(given, names)],
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


def checkpoint_verdict(name: str, table: pd.DataFrame) -> Verdict:
    """What `differences` say of one long run beside that with plain rotary positions."""
    rows = rows_of(table.query("checkpoint == @name"))
    answers = []
    for row in rows:
        if row["low"] is None:
            answers.append(f"{row['group']}: undecided, {row['note'] or 'no interval'}")
        elif row["low"] <= 0 <= row["high"]:
            answers.append(f"{row['group']}: no difference to be seen")
        else:
            answers.append(f"{row['group']}: {'higher' if row['value'] > 0 else 'lower'}")
    return Verdict(
        f"This {VARIANTS[name]} checkpoint has the loss of the one with plain rotary positions.",
        _published(name),
        "; ".join(map(_difference_in_words, rows)),
        f"{'. '.join(answers)}. This is about two checkpoints and not about the method.",
    )


def method_verdict(name: str, table: pd.DataFrame, seeds: Sequence[int]) -> Verdict:
    """What `seed_differences` say of one kind of learned increments."""
    kind = VARIANTS[name]
    claim = f"Learned increments, {kind}, are neutral for the loss, as a method."
    published = f"{_published(name)}, one run each"
    if len(seeds) < len(SEEDS):
        here = f"{len(seeds)} of {len(SEEDS)} seeds are there"
        return Verdict(claim, published, here, "Undecided: needs the three seed runs.")
    rows = rows_of(table.query("checkpoint == @name"))
    of_mean = [row for row in rows if row["statistic"] == "mean_loss_difference"]
    p_values = {row["group"]: row["value"] for row in rows if row["statistic"] == "equivalence_p"}
    here, answers = [], []
    for row in of_mean:
        p_value = p_values[row["group"]]
        said = "not defined" if p_value is None else f"{p_value:.2g}"
        here.append(f"{_difference_in_words(row)}, equivalence p = {said}")
        answers.append(f"{row['group']}: {_answer(row, p_value)}")
    return Verdict(claim, published, "; ".join(here), f"{'. '.join(answers)}.")


def _answer(row: Row, p_value: float | None) -> str:
    is_equal = p_value is not None and p_value < 0.05
    is_different = row["low"] is not None and not row["low"] <= 0 <= row["high"]
    if is_equal:
        return "neutral, shown to be within 0.005 nats per byte" + (
            f" and {_direction(row)} by less than that" if is_different else ""
        )
    if is_different:
        return f"not neutral, {_direction(row)}"
    return "undecided, neither a difference nor its absence is shown"


def _direction(row: Row) -> str:
    return "higher" if row["value"] > 0 else "lower"


def _published(name: str) -> str:
    kind = VARIANTS[name]
    difference = LOSS_NATS[kind] - LOSS_NATS["rope"]
    return f"{LOSS_NATS[kind]:.4f} - {LOSS_NATS['rope']:.4f} = {difference:+.4f} nats per byte"


def _difference_in_words(row: Row) -> str:
    if row["value"] is None:
        return f"{row['group']} {row['note']}"
    interval = "" if row["low"] is None else f" [{row['low']:+.4f}, {row['high']:+.4f}]"
    return f"{row['group']} {row['value']:+.4f}{interval}"


def _label(row: Row) -> str:
    first, second = (row[name].removeprefix("en-zh-") for name in ("checkpoint", "reference"))
    first, _, seed = first.partition("-seed")
    of_seed = f", seed {seed}" if seed else ""
    is_mean = row["statistic"] == "mean_loss_difference"
    return (
        f"{first} − {second.partition('-seed')[0]}, {row['group']}"
        f"{', mean' if is_mean else of_seed}"
    )


def _losses_beside(losses: pd.DataFrame) -> Html:
    by_name: dict[str, dict[str, float]] = {}
    for row in rows_of(losses):
        by_name.setdefault(row["checkpoint"], {})[row["group"]] = row["value"]
    rows = []
    for name, nats in by_name.items():
        published = LOSS_NATS.get(name.removeprefix("en-zh-"))
        ours = [f"{nats[words]:.4f}" for words in LANGUAGES.values()]
        rows.append([name, *ours, "" if published is None else f"{published:.4f}"])
    head = ["checkpoint", *LANGUAGES.values(), "published, both mixed"]
    return side_by_side("Held-out loss in nats per byte", head, rows)


def _charts(checkpoints: pd.DataFrame, per_head: pd.DataFrame) -> list[Chart]:
    charts = [_chart(checkpoints, "checkpoint-differences", "Difference of loss, long runs")]
    if len(per_head):
        title = "Difference of loss, the per-head model beside its seed"
        charts.append(_chart(per_head, "per-head-differences", title))
    return charts


def _seed_parts(by_seed: pd.DataFrame, seeds: Sequence[int]) -> Sequence[Chart | str]:
    if not seeds:
        return ["No seed is there with all three models."]
    drawn = by_seed.query("statistic != 'equivalence_p'")
    return [_chart(drawn, "seed-differences", "Difference of loss, seed by seed")]


def _chart(table: pd.DataFrame, key: str, title: str) -> Chart:
    return dot_chart(
        table,
        _label,
        key=key,
        title=f"{title}, nats per byte",
        note="Left of 0 the learned increments have the lower loss.",
        lines=[
            ("no difference", 0.0),
            ("-0.005, margin of equivalence", -MARGIN_NATS),
            ("+0.005", MARGIN_NATS),
        ],
    )


def _picture(checkpoints: pd.DataFrame) -> str:
    rows = rows_of(checkpoints)
    intervals = [None if row["low"] is None else (row["low"], row["high"]) for row in rows]
    return value_picture([row["value"] for row in rows], intervals=intervals, reference=0.0)
