"""What differences of loss say of two checkpoints, and of a method: from tables to sentences."""

from collections.abc import Mapping, Sequence

import pandas as pd

from interp.analyses.seeds import MARGIN_NATS
from interp.analyses.statistics import LEVEL
from interp.reports.chart import estimate_text
from interp.reports.verdicts import Verdict
from interp.studies.loss_tables import BOTH, VARIANTS
from interp.studies.loss_training import JUMP_NORM, JUMPS, LARGEST_NORM, SAME_WINDOWS
from interp.studies.models import ROPE, SEEDS, kind_of
from interp.studies.published import LOSS_NATS
from interp.tables import Row, rows_of, select

_UNPUBLISHED = ""
_KINDS = {ROPE: "plain RoPE", **VARIANTS}
"""In words, by the name of the long run."""

_NEUTRAL, _NOT_NEUTRAL = "neutral", "not neutral"
_WHAT_IS_NEUTRAL = (
    f" Neutral is what two one-sided tests at {LEVEL:g} say: the 90 % interval of the mean, which "
    f"is narrower than the 95 % one given here, lies within {MARGIN_NATS} of 0. Nothing is "
    "corrected for several tests."
)


def checkpoint_verdict(name: str, table: pd.DataFrame) -> Verdict:
    """What `loss_tables.differences` say of one long run beside plain rotary positions."""
    rows = rows_of(select(table, checkpoint=name))
    answers = [f"{row['group']}: {_checkpoint_answer(row)}" for row in rows]
    return Verdict(
        f"This {VARIANTS[name]} checkpoint has the loss of the one with plain rotary positions.",
        _published(name),
        "; ".join(map(_difference_in_words, rows)),
        f"{'. '.join(answers)}. This is about two checkpoints and not about the method.",
    )


def per_head_verdict(table: pd.DataFrame) -> Verdict:
    """What `loss_tables.differences` say of the per-head model beside those of its seed."""
    rows = rows_of(table)
    here = [f"{_difference_in_words(row)} from {_KINDS[kind_of(row['reference'])]}" for row in rows]
    far = [row for row in rows if abs(row["value"]) >= MARGIN_NATS]
    said = [
        f"{_direction(row)} than {_KINDS[kind_of(row['reference'])]} in {row['group']}"
        for row in far
    ]
    answer = ", ".join(said) or f"it has, to within {MARGIN_NATS} nats per byte"
    difference = LOSS_NATS["per-layer-per-head"] - LOSS_NATS["rope"]
    return Verdict(
        "A model whose heads have increments of their own has the loss of the others of its seed.",
        f"{difference:+.4f} nats per byte from plain rotary positions",
        "; ".join(here),
        f"In these runs {answer}. With one run of each, this is not about the method.",
    )


def method_verdict(name: str, table: pd.DataFrame, seeds: Sequence[int]) -> Verdict:
    """What `loss_tables.seed_differences` say of one kind of learned increments."""
    claim = f"Learned increments, {VARIANTS[name]}, are neutral for the loss, as a method."
    published = f"{_published(name)}, one run each"
    if len(seeds) < len(SEEDS):
        here = f"{len(seeds)} of {len(SEEDS)} seeds are there"
        return Verdict(claim, published, here, "Undecided: needs the three seed runs.")
    rows = rows_of(select(table, checkpoint=name))
    by_group: dict[str, dict[str, Row]] = {}
    for row in rows:
        by_group.setdefault(row["group"], {})[row["statistic"]] = row
    of_seeds = [row for row in rows_of(table) if row["statistic"] == "loss_difference"]
    of_seeds = [row for row in of_seeds if kind_of(row["checkpoint"]) == name]
    here, answers = [], {}
    for group, found in by_group.items():
        mean, p_value = found["mean_loss_difference"], found["equivalence_p"]["value"]
        said = "not defined" if p_value is None else f"{p_value:.2g}"
        sd = found["sd_loss_difference"]["value"]
        is_higher = [row["value"] > 0 for row in of_seeds if row["group"] == group]
        counted = f"higher in {sum(is_higher)} of {len(is_higher)} seeds"
        here.append(f"{_difference_in_words(mean)}, sd {sd:.4f}, {counted}, equivalence p = {said}")
        answers[group] = _method_answer(mean, p_value, is_higher)
    by_language = [words for group, words in answers.items() if group != BOTH]
    if all(words.startswith(_NEUTRAL) for words in by_language):
        summary = "Neutral"
    elif any(words.startswith(_NOT_NEUTRAL) for words in by_language):
        summary = "Not neutral"
    else:
        summary = "Undecided"
    listed = "; ".join(f"{group}: {words}" for group, words in answers.items())
    answer = f"{summary}. {listed}."
    if any(words.startswith(_NEUTRAL) for words in answers.values()):
        answer += _WHAT_IS_NEUTRAL
    return Verdict(claim, published, "; ".join(here), answer)


