"""Several series in one chart: their values, their marks, their legend."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from interp.reports import theme
from interp.reports.chart import interval, interval_text, plotly_text, remarks_on
from interp.tables import Row, has_interval, row_name

HUES = ("lowercase, word-initial", "uppercase", ". ! ?", "digit", ", ; : -", "lead, other")
"""Byte classes whose colours series have, in order."""

_SYMBOLS = (
    "circle",
    "diamond-open",
    "square-open",
    "triangle-up",
    "x",
    "triangle-down",
    "cross",
    "star",
    "hexagon-open",
)
"""Marks of series, in order: they differ where colours are not seen."""

_LEGEND_PX = 22


@dataclass(frozen=True)
class Series:
    """Values under one name.

    Args:
        name: What the legend calls it.
        rows: Rows of an analysis table; those without a value are not drawn.
        hue: A byte class whose colour it has; its place among the series decides if empty.
    """

    name: str
    rows: Sequence[Row]
    hue: str = ""

    @property
    def drawn(self) -> list[Row]:
        """The rows that have a value."""
        return [row for row in self.rows if row["value"] is not None]


def remarks_on_series(series: Sequence[Series], name_of: Callable[[Row], str]) -> tuple[str, ...]:
    """The remarks on the rows of all series, each row called after its series too."""
    rows = [row | {"series": each.name} for each in series for row in each.rows]
    return remarks_on(rows, lambda row: f"{row['series']}, {name_of(row)}")


def trace_of(
    series: Series, place: int, xs: Sequence[float], mode: str, *, size: int
) -> dict[str, Any]:
    """What Plotly needs to draw the marks and intervals of a series.

    Args:
        series: The values.
        place: Its number among the series of the chart, which chooses its mark.
        xs: Where each value that is drawn stands.
        mode: The look.
        size: Of a mark, in pixels.
    """
    rows = series.drawn
    color = theme.class_color(series.hue or HUES[place % len(HUES)], mode)
    return {
        "x": list(xs),
        "y": [row["value"] for row in rows],
        "name": plotly_text(series.name),
        "legendgroup": str(place),
        "marker": {
            "color": color,
            "size": size,
            "symbol": _SYMBOLS[place % len(_SYMBOLS)],
            "line": {"width": 1.5, "color": color},
        },
        "error_y": interval(rows, color, width=3) if any(map(has_interval, rows)) else None,
        "customdata": [interval_text(row) for row in rows],
        "hovertext": [plotly_text(f"{series.name}, {row_name(row)}") for row in rows],
        "hovertemplate": "%{hovertext}: %{y:.3f}%{customdata}<extra></extra>",
    }


def legend_px(n_series: int, is_wide: bool, longest: int = 0) -> int:
    """The height of the legend of so many series, and of what the longest name leaves room for.

    Args:
        n_series: How many there are.
        is_wide: The size of the chart.
        longest: Characters of the longest name; 0 where all are short.
    """
    n_columns = 4 if is_wide else 1 if n_series < 5 else 2
    fitting = (600 if is_wide else 280) // (40 + 7 * longest)
    return _LEGEND_PX * -(-n_series // max(1, min(n_columns, fitting)))


def legend_of(mode: str, plot_px: int, above_px: int = 6) -> dict[str, Any]:
    """A legend above the plot, ``above_px`` over its upper edge."""
    return {
        "orientation": "h",
        "x": 0,
        "xanchor": "left",
        "y": 1 + above_px / plot_px,
        "yanchor": "bottom",
        "font": {"size": 12, "color": theme.PAPER[mode]["soft"]},
        "itemclick": False,
        "itemdoubleclick": False,
    }
