"""What can be said of how increments come about: from tables by step to sentences."""

import math
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise

import pandas as pd

from interp.reports.verdicts import Verdict
from interp.tables import LEAD_BYTE_CEILING, Row, has_interval, row_name, rows_of, select
from interp.text import counted

CHANCE = 0.5

NOTICEABLE_SHARE = 0.01
"""The share of saturated entries from which on it is said that a layer runs into its bound."""

SPACE, LETTER = "space", "lowercase, word-internal"
"""Classes of bytes that are compared."""

Runs = Mapping[str, Mapping[str, int]]
"""By what a run is called: the step of each of its checkpoints, in order."""

_UNPUBLISHED = ""
_LEAVES_CHANCE = "Layers leave chance at Chinese word boundaries."


def verdicts(
    runs: Runs, classes: pd.DataFrame, areas: pd.DataFrame, saturation: pd.DataFrame
) -> list[Verdict]:
    """Answers about the way of one or more runs.

    Args:
        runs: What the tables are about.
        classes: Means by class of byte.
        areas: Areas under the ROC curve of the increments against word boundaries.
        saturation: Shares of entries at the bound.
    """
    increments = select(areas, statistic="roc_auc", signal="increment")
    by_run = {run: _by_column(increments, steps) for run, steps in runs.items()}
    found = rows_of(increments)
    if any(map(has_interval, found)):
        of_areas = [
            _of_chance(by_run, runs, ceiling_of(areas)),
            *([_of_sides(by_run)] if len(runs) > 1 else []),
            _of_turns(by_run, runs),
        ]
    else:
        of_areas = [Verdict(_LEAVES_CHANCE, _UNPUBLISHED, "", _undefined(found))]
    return [_of_spaces(classes, runs), *of_areas, _of_bound(saturation, runs)]


def ceiling_of(areas: pd.DataFrame) -> float | None:
    """The most that any function of a character's lead byte reaches, in sample."""
    rows = rows_of(select(areas, statistic="roc_auc", signal=LEAD_BYTE_CEILING))
    return max((row["value"] for row in rows if row["value"] is not None), default=None)


def settled_from(rows: Sequence[Row], holds: Callable[[Row], bool]) -> Row | None:
    """The first of ``rows`` from which on ``holds`` is true to the end; None if not at the end."""
    first = None
    for row in reversed(rows):
        if not holds(row):
            break
        first = row
    return first


def _of_spaces(classes: pd.DataFrame, runs: Runs) -> Verdict:
    said: list[str] = []
    wider: dict[str, list[bool]] = {}
    constant: dict[str, None] = {}
    undefined: list[Row] = []
    for run, steps in runs.items():
        spaces = _by_column(select(classes, group=SPACE), steps)
        letters = _by_column(select(classes, group=LETTER), steps)
        words = []
        for column, rows in spaces.items():
            of_letters = {row["checkpoint"]: row for row in letters[column]}

            def is_wider(row: Row, of_letters: Mapping[str, Row] = of_letters) -> bool:
                return _low(row) > _high(of_letters[row["checkpoint"]])

            last = rows[-1]
            letter = of_letters[last["checkpoint"]]
            missing = [row for row in (*rows, *letters[column]) if row["value"] is None]
            undefined += missing
            if missing:
                words.append(f"{column} not defined")
                continue
            if all(not has_interval(row) and (row["n_documents"] or 0) > 1 for row in rows):
                constant[column] = None
            first = settled_from(rows, is_wider)
            at_end = _times(last, letter, ".2f")
            if first is not None:
                at_first = _times(first, of_letters[first["checkpoint"]], ".3f")
                step = steps[first["checkpoint"]]
                words.append(
                    f"{column} from step {step:,} on ({at_first} there, {at_end} at the end)"
                )
            elif _high(last) < _low(letter):
                words.append(f"{column} less at the end ({at_end})")
            else:
                words.append(f"{column} alike at the end ({at_end})")
            wider.setdefault(column, []).append(first is not None)
        said.append(_of_run(run, runs, ", ".join(words)))
    verdict = _counted(wider) if wider else _undefined(undefined)
    if constant:
        verdict += (
            f" At every space the increment of {', '.join(constant)} is the same: without an "
            "interval, any difference from the letters counts."
        )
    return Verdict(
        "Layers come to step further at spaces than inside words: the 95 % interval of spaces "
        "lies above that of the letters, and stays there.",
        _UNPUBLISHED,
        "; ".join(said),
        verdict,
    )


