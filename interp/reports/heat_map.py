"""A table of very many numbers as a picture: rows of cells whose shade tells the value."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float, Int

from interp.reports.markup import Html, escape, joined

N_SHADES = 4
"""On either side of 0, beside the shade of what is nearly 0."""


def heat_map(
    values: Float[np.ndarray, "row column"],
    *,
    title: str,
    row_title: str,
    column_title: str,
    note: str = "",
) -> Html:
    """Every value as a cell, darker the further from 0, in another hue below 0.

    It is an SVG in the colours of the page and needs no script. Hues are blue and orange, which
    colour-blind readers tell apart.

    Args:
        values: At least one row and column; the first row lies on top.
        title: What is shown, in a few words.
        row_title: What goes down, with where it begins and ends.
        column_title: What goes to the right.
        note: How to read it.
    """
    most = float(np.abs(values).max())
    # shade k of 4 from (k - 0.5) / 4.5 of the largest on, so that all nine are equally wide
    shares = np.zeros_like(values) if most == 0 else values / most
    levels = np.sign(shares) * np.floor(np.abs(shares) * (N_SHADES + 0.5) + 0.5)
    levels = np.clip(levels, -N_SHADES, N_SHADES).astype(int)
    paths = joined(
        _path(levels, level) for level in range(-N_SHADES, N_SHADES + 1) if (levels == level).any()
    )
    n_rows, n_columns = values.shape
    described = f"{title}: {row_title} going down, {column_title} going right; {note}"
    return Html(
        f'<figure class="chart"><figcaption>{escape(title)}'
        f'<p class="note">{escape(note)}</p></figcaption>'
        f'<svg class="cells" viewBox="0 0 {n_columns} {n_rows}" role="img" '
        f'preserveAspectRatio="none" shape-rendering="crispEdges" '
        f'style="aspect-ratio:{n_columns}/{n_rows}" aria-label="{escape(described)}">{paths}</svg>'
        f'<p class="note">{escape(f"Down: {row_title}. Right: {column_title}.")}</p>'
        f"{_legend(most)}</figure>"
    )


def _path(levels: Int[np.ndarray, "row column"], level: int) -> Html:
    """All cells of a shade as one path, neighbours in a row as one box."""
    boxes = []
    for row, is_level in enumerate(levels == level):
        edges = np.flatnonzero(np.diff(np.concatenate([[0], is_level.astype(int), [0]])))
        for begin, end in zip(edges[::2], edges[1::2], strict=True):
            boxes.append(f"M{begin} {row}h{end - begin}v1h{begin - end}z")
    return Html(f'<path class="shade{abs(level)}{_less(level)}" d="{"".join(boxes)}"/>')


def _legend(most: float) -> Html:
    levels: Sequence[int] = range(-N_SHADES, N_SHADES + 1)
    shades = joined(
        Html(f'<span><i class="shade{abs(level)}{_less(level)}"></i>{_number(level, most)}</span>')
        for level in levels
    )
    return Html(f'<p class="swatches">{shades}</p>')


def _number(level: int, most: float) -> str:
    return f"{level / (N_SHADES + 0.5) * most:.2g}" if level else "0"


def _less(level: int) -> str:
    return " less" if level < 0 else ""
