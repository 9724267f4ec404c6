"""The character-position plot as HTML with inline SVG; there without scripts, livelier with.

The same plot stands there for three widths and both scales; the style sheet shows the one that
fits. Horizontal places are percentages, so that every plot stretches to the width it is given,
and glyphs keep their size. The faint ways from row to row are half of all that is drawn and
follow from the numbers, so the script draws them, of the lines that come into view.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from interp import text
from interp.reports import theme
from interp.reports.character_positions import PositionTrace
from interp.reports.glyphs import Glyph, glyph, shown_text
from interp.reports.markup import Html, escape, isolated, joined, json_block
from interp.reports.position_layout import MAX_LANES, SCALES, Layout, Line, lay_out


@dataclass(frozen=True)
class Size:
    """A width for which a plot is laid out, from which on it is shown; lengths in pixels."""

    name: str
    container_px: int
    font_px: int
    link_px: int
    label_px: int

    @property
    def lane_px(self) -> int:
        """The height of one lane of glyphs."""
        return round(1.3 * self.font_px)


SIZES = (
    Size("narrow", container_px=292, font_px=15, link_px=20, label_px=36),
    Size("medium", container_px=560, font_px=16, link_px=24, label_px=42),
    Size("wide", container_px=900, font_px=16, link_px=27, label_px=46),
)
"""The widths, smallest first; positions.css switches at the same ``container_px``."""

_TOP_PX = 6


def position_plot(trace: PositionTrace) -> Html:
    """The plot of ``trace`` as a ``figure``, for a page that has the theme and its script."""
    glyphs = [glyph(character) for character in trace.characters]
    plots = [_plot(trace, glyphs, size, scale) for size in SIZES for scale in _scales(trace)]
    language = Html(f' lang="{escape(trace.language)}"') if trace.language else Html("")
    described = f"Character positions of {trace.title}, rows {', '.join(trace.row_names)}"
    return joined(
        [
            Html('<figure class="positions">'),
            Html(f"<figcaption><h3>{isolated(trace.title)}</h3>{_notes(trace)}</figcaption>"),
            _scale_switch(trace),
            _legend(trace),
            Html(f'<div class="plots" role="img" aria-label="{escape(described)}"{language}>'),
            *plots,
            Html("</div>"),
            Html(
                '<p class="keys" hidden>Point at a character, or focus the plot and use the arrow '
                "keys, for its bytes.</p>"
                '<noscript><p class="keys">The lines between rows, the numbers and the choice of '
                "classes need scripts.</p></noscript>"
                '<div class="reading" hidden></div><p class="spoken" aria-live="polite"></p>'
                '<details class="numbers" hidden><summary>The numbers of this plot</summary>'
                "</details>"
            ),
            json_block(_payload(trace, glyphs), css_class="trace"),
            Html("</figure>"),
        ]
    )


def standalone(trace: PositionTrace) -> Html:
    """The plot with its own style sheet and script, for a notebook's output cell."""
    return Html(
        f'<div class="interp embedded"><style>{theme.style_sheet()}</style>'
        f"{position_plot(trace)}<script>{theme.asset('positions.js')}</script></div>"
    )


def _scales(trace: PositionTrace) -> tuple[str, ...]:
    return SCALES if len(trace.row_names) > 1 else SCALES[1:]


def _notes(trace: PositionTrace) -> Html:
    notes = [trace.note] if trace.note else []
    if not trace.content:
        notes.append("The text is empty: there is nothing to draw.")
    return joined(Html(f'<p class="note">{escape(note)}</p>') for note in notes)


def _scale_switch(trace: PositionTrace) -> Html:
    """The choice of a scale; a form of its own, so that it is no other plot's choice.

    A form of this method sends nothing anywhere, whatever key is pressed in it.
    """
    if len(_scales(trace)) == 1:
        return Html("")
    labels = {"mean": "each row by its mean", "same": "same for all rows"}
    choices = joined(
        Html(
            f'<label><input type="radio" name="scale" value="{scale}"'
            f"{' checked' if scale == SCALES[0] else ''}><span>{labels[scale]}</span></label>"
        )
        for scale in SCALES
    )
    return Html(
        f'<form method="dialog"><fieldset class="scale"><legend>Scale</legend>{choices}'
        "</fieldset></form>"
    )


