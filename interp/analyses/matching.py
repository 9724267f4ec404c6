"""Controls that are like what they are compared with, in numbers that are known of both."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int
from scipy.optimize import linear_sum_assignment

CALIPER = 0.2
"""How far apart the two of a match may be, in standard deviations of what is offered."""


@dataclass(frozen=True)
class Matching:
    """Which of what is offered goes with each of what is wanted.

    Attributes:
        partner: The place of its partner among those offered; -1 where none is near enough.
        distance: From its partner, in standard deviations; NaN where there is none.
    """

    partner: Int[np.ndarray, " wanted"]
    distance: Float[np.ndarray, " wanted"]

    @property
    def is_matched(self) -> Bool[np.ndarray, " wanted"]:
        """Who has a partner."""
        return self.partner >= 0


def match(
    wanted: Float[np.ndarray, "wanted covariate"],
    offered: Float[np.ndarray, "offered covariate"],
    *,
    caliper: float = CALIPER,
) -> Matching:
    """Partners without replacement: first as many as can be, then as near as can be.

    The distance is Euclidean, every covariate in standard deviations of what is offered (one
    that does not vary counts in its own unit). The assignment is the best one as a whole, so
    that it does not depend on who chooses first.

    Args:
        wanted: Covariates of each that is to find a partner.
        offered: Those of each that can be one.
        caliper: The largest distance of a match.

    Source: Rosenbaum 1989, "Optimal matching for observational studies", with a caliper.
    """
    apart = (wanted[:, np.newaxis] - offered[np.newaxis]) / _units(offered)
    distances = np.sqrt((apart**2).sum(axis=-1))
    too_far = caliper * (len(wanted) + 1)  # dearer than all matches together
    rows, columns = linear_sum_assignment(np.where(distances <= caliper, distances, too_far))
    is_near = distances[rows, columns] <= caliper
    rows, columns = rows[is_near], columns[is_near]
    partner, distance = np.full(len(wanted), -1), np.full(len(wanted), np.nan)
    partner[rows], distance[rows] = columns, distances[rows, columns]
    return Matching(partner, distance)


def standardised_difference(
    wanted: Float[np.ndarray, "wanted covariate"],
    offered: Float[np.ndarray, "offered covariate"],
    matching: Matching | None = None,
) -> Float[np.ndarray, " covariate"]:
    """Mean of the wanted minus mean of the offered, in standard deviations of the offered.

    Args:
        wanted: Covariates, or what else is known of both.
        offered: The same.
        matching: Who counts on both sides; everybody if None.

    Returns:
        NaN where nobody counts.
    """
    units = _units(offered)
    if matching is not None:
        wanted = wanted[matching.is_matched]
        offered = offered[matching.partner[matching.is_matched]]
    if not len(wanted):
        return np.full(wanted.shape[1], np.nan)
    return (wanted.mean(axis=0) - offered.mean(axis=0)) / units


def _units(offered: Float[np.ndarray, "offered covariate"]) -> Float[np.ndarray, " covariate"]:
    spread = offered.std(axis=0)
    return np.where(spread > 0, spread, 1.0)
