"""Losses by band of positions for a reader at a terminal of 80 columns."""

from collections.abc import Sequence

from rich.table import Table

from interp.analyses.loss_by_position import DIFFERENCE, MEAN, position_of
from interp.cli.rendering import Rendered, interval, number, table_of, whole
from interp.reports.chart import remarks_on
from interp.studies.position_losses import PositionLosses
from interp.tables import Row, rows_of


def position_tables(found: PositionLosses) -> list[Rendered]:
    """A table of bands for every model, beside it how far they lie from those of the first."""
    bands = [row for row in rows_of(found.table) if position_of(str(row["group"])) is None]
    rendered = []
    for name, trained in zip(found.names, found.trained, strict=True):
        title = f"{name} (trained on {trained:,} tokens): {found.unit}"
        own = [row for row in bands if row["checkpoint"] == name]
        rendered.append(Rendered(title, _table(own)))
    first = [f"+/- is the difference from {found.names[0]}."] if len(rendered) > 1 else []
    remarks = remarks_on(bands, lambda row: f"{row['checkpoint']} {row['group']}")
    last = rendered[-1]
    return [*rendered[:-1], Rendered(last.title, last.table, (*first, *remarks))]


def _table(own: Sequence[Row]) -> Table:
    differences = {row["group"]: row for row in own if row["statistic"] == DIFFERENCE}
    more = ("+/-", "95 % interval") if differences else ()
    table = table_of("", "n", "mean", "95 % interval", *more)
    for row in own:
        if row["statistic"] == MEAN:
            cells = [whole(row["n"]), number(row["value"]), interval(row)]
            if differences:
                difference = differences[row["group"]]
                cells += [_signed(difference["value"]), interval(difference)]
            table.add_row(str(row["group"]), *cells)
    return table


def _signed(value: float | None) -> str:
    return number(value) if value is None or value < 0 else f"+{number(value)}"