def _legend(trace: PositionTrace) -> Html:
    counts = np.bincount(trace.character_classes, minlength=len(text.BYTE_CLASSES))
    buttons = joined(
        Html(
            f'<button type="button" class="c{index}" data-class="{index}" aria-pressed="false" '
            f'disabled><i class="swatch"></i>{escape(theme.label_of_character_class(name))} '
            f"<small>{counts[index]}</small></button>"
        )
        for index, name in enumerate(text.BYTE_CLASSES)
        if counts[index]
    )
    return Html(
        '<div class="legend" role="group" aria-label="Show only these classes">'
        f'{buttons}<button type="button" class="all" hidden>show all</button></div>'
    )


def _plot(trace: PositionTrace, glyphs: list[Glyph], size: Size, scale: str) -> Html:
    longest = max(len(name) for name in trace.row_names)
    size = replace(size, label_px=max(size.label_px, 8 * longest + 22))
    layout = lay_out(
        trace,
        [each.width_em for each in glyphs],
        width_px=float(size.container_px - size.label_px),
        font_px=float(size.font_px),
        scale=scale,
    )
    factors = " ".join(f"{k / layout.width_px:.6g}" for k in layout.px_per_position)
    lines = joined(_line(trace, glyphs, layout, line, size) for line in layout.lines)
    ticks = Html('<p class="keys">Ticks are characters that find no room in their row.</p>')
    return Html(
        f'<div class="plot {size.name} {scale}" data-per-position="{factors}" '
        f'data-lane="{size.lane_px}" data-max-lanes="{MAX_LANES[scale]}" '
        f'data-font="{size.font_px}" '
        f'style="--label:{size.label_px}px;font-size:{size.font_px}px">'
        f"{lines}{_scale_bar(trace, layout, scale)}"
        f"{ticks if any(line.is_tick.any() for line in layout.lines) else ''}</div>"
    )


def _line(
    trace: PositionTrace, glyphs: list[Glyph], layout: Layout, line: Line, size: Size
) -> Html:
    tops = [_TOP_PX]
    for n_lanes in line.n_lanes:
        tops.append(tops[-1] + n_lanes * size.lane_px + size.link_px)
    height = tops.pop() - size.link_px + _TOP_PX
    lanes = " ".join("".join(_DIGITS[min(lane, 35)] for lane in row) for row in line.lanes)
    classes = trace.character_classes[line.start : line.end]
    labels = joined(
        Html(f'<text class="row" x="-18" y="{_baseline(top, 0, size)}">{escape(name)}</text>')
        for top, name in zip(tops, trace.row_names, strict=True)
    )
    texts = joined(
        fragment
        for row, top in enumerate(tops)
        for fragment in _row_texts(glyphs, classes, layout, line, row, top, size)
    )
    width = round(layout.width_px)
    return Html(
        f'<div class="line" data-start="{line.start}" data-end="{line.end}" '
        f'data-tops="{" ".join(map(str, tops))}" data-lanes="{lanes}" '
        f'style="contain-intrinsic-size:auto {height}px">'
        f'<svg height="{height}" role="presentation" aria-hidden="true">'
        f'<svg class="links" width="100%" height="{height}" viewBox="0 0 {width} {height}" '
        f'preserveAspectRatio="none">{_ticks(classes, line, tops, size)}</svg>'
        f'<line class="zero" y1="{_TOP_PX}" y2="{height - _TOP_PX}"/>'
        f"{labels}{texts}</svg></div>"
    )


def _ticks(classes: np.ndarray, line: Line, tops: list[int], size: Size) -> Html:
    """One path per class: where the characters are that find no room in their row."""
    ticks: dict[int, list[str]] = {}
    for row, index in np.argwhere(line.is_tick):
        y = tops[row] + int(line.lanes[row, index]) * size.lane_px + 3
        step = f"M{line.x[row, index]:.1f} {y}v{size.lane_px // 2}"
        ticks.setdefault(int(classes[index]), []).append(step)
    return joined(
        Html(f'<path class="c{index} tick" d="{"".join(steps)}"/>')
        for index, steps in sorted(ticks.items())
    )


