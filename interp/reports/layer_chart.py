"""Several series over the layers, side by side at each of them."""

from collections.abc import Mapping, Sequence
from itertools import cycle

import plotly.graph_objects as go

from interp.reports import theme
from interp.reports.chart import (
    DASH_MARKS,
    Chart,
    add_line_name,
    axis,
    figure,
    numbers_in,
    plotly_text,
    span,
    variants,
)
from interp.reports.series import Series, legend_of, legend_px, remarks_on_series, trace_of
from interp.tables import row_name

_PLOT_PX = 300


def layer_chart(
    series: Sequence[Series],
    *,
    key: str,
    title: str,
    note: str = "",
    lines: Mapping[str, float] | None = None,
) -> Chart:
    """Values per layer, the series beside one another at each layer.

    Args:
        series: At least one; rows are told apart by layer and head.
        key: The chart's name on its page.
        title: What is shown, in a few words.
        note: How to read it.
        lines: Heights at which a line lies across, by name, such as chance.
    """
    columns = list(dict.fromkeys(row_name(row) for each in series for row in each.rows))
    remarks = remarks_on_series(series, row_name)
    if not any(each.drawn for each in series):
        return Chart(key, title, title, remarks=remarks or ("Not defined: there is no value.",))
    described = "; ".join(f"{each.name}: {_values(each)}" for each in series if each.drawn)
    across = lines or {}
    return Chart(
        key,
        title,
        f"{title}. {described}.",
        variants(lambda mode, size: _layer_figure(series, columns, across, mode, size)),
        note=note,
        remarks=remarks,
    )


def _values(series: Series) -> str:
    return ", ".join(f"{row_name(row)} {row['value']:.3f}" for row in series.drawn)


def _layer_figure(
    series: Sequence[Series],
    columns: Sequence[str],
    lines: Mapping[str, float],
    mode: str,
    size: str,
) -> go.Figure:
    is_wide = size == "wide"
    above = legend_px(len(series), is_wide)
    below = 34 + 18 * len(lines)
    rows = [row for each in series for row in each.drawn]
    drawn = figure(
        mode,
        _PLOT_PX + above + below,
        margin={"l": 48, "r": 12, "t": above + 8, "b": below},
        showlegend=True,
        legend=legend_of(mode, _PLOT_PX - 8),
        xaxis=axis(
            mode,
            range=[-0.5, len(columns) - 0.5],
            tickvals=list(range(len(columns))),
            ticktext=[plotly_text(name) for name in columns],
            showgrid=False,
        ),
        yaxis=axis(
            mode,
            range=span([*lines.values(), *numbers_in(rows)], 0.08, least=0.02),
            tickformat=".2f",
            nticks=7,
        ),
    )
    for index, ((name, height), dash) in enumerate(
        zip(lines.items(), cycle(DASH_MARKS), strict=False)
    ):
        _add_line_across(drawn, name, height, dash, index, mode)
    apart = min(0.16, 0.6 / len(series))
    for index, each in enumerate(series):
        shift = (index - (len(series) - 1) / 2) * apart
        places = [columns.index(row_name(row)) + shift for row in each.drawn]
        trace = trace_of(each, index, places, mode, size=10 if is_wide else 8)
        drawn.add_scatter(mode="markers", **trace)
    return drawn


def _add_line_across(
    drawn: go.Figure, name: str, height: float, dash: str, index: int, mode: str
) -> None:
    drawn.add_shape(
        type="line",
        xref="paper",
        x0=0,
        x1=1,
        y0=height,
        y1=height,
        layer="between",
        line={"color": theme.PAPER[mode]["muted"], "width": 1.25, "dash": dash},
    )
    add_line_name(drawn, name, dash, mode, below_px=28 + 18 * index)