def _times(row: Row, of: Row, form: str) -> str:
    """How many times as large the first is; 0 has no multiples."""
    return f"{row['value'] / of['value']:{form}} times" if of["value"] else "letters at 0"


def _undefined(rows: Sequence[Row]) -> str:
    """That nothing can be said of rows, and why."""
    notes = dict.fromkeys(str(row["note"] or "no interval") for row in rows)
    reasons = [note.removeprefix("not defined: ").removeprefix("no interval: ") for note in notes]
    return f"Not defined: {'; '.join(reasons) or 'nothing was measured'}."


def _of_chance(
    by_run: Mapping[str, Mapping[str, list[Row]]], runs: Runs, ceiling: float | None
) -> Verdict:
    said, beyond, n_layers, n_left = [], [], 0, 0
    for run, areas in by_run.items():
        words = []
        for column, rows in areas.items():
            side = _side(rows[-1])
            n_layers += 1
            n_left += side is not None
            if ceiling is not None and _is_beyond(rows[-1], ceiling):
                beyond.append(f"{column} of {run}" if len(runs) > 1 else column)
            if side is None:
                words.append(f"{column} not at the end")
                continue
            first = settled_from(rows, lambda row, side=side: _side(row) == side)
            step = runs[run][first["checkpoint"]] if first else 0
            words.append(f"{column} {side} from step {step:,} on ({rows[-1]['value']:.3f})")
        said.append(_of_run(run, runs, ", ".join(words)))
    verdict = f"{n_left} of {n_layers} layers end on one side of it."
    if ceiling is not None:
        verdict += (
            " With their whole interval farther from it than the next character's lead byte alone "
            f"is on this text, {ceiling:.3f} or, turned round, {1 - ceiling:.3f}: "
            f"{', '.join(beyond) or 'none'}."
        )
    return Verdict(_LEAVES_CHANCE, _UNPUBLISHED, "; ".join(said), verdict)


def _of_sides(by_run: Mapping[str, Mapping[str, list[Row]]]) -> Verdict:
    claim = "A layer ends on the same side of chance in every run."
    sides: dict[str, list[str | None]] = {}
    shared = set.intersection(*(set(areas) for areas in by_run.values()))
    for areas in by_run.values():
        for column in sorted(shared):
            sides.setdefault(column, []).append(_side(areas[column][-1]))
    if not sides:
        return Verdict(claim, _UNPUBLISHED, "", "Not defined: the runs have no layer in common.")
    same = {column: set(found) for column, found in sides.items() if len(set(found)) == 1}
    alike = [f"{column} {side}" for column, found in same.items() for side in found if side]
    here = "; ".join(
        f"{column} {', '.join(side or 'undecided' for side in found)}"
        for column, found in sides.items()
    )
    if len(alike) == len(sides):
        verdict = "Yes, every layer."
    elif alike:
        verdict = f"Only {', '.join(alike)}."
    else:
        verdict = "No layer does."
    by_luck = sum(
        math.prod(
            sum(_side(areas[column][-1]) == wanted for column in sides) / len(sides)
            for areas in by_run.values()
        )
        for wanted in ("above", "below")
    ) * len(sides)
    return Verdict(
        claim,
        _UNPUBLISHED,
        here,
        f"{verdict} Were the sides of each run dealt to its layers by lot, {by_luck:.1f} of "
        f"{len(sides)} would on average.",
    )


def _of_turns(by_run: Mapping[str, Mapping[str, list[Row]]], runs: Runs) -> Verdict:
    said, is_any_off = [], False
    n_turns = n_early = 0
    for run, areas in by_run.items():
        turned = []
        for column, rows in areas.items():
            sides = [
                (_side(row), runs[run][row["checkpoint"]])
                for row, following in pairwise(rows)
                if _side(row) and _side(row) == _side(following)
            ]
            is_any_off |= bool(sides)
            turns = [
                (one, at, other, later)
                for (one, at), (other, later) in pairwise(sides)
                if one != other
            ]
            n_turns += len(turns)
            n_early += sum(at == min(runs[run].values()) for _, at, _, _ in turns)
            turned += [
                f"{column} from {one} at step {at:,} to {other} at step {later:,}"
                for one, at, other, later in turns
            ]
        said += [_of_run(run, runs, ", ".join(turned))] if turned else []
    if said:
        verdict = f"No: a layer can turn round while it is trained ({counted(n_turns, 'turn')})."
        if n_early:
            verdict += f" Begun at the first saved step, the least to go by: {n_early}."
    elif is_any_off:
        verdict = "Yes, in these runs." if len(runs) > 1 else "Yes, in this run."
    else:
        verdict = "Not shown: no layer was surely off chance at two saved steps in a row."
    return Verdict(
        "A layer keeps the side of chance that it first took at two saved steps in a row: of one "
        "step alone, among so many, chance would do as much.",
        _UNPUBLISHED,
        "; ".join(said) or "no layer was surely above chance at two such steps and below at others",
        verdict,
    )


