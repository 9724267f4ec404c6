"""Estimates one below the other as dots with their intervals, against lines that mean something."""

from collections.abc import Callable, Sequence
from itertools import cycle

import pandas as pd
import plotly.graph_objects as go

from interp.reports import theme
from interp.reports.chart import (
    DASH_MARKS,
    Chart,
    add_line_name,
    axis,
    figure,
    interval,
    interval_text,
    numbers_in,
    plotly_text,
    remarks_on,
    span,
    variants,
)
from interp.tables import Row, has_interval, rows_of


def dot_chart(
    table: pd.DataFrame,
    label: Callable[[Row], str],
    *,
    key: str,
    title: str,
    note: str = "",
    lines: Sequence[tuple[str, float]] = (),
) -> Chart:
    """A dot for every row of ``table``, from top to bottom.

    Args:
        table: Rows of an analysis table, all in one unit.
        label: What a row is called; no two are called the same.
        key: The chart's name on its page.
        title: What is shown, in a few words and with its unit.
        note: How to read it.
        lines: Values that a vertical line stands for, with their names, such as 0 and 1.
    """
    everything = rows_of(table)
    rows = [row for row in everything if row["value"] is not None]
    remarks = remarks_on(everything, label)
    if not rows:
        return Chart(key, title, title, remarks=remarks or ("Not defined: there is no estimate.",))
    if any(map(has_interval, rows)):
        note = f"Bars are 95 % intervals. {note}".strip()
    described = "; ".join(f"{label(row)} {row['value']:.4g}" for row in rows)
    return Chart(
        key,
        title,
        f"{title}. {described}.",
        variants(lambda mode, size: _figure(rows, label, lines, mode, size)),
        note=note,
        remarks=remarks,
    )


def _figure(
    rows: list[Row],
    label: Callable[[Row], str],
    lines: Sequence[tuple[str, float]],
    mode: str,
    size: str,
) -> go.Figure:
    colors = theme.PAPER[mode]
    names = [label(row) for row in rows]
    left = (240, 6.8) if size == "wide" else (128, 6.6)
    below = 40 + 18 * len(lines)
    drawn = figure(
        mode,
        (30 if size == "wide" else 38) * len(rows) + 16 + below,
        margin={"l": left[0], "r": 16, "t": 8, "b": below},
        font={"family": theme.SANS, "size": 13 if size == "wide" else 11, "color": colors["soft"]},
        xaxis=axis(
            mode,
            range=span([*(value for _, value in lines), *numbers_in(rows)], 0.06),
            nticks=6 if size == "wide" else 4,
        ),
        yaxis=axis(
            mode,
            type="category",
            categoryorder="array",
            categoryarray=names,
            range=[len(names) - 0.5, -0.5],
            showgrid=False,
            tickvals=names,
            ticktext=[_broken(name, int(left[0] / left[1])) for name in names],
        ),
    )
    for index, ((name, value), dash) in enumerate(zip(lines, cycle(DASH_MARKS), strict=False)):
        _add_line(drawn, name, value, dash, index, mode)
    drawn.add_scatter(
        x=[row["value"] for row in rows],
        y=names,
        mode="markers",
        marker={"color": colors["accent"], "size": 9},
        error_x=interval(rows, colors["accent"], width=4) if any(map(has_interval, rows)) else None,
        customdata=[interval_text(row) for row in rows],
        hovertext=[plotly_text(name) for name in names],
        hovertemplate="%{hovertext}: %{x:.4g}%{customdata}<extra></extra>",
    )
    return drawn


def _add_line(drawn: go.Figure, name: str, value: float, dash: str, index: int, mode: str) -> None:
    drawn.add_shape(
        type="line",
        yref="paper",
        x0=value,
        x1=value,
        y0=0,
        y1=1,
        layer="between",
        line={"color": theme.PAPER[mode]["muted"], "width": 1.25, "dash": dash},
    )
    add_line_name(drawn, name, dash, mode, below_px=30 + 18 * index)


def _broken(name: str, most: int) -> str:
    """``name`` in lines of at most ``most`` characters, broken at spaces."""
    lines = [""]
    for word in name.split(" "):
        joined = f"{lines[-1]} {word}".strip()
        if lines[-1] and len(joined) > most:
            lines.append(word)
        else:
            lines[-1] = joined
    return "<br>".join(map(plotly_text, lines))
