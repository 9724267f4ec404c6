"""Lines over a number, such as loss over steps: a panel each for what would crowd one plot."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import plotly.graph_objects as go

from interp.reports import theme
from interp.reports.chart import (
    Chart,
    add_panel_name,
    axis,
    figure,
    plotly_text,
    span,
    variants,
)
from interp.reports.panel_grid import PanelGrid, Place, add_titles, log_ticks
from interp.reports.series import HUES, legend_of, legend_px

_DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot")


@dataclass(frozen=True)
class Line:
    """Values over a number.

    Args:
        name: What the legend calls it; the same in every panel is one line of the legend.
        xs: Ascending.
        ys: One for each x.
        is_quiet: Whether it is there only to compare with: grey.
        under: One more value for each x, drawn faintly under it: what it smooths.
    """

    name: str
    xs: Sequence[float]
    ys: Sequence[float]
    is_quiet: bool = False
    under: Sequence[float] = ()


@dataclass(frozen=True)
class Panel:
    """Lines in one plot; "" where a chart has one panel that needs no name."""

    name: str
    lines: Sequence[Line]


@dataclass(frozen=True)
class Axis:
    """What lies along an axis.

    Args:
        title: With its unit.
        is_log: Whether it is logarithmic; then every value is above 0.
        marks: Values at which a dotted line stands across.
    """

    title: str
    is_log: bool = False
    marks: Sequence[float] = ()

    def range(self, values: Sequence[float], share: float) -> tuple[float, float]:
        """What holds all values and marks, with a ``share`` of it as margin, as Plotly takes it."""
        drawn = (*values, *self.marks)
        return span([math.log10(value) if self.is_log else value for value in drawn], share)


def line_chart(
    panels: Sequence[Panel],
    *,
    key: str,
    title: str,
    x: Axis,
    y: Axis,
    note: str = "",
) -> Chart:
    """Lines in panels that share their axes, so that panels compare.

    Lines differ in colour and in their pattern, which is seen without colours.

    Args:
        panels: At least one.
        key: The chart's name on its page.
        title: What is shown, in a few words.
        x: What lies along x.
        y: What lies along y.
        note: How to read it.
    """
    # Plotly has no place in its legend for a line without values
    filled = [Panel(each.name, [line for line in each.lines if len(line.xs)]) for each in panels]
    drawn = [panel for panel in filled if panel.lines]
    if not drawn:
        return Chart(key, title, title, remarks=("Not defined: there is no value.",))
    names = list(dict.fromkeys(line.name for panel in drawn for line in panel.lines))
    of_panels = "" if len(drawn) == 1 else f" Panels: {', '.join(each.name for each in drawn)}."
    described = (
        f"{title}: {y.title} over {x.title}. Lines: {', '.join(names)}.{of_panels} "
        "The table has the numbers."
    )
    return Chart(
        key,
        title,
        described,
        variants(lambda mode, size: _figure(drawn, names, (x, y), mode, size)),
        note=note,
    )


def _figure(
    panels: Sequence[Panel], names: Sequence[str], axes: tuple[Axis, Axis], mode: str, size: str
) -> go.Figure:
    is_wide, is_one = size == "wide", len(panels) == 1
    n_columns = min(len(panels), 3 if is_wide else 2)
    panel_px = 300 if is_one else 150 if is_wide else 120
    grid = PanelGrid(len(panels), n_columns, panel_px, 46, 0.05 if is_wide else 0.07)
    legend = legend_px(len(names), is_wide, max(map(len, names))) if len(names) > 1 else 0
    above = legend + (0 if is_one else 26)
    margin = {"l": 58 if is_wide else 46, "r": 10, "t": above + 8, "b": 48}
    drawn = figure(
        mode,
        grid.plot_px + margin["t"] + margin["b"],
        margin=margin,
        showlegend=len(names) > 1,
        legend=legend_of(mode, grid.plot_px, above_px=6 if is_one else 28),
    )
    lines = [line for panel in panels for line in panel.lines]
    ranges = (
        axes[0].range([value for line in lines for value in line.xs], 0.02),
        axes[1].range([value for line in lines for value in (*line.ys, *line.under)], 0.07),
    )
    named: set[str] = set()
    for panel, place in zip(panels, grid.places(), strict=True):
        _add_axes(drawn, axes, ranges, place, mode)
        _add_marks(drawn, axes, place.suffix, mode)
        if panel.name:
            add_panel_name(drawn, panel.name, mode, left=place.left, top=place.top, above_px=3)
        for line in panel.lines:
            trace = _trace(line, names.index(line.name), mode)
            trace |= {"xaxis": f"x{place.suffix}", "yaxis": f"y{place.suffix}"}
            if len(line.under):
                faint = {"y": list(line.under), "opacity": 0.35, "hoverinfo": "skip"}
                faint["line"] = trace["line"] | {"width": 1, "dash": "solid"}
                drawn.add_scatter(**trace | faint | {"hovertemplate": None}, showlegend=False)
            drawn.add_scatter(**trace, showlegend=line.name not in named)
            named.add(line.name)
    add_titles(drawn, axes[0].title, axes[1].title, mode, y_shift_px=36 if is_wide else 28)
    return drawn


def _trace(line: Line, place: int, mode: str) -> dict[str, Any]:
    color = theme.class_color(HUES[place % len(HUES)], mode)
    return {
        "x": list(line.xs),
        "y": list(line.ys),
        "mode": "lines",
        "name": plotly_text(line.name),
        "legendgroup": str(place),
        "line": {
            "color": theme.PAPER[mode]["muted"] if line.is_quiet else color,
            "width": 1.25 if line.is_quiet else 1.75,
            # no two of 36 lines have both the same colour and the same pattern
            "dash": _DASHES[(place + place // len(HUES)) % len(_DASHES)],
        },
        "hovertemplate": "%{fullData.name}: %{x:.4g}, %{y:.4g}<extra></extra>",
    }


def _add_axes(
    drawn: go.Figure,
    axes: tuple[Axis, Axis],
    ranges: tuple[tuple[float, float], tuple[float, float]],
    place: Place,
    mode: str,
) -> None:
    (x, y), suffix = axes, place.suffix
    shared = {"tickfont": {"size": 11}, "nticks": 6}
    drawn.update_layout(
        {
            f"xaxis{suffix}": axis(
                mode,
                domain=place.domain[0],
                anchor=f"y{suffix}",
                range=ranges[0],
                **shared,
                **_log_ticks(x, ranges[0]),
            ),
            f"yaxis{suffix}": axis(
                mode,
                domain=place.domain[1],
                anchor=f"x{suffix}",
                range=ranges[1],
                showticklabels=place.is_first,
                **shared,
                **_log_ticks(y, ranges[1]),
            ),
        }
    )


def _log_ticks(of: Axis, ends: Sequence[float]) -> dict[str, Any]:
    if not of.is_log:
        return {}
    ticks = log_ticks(10 ** ends[0], 10 ** ends[1])
    return {"type": "log", "tickvals": ticks, "ticktext": [f"{tick:g}" for tick in ticks]}


def _add_marks(drawn: go.Figure, axes: tuple[Axis, Axis], suffix: str, mode: str) -> None:
    line = {"color": theme.PAPER[mode]["muted"], "width": 1.25, "dash": "dot"}
    for along, across, of in (("x", "y", axes[0]), ("y", "x", axes[1])):
        for mark in of.marks:
            ends = {f"{along}0": mark, f"{along}1": mark, f"{across}0": 0, f"{across}1": 1}
            refs = {f"{along}ref": f"{along}{suffix}", f"{across}ref": f"{across}{suffix} domain"}
            drawn.add_shape(type="line", line=line, layer="below", **ends, **refs)
