"""Numbers in the cells of a table whose colour tells their size: rows against columns."""

from collections.abc import Sequence
from itertools import pairwise

from interp.reports.markup import Html, escape, joined
from interp.tables import Row, has_interval

STEPS = (0.005, 0.02, 0.1, 0.5)
"""Sizes at which a cell takes the next shade."""


def heat_table(
    caption: str,
    head: Sequence[str],
    rows: Sequence[tuple[str, Sequence[Row | None]]],
    *,
    unit: str,
    note: str = "",
) -> Html:
    """A table of estimates, each cell shaded by its size, in another hue below 0.

    It needs no script, and no colour to be read: every cell has its number, with a sign, in
    brackets where no interval tells it from 0.

    Args:
        caption: What it is, in a few words.
        head: Titles of the columns, that of the rows' names first.
        rows: A name and one row of an analysis table per column; None leaves a cell empty.
        unit: Of the values, for the legend.
        note: How to read it.
    """
    titles = joined(
        Html(f'<th scope="col"{_side(index)}>{escape(title)}</th>')
        for index, title in enumerate(head)
    )
    body = joined(
        Html(f'<tr><th scope="row">{escape(name)}</th>{joined(map(_cell, cells))}</tr>')
        for name, cells in rows
    )
    words = "In brackets: the interval holds 0, or there is none."
    return Html(
        f'<figure class="chart"><figcaption>{escape(caption)}'
        f'<p class="note">{escape(f"{words} {note}".strip())}</p></figcaption>'
        f'<div class="scroll heat" tabindex="0" role="region" aria-label="{escape(caption)}">'
        f"<table><thead><tr>{titles}</tr></thead><tbody>{body}</tbody></table></div>"
        f"{_legend(unit)}</figure>"
    )


def number_text(row: Row) -> str:
    """The value of a row with its sign, in brackets where no interval tells it from 0.

    Three decimals; two digits of a smaller value that is not in brackets.
    """
    value = row["value"]
    if value is None:
        return "—"
    if value == 0:
        return "0"
    is_clear = has_interval(row) and not row["low"] <= 0 <= row["high"]
    if abs(value) < 0.0005:
        return f"{value:+.2g}" if is_clear else "(0.000)"
    shown = f"{value:+.3f}" if abs(value) < 10 else f"{value:+.3g}"
    return shown if is_clear else f"({shown})"


def _cell(row: Row | None) -> Html:
    if row is None:
        return Html("<td></td>")
    value = row["value"] or 0.0
    level = sum(abs(value) >= step for step in STEPS)
    about = f"[{row['low']:.4g}, {row['high']:.4g}]" if has_interval(row) else ""
    about = "; ".join(filter(None, [about, row["note"]]))
    sign = " less" if value < 0 else ""
    return Html(
        f'<td class="number shade{level}{sign}" title="{escape(about)}">'
        f"{escape(number_text(row))}</td>"
    )


def _legend(unit: str) -> Html:
    names = [
        f"below {STEPS[0]:g}",
        *(f"{low:g} to {high:g}" for low, high in pairwise(STEPS)),
        f"{STEPS[-1]:g} or more",
    ]
    shades = joined(
        Html(f'<span class="shade{level}">{escape(name)}</span>')
        for level, name in enumerate(names)
    )
    below = Html(f'<span class="shade{len(STEPS)} less">below 0</span>')
    return Html(f'<p class="shades"><span>{escape(unit)}:</span>{shades}{below}</p>')


def _side(column: int) -> str:
    return ' class="number"' if column else ""
