"""What every chart shares: the value that a page shows, its two looks and sizes, its rows."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import plotly.graph_objects as go

from interp.reports import theme
from interp.reports.markup import Html, escape, joined, json_block
from interp.tables import Row, has_interval

SIZES = ("wide", "narrow")
"""For figures of 620 pixels or more, and for those that are narrower."""

NO_BAR = "none"
"""A length that is no number, and so not drawn; null would be a bar of length 0 with its ends."""

MOST_NAMES = 3
"""Rows that a remark names; more are counted."""

DASH_MARKS = {"solid": "——", "dash": "– –", "dot": "···"}
"""How the name of a line shows which one it is, by Plotly's word for its pattern."""


@dataclass(frozen=True)
class Chart:
    """A chart in both looks and both sizes, or the reason why there is nothing to draw.

    Args:
        key: A name that is unique on a page: ASCII letters, digits and hyphens.
        title: What is shown, in a few words.
        description: What a reader who does not see the chart must know.
        figures: Plotly figures as plain JSON values, by mode and size; empty if undefined.
        note: Why there is no chart, or how to read it.
        remarks: Sentences about single rows; shown under the chart.

    Raises:
        ValueError: The key has other characters.
    """

    key: str
    title: str
    description: str
    figures: dict[str, dict[str, Any]] = field(default_factory=dict)
    note: str = ""
    remarks: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not re.fullmatch("[A-Za-z0-9-]+", self.key):
            raise ValueError(f"chart: key {self.key!r}, expected ASCII letters, digits, hyphens")

    def to_html(self) -> Html:
        """The chart as a ``figure``; the page's script draws it."""
        note = f'<p class="note">{escape(self.note)}</p>' if self.note else ""
        caption = Html(f"<figcaption>{escape(self.title)}{note}</figcaption>")
        drawing = Html("")
        if self.figures:
            drawing = joined(
                [
                    Html(
                        f'<div class="canvas" id="chart-{self.key}" role="img" '
                        f'aria-label="{escape(self.description)}"></div>'
                        "<noscript><p>The chart needs scripts; the table has its numbers.</p>"
                        "</noscript>"
                    ),
                    json_block(_said_once(self.figures), css_class="spec"),
                ]
            )
        remarks = joined(Html(f'<p class="note">{escape(words)}</p>') for words in self.remarks)
        return Html(f'<figure class="chart">{caption}{drawing}{remarks}</figure>')


def remarks_on(rows: Sequence[Row], name_of: Callable[[Row], str]) -> tuple[str, ...]:
    """Every note of ``rows`` once as a sentence, with the rows that it is about if not all.

    That a row has no value, and so is not drawn, is a note too.
    """
    about: dict[str, list[str]] = {}
    for row in rows:
        notes = row["note"].split("; ") if row["note"] else []
        if row["value"] is None:
            reason = "; ".join(notes).removeprefix("not defined: ")
            notes = [f"not defined: {reason}" if reason else "not defined"]
        for note in notes:
            about.setdefault(note, []).append(name_of(row))
    return tuple(
        f"{note[0].upper()}{note[1:]}{_of_rows(names, len(rows))}." for note, names in about.items()
    )


def variants(draw: Callable[[str, str], go.Figure]) -> dict[str, dict[str, Any]]:
    """What ``draw(mode, size)`` gives for both modes and sizes, as plain JSON values."""
    return {mode: {size: _plain(draw(mode, size)) for size in SIZES} for mode in theme.MODES}


def figure(mode: str, height: int, **layout: Any) -> go.Figure:
    """An empty figure in the page's fonts and colours, without legend and dragging."""
    colors = theme.PAPER[mode]
    return go.Figure(
        layout={
            "template": {},  # None would be the user's template, by default 6 kB of Plotly's
            "height": height,
            "paper_bgcolor": "rgba(0,0,0,0)",
            "plot_bgcolor": "rgba(0,0,0,0)",
            "font": {"family": theme.SANS, "size": 13, "color": colors["soft"]},
            "hoverlabel": {
                "bgcolor": colors["card"],
                "bordercolor": colors["hair"],
                "font": {"family": theme.SANS, "size": 13, "color": colors["ink"]},
            },
            "showlegend": False,
            "dragmode": False,
            **layout,
        }
    )