def _of_bound(saturation: pd.DataFrame, runs: Runs) -> Verdict:
    claim = "Increments run into their upper bound."
    if all(row["value"] is None for row in rows_of(saturation)):
        return Verdict(claim, _UNPUBLISHED, "the increments have no bound", "Not defined.")
    said, at_end_in = [], set()
    for run, steps in runs.items():
        words = []
        for group in dict.fromkeys(saturation["group"].dropna()):
            for column, found in _by_column(select(saturation, group=group), steps).items():
                reached = [row for row in found if (row["value"] or 0) > NOTICEABLE_SHARE]
                if not reached:
                    continue
                share = found[-1]["value"]
                at_end_in |= {run} if share > NOTICEABLE_SHARE else set()
                at_end = f"{share:.0%}" if share > NOTICEABLE_SHARE else "hardly any"
                words.append(
                    f"{column} {at_end} of the increments in {group} text at the end, above "
                    f"1 % first at step {steps[reached[0]['checkpoint']]:,}"
                )
        said += [_of_run(run, runs, ", ".join(words))] if words else []
    if at_end_in:
        where = f", in {len(at_end_in)} of {len(runs)} runs" if len(runs) > 1 else ""
        verdict = f"Yes{where}: such increments can hardly differ from one another."
    else:
        verdict = "No longer at the end." if said else "No."
    return Verdict(
        claim,
        _UNPUBLISHED,
        "; ".join(said) or "no layer had more than 1 % of its increments within 0.1 % of the bound",
        verdict,
    )


def _of_run(run: str, runs: Runs, words: str) -> str:
    return f"{run}: {words}" if len(runs) > 1 else words


def _counted(holds: Mapping[str, Sequence[bool]]) -> str:
    """In which layers something holds, as a sentence; of each layer, whether it does in each run.

    Not every run need have every layer.
    """
    everywhere = [column for column, found in holds.items() if all(found)]
    sometimes = [
        f"{column} in {sum(found)} of {len(found)}"
        for column, found in holds.items()
        if any(found) and not all(found)
    ]
    if len(everywhere) == len(holds):
        return "In every layer."
    if not everywhere and not sometimes:
        return "In no layer at the end."
    words = [", ".join(everywhere)] if everywhere else []
    n_runs = max(map(len, holds.values()))
    words[0:1] = [f"{words[0]} in every run"] if words and n_runs > 1 else words
    return f"In part: {'; '.join([*words, *sometimes])}."


def _by_column(table: pd.DataFrame, steps: Mapping[str, int]) -> dict[str, list[Row]]:
    """Rows of one run by the name of their column, in the order of the steps."""
    found: dict[str, list[Row]] = {}
    of_run = [row for row in rows_of(table) if row["checkpoint"] in steps]
    for row in sorted(of_run, key=lambda row: steps[row["checkpoint"]]):
        found.setdefault(row_name(row), []).append(row)
    return dict(sorted(found.items()))


def _low(row: Row) -> float:
    """The lower end of an interval; of documents that do not differ at all it is the value."""
    if row["low"] is None:
        return row["value"] if (row["n_documents"] or 0) > 1 else -math.inf
    return row["low"]


def _high(row: Row) -> float:
    if row["high"] is None:
        return row["value"] if (row["n_documents"] or 0) > 1 else math.inf
    return row["high"]


def _is_beyond(row: Row, ceiling: float) -> bool:
    """Whether an area is surely above ``ceiling``, or as far below chance."""
    return has_interval(row) and (row["low"] > ceiling or row["high"] < 1 - ceiling)


def _side(row: Row) -> str | None:
    """On which side of chance an area surely is."""
    if row["low"] is None:
        return None
    return "above" if row["low"] > CHANCE else "below" if row["high"] < CHANCE else None