def training_verdicts(table: pd.DataFrame) -> list[Verdict]:
    """What `loss_training.training_table` says of how smoothly the runs went; none if empty."""
    rows = rows_of(table)
    if not rows:
        return []
    of_kinds = {
        kind: [row for row in rows if kind_of(row["checkpoint"]) == kind] for kind in _KINDS
    }
    return [_jumps_verdict(of_kinds), *_rounding_verdict(rows)]


def _jumps_verdict(of_kinds: Mapping[str, Sequence[Row]]) -> Verdict:
    here, smooth, jumping = [], [], []
    for kind, rows in of_kinds.items():
        jumps = [row for row in rows if row["statistic"] == JUMPS]
        if not jumps:
            continue
        n_steps, n_jumps = sum(row["n"] for row in jumps), sum(row["value"] for row in jumps)
        largest = max(row["value"] for row in rows if row["statistic"] == LARGEST_NORM)
        here.append(
            f"{_KINDS[kind]}: {n_jumps:,.0f} of {n_steps:,} steps, largest norm {largest:,.1f}"
        )
        n_runs = sum(row["value"] > 0 for row in jumps)
        if kind != ROPE:
            words = f"{_KINDS[kind]} in {n_runs} of {len(jumps)} runs"
            (jumping if n_runs else smooth).append(words if n_runs else _KINDS[kind])
    answers = [f"It does: {', '.join(smooth)}"] if smooth else []
    answers += [f"It jumps: {', '.join(jumping)}"] if jumping else []
    return Verdict(
        "Training goes as smoothly with learned increments: after warm-up no gradient, before it "
        f"is clipped at 1, has a norm above {JUMP_NORM:g}.",
        _UNPUBLISHED,
        "; ".join(here),
        f"{'. '.join(answers) or 'Not defined: no run with increments has a record'}.",
    )


def _rounding_verdict(rows: Sequence[Row]) -> list[Verdict]:
    """Of two runs of one recipe and seed on the same windows; none where there are no two."""
    of_two = [row for row in rows if row["statistic"] == SAME_WINDOWS]
    if not of_two:
        return []
    here = [
        f"{_KINDS[row['checkpoint']]}, the long run and the short one of its seed: "
        f"{row['value']:.4f} nats per token, mean of {row['group']} ({row['note']})"
        for row in of_two
    ]
    inside = [row for row in of_two if abs(row["value"]) < MARGIN_NATS]
    outside = [row for row in of_two if abs(row["value"]) >= MARGIN_NATS]
    answers = []
    if inside:
        names = ", ".join(_KINDS[row["checkpoint"]] for row in inside)
        answers.append(f"By less than {MARGIN_NATS}: {names}")
    for row in outside:
        times = abs(row["value"]) / MARGIN_NATS
        answers.append(
            f"By {times:.1f} times that: {_KINDS[row['checkpoint']]} ({row['note']}), so that a "
            "difference of this size between two of its runs says little"
        )
    return [
        Verdict(
            "Two runs of one recipe and seed, which differ only by how a machine rounds and sums, "
            f"have mean losses of 100 steps within {MARGIN_NATS} nats of each other.",
            _UNPUBLISHED,
            "; ".join(here),
            f"{'. '.join(answers)}.",
        )
    ]


def _checkpoint_answer(row: Row) -> str:
    if row["low"] is None:
        return f"undecided, {row['note'] or 'no interval'}"
    if row["low"] <= 0 <= row["high"]:
        return "cannot be told apart on this text"
    is_small = row["low"] > -MARGIN_NATS and row["high"] < MARGIN_NATS
    return f"{_direction(row)}{f' by less than {MARGIN_NATS}' if is_small else ''}"


def _method_answer(row: Row, p_value: float | None, is_higher: Sequence[bool]) -> str:
    if p_value is None or row["low"] is None:
        return "undecided, the test is not defined"
    is_different = not row["low"] <= 0 <= row["high"]
    if p_value < LEVEL:
        though = f", though not zero: {_direction(row)}" if is_different else ""
        return f"{_NEUTRAL}, within {MARGIN_NATS} nats per byte{though}"
    if row["low"] > MARGIN_NATS or row["high"] < -MARGIN_NATS:
        return f"{_NOT_NEUTRAL}, {_direction(row)} by more than {MARGIN_NATS} nats per byte"
    if is_different:
        return f"{_direction(row)}, but whether by more than {MARGIN_NATS} is undecided"
    if len(set(is_higher)) == 1:
        return f"undecided, though {_direction(row)} in every seed"
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
    return f"{row['group']} {estimate_text(row, '+.4f')}"
