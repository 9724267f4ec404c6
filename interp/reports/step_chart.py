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
    add_panel_name,
    axis,
    figure,
    numbers_in,
    span,
    variants,
)
from interp.reports.panel_grid import PanelGrid, Place, log_ticks
from interp.reports.series import Series, legend_of, legend_px, remarks_on_series, trace_of
from interp.tables import Row, has_interval, layer_name

MOST_DECADES = 2.0
"""Of a logarithmic axis of values: one that is nearly 0 would leave no room for all others."""


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
        is_log: Whether values have a logarithmic axis too, down to `MOST_DECADES` below the
            highest; values and ends of intervals that are not positive are then not drawn, and
            what is smaller lies below the panels.
    """
    rows = [row for each in series for row in each.drawn]
    remarks = remarks_on_series(series, lambda row: f"{layer_name(row)} at step {step_of(row):,}")
    if not rows:
        return Chart(key, title, title, remarks=remarks or ("Not defined: there is no value.",))
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
        remarks=(*remarks, *(_hidden(rows, 10 ** shape.range[0]) if is_log else ())),
    )


def _hidden(rows: Sequence[Row], lowest: float) -> tuple[str, ...]:
    """That values lie below all panels, where some do."""
    n = sum(row["value"] < lowest for row in rows)
    return (f"{n} of {len(rows)} values lie below {lowest:.2g}, under the panels.",) if n else ()


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
    panel_px, gap_px, gap = (210, 58, 0.05) if is_wide else (170, 54, 0.09)
    grid = PanelGrid(len(panels.names), n_columns, panel_px, gap_px, gap)
    above = legend_px(len(series), is_wide) if len(series) > 1 else 0
    drawn = figure(
        mode,
        grid.plot_px + above + 30 + 44,
        margin={"l": 44, "r": 10, "t": above + 30, "b": 44},
        showlegend=len(series) > 1,
        legend=legend_of(mode, grid.plot_px, above_px=26),
    )
    named: set[str] = set()
    for name, place in zip(panels.names, grid.places(), strict=True):
        _add_panel(drawn, panels, place, mode)
        add_panel_name(drawn, name, mode, left=place.left, top=place.top, above_px=3)
        for number, each in enumerate(series):
            rows = sorted((row for row in each.drawn if layer_name(row) == name), key=step_of)
            if not rows:
                continue
            of_panel = Series(each.name, rows, each.hue)
            trace = trace_of(of_panel, number, [step_of(row) for row in rows], mode, size=6)
            if panels.is_log:
                _drop_what_has_no_logarithm(trace, rows)
            trace |= {"xaxis": f"x{place.suffix}", "yaxis": f"y{place.suffix}"}
            trace["showlegend"] = each.name not in named
            named.add(each.name)
            trace["line"] = {"color": trace["marker"]["color"], "width": 1.5}
            drawn.add_scatter(mode="lines+markers", **trace)
    return drawn


def _add_panel(drawn: go.Figure, panels: _Panels, place: Place, mode: str) -> None:
    suffix, ticks = place.suffix, log_ticks(panels.steps[0], panels.steps[-1])
    x_axis = axis(
        mode,
        domain=place.domain[0],
        anchor=f"y{suffix}",
        type="log",
        range=[math.log10(panels.steps[0] / 1.25), math.log10(panels.steps[-1] * 1.25)],
        tickvals=ticks,
        ticktext=[_short(number) for number in ticks],
        tickfont={"size": 11},
        title={"text": "step", "font": {"size": 11}, "standoff": 4} if place.is_lowest else None,
    )
    y_axis = axis(
        mode,
        domain=place.domain[1],
        anchor=f"x{suffix}",
        range=list(panels.range),
        tickfont={"size": 11},
        showticklabels=place.is_first,
        nticks=6,
    )
    if panels.is_log:
        low, high = (10**end for end in panels.range)
        y_ticks = log_ticks(low, high)
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
    if not is_log:
        return span([*lines, *numbers_in(rows)], 0.07, least=0.02)
    values = [*lines, *(row["value"] for row in rows)]
    highs = [row["high"] for row in rows if has_interval(row)]
    drawn, ends = ([math.log10(v) for v in each if v > 0] for each in (values, highs))
    drawn = drawn or [0.0, 1.0]
    lowest = max(min(drawn), max(drawn) - MOST_DECADES)
    return span([lowest, max(drawn + ends)], 0.07, least=0.02)


def _short(number: float) -> str:
    return f"{number / 1000:g}k" if number >= 1000 else f"{number:g}"