def _row_texts(
    glyphs: list[Glyph],
    classes: np.ndarray,
    layout: Layout,
    line: Line,
    row: int,
    top: int,
    size: Size,
) -> Iterator[Html]:
    """The glyphs of one row: a text per class and lane, and those that need their own."""
    runs: dict[tuple[int, int], tuple[list[str], list[str]]] = {}
    for index, class_index in enumerate(classes):
        if line.is_tick[row, index]:
            continue
        each = glyphs[line.start + index]
        lane = int(line.lanes[row, index])
        x = f"{100 * line.x[row, index] / layout.width_px:.2f}%"
        if each.kind == "run":
            places, shown = runs.setdefault((int(class_index), lane), ([], []))
            places.append(x)
            shown.append(each.shown)
        else:
            yield _own_text(each, int(class_index), x, top, lane, size)
    for (class_index, lane), (places, shown) in runs.items():
        yield Html(
            f'<text class="c{class_index}" y="{_baseline(top, lane, size)}" '
            f'x="{" ".join(places)}">{escape("".join(shown))}</text>'
        )


def _own_text(each: Glyph, class_index: int, x: str, top: int, lane: int, size: Size) -> Html:
    width = each.width_em * size.font_px
    lane_top = top + lane * size.lane_px
    baseline = _baseline(top, lane, size)
    shown = escape(each.shown)
    if each.kind == "cell":
        return Html(
            f'<g class="cell c{class_index}"><rect x="{x}" y="{lane_top + 2}" '
            f'width="{width - 2:.1f}" height="{size.lane_px - 4}" rx="3" '
            f'transform="translate({1 - width / 2:.1f})"/>'
            f'<text x="{x}" y="{baseline - 1}">{shown}</text></g>'
        )
    squeeze = (
        f' textLength="{width:.1f}" lengthAdjust="spacingAndGlyphs"' if each.is_squeezed else ""
    )
    if each.is_clipped:
        return Html(
            f'<g class="c{class_index}" transform="translate({-width:.1f})"><svg class="clip" '
            f'x="{x}" y="{lane_top - 1}" width="{2 * width:.1f}" height="{size.lane_px + 2}">'
            f'<text x="50%" y="{baseline - lane_top + 1}"{squeeze}>{shown}</text></svg></g>'
        )
    return Html(f'<text class="c{class_index}" x="{x}" y="{baseline}"{squeeze}>{shown}</text>')


def _baseline(top: int, lane: int, size: Size) -> int:
    return top + lane * size.lane_px + round(0.78 * size.lane_px)


def _scale_bar(trace: PositionTrace, layout: Layout, scale: str) -> Html:
    """A bar of a round length: in average characters, or in positions."""
    if not layout.lines or not layout.px_per_position.any():
        return Html("")
    if scale == "mean":
        mean_px = (layout.px_per_position * trace.character_increments.mean(axis=1)).max()
        unit_px, one, many = mean_px, "average character", "average characters"
    else:
        unit_px = layout.px_per_position.max()
        one, many = "position", "positions"
    lengths = [m * 10.0**e for e in range(-6, 9) for m in (1, 2, 5)]
    longest = max([n for n in lengths if n * unit_px <= 0.3 * layout.width_px], default=lengths[0])
    percent = 100 * longest * unit_px / layout.width_px
    label = f"{longest:g} {one if longest == 1 else many}"
    return Html(
        '<svg class="bar" height="20" role="presentation">'
        f'<line x2="{percent:.2f}%" y1="6" y2="6"/><line y1="3" y2="9"/>'
        f'<line x1="{percent:.2f}%" x2="{percent:.2f}%" y1="3" y2="9"/>'
        f'<text x="{percent:.2f}%" y="10" dx="8">{label}</text></svg>'
    )


def _payload(trace: PositionTrace, glyphs: list[Glyph]) -> dict[str, object]:
    return {
        "rows": trace.row_names,
        "classes": text.BYTE_CLASSES,
        "labels": [theme.label_of_character_class(name) for name in text.BYTE_CLASSES],
        "shown": [shown_text(character) for character in trace.characters],
        "drawn": [each.shown for each in glyphs],
        "widths": [each.width_em for each in glyphs],
        "ends": trace.spans[:, 1].tolist(),
        "bytes": trace.content.hex(),
        "byteClasses": "".join(_DIGITS[index] for index in trace.token_classes[1:]),
        "characterClasses": "".join(_DIGITS[index] for index in trace.character_classes),
        "increments": [[float(f"{value:.6g}") for value in row] for row in trace.increments[:, 1:]],
    }


_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"
