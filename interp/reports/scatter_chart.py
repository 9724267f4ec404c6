"""One number against another, a panel per layer, a point per head."""

from collections.abc import Sequence

import plotly.graph_objects as go

from interp.reports import theme
from interp.reports.chart import (
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
from interp.reports.panel_grid import PanelGrid, Place, add_titles
from interp.tables import Row, has_interval, layer_name, row_name

Pair = tuple[Row, Row]
"""A point: the row that gives its x, and the one of the same layer and head that gives its y."""


def scatter_chart(
    pairs: Sequence[Pair],
    *,
    key: str,
    title: str,
    x_title: str,
    y_title: str,
    note: str = "",
    panel_notes: dict[str, str] | None = None,
) -> Chart:
    """Points with the intervals of both their values, one panel per layer.

    Every panel has its own scales, so that points compare within a layer; a head is known by
    its number beside its point.

    Args:
        pairs: The points; those that lack a value are not drawn.
        key: The chart's name on its page.
        title: What is shown, in a few words.
        x_title: What lies along x, with its unit.
        y_title: What lies along y, with its unit.
        note: How to read it.
        panel_notes: What stands after the name of a panel.
    """
    drawn = [pair for pair in pairs if None not in (pair[0]["value"], pair[1]["value"])]
    titles = (x_title, y_title)
    rows = [row | {"along": name} for pair in pairs for row, name in zip(pair, titles, strict=True)]
    remarks = remarks_on(rows, lambda row: f"{row_name(row)}, {row['along']}")
    if not drawn:
        return Chart(key, title, title, remarks=remarks or ("Not defined: there is no point.",))
    panels = list(dict.fromkeys(layer_name(x) for x, _ in drawn))
    described = "; ".join(f"{row_name(x)} {x['value']:.3g}, {y['value']:.3g}" for x, y in drawn)
    return Chart(
        key,
        title,
        f"{title}: {x_title}, {y_title}. {described}.",
        variants(lambda mode, size: _figure(drawn, panels, titles, panel_notes or {}, mode, size)),
        note=note,
        remarks=remarks,
    )


def _figure(
    pairs: Sequence[Pair],
    panels: Sequence[str],
    titles: tuple[str, str],
    panel_notes: dict[str, str],
    mode: str,
    size: str,
) -> go.Figure:
    is_wide = size == "wide"
    n_columns = min(len(panels), 3 if is_wide else 2)
    panel_px, gap = (210, 0.075) if is_wide else (150, 0.15)
    grid = PanelGrid(len(panels), n_columns, panel_px, 66, gap)
    margin = {"l": 62 if is_wide else 44, "r": 10, "t": 30, "b": 48}
    drawn = figure(mode, grid.plot_px + margin["t"] + margin["b"], margin=margin)
    for name, place in zip(panels, grid.places(), strict=True):
        of_panel = [pair for pair in pairs if layer_name(pair[0]) == name]
        _add_axes(drawn, of_panel, place, mode)
        _add_points(drawn, of_panel, place.suffix, mode)
        words = f"{name}  {panel_notes.get(name, '')}".strip()
        add_panel_name(drawn, words, mode, left=place.left, top=place.top, above_px=3)
    add_titles(drawn, *titles, mode, y_shift_px=34 if is_wide else 26)
    return drawn


def _add_axes(drawn: go.Figure, pairs: Sequence[Pair], place: Place, mode: str) -> None:
    axes = zip(("x", "y"), ("y", "x"), place.domain, zip(*pairs, strict=True), strict=True)
    for name, other, domain, rows in axes:
        settings = axis(
            mode,
            domain=domain,
            anchor=f"{other}{place.suffix}",
            range=span(numbers_in(rows), 0.1),
            nticks=5,
            tickfont={"size": 11},
        )
        drawn.update_layout({f"{name}axis{place.suffix}": settings})


def _add_points(drawn: go.Figure, pairs: Sequence[Pair], suffix: str, mode: str) -> None:
    xs, ys = zip(*pairs, strict=True)
    colors = theme.PAPER[mode]
    bars = {
        name: interval(rows, colors["muted"], width=0)
        for name, rows in (("error_x", xs), ("error_y", ys))
        if any(map(has_interval, rows))
    }
    drawn.add_scatter(
        x=[x["value"] for x in xs],
        y=[y["value"] for y in ys],
        mode="markers+text",
        marker={"color": colors["accent"], "size": 8},
        text=[_head(x) for x in xs],
        textposition="top right",
        textfont={"size": 11, "color": colors["soft"]},
        cliponaxis=False,
        customdata=[
            [f"{x['value']:.4g}{interval_text(x)}", f"{y['value']:.4g}{interval_text(y)}"]
            for x, y in pairs
        ],
        hovertext=[plotly_text(row_name(x)) for x in xs],
        hovertemplate="%{hovertext}: %{customdata[0]}; %{customdata[1]}<extra></extra>",
        xaxis=f"x{suffix}",
        yaxis=f"y{suffix}",
        **bars,
    )


def _head(row: Row) -> str:
    return "" if row["head"] is None else str(row["head"])
