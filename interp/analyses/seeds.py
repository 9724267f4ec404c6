"""What a few training runs can tell of a method: differences paired by seed."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import stdtr, stdtrit

from interp.analyses.statistics import LEVEL, Estimate

MARGIN_NATS = 0.005
"""Per byte: a difference of loss that counts as none."""


@dataclass(frozen=True)
class Equivalence:
    """Two one-sided tests of whether a mean lies within a margin on either side of 0.

    Attributes:
        margin: In the unit of the values.
        p_value: The larger one of the two; below 0.05 the mean is shown to be within the margin.
            None where it is not defined.
        note: Why it is not defined.
    """

    margin: float
    p_value: float | None
    note: str | None = None

    @property
    def is_shown(self) -> bool:
        """Whether equivalence is shown at level 0.05."""
        return self.p_value is not None and self.p_value < LEVEL


def seed_interval(values: Sequence[float]) -> Estimate:
    """The mean over runs with its 95 % t interval, one degree of freedom less than runs.

    Args:
        values: One per seed, such as the differences of two models trained alike.

    Returns:
        The mean in the unit of the values; without an interval below two runs, or where runs
        do not differ; undefined without any run.
    """
    n = len(values)
    if n == 0:
        return Estimate(None, n=0, note="not defined: no runs")
    mean = float(np.mean(values))
    error = _standard_error(values)
    if error is None:
        why = "one run only" if n == 1 else "degenerate, the runs do not differ"
        return Estimate(mean, n=n, note=f"no interval: {why}")
    half_width = float(stdtrit(n - 1, 0.975)) * error
    return Estimate(
        mean, low=mean - half_width, high=mean + half_width, n=n, method=f"t({n - 1}) over seeds"
    )


def equivalence(values: Sequence[float], margin: float) -> Equivalence:
    """Whether the mean over runs is shown to be nearer to 0 than ``margin``, at level 0.05.

    That a difference is not significant does not show that there is none; this does. It is
    shown exactly where the 90 % t interval lies inside the margin.

    Args:
        values: One per seed.
        margin: Above 0, in the unit of the values.

    Source: Schuirmann 1987, "A comparison of the two one-sided tests procedure and the power
        approach for assessing the equivalence of average bioavailability", J. Pharmacokinetics
        and Biopharmaceutics 15.
    """
    if not margin > 0:
        raise ValueError(f"equivalence: the margin must be above 0, not {margin}")
    error = _standard_error(values)
    if error is None:
        why = "fewer than two runs" if len(values) < 2 else "the runs do not differ"
        return Equivalence(margin, None, f"not defined: {why}")
    nearest = margin - abs(float(np.mean(values)))
    return Equivalence(margin, float(stdtr(len(values) - 1, -nearest / error)))


def _standard_error(values: Sequence[float]) -> float | None:
    """Of the mean; None where the values do not say how much they spread."""
    if len(values) < 2 or not np.ptp(values) > 0:
        return None
    return float(np.std(values, ddof=1) / np.sqrt(len(values)))
