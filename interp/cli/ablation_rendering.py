"""Changes of the loss for a reader at a terminal of 80 columns; nothing is computed but widths."""

from collections.abc import Callable, Sequence

import pandas as pd

from interp.analyses.ablation import ALL_BYTES, LOSS, LOSS_DIFFERENCE
from interp.analyses.seeds import MARGIN_NATS
from interp.cli.rendering import Rendered, blocks, half_width, number, table_of
from interp.reports.chart import remarks_on
from interp.reports.heat_table import number_text
from interp.studies.ablation_verdicts import layer_title, one_line
from interp.studies.ablations import REPLACEMENTS
from interp.tables import Row, has_interval, rows_of
from interp.text import counted

_SHORT = {each.words: each.short for each in REPLACEMENTS.values()}
_LAYER_COLUMNS, _GROUP_COLUMNS = 7, 4
"""Columns of numbers that fit beside the names."""


def ablation_tables(frame: pd.DataFrame) -> list[Rendered]:
    """Replacements against layers, their half widths if any, groups against replacements."""
    rows = rows_of(frame)
    changes = [row for row in rows if row["statistic"] == LOSS_DIFFERENCE]
    losses = {str(row["group"]): row for row in rows if row["statistic"] == LOSS}
    whole = [row for row in changes if row["group"] == ALL_BYTES]
    together = [row for row in changes if row["layer"] is None]
    rendered = [
        *_by_layer("What it adds to the loss, in nats per byte", whole, number_text),
        *(
            _by_layer("Half width of the simultaneous 95 % interval", whole, _half_width)
            if any(map(has_interval, whole))
            else ()
        ),
        *(_by_group(together, losses) if together else ()),
    ]
    last = rendered[-1]
    notes = (*_notes(losses[ALL_BYTES], whole), one_line(rows))
    return [*rendered[:-1], Rendered(last.title, last.table, notes)]


def _by_layer(title: str, changes: Sequence[Row], cell: Callable[[Row], str]) -> list[Rendered]:
    rendered = []
    for columns in blocks(list(dict.fromkeys(map(layer_title, changes))), _LAYER_COLUMNS):
        table = table_of("instead", *columns)
        for words in dict.fromkeys(str(row["reference"]) for row in changes):
            found = {layer_title(row): row for row in changes if row["reference"] == words}
            table.add_row(_SHORT.get(words, words), *(cell(found[column]) for column in columns))
        rendered.append(Rendered(title, table))
    return rendered


def _by_group(changes: Sequence[Row], losses: dict[str, Row]) -> list[Rendered]:
    rendered = []
    names = list(dict.fromkeys(str(row["reference"]) for row in changes))
    for columns in blocks(names, _GROUP_COLUMNS):
        table = table_of("group of bytes", "n", "loss", *(_SHORT[name] for name in columns))
        for group, loss in losses.items():
            found = {row["reference"]: row for row in changes if row["group"] == group}
            about = (f"{loss['n']:,}", number(loss["value"]))
            cells = (number_text(found[name]) for name in columns)
            table.add_row(group.partition(" (")[0], *about, *cells)
        rendered.append(Rendered("What it adds in all layers, by group of bytes", table))
    return rendered


def _notes(loss: Row, whole: Sequence[Row]) -> list[str]:
    names = dict.fromkeys(str(row["reference"]) for row in whole)
    replaced = "; ".join(
        each if each == _SHORT[each] else f"{_SHORT[each]}: {each}" for each in names
    )
    return [
        f"The loss as it is: {number(loss['value'])} nats per byte, "
        f"{counted(loss['n'], 'byte')} of {counted(loss['n_documents'], 'text')}.",
        f"Instead of the increments: {replaced}.",
        "In brackets: the interval holds 0, or there is none. Those of groups: --csv or --json.",
        f"Within {MARGIN_NATS} nats per byte of 0 a change counts as none.",
        *remarks_on(whole, lambda row: f"{row['reference']} {layer_title(row)}"),
    ]


def _half_width(row: Row) -> str:
    return number(half_width(row))
