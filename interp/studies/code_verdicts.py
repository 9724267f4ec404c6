"""What token classes say of the claim that a layer isolates the delimiters of scopes."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from interp.reports.chart import estimate_text
from interp.reports.verdicts import Verdict
from interp.studies.published import CODE_REST, CODE_SCOPE
from interp.tables import Row, row_name, rows_of

SCOPE = ("newline after a statement", "open bracket", "close bracket")
"""What the published layer isolates."""

NOT_CODE = tuple(f"{name}, not code" for name in ("newline", "open bracket", "close bracket"))
"""The same bytes in strings and comments, in the same order."""

ALIKE = ("other newline", *NOT_CODE)
"""Bytes of delimiters where they delimit no scope: neither these nor all else."""

NO_TOKENS = ("not Python", "separator")

MIN_BYTES = 100
"""A class with fewer bytes decides nothing."""

ISOLATED = 4.0
"""How many times farther than all else is as good as published: half of about 8 to about 1."""

HARDLY = 0.1
"""Differences below this share of a layer's range are small beside those between classes."""


@dataclass(frozen=True)
class Isolation:
    """How far one column of the increments puts the delimiters of scopes from all else.

    Attributes:
        column: Its name.
        means: Of every class of tokens that has `MIN_BYTES`; all of `SCOPE` and others.
    """

    column: str
    means: dict[str, Row]

    @property
    def nearest(self) -> Row:
        """The delimiter with the smallest mean."""
        return min((self.means[group] for group in SCOPE), key=_value)

    @property
    def farthest(self) -> Row:
        """The class with the largest mean among all else."""
        return max(_others(self.means), key=_value)

    @property
    def ratio(self) -> float:
        """How many times farther the nearest delimiter is than the farthest of all else."""
        return _ratio(self.nearest["value"], self.farthest["value"])

    @property
    def range(self) -> float:
        """The largest mean less the smallest."""
        values = [row["value"] for row in self.means.values()]
        return max(values) - min(values)

    @property
    def far(self) -> list[Row]:
        """Classes above the middle of the lowest and the highest mean, the farthest first."""
        values = [row["value"] for row in self.means.values()]
        middle = (min(values) + max(values)) / 2
        far = [row for row in self.means.values() if row["value"] > middle]
        return sorted(far, key=_value, reverse=True)


def isolations(table: pd.DataFrame) -> list[Isolation]:
    """Of every column that has all delimiters and something else, classes of `MIN_BYTES` each."""
    columns: dict[str, dict[str, Row]] = {}
    for row in rows_of(table.query("statistic == 'mean'")):
        if row["value"] is not None and row["n"] >= MIN_BYTES and row["group"] not in NO_TOKENS:
            columns.setdefault(row_name(row), {})[row["group"]] = row
    return [
        Isolation(column, means)
        for column, means in columns.items()
        if means.keys() >= set(SCOPE) and _others(means)
    ]


def most_telling(columns: Sequence[Isolation]) -> Isolation:
    """The column that isolates delimiters best; if none does, the one with the widest range."""
    best = max(columns, key=lambda each: each.ratio)
    return best if best.ratio > 1 else max(columns, key=lambda each: each.range)


def isolation_verdict(which: str, table: pd.DataFrame) -> Verdict:
    """Whether some layer puts newline and brackets farther than everything else."""
    claim = f"A layer of {which} isolates newline and brackets from all else."
    published = f"newline and brackets about {CODE_SCOPE:g}, all else about {CODE_REST:g}"
    columns = isolations(table)
    if not columns:
        few = f"fewer than {MIN_BYTES} bytes of some delimiter"
        return Verdict(claim, published, few, "Undecided: too little source.")
    best = most_telling(columns)
    if best.ratio <= 1:
        far = [row["group"] for row in best.far]
        near = [best.means[group] for group in SCOPE if group not in far]
        words = f"{best.column} has the widest range; far are " + ", ".join(
            f"{row['group']} {row['value']:.2f}" for row in best.far
        )
        words += "; not far: " + ", ".join(map(_in_words, near)) if near else ""
        answer = "Not repeated: in every layer some other class is as far or farther."
        return Verdict(claim, published, words, answer)
    words = (
        f"{best.column}: {_in_words(best.nearest)} is the nearest of them, "
        f"{_in_words(best.farthest)} the farthest of all else"
    )
    if best.ratio >= ISOLATED:
        answer = f"Repeated: {best.ratio:.1f} times as far as any other class."
    elif _is_above(best.nearest, best.farthest):
        answer = f"Repeated in kind: farther than any other class, but {best.ratio:.2f} times only."
    else:
        answer = "Undecided: farther than any other class, but the intervals meet."
    return Verdict(claim, published, words, answer)


def token_verdict(which: str, table: pd.DataFrame) -> Verdict:
    """Whether the layer that tells most knows delimiters from the same bytes elsewhere."""
    columns = isolations(table)
    if not columns:
        claim = f"{which} tells delimiters from the same bytes in strings and comments."
        return Verdict(claim, "", "too few delimiters", "Undecided: too little source.")
    best = most_telling(columns)
    claim = (
        f"{best.column} of {which} tells delimiters from the same bytes in strings and comments."
    )
    pairs = [
        (best.means[token], best.means[outside])
        for token, outside in zip(SCOPE, NOT_CODE, strict=True)
        if outside in best.means
    ]
    if not pairs:
        return Verdict(
            claim, "", "none stand in strings or comments", "Undecided: nothing to compare with."
        )
    words = "; ".join(f"{_in_words(token)}, not code {number(other)}" for token, other in pairs)
    if best.column == "L0" or best.column.startswith("shared"):
        return Verdict(claim, "", words, "No: what this layer sees is the byte alone.")
    apart = {
        token["group"]: token["value"] - other["value"]
        for token, other in pairs
        if _is_above(token, other) or _is_above(other, token)
    }
    if not apart:
        return Verdict(claim, "", words, "Not shown: the intervals meet.")
    share = max(map(abs, apart.values())) / best.range
    how = " and ".join(
        f"{group} {'farther' if difference > 0 else 'nearer'} by {abs(difference):.2f}"
        for group, difference in apart.items()
    )
    answer = (
        f"{'Hardly' if share < HARDLY else 'Yes'}: as a token {how}, at most {share:.0%} of the "
        "layer's range."
    )
    return Verdict(claim, "", words, answer)


def _others(means: dict[str, Row]) -> list[Row]:
    return [row for group, row in means.items() if group not in (*SCOPE, *ALIKE)]


def _ratio(above: float, below: float) -> float:
    return above / below if below > 0 else math.inf


def number(row: Row) -> str:
    """A mean with its interval."""
    return estimate_text(row, ".2f")


def _is_above(first: Row, second: Row) -> bool:
    """Whether the whole interval of one mean lies above that of another."""
    if first["low"] is None or second["high"] is None:
        return False
    return first["low"] > second["high"]


def _in_words(row: Row) -> str:
    return f"{row['group']} {number(row)}"


def _value(row: Row) -> float:
    return row["value"]
