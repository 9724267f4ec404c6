"""A plot of several panels: where each stands, its axes' names, ticks and titles they share."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import plotly.graph_objects as go

from interp.reports import theme
from interp.reports.chart import plotly_text


@dataclass(frozen=True)
class Place:
    """Where a panel stands.

    Attributes:
        suffix: What its axes have after ``x`` and ``y``.
        left: Of the panel, as a share of the plot's width.
        top: As a share of the plot's height.
        domain: From left to right and from bottom to top, as Plotly takes them.
        is_first: Whether it is the first of its row.
        is_lowest: Whether no panel stands below it.
    """

    suffix: str
    left: float
    top: float
    domain: tuple[list[float], list[float]]
    is_first: bool
    is_lowest: bool


@dataclass(frozen=True)
class PanelGrid:
    """Panels row by row.

    Attributes:
        n_panels: How many there are.
        n_columns: In a row.
        panel_px: Height of a panel in pixels.
        gap_px: Between two rows.
        gap: Between two columns, as a share of the plot's width.
    """

    n_panels: int
    n_columns: int
    panel_px: int
    gap_px: int
    gap: float

    @property
    def plot_px(self) -> int:
        """Height of all rows."""
        n_rows = -(-self.n_panels // self.n_columns)
        return n_rows * self.panel_px + (n_rows - 1) * self.gap_px

    def places(self) -> Iterator[Place]:
        """Where every panel stands, in order."""
        width = (1 - self.gap * (self.n_columns - 1)) / self.n_columns
        for index in range(self.n_panels):
            column, row = index % self.n_columns, index // self.n_columns
            left = column * (width + self.gap)
            top = 1 - row * (self.panel_px + self.gap_px) / self.plot_px
            yield Place(
                suffix="" if index == 0 else str(index + 1),
                left=left,
                top=top,
                domain=([left, left + width], [max(0.0, top - self.panel_px / self.plot_px), top]),
                is_first=column == 0,
                is_lowest=index + self.n_columns >= self.n_panels,
            )


def log_ticks(low: float, high: float) -> list[float]:
    """Round numbers from ``low`` to ``high``, both above 0: at least three if there are.

    Powers of ten; where those are few, 3 times them too; or else 2 and 5 times them.
    """
    powers = range(math.floor(math.log10(low)) - 1, math.ceil(math.log10(high)) + 1)
    ticks: list[float] = []
    for factors in ((1,), (1, 3), (1, 2, 5)):
        every = [factor * 10.0**power for power in powers for factor in factors]
        ticks = [tick for tick in every if low <= tick <= high]
        if len(ticks) >= 3:
            break
    return ticks


def add_titles(drawn: go.Figure, x: str, y: str, mode: str, *, y_shift_px: int) -> None:
    """Name what lies along x below all panels, and along y to the left of them.

    Args:
        drawn: The figure.
        x: The name of what lies along x.
        y: The name of what lies along y.
        mode: The look.
        y_shift_px: How far to the left the latter stands.
    """
    shared: dict[str, Any] = {"xref": "paper", "yref": "paper", "showarrow": False}
    shared["font"] = {"size": 12, "color": theme.PAPER[mode]["soft"]}
    drawn.add_annotation(text=plotly_text(x), x=0.5, y=0, yanchor="top", yshift=-26, **shared)
    drawn.add_annotation(
        text=plotly_text(y),
        x=0,
        y=0.5,
        xanchor="right",
        textangle=-90,
        xshift=-y_shift_px,
        **shared,
    )
