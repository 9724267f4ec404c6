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
    variants,
)
from interp.reports.series import legend_of, legend_px

_HUES = ("lowercase, word-initial", "uppercase", ". ! ?", "digit", ", ; : -", "lead, other")
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

    def range(self, values: Sequence[float], margin: float) -> list[float]:
        """From below the lowest to above the highest value, as Plotly takes it."""
        ends = [math.log10(value) if self.is_log else value for value in (*values, *self.marks)]
        low, high = min(ends), max(ends)
        room = margin * (high - low) or 0.5
        return [low - room, high + room]


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
    drawn = [panel for panel in panels if any(len(line.xs) for line in panel.lines)]
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
    n_grid_rows = -(-len(panels) // n_columns)
    panel_px, gap_px = (300 if is_one else 150 if is_wide else 120), 46
    legend = legend_px(len(names), is_wide, max(map(len, names))) if len(names) > 1 else 0
    above = legend + (0 if is_one else 26)
    plot_px = n_grid_rows * panel_px + (n_grid_rows - 1) * gap_px
    margin = {"l": 58 if is_wide else 46, "r": 10, "t": above + 8, "b": 48}
    drawn = figure(
        mode,
        plot_px + margin["t"] + margin["b"],
        margin=margin,
        showlegend=len(names) > 1,
        legend=legend_of(mode, plot_px, above_px=6 if is_one else 28),
    )
    lines = [line for panel in panels for line in panel.lines]
    ranges = (
        axes[0].range([value for line in lines for value in line.xs], 0.02),
        axes[1].range([value for line in lines for value in (*line.ys, *line.under)], 0.07),
    )
    gap = 0.05 if is_wide else 0.07
    width = (1 - gap * (n_columns - 1)) / n_columns
    named: set[str] = set()
    for index, panel in enumerate(panels):
        column, grid_row = index % n_columns, index // n_columns
        left, top = column * (width + gap), 1 - grid_row * (panel_px + gap_px) / plot_px
        suffix = "" if index == 0 else str(index + 1)
        domain = ([left, left + width], [max(0.0, top - panel_px / plot_px), top])
        _add_axes(drawn, axes, ranges, suffix, domain, mode, has_numbers=column == 0)
        _add_marks(drawn, axes, suffix, mode)
        if panel.name:
            add_panel_name(drawn, panel.name, mode, left=left, top=top, above_px=3)
        for line in panel.lines:
            trace = _trace(line, names.index(line.name), mode)
            trace |= {"xaxis": f"x{suffix}", "yaxis": f"y{suffix}"}
            if len(line.under):
                faint = {"y": list(line.under), "opacity": 0.35, "hoverinfo": "skip"}
                faint["line"] = trace["line"] | {"width": 1, "dash": "solid"}
                drawn.add_scatter(**trace | faint | {"hovertemplate": None}, showlegend=False)
            drawn.add_scatter(**trace, showlegend=line.name not in named)
            named.add(line.name)
    _add_titles(drawn, axes, mode, is_wide=is_wide)
    return drawn


def _trace(line: Line, place: int, mode: str) -> dict[str, Any]:
    color = theme.class_color(_HUES[place % len(_HUES)], mode)
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
            "dash": _DASHES[(place + place // len(_HUES)) % len(_DASHES)],
        },
        "hovertemplate": f"{plotly_text(line.name)}: %{{x:.4g}}, %{{y:.4g}}<extra></extra>",
    }


def _add_axes(
    drawn: go.Figure,
    axes: tuple[Axis, Axis],
    ranges: tuple[list[float], list[float]],
    suffix: str,
    domain: tuple[list[float], list[float]],
    mode: str,
    *,
    has_numbers: bool,
) -> None:
    x, y = axes
    shared = {"tickfont": {"size": 11}, "nticks": 6}
    drawn.update_layout(
        {
            f"xaxis{suffix}": axis(
                mode,
                domain=domain[0],
                anchor=f"y{suffix}",
                range=ranges[0],
                **shared,
                **_log_ticks(x, ranges[0]),
            ),
            f"yaxis{suffix}": axis(
                mode,
                domain=domain[1],
                anchor=f"x{suffix}",
                range=ranges[1],
                showticklabels=has_numbers,
                **shared,
                **_log_ticks(y, ranges[1]),
            ),
        }
    )


def _log_ticks(of: Axis, ends: Sequence[float]) -> dict[str, Any]:
    """The powers of ten of a logarithmic axis; with 3 times them where those are few."""
    if not of.is_log:
        return {}
    powers = range(math.floor(ends[0]) - 1, math.ceil(ends[1]) + 1)
    for factors in ((1,), (1, 3), (1, 2, 5)):
        ticks = [
            factor * 10.0**power
            for power in powers
            for factor in factors
            if ends[0] <= math.log10(factor * 10.0**power) <= ends[1]
        ]
        if len(ticks) >= 3:
            break
    return {"type": "log", "tickvals": ticks, "ticktext": [f"{tick:g}" for tick in ticks]}


def _add_marks(drawn: go.Figure, axes: tuple[Axis, Axis], suffix: str, mode: str) -> None:
    line = {"color": theme.PAPER[mode]["muted"], "width": 1.25, "dash": "dot"}
    for along, across, of in (("x", "y", axes[0]), ("y", "x", axes[1])):
        for mark in of.marks:
            ends = {f"{along}0": mark, f"{along}1": mark, f"{across}0": 0, f"{across}1": 1}
            refs = {f"{along}ref": f"{along}{suffix}", f"{across}ref": f"{across}{suffix} domain"}
            drawn.add_shape(type="line", line=line, layer="below", **ends, **refs)


def _add_titles(drawn: go.Figure, axes: tuple[Axis, Axis], mode: str, *, is_wide: bool) -> None:
    shared: dict[str, Any] = {"xref": "paper", "yref": "paper", "showarrow": False}
    shared["font"] = {"size": 12, "color": theme.PAPER[mode]["soft"]}
    x, y = (plotly_text(each.title) for each in axes)
    drawn.add_annotation(text=x, x=0.5, y=0, yanchor="top", yshift=-26, **shared)
    drawn.add_annotation(
        text=y,
        x=0,
        y=0.5,
        xanchor="right",
        textangle=-90,
        xshift=-36 if is_wide else -28,
        **shared,
    )
