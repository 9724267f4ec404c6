"""What can be said of how increments come about: from tables by step to sentences."""

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise

import pandas as pd

from interp.reports.chart import Row, row_name, rows_of
from interp.reports.verdicts import Verdict

CHANCE = 0.5

NOTICEABLE_SHARE = 0.01
"""The share of saturated entries from which on it is said that a layer runs into its bound."""

_UNPUBLISHED = ""


def verdicts(
    steps: Mapping[str, int], classes: pd.DataFrame, areas: pd.DataFrame, saturation: pd.DataFrame
) -> list[Verdict]:
    """Answers about the way of a run.

    Args:
        steps: The step of every checkpoint that the tables are about.
        classes: Means by class of byte.
        areas: Areas under the ROC curve of the increments against word boundaries.
        saturation: Shares of entries at the bound.
    """
    by_column = _by_column(areas.query("statistic == 'roc_auc' and signal == 'increment'"), steps)
    return [
        _of_delimiters(classes, steps),
        _of_chance(by_column, steps),
        _of_turns(by_column, steps),
        _of_bound(saturation, steps),
    ]


def settled_from(rows: Sequence[Row], holds: Callable[[Row], bool]) -> Row | None:
    """The first of ``rows`` from which on ``holds`` is true to the end; None if not at the end."""
    first = None
    for row in reversed(rows):
        if not holds(row):
            break
        first = row
    return first


def _of_delimiters(classes: pd.DataFrame, steps: Mapping[str, int]) -> Verdict:
    claim = "Layers come to step further at spaces than inside words."
    spaces = _by_column(classes.query("group == 'space'"), steps)
    letters = _by_column(classes.query("group == 'lowercase, word-internal'"), steps)
    said, never = [], []
    for column, rows in spaces.items():
        of_letters = {row["checkpoint"]: row for row in letters[column]}

        def is_wider(row: Row, of_letters: Mapping[str, Row] = of_letters) -> bool:
            letter = of_letters[row["checkpoint"]]
            ends = (row["low"], letter["high"])
            return None not in ends and ends[0] > ends[1]

        first = settled_from(rows, is_wider)
        if first is None:
            never.append(column)
        else:
            said.append(f"{column} from step {steps[first['checkpoint']]:,} on")
    here = "; ".join([*said, *([f"not at the end: {', '.join(never)}"] if never else [])])
    verdict = "In every layer." if not never else f"In {len(said)} of {len(spaces)} layers."
    if not said:
        verdict = "Not in this run: in no layer at its end."
    return Verdict(claim, _UNPUBLISHED, here, verdict)


def _of_chance(areas: Mapping[str, list[Row]], steps: Mapping[str, int]) -> Verdict:
    said, never = [], []
    for column, rows in areas.items():
        above, below = settled_from(rows, _is_above), settled_from(rows, _is_below)
        first, side = (above, "above") if above else (below, "below")
        if first is None:
            never.append(column)
        else:
            said.append(f"{column} {side} from step {steps[first['checkpoint']]:,} on")
    here = "; ".join([*said, *([f"not at the end: {', '.join(never)}"] if never else [])])
    starts = {words.rpartition("step ")[2] for words in said}
    if len(said) < 2:
        verdict = "Not shown: fewer than two layers leave chance for good."
    elif len(starts) > 1:
        verdict = "Yes: they leave it at different steps."
    else:
        verdict = "No: those that leave it do so at the same saved step."
    return Verdict(
        "Layers leave chance at Chinese word boundaries one after the other.",
        _UNPUBLISHED,
        here,
        verdict,
    )


def _of_turns(areas: Mapping[str, list[Row]], steps: Mapping[str, int]) -> Verdict:
    turned = []
    for column, rows in areas.items():
        sides = [
            (side, steps[row["checkpoint"]])
            for row in rows
            for side, holds in (("above", _is_above), ("below", _is_below))
            if holds(row)
        ]
        turns = [
            f"{column} from {one} at step {at:,} to {other} at step {later:,}"
            for (one, at), (other, later) in pairwise(sides)
            if one != other
        ]
        turned += turns
    return Verdict(
        "A layer keeps the side of chance that it first took.",
        _UNPUBLISHED,
        "; ".join(turned)
        or "no layer was surely above chance at one step and surely below at another",
        "No: a layer can turn round while it is trained." if turned else "Yes, in this run.",
    )


def _of_bound(saturation: pd.DataFrame, steps: Mapping[str, int]) -> Verdict:
    claim = "Increments run into their bound."
    said = []
    rows = [row for row in rows_of(saturation) if row["value"] is not None]
    if not rows:
        return Verdict(claim, _UNPUBLISHED, "the increments have no bound", "Not defined.")
    last = max(steps.values())
    for group in dict.fromkeys(row["group"] for row in rows):
        of_group = pd.DataFrame([row for row in rows if row["group"] == group])
        for column, found in _by_column(of_group, steps).items():
            at_end = found[-1]
            if steps[at_end["checkpoint"]] == last and at_end["value"] > NOTICEABLE_SHARE:
                reached = next(row for row in found if row["value"] > NOTICEABLE_SHARE)
                said.append(
                    f"{column} {at_end['value']:.0%} of {group} at the end, above 1 % first at "
                    f"step {steps[reached['checkpoint']]:,}"
                )
    return Verdict(
        claim,
        _UNPUBLISHED,
        "; ".join(said) or "no layer has more than 1 % of its increments within 0.1 % of the bound",
        "Yes: such increments can hardly differ from one another." if said else "No.",
    )


def _by_column(table: pd.DataFrame, steps: Mapping[str, int]) -> dict[str, list[Row]]:
    """Rows by the name of their column, in the order of the steps."""
    found: dict[str, list[Row]] = {}
    for row in sorted(rows_of(table), key=lambda row: steps[row["checkpoint"]]):
        found.setdefault(row_name(row), []).append(row)
    return dict(sorted(found.items()))


def _is_above(row: Row) -> bool:
    return row["low"] is not None and row["low"] > CHANCE


def _is_below(row: Row) -> bool:
    return row["high"] is not None and row["high"] < CHANCE