def axis(mode: str, **settings: Any) -> dict[str, Any]:
    """A quiet axis that cannot be dragged, with ``settings``."""
    colors = theme.PAPER[mode]
    return {
        "gridcolor": colors["hair"],
        "linecolor": colors["hair"],
        "zeroline": False,
        "ticks": "",
        "fixedrange": True,
        "automargin": False,
        **settings,
    }


def add_line_name(drawn: go.Figure, name: str, dash: str, mode: str, *, below_px: int) -> None:
    """Name a line under the plot, ``below_px`` below its lower edge, after the line's pattern."""
    drawn.add_annotation(
        text=plotly_text(f"{DASH_MARKS[dash]} {name}"),
        xref="paper",
        yref="paper",
        x=0,
        y=0,
        xanchor="left",
        yanchor="top",
        yshift=-below_px,
        showarrow=False,
        font={"color": theme.PAPER[mode]["soft"], "size": 12},
    )


def add_panel_name(
    drawn: go.Figure, name: str, mode: str, *, left: float, top: float, above_px: int
) -> None:
    """Name a panel, ``above_px`` above its upper left corner, which is in shares of the plot."""
    drawn.add_annotation(
        text=plotly_text(name),
        xref="paper",
        yref="paper",
        x=left,
        y=top,
        xanchor="left",
        yanchor="bottom",
        yshift=above_px,
        showarrow=False,
        font={"size": 13, "color": theme.PAPER[mode]["ink"]},
    )


def numbers_in(rows: Sequence[Row]) -> list[float]:
    """All values and ends of intervals that are defined: what an axis has to hold."""
    numbers = [row[name] for row in rows for name in ("value", "low", "high")]
    return [float(number) for number in numbers if number is not None]


def span(values: Sequence[float], share: float, least: float = 0.0) -> tuple[float, float]:
    """From below the lowest to above the highest of ``values``: the range of an axis.

    Args:
        values: At least one.
        share: The margin on either side, as a share of what lies between them.
        least: The smallest margin. Where all values are the same and it is 0, it is 0.5.
    """
    low, high = min(values), max(values)
    margin = max(least, share * (high - low)) or 0.5
    return low - margin, high + margin


def interval(rows: Sequence[Row], color: str, *, width: int) -> dict[str, Any]:
    """Error bars for the rows that have an interval."""
    return {
        "type": "data",
        "symmetric": False,
        "array": [row["high"] - row["value"] if has_interval(row) else NO_BAR for row in rows],
        "arrayminus": [row["value"] - row["low"] if has_interval(row) else NO_BAR for row in rows],
        "color": color,
        "thickness": 1.5,
        "width": width,
    }


def interval_text(row: Row, form: str = ".4g") -> str:
    """The interval in brackets after a space, or nothing; its ends in the format ``form``."""
    return f" [{row['low']:{form}}, {row['high']:{form}}]" if has_interval(row) else ""


def estimate_text(row: Row, form: str = ".4g") -> str:
    """The value with its interval, or that it is not defined."""
    return (
        "not defined"
        if row["value"] is None
        else f"{row['value']:{form}}{interval_text(row, form)}"
    )


def plotly_text(words: str) -> str:
    """``words`` such that Plotly shows them as typed: no tag, no entity, no TeX."""
    shown = words.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return shown.replace("$", "&#36;")


def _of_rows(names: Sequence[str], n_rows: int) -> str:
    if len(names) == n_rows:
        return ""
    return f" ({'; '.join(names) if len(names) <= MOST_NAMES else f'{len(names)} of {n_rows}'})"


def _said_once(figures: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """``figures`` with what a trace has in all of them said once, under ``data``.

    Looks and sizes differ in colours and layout; the numbers are most of a page.
    """
    drawn = [each for sizes in figures.values() for each in sizes.values()]
    shared = [
        {
            name: value
            for name, value in first.items()
            if all(other.get(name) == value for other in others)
        }
        for first, *others in zip(*(each["data"] for each in drawn), strict=True)
    ]

    def own(each: dict[str, Any]) -> dict[str, Any]:
        traces = [
            {name: value for name, value in trace.items() if name not in alike}
            for trace, alike in zip(each["data"], shared, strict=True)
        ]
        return each | {"data": traces}

    return {"data": shared} | {
        mode: {size: own(each) for size, each in sizes.items()} for mode, sizes in figures.items()
    }


def _plain(drawn: go.Figure) -> dict[str, Any]:
    plain = drawn.to_plotly_json()
    return {"data": plain["data"], "layout": plain["layout"]}
