"""What a benchmark gives: a measured number beside its target; and how times are compared."""

import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Figure:
    """A measured number and what it should be.

    Attributes:
        name: What was measured.
        value: The number, most often a ratio.
        at_least: The target from below, or None.
        at_most: The target from above, or None.
        remark: What the number was made of.
    """

    name: str
    value: float
    at_least: float | None = None
    at_most: float | None = None
    remark: str = ""

    @property
    def verdict(self) -> str:
        """``ok`` or ``short``; nothing where there is no target."""
        if self.at_least is None and self.at_most is None:
            return ""
        is_met = (self.at_least is None or self.value >= self.at_least) and (
            self.at_most is None or self.value <= self.at_most
        )
        return "ok" if is_met else "short"

    def __str__(self) -> str:
        target = ""
        if self.at_least is not None:
            target = f">= {self.at_least:g}"
        elif self.at_most is not None:
            target = f"<= {self.at_most:g}"
        return f"{self.name:58} {self.value:9.3g} {target:>10} {self.verdict:5}  {self.remark}"


def median_seconds(sides: Sequence[Callable[[], object]], *, rounds: int) -> list[float]:
    """The median time of each side.

    The sides take turns, so that what else the machine does falls on all alike; the first round
    warms up and is not counted.
    """
    times: list[list[float]] = [[] for _ in sides]
    for number in range(rounds + 1):
        for side, of_side in zip(sides, times, strict=True):
            began = time.perf_counter()
            side()
            if number:
                of_side.append(time.perf_counter() - began)
    return [statistics.median(of_side) for of_side in times]
