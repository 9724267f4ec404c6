"""Charts of analysis tables with Plotly: what is drawn is in the table, nothing is computed."""

from collections.abc import Mapping, Sequence
from itertools import cycle
from typing import Any

import pandas as pd
import plotly.graph_objects as go

from interp import text
from interp.reports import theme
from interp.reports.chart import (
    DASH_MARKS,
    Chart,
    add_panel_name,
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
from interp.reports.dot_chart import dot_chart
from interp.reports.panel_grid import PanelGrid, Place
from interp.tables import (
    LEAD_BYTE_CEILING,
    SEEN_BEFORE,
    SEEN_CHARACTER,
    SEEN_LEAD_BYTE,
    Row,
    has_interval,
    layer_name,
    row_name,
    rows_of,
    score_name,
)


def auc_chart(table: pd.DataFrame, *, key: str = "auc") -> Chart:
    """ROC-AUC per layer with its intervals, chance, and the lead-byte ceiling where there is one.

    Args:
        table: Rows of a word-boundary analysis, of one checkpoint.
        key: The chart's name on its page.
    """
    shown = ("increment", LEAD_BYTE_CEILING)
    areas = [row for row in rows_of(table) if row["statistic"] == "roc_auc"]
    scores = [row for row in areas if row["signal"] in shown]
    drawn = [row for row in scores if row["value"] is not None]
    ceilings = [row for row in drawn if row["signal"] == LEAD_BYTE_CEILING]
    rows = [row for row in drawn if row["signal"] != LEAD_BYTE_CEILING]
    title = "Word boundaries: ROC-AUC of the increment at the next character"
    remarks = remarks_on(scores, _score_name)
    if not rows:
        return Chart(key, title, title, remarks=remarks or ("Not defined: there is no score.",))
    note = "Below 0.5 the increment at a boundary is the smaller one."
    if _has_bars(rows):
        note = f"Bars are 95 % intervals clustered by document. {note}"
    described = "; ".join(f"{row_name(row)} {row['value']:.3f}" for row in rows)
    return Chart(
        key,
        title,
        f"{title}. {described}. Chance is 0.5.",
        variants(lambda mode, size: _auc_figure(rows, ceilings, mode, size)),
        note=note,
        remarks=remarks,
    )


def baseline_chart(table: pd.DataFrame, *, key: str = "baselines") -> Chart:
    """ROC-AUC of everything but the increments: what they have to beat.

    Args:
        table: Rows of a word-boundary analysis, of one checkpoint.
        key: The chart's name on its page.
    """
    areas = table.query("statistic == 'roc_auc' and signal != 'increment'")
    return dot_chart(
        areas,
        baseline_name,
        key=key,
        title="What an area has to beat: ROC-AUC of other scores of the same gaps",
        note="In brackets: what each has seen of the next character.",
        lines=[("chance 0.5", 0.5)],
    )


def baseline_name(row: Row) -> str:
    """A score, and what it has seen."""
    name = score_name(row["signal"], row["layer"], row["head"], row["group"])
    return f"{name} ({SEEN_IN_WORDS[str(row['seen'])]})"


SEEN_IN_WORDS = {
    SEEN_BEFORE: "nothing",
    SEEN_LEAD_BYTE: "lead byte",
    SEEN_CHARACTER: "all of it",
}
"""What a score has seen of the next character, for a reader."""


def byte_class_chart(
    table: pd.DataFrame,
    *,
    key: str = "byte-classes",
    kind: str = "byte class",
    hues: Mapping[str, str] | None = None,
) -> Chart:
    """The mean of every byte class with its interval, one panel per layer.

    Panels have axes of their own that begin at 0, so that within a layer lengths compare, and
    between layers the numbers do. Heads of one layer are dots in the same panel.

    Args:
        table: Rows of a byte-class analysis, of one checkpoint, signal and reference.
        key: The chart's name on its page.
        kind: What the classes are.
        hues: Of classes that are not those of bytes, in the order in which they are shown: the
            byte class whose colour each one has.
    """
    means = [row for row in rows_of(table) if row["statistic"] == "mean"]
    rows = [row for row in means if row["value"] is not None]
    signal = str(rows[0]["signal"] or "increment") if rows else "increment"
    title = f"Mean {signal} by {kind}"
    remarks = remarks_on(means, lambda row: f"{row_name(row)}, {row['group']}")
    if not rows:
        return Chart(key, title, title, remarks=remarks or ("Not defined: there is no byte.",))
    layers = list(dict.fromkeys(layer_name(row) for row in rows))
    n_heads = len({row["head"] for row in rows} - {None})
    what = f"Dots are the {n_heads} heads" if n_heads else "Bars begin at 0"
    note = f"{what}; every panel has its own scale."
    if _reaches_one(rows):
        note += " The dotted line is 1, the step of plain RoPE."
    if _has_bars(rows):
        note += " Thin lines are 95 % intervals clustered by document."
    return Chart(
        key,
        title,
        f"{title}, one panel for each of {', '.join(layers)}; the table has the numbers.",
        variants(lambda mode, size: _byte_class_figure(rows, layers, hues, mode, size)),
        note=note,
        remarks=remarks,
    )


def _score_name(row: Row) -> str:
    return f"lead byte, {row['group']}" if row["signal"] == LEAD_BYTE_CEILING else row_name(row)


def _has_heads(rows: Sequence[Row]) -> bool:
    return any(row["head"] is not None for row in rows)


def _has_bars(rows: Sequence[Row]) -> bool:
    """Whether intervals are drawn: some row has one, and heads do not crowd the plot."""
    return not _has_heads(rows) and any(has_interval(row) for row in rows)


def _auc_figure(rows: list[Row], ceilings: list[Row], mode: str, size: str) -> go.Figure:
    colors = theme.PAPER[mode]
    n_lines = 1 + len(ceilings)
    is_wide = size == "wide"
    layers = list(dict.fromkeys(layer_name(row) for row in rows))
    drawn = figure(
        mode,
        340 if is_wide else 330 + 18 * n_lines,
        margin={
            "l": 48,
            "r": 190 if is_wide else 12,
            "t": 12,
            "b": 34 if is_wide else 40 + 18 * n_lines,
        },
        xaxis=axis(
            mode,
            type="category",
            categoryarray=layers,
            range=[-0.5, len(layers) - 0.5],
            showgrid=False,
        ),
        yaxis=axis(mode, range=_auc_range(rows + ceilings), tickformat=".2f", nticks=7),
    )
    has_heads = _has_heads(rows)
    drawn.add_scatter(
        x=[layer_name(row) for row in rows],
        y=[row["value"] for row in rows],
        mode="markers" if has_heads else "markers+lines",
        line={"color": colors["hair"], "width": 1.5},
        marker={
            "color": colors["accent"],
            "size": 7 if has_heads else 10,
            "opacity": 0.7 if has_heads else 1.0,
        },
        error_y=interval(rows, colors["accent"], width=5) if _has_bars(rows) else None,
        customdata=[interval_text(row) for row in rows],
        hovertext=[plotly_text(row_name(row)) for row in rows],
        hovertemplate="%{hovertext}: %{y:.3f}%{customdata}<extra></extra>",
    )
    _add_lines(drawn, rows, ceilings, mode, is_wide=is_wide)
    return drawn


def _add_lines(
    drawn: go.Figure, rows: list[Row], ceilings: list[Row], mode: str, *, is_wide: bool
) -> None:
    """Chance and ceilings, named beside the plot or, where it is narrow, below it."""
    colors = theme.PAPER[mode]
    low, high = _auc_range(rows + ceilings)
    left, right = drawn.layout.xaxis.range
    lines = [("chance 0.5", 0.5, "solid")]
    lines += [
        (f"{_score_name(row)} {row['value']:.3f}", row["value"], dash)
        for row, dash in zip(ceilings, cycle(("dash", "dot")), strict=False)
    ]
    label_ys = _spread([value for _, value, _ in lines], 0.055 * (high - low))
    for index, ((label, value, dash), label_y) in enumerate(zip(lines, label_ys, strict=True)):
        drawn.add_shape(
            type="line",
            x0=left,
            x1=right,
            y0=value,
            y1=value,
            layer="between",  # above the grid, which has a line of its own at 0.5
            line={"color": colors["muted"], "width": 1.25, "dash": dash},
        )
        if is_wide:
            place: dict[str, Any] = {"x": 1, "xshift": 8, "y": label_y, "yanchor": "middle"}
        else:
            label = f"{DASH_MARKS[dash]} {label}"
            place = {"x": 0, "y": 0, "yref": "paper", "yanchor": "top", "yshift": -32 - 18 * index}
        drawn.add_annotation(
            text=plotly_text(label),
            xref="paper",
            xanchor="left",
            showarrow=False,
            font={"color": colors["soft"], "size": 12},
            **place,
        )


def _auc_range(rows: list[Row]) -> list[float]:
    """From below the lowest to above the highest of all values, intervals and chance."""
    low, high = span([0.5, *numbers_in(rows)], 0.08, least=0.02)
    return [max(-0.02, low), min(1.02, high)]


def _spread(values: Sequence[float], apart: float) -> list[float]:
    """``values`` moved up as little as keeps neighbours ``apart``, in their own order."""
    placed = [0.0] * len(values)
    last = float("-inf")
    for index in sorted(range(len(values)), key=lambda i: values[i]):
        last = max(values[index], last + apart)
        placed[index] = last
    return placed


def _byte_class_figure(
    rows: list[Row],
    layers: Sequence[str],
    hues: Mapping[str, str] | None,
    mode: str,
    size: str,
) -> go.Figure:
    """Panels in a grid of at most six columns, of two where it is narrow."""
    is_wide = size == "wide"
    groups = _ordered_groups(rows, hues)
    n_grid_rows = -(-len(layers) // (6 if is_wide else 2))
    n_columns = -(-len(layers) // n_grid_rows)
    panel_px = (20 if is_wide else 18) * len(groups)
    grid = PanelGrid(len(layers), n_columns, panel_px, 62, 0.035 if is_wide else 0.07)
    font = {"family": theme.SANS, "size": 13 if is_wide else 11, "color": theme.PAPER[mode]["soft"]}
    margin = {"l": 178 if is_wide else 142, "r": 10, "t": 34, "b": 36}
    height = grid.plot_px + margin["t"] + margin["b"]
    drawn = figure(mode, height, margin=margin, bargap=0.35, font=font)
    for layer, place in zip(layers, grid.places(), strict=True):
        panel = [row for row in rows if layer_name(row) == layer]
        _add_axes(drawn, panel, groups, place, mode)
        _add_means(drawn, panel, place.suffix, hues or {}, mode)
        add_panel_name(drawn, layer, mode, left=place.left, top=place.top, above_px=6)
    return drawn


def _add_axes(
    drawn: go.Figure,
    panel: list[Row],
    groups: list[str],
    place: Place,
    mode: str,
) -> None:
    suffix, (low, high) = place.suffix, _mean_range(panel)
    x_axis = axis(
        mode,
        domain=place.domain[0],
        anchor=f"y{suffix}",
        nticks=4,
        range=[low, high if high > low else low + 1.0],
        tickfont={"size": 11},
    )
    y_axis = axis(
        mode,
        domain=place.domain[1],
        anchor=f"x{suffix}",
        type="category",
        categoryorder="array",
        categoryarray=groups,
        range=[len(groups) - 0.5, -0.5],
        showgrid=False,
        showticklabels=place.is_first,
        tickvals=groups,
        ticktext=[plotly_text(group) for group in groups],
    )
    drawn.update_layout({f"xaxis{suffix}": x_axis, f"yaxis{suffix}": y_axis})
    if _reaches_one(panel):
        drawn.add_shape(
            type="line",
            xref=f"x{suffix}",
            yref=f"y{suffix} domain",
            x0=1,
            x1=1,
            y0=0,
            y1=1,
            line={"color": theme.PAPER[mode]["muted"], "width": 1, "dash": "dot"},
        )


def _mean_range(rows: Sequence[Row]) -> tuple[float, float]:
    """From 0, or below it, to above the highest of all means and intervals."""
    values = [0.0, *numbers_in(rows)]
    return 1.06 * min(values), 1.06 * max(values)


def _reaches_one(rows: Sequence[Row]) -> bool:
    """Whether these are increments among which 1, the step of plain RoPE, has its place."""
    return rows[0]["signal"] in (None, "increment") and _mean_range(rows)[1] >= 1.0


def _add_means(
    drawn: go.Figure, panel: list[Row], suffix: str, hues: Mapping[str, str], mode: str
) -> None:
    """Bars with their intervals, or a dot for every head."""
    groups = [str(row["group"]) for row in panel]
    counts = ["" if row["n"] is None else f", n = {row['n']:,}" for row in panel]
    shades = [_shade(hues.get(group, group), mode) for group in groups]
    shared: dict[str, Any] = {
        "x": [row["value"] for row in panel],
        "y": groups,
        "customdata": [
            f"{interval_text(row)}{count}" for row, count in zip(panel, counts, strict=True)
        ],
        "hovertext": [plotly_text(f"{row_name(row)}, {row['group']}") for row in panel],
        "hovertemplate": "%{hovertext}: %{x:.4g}%{customdata}<extra></extra>",
        "xaxis": f"x{suffix}",
        "yaxis": f"y{suffix}",
    }
    if _has_heads(panel):
        marker = {"color": shades, "size": 7, "opacity": 0.6}
        drawn.add_scatter(mode="markers", marker=marker, **shared)
    else:
        bars = interval(panel, theme.PAPER[mode]["ink"], width=3) if _has_bars(panel) else None
        drawn.add_bar(orientation="h", marker={"color": shades}, error_x=bars, **shared)


def _ordered_groups(rows: list[Row], hues: Mapping[str, str] | None) -> list[str]:
    """The classes of the table, as ``hues`` or the text floor orders them; others after them."""
    order: dict[str, float] = {name: i for i, name in enumerate(hues or text.BYTE_CLASSES)}
    if hues is None:
        order["lowercase"] = order["lowercase, word-internal"] + 0.5
        order["continuation"] = order["continuation after E4-E9"] - 0.5
    present = dict.fromkeys(str(row["group"]) for row in rows)
    return sorted(present, key=lambda name: order.get(name, len(order)))


def _shade(group: str, mode: str) -> str:
    alike = {"lowercase": "lowercase, word-internal", "continuation": "continuation after E4-E9"}
    name = alike.get(group, group)
    return (
        theme.class_color(name, mode) if name in theme.CLASS_COLORS else theme.PAPER[mode]["muted"]
    )
