"""Position plots that are there for whoever asks: folded away under a line of words."""

from collections.abc import Sequence

from interp.reports.character_positions import PositionTrace
from interp.reports.markup import Html, escape, joined
from interp.reports.position_plot import position_plot


def folded_plots(summary: str, traces: Sequence[PositionTrace]) -> Html:
    """The plots of ``traces`` under ``summary``, which opens them."""
    plots = joined(position_plot(trace) for trace in traces)
    return Html(f'<details class="table"><summary>{escape(summary)}</summary>{plots}</details>')
