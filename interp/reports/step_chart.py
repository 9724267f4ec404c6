"""Values over the steps of a training run, a panel per layer."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import plotly.graph_objects as go

from interp.reports import theme
from interp.reports.chart import (
    NO_BAR,
    Chart,
    Row,
    add_panel_name,
    axis,
    figure,
    has_interval,
    layer_name,
    numbers_in,
    variants,
)
from interp.reports.series import Series, legend_of, legend_px, trace_of


def step_chart(
    series: Sequence[Series],
    step_of: Callable[[Row], int],
    *,
    key: str,
    title: str,
    note: str = "",
    line: float | None = None,
    is_log: bool = False,
) -> Chart:
    """Values over the steps of training on a logarithmic axis, one panel per layer.

    All panels have the same axes, so that layers compare.

    Args:
        series: Lines of each panel; rows are told apart by layer and step.
        step_of: The step that a row is about, at least 1.
        key: The chart's name on its page.
        title: What is shown, in a few words.
        note: How to read it.
        line: Where a dotted line lies across every panel.
        is_log: Whether values have a logarithmic axis too; values and ends of intervals that
            are not positive are then not drawn.
    """
    rows = [row for each in series for row in each.drawn]
    if not rows:
        return Chart(key, title, title, remarks=("Not defined: there is no value.",))
    panels = list(dict.fromkeys(layer_name(row) for row in rows))
    steps = sorted({step_of(row) for row in rows})
    described = (
        f"{title}, one panel for each of {', '.join(panels)}, at {len(steps)} steps from "
        f"{steps[0]:,} to {steps[-1]:,}; the table has the numbers."
    )
    shape = _Panels(panels, steps, _range(rows, line, is_log), line, is_log)
    return Chart(
        key,
        title,
        described,
        variants(lambda mode, size: _step_figure(series, step_of, shape, mode, size)),
        note=note,
    )


@dataclass(frozen=True)
class _Panels:
    """What all panels of a chart share."""

    names: Sequence[str]
    steps: Sequence[int]
    range: tuple[float, float]
    line: float | None
    is_log: bool


def _step_figure(
    series: Sequence[Series],
    step_of: Callable[[Row], int],
    panels: _Panels,
    mode: str,
    size: str,
) -> go.Figure:
    is_wide = size == "wide"
    n_columns = min(len(panels.names), 3 if is_wide else 2)
    n_grid_rows = -(-len(panels.names) // n_columns)
    panel_px, gap_px = (210, 58) if is_wide else (170, 54)
    above = legend_px(len(series), is_wide) if len(series) > 1 else 0
    plot_px = n_grid_rows * panel_px + (n_grid_rows - 1) * gap_px
    drawn = figure(
        mode,
        plot_px + above + 30 + 44,
        margin={"l": 44, "r": 10, "t": above + 30, "b": 44},
        showlegend=len(series) > 1,
        legend=legend_of(mode, plot_px, above_px=26),
    )
    gap = 0.05 if is_wide else 0.09
    width = (1 - gap * (n_columns - 1)) / n_columns
    for index, name in enumerate(panels.names):
        column, grid_row = index % n_columns, index // n_columns
        left, top = column * (width + gap), 1 - grid_row * (panel_px + gap_px) / plot_px
        suffix = "" if index == 0 else str(index + 1)
        is_lowest = index + n_columns >= len(panels.names)
        domain = ([left, left + width], [max(0.0, top - panel_px / plot_px), top])
        _add_panel(drawn, panels, suffix, domain, mode, has_title=is_lowest, is_first=column == 0)
        add_panel_name(drawn, name, mode, left=left, top=top, above_px=3)
        for place, each in enumerate(series):
            rows = sorted((row for row in each.drawn if layer_name(row) == name), key=step_of)
            of_panel = Series(each.name, rows, each.hue)
            trace = trace_of(of_panel, place, [step_of(row) for row in rows], mode, size=6)
            if panels.is_log:
                _drop_what_has_no_logarithm(trace, rows)
            trace |= {"xaxis": f"x{suffix}", "yaxis": f"y{suffix}", "showlegend": index == 0}
            trace["line"] = {"color": trace["marker"]["color"], "width": 1.5}
            drawn.add_scatter(mode="lines+markers", **trace)
    return drawn


def _add_panel(
    drawn: go.Figure,
    panels: _Panels,
    suffix: str,
    domain: tuple[list[float], list[float]],
    mode: str,
    *,
    has_title: bool,
    is_first: bool,
) -> None:
    ticks = _round_numbers(panels.steps[0], panels.steps[-1])
    x_axis = axis(
        mode,
        domain=domain[0],
        anchor=f"y{suffix}",
        type="log",
        range=[math.log10(panels.steps[0] / 1.25), math.log10(panels.steps[-1] * 1.25)],
        tickvals=ticks,
        ticktext=[_short(number) for number in ticks],
        tickfont={"size": 11},
        title={"text": "step", "font": {"size": 11}, "standoff": 4} if has_title else None,
    )
    y_axis = axis(
        mode,
        domain=domain[1],
        anchor=f"x{suffix}",
        range=list(panels.range),
        tickfont={"size": 11},
        showticklabels=is_first,
        nticks=6,
    )
    if panels.is_log:
        low, high = (10**end for end in panels.range)
        y_ticks = _round_numbers(low, high)
        y_axis |= {"type": "log", "tickvals": y_ticks, "ticktext": [f"{n:g}" for n in y_ticks]}
    drawn.update_layout({f"xaxis{suffix}": x_axis, f"yaxis{suffix}": y_axis})
    if panels.line is not None:
        drawn.add_shape(
            type="line",
            xref=f"x{suffix} domain",
            yref=f"y{suffix}",
            x0=0,
            x1=1,
            y0=panels.line,
            y1=panels.line,
            line={"color": theme.PAPER[mode]["muted"], "width": 1.25, "dash": "dot"},
        )


def _drop_what_has_no_logarithm(trace: dict[str, Any], rows: Sequence[Row]) -> None:
    trace["y"] = [value if value > 0 else None for value in trace["y"]]
    bars = trace["error_y"]
    if bars is not None:
        bars["arrayminus"] = [
            length if has_interval(row) and row["low"] > 0 else NO_BAR
            for row, length in zip(rows, bars["arrayminus"], strict=True)
        ]


def _range(rows: Sequence[Row], line: float | None, is_log: bool) -> tuple[float, float]:
    """From below the lowest to above the highest of what is drawn, as Plotly takes it."""
    lines = [] if line is None else [line]
    if is_log:
        values = [math.log10(v) for v in [*lines, *(row["value"] for row in rows)] if v > 0]
        low, high = min(values, default=0.0), max(values, default=1.0)
    else:
        values = [*lines, *numbers_in(rows)]
        low, high = min(values), max(values)
    margin = max(0.02, 0.07 * (high - low))
    return low - margin, high + margin


def _round_numbers(low: float, high: float) -> list[float]:
    """The powers of ten from ``low`` to ``high``; with 2 and 5 times them where those are few."""
    exponents = range(-6, 10)
    for factors in ((1,), (1, 3), (1, 2, 5)):
        found = [f * 10.0**e for e in exponents for f in factors if low <= f * 10.0**e <= high]
        if len(found) >= 3:
            break
    return found


def _short(number: float) -> str:
    return f"{number / 1000:g}k" if number >= 1000 else f"{number:g}"
