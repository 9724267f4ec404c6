"""Small pictures of what a page shows, for a gallery: SVG that stands alone, in both looks.

They are sketches without numbers; the page has the numbers.
"""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float

from interp import text
from interp.reports import theme
from interp.reports.character_positions import PositionTrace
from interp.reports.glyphs import Glyph, glyph
from interp.reports.markup import Html, escape, joined
from interp.tables import Row, has_interval

WIDTH_PX, HEIGHT_PX = 360, 216
"""The size of every picture."""

MAX_ROWS = 6
"""Rows of a position picture; of a model with more, as many that lie evenly apart."""

_FONT_PX = 15
_LEFT_PX, _RIGHT_PX, _TOP_PX, _BOTTOM_PX = 18.0, 342.0, 24.0, 194.0
_AVERAGE_PX = 20.0
_GAP_PX = 11
_MAX_EM = 1.4


def position_picture(trace: PositionTrace) -> Html:
    """The first characters of ``trace`` in every row, each row by its mean.

    A glyph that would hide the one before it is left out; its ways say where it would be.
    """
    rows = np.unique(np.linspace(0, len(trace.row_names) - 1, MAX_ROWS).round().astype(int))
    n_characters = int(min(len(trace.characters), (_RIGHT_PX - _LEFT_PX) // _AVERAGE_PX))
    steps = trace.character_increments[rows, :n_characters]
    ends = steps.sum(axis=1, keepdims=True)
    shares = np.cumsum(np.divide(steps, ends, out=np.zeros_like(steps), where=ends > 0), axis=1)
    x = _LEFT_PX + (n_characters * _AVERAGE_PX - _FONT_PX / 2) * shares
    y = np.linspace(_TOP_PX, _BOTTOM_PX, len(rows)) if len(rows) > 1 else np.array([HEIGHT_PX / 2])
    classes = trace.character_classes[:n_characters].tolist()
    glyphs = [glyph(character) for character in trace.characters[:n_characters]]
    shown = [_shown(x[row], [each.width_em for each in glyphs]) for row in range(len(rows))]
    parts = [_way(x, y, shown, index, f"c{classes[index]}") for index in range(n_characters)]
    for row in range(len(rows)):
        for index in shown[row]:
            parts.append(_glyph(glyphs[index], x[row, index], y[row], f"c{classes[index]}"))
    return _svg(joined(parts), language=trace.language)


def row_picture(rows: Sequence[Row], *, reference: float | None = None) -> Html:
    """`value_picture` of the rows of an analysis table."""
    return value_picture(
        [row["value"] for row in rows],
        intervals=[(row["low"], row["high"]) if has_interval(row) else None for row in rows],
        reference=reference,
    )


def value_picture(
    values: Sequence[float | None],
    *,
    intervals: Sequence[tuple[float, float] | None] = (),
    reference: float | None = None,
) -> Html:
    """Values side by side as dots, such as one per layer, with their intervals.

    Args:
        values: What is drawn from left to right; None leaves a place empty.
        intervals: The ends of the interval of each value, or none for any.
        reference: Where a dashed line lies across, such as chance.
    """
    bars = [interval for interval in intervals if interval is not None]
    heights = [value for value in values if value is not None] + [
        end for bar in bars for end in bar
    ]
    heights += [reference] if reference is not None else []
    low, high = (min(heights), max(heights)) if heights else (0.0, 1.0)

    def y(height: float) -> str:
        share = (height - low) / (high - low) if high > low else 0.5
        return f"{_BOTTOM_PX - share * (_BOTTOM_PX - _TOP_PX):.1f}"

    places = np.linspace(_LEFT_PX + 22, _RIGHT_PX - 22, max(2, len(values)))
    parts = []
    if reference is not None:
        across = f'x1="{_LEFT_PX}" x2="{_RIGHT_PX}" y1="{y(reference)}" y2="{y(reference)}"'
        parts.append(Html(f'<line class="reference" {across}/>'))
    for index, value in enumerate(values):
        x = f"{places[index]:.1f}"
        if intervals and (bar := intervals[index]) is not None:
            parts.append(
                Html(f'<line class="bar" x1="{x}" x2="{x}" y1="{y(bar[0])}" y2="{y(bar[1])}"/>')
            )
        if value is not None:
            parts.append(Html(f'<circle cx="{x}" cy="{y(value)}" r="5.5"/>'))
    return _svg(joined(parts))


def _shown(x: Float[np.ndarray, " character"], widths_em: Sequence[float]) -> list[int]:
    """Which glyphs of a row find room, from left to right."""
    found, edge = [], -np.inf
    for index, (centre, width_em) in enumerate(zip(x, widths_em, strict=True)):
        half = min(width_em, _MAX_EM) * _FONT_PX / 2
        if centre - half >= edge - 1:
            found.append(index)
            edge = centre + half
    return found


def _way(
    x: Float[np.ndarray, "row character"],
    y: Float[np.ndarray, " row"],
    shown: Sequence[Sequence[int]],
    index: int,
    css_class: str,
) -> Html:
    """The way of one character from row to row, with a gap where its glyph stands."""
    steps = []
    for row in range(len(y) - 1):
        above, below = (_GAP_PX if index in shown[each] else 0 for each in (row, row + 1))
        steps.append(
            f"M{x[row, index]:.1f} {y[row] + above:.0f}"
            f"L{x[row + 1, index]:.1f} {y[row + 1] - below:.0f}"
        )
    return Html(f'<path class="{css_class}" d="{"".join(steps)}"/>')


def _glyph(each: Glyph, x: float, y: float, css_class: str) -> Html:
    is_squeezed = each.is_squeezed or each.width_em > _MAX_EM
    length = min(each.width_em, _MAX_EM) * _FONT_PX
    squeeze = f' textLength="{length:.1f}" lengthAdjust="spacingAndGlyphs"' if is_squeezed else ""
    return Html(
        f'<text class="{css_class}" x="{x:.1f}" y="{y + 5:.0f}"{squeeze}>'
        f"{escape(each.shown)}</text>"
    )


def _svg(content: Html, *, language: str = "") -> Html:
    return Html(
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH_PX} {HEIGHT_PX}" '
        f'width="{WIDTH_PX}" height="{HEIGHT_PX}" lang="{escape(language)}">'
        f"<style>{_style()}</style>"
        f"{content}</svg>"
    )


def _style() -> str:
    light, dark = (_colors(mode) for mode in theme.MODES)
    return (
        f"text{{font:{_FONT_PX}px {theme.MONO};text-anchor:middle;white-space:pre}}"
        "path{fill:none;stroke-opacity:.35}"
        ".bar{stroke-width:2}.reference{stroke-dasharray:4 5}"
        f"{light}@media(prefers-color-scheme:dark){{{dark}}}"
    )


def _colors(mode: str) -> str:
    paper = theme.PAPER[mode]
    rules = [
        f"circle{{fill:{paper['accent']}}}.bar{{stroke:{paper['accent']}}}"
        f".reference{{stroke:{paper['muted']}}}"
    ]
    for index, name in enumerate(text.BYTE_CLASSES):
        color = theme.class_color(name, mode)
        weight = ";font-weight:700" if name in theme.BOLD_CLASSES else ""
        rules.append(
            f".c{index}{{fill:{color};stroke:{color}}}text.c{index}{{stroke:none{weight}}}"
        )
    return "".join(rules)
