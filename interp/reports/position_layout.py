"""Where every character of a plot goes: scales, line breaks and lanes; pure geometry.

All lengths are pixels at the layout's own width. Drawn wider, the horizontal places stretch
and the glyphs keep their size, so characters that do not touch here touch nowhere.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int

from interp import text
from interp.reports.character_positions import PositionTrace

SCALES = ("mean", "same")
"""Every row divided by its own mean over the text shown, or one factor for all rows."""

MAX_LANES = {"mean": 8, "same": 3}
"""Lanes of glyphs by scale: a row that barely moves beside others is short, and stays low."""

_AIR = 1.5
"""Room for an average character, in widths of an average glyph."""

_SQUEEZE = 1.15
"""A text that is longer than a line by at most this factor is squeezed into one."""

_GAP_PX = 0.5


@dataclass(frozen=True, eq=False)
class Line:
    """One wrapped line of a plot: the same characters in every row.

    Args:
        start: The first character's index.
        end: The index after the last character.
        x: The centre of every glyph, from the line's own zero.
        lanes: On which of its row's lanes a glyph stands, 0 at the top.
        max_lanes: What lies on this lane has found no room, and is a tick instead of a glyph.
    """

    start: int
    end: int
    x: Float[np.ndarray, "row character"]
    lanes: Int[np.ndarray, "row character"]
    max_lanes: int

    @property
    def is_tick(self) -> Bool[np.ndarray, "row character"]:
        """Which characters are ticks, as their row is too short for all its glyphs."""
        return self.lanes == self.max_lanes

    @property
    def n_lanes(self) -> tuple[int, ...]:
        """How many lanes every row needs, at least one."""
        return tuple(int(lanes.max(initial=0)) + 1 for lanes in self.lanes)


@dataclass(frozen=True, eq=False)
class Layout:
    """A plot at one width and scale.

    Args:
        width_px: The width that the centres of glyphs share, edge glyphs' halves included.
        font_px: The size of the glyphs.
        px_per_position: What one position measures, in every row.
        lines: The wrapped lines, in order; each begins at 0 again.
    """

    width_px: float
    font_px: float
    px_per_position: Float[np.ndarray, " row"]
    lines: tuple[Line, ...]


def lay_out(
    trace: PositionTrace,
    widths_em: Sequence[float],
    *,
    width_px: float,
    font_px: float,
    scale: str,
) -> Layout:
    """Place every drawn character of ``trace``.

    Args:
        trace: The text and its increments.
        widths_em: The width of each drawn character's glyph.
        width_px: The room from a line's zero to its end.
        font_px: The size of the glyphs.
        scale: One of `SCALES`.
    """
    widths = np.asarray(widths_em, dtype=np.float64) * font_px
    increments = trace.character_increments
    factors = _px_per_position(increments, widths, width_px, scale)
    steps = increments * factors[:, None]
    lines = []
    start = 0
    while start < len(widths):
        end = _line_end(trace, steps, widths, start, width_px)
        x = np.cumsum(steps[:, start:end], axis=1)
        max_lanes = MAX_LANES[scale]
        lanes = np.stack([_lanes(row, widths[start:end], max_lanes) for row in x])
        lines.append(Line(start, end, x, lanes, max_lanes))
        start = end
    return Layout(width_px, font_px, factors, tuple(lines))


def _px_per_position(
    increments: Float[np.ndarray, "row character"],
    widths: Float[np.ndarray, " character"],
    width_px: float,
    scale: str,
) -> Float[np.ndarray, " row"]:
    if not increments.size:
        return np.ones(len(increments))
    means = increments.mean(axis=1)
    if scale == "same":
        means = np.full(len(means), means.max())
    px_per_average = _AIR * widths.mean()
    factors = np.divide(px_per_average, means, out=np.zeros_like(means), where=means > 0)
    last_px = widths[-1] / 2
    total = (increments.sum(axis=1) * factors).max() + last_px
    if width_px < total <= _SQUEEZE * width_px:
        factors *= (width_px - last_px) / (total - last_px)
    # one increment never leaves the line
    widest = (increments * factors[:, None]).max()
    return factors * min(1.0, (width_px - widths.max() / 2) / widest if widest > 0 else 1.0)


def _line_end(
    trace: PositionTrace,
    steps: Float[np.ndarray, "row character"],
    widths: Float[np.ndarray, " character"],
    start: int,
    width_px: float,
) -> int:
    """The index after the last character of the line that begins at ``start``."""
    furthest = np.cumsum(steps[:, start:], axis=1).max(axis=0) + widths[start:] / 2
    beyond = np.flatnonzero(furthest > width_px + 1e-6)
    if not len(beyond):
        return len(widths)
    end = start + max(1, int(beyond[0]))
    # break after a newline or a space where one is near the end of the line
    for name, share in (("newline", 0.6), ("space", 0.75)):
        wanted = trace.character_classes[start:end] == text.BYTE_CLASSES.index(name)
        late = np.flatnonzero(wanted)
        if len(late) and late[-1] + 1 >= share * (end - start):
            return start + int(late[-1]) + 1
    return end


def _lanes(
    x: Float[np.ndarray, " character"], widths: Float[np.ndarray, " character"], max_lanes: int
) -> Int[np.ndarray, " character"]:
    """The lowest lane on which each glyph touches none before it, or else ``max_lanes``."""
    right_edges: list[float] = []
    lanes = np.zeros(len(x), dtype=np.int64)
    for index, (centre, width) in enumerate(zip(x, widths, strict=True)):
        left = centre - width / 2
        free = (lane for lane, edge in enumerate(right_edges) if edge + _GAP_PX <= left)
        lane = next(free, len(right_edges))
        if lane < max_lanes:
            right_edges[lane : lane + 1] = [centre + width / 2]
        lanes[index] = lane
    return lanes
