"""Numbers of training runs as rows of analysis tables: each seed, their mean, sd and rank."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from interp.analyses.seeds import seed_interval
from interp.analyses.statistics import Estimate

SeedValues = Mapping[int, float]
"""A number of each seed."""

_AT_LEAST_TWO = "not defined: fewer than two seeds"


def seed_rows(
    member: str, values: SeedValues, statistic: str, about: Mapping[str, Any]
) -> list[dict[str, Any]]:
    """A row for each seed, the mean with its 95 % t interval, and the sd.

    Args:
        member: What was trained; the checkpoint of a seed is called after it.
        values: By seed.
        statistic: What the numbers are; of all seeds there are ``mean_`` and ``sd_`` of it.
        about: What else the rows are about.
    """
    rows: list[dict[str, Any]] = [
        {**about, "checkpoint": f"{member}-seed{seed}", "statistic": statistic, "value": value}
        | {"n": 1}
        for seed, value in values.items()
    ]
    mean = mean_of(values).as_row()
    rows.append({**about, "checkpoint": member, "statistic": f"mean_{statistic}"} | mean)
    has_sd = len(values) > 1
    sd = float(np.std(list(values.values()), ddof=1)) if has_sd else None
    spread = {"value": sd, "n": len(values), "note": None if has_sd else _AT_LEAST_TWO}
    rows.append({**about, "checkpoint": member, "statistic": f"sd_{statistic}"} | spread)
    return rows


def mean_of(values: SeedValues) -> Estimate:
    """The mean over seeds with its 95 % t interval."""
    return seed_interval(list(values.values()))


def paired_values(first: SeedValues, second: SeedValues) -> dict[int, float]:
    """The first minus the second, of the seeds that both have."""
    return {seed: first[seed] - second[seed] for seed in first if seed in second}


def rank_rows(values: Mapping[str, SeedValues], about: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The rank of every member, seed by seed: 1 has the smallest number.

    Members that a seed lacks are left out of its ranking; those that tie share the mean of
    their ranks. ``n`` is how many were ranked.

    Args:
        values: By member and seed.
        about: What else the rows are about.
    """
    rows: list[dict[str, Any]] = []
    for seed in sorted({seed for of_member in values.values() for seed in of_member}):
        there = {member: each[seed] for member, each in values.items() if seed in each}
        for member, value in there.items():
            n_less = sum(other < value for other in there.values())
            n_alike = sum(other == value for other in there.values())
            ranked = {"value": n_less + (n_alike + 1) / 2, "n": len(there), "statistic": "rank"}
            rows.append({**about, "checkpoint": f"{member}-seed{seed}"} | ranked)
    return rows
