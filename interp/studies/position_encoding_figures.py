"""Charts of the family of position encodings: tables of positions, frequencies, curves, losses."""

from collections.abc import Sequence

import pandas as pd

from interp.checkpoints import Checkpoint
from interp.model.position_tables import row_cosines
from interp.reports.chart import Chart
from interp.reports.dot_chart import dot_chart
from interp.reports.heat_map import heat_map
from interp.reports.line_chart import Axis, Line, Panel, line_chart
from interp.reports.markup import Html
from interp.studies.added_positions import position_table
from interp.studies.family import ADDED, MEMBERS, ROPE, Family
from interp.studies.family_losses import LOSS
from interp.tables import Row, rows_of, select
from interp.training.family import run_name


def table_map(checkpoint: Checkpoint) -> Html:
    """The table that a model adds to the embedding, as a picture."""
    table = position_table(checkpoint).numpy()
    n_pos, d_model = table.shape
    return heat_map(
        table,
        title="The table: what is added to the embedding at each position",
        row_title=f"positions 0 to {n_pos - 1}",
        column_title=f"channels 0 to {d_model - 1}, a sine and a cosine in turn",
        note="Fast hands at the left turn every few positions; slow ones at the right hardly move "
        "over a whole window.",
    )


def product_map(checkpoint: Checkpoint) -> Html:
    """How alike any two positions of a model's table are, as a picture."""
    cosines = row_cosines(position_table(checkpoint)).numpy()
    n_pos = len(cosines)
    return heat_map(
        cosines,
        title="How alike two positions are: dot product of their vectors, each of length 1",
        row_title=f"positions 0 to {n_pos - 1}",
        column_title=f"positions 0 to {n_pos - 1}",
        note="Along the diagonal a position meets itself: 1. A band around it means that "
        "neighbours are alike; a table of random vectors has none.",
    )


def cosine_chart(table: pd.DataFrame) -> Chart:
    """The mean cosine of two positions by distance, of every table that is added."""
    rows = rows_of(table)
    lines = []
    for name in dict.fromkeys(row["checkpoint"] for row in rows):
        member, _, seed = name.rpartition("-seed")
        is_fixed = member == ADDED[0]
        if is_fixed and any(line.is_quiet for line in lines):
            continue  # the same table for every seed
        of_table = [row for row in rows if row["checkpoint"] == name]
        title = MEMBERS[member].title if is_fixed else f"{MEMBERS[member].title}, seed {seed}"
        lines.append(_line(title, of_table, is_quiet=is_fixed))
    return line_chart(
        [Panel("", lines)],
        key="table-cosines",
        title="Does the learned table know that neighbours are neighbours?",
        x=Axis("distance of two positions (tokens)"),
        y=Axis("mean cosine", marks=(0.0,)),
        note="At 0 two positions have nothing in common, as two random vectors; the fixed table "
        "of sinusoids to compare with.",
    )


def frequency_chart(table: pd.DataFrame) -> Chart:
    """Dot products by distance: single frequencies, and all of them."""
    rows = rows_of(table)
    names = list(dict.fromkeys(row["signal"] for row in rows))
    lines = [_line(name, [row for row in rows if row["signal"] == name]) for name in names]
    return line_chart(
        [Panel("", lines)],
        key="frequencies",
        title="Why one frequency is not enough: dot product of two positions by their distance",
        x=Axis("distance of two positions (tokens)"),
        y=Axis("dot product, 1 at distance 0", marks=(0.0,)),
        note="Pair 0 turns fastest. Wherever a line is back at a height, it cannot tell the two "
        "distances apart.",
    )


def curve_chart(table: pd.DataFrame, family: Family) -> Chart:
    """Training loss over steps, a panel for each member."""
    rows = rows_of(table)
    of: dict[str, list[Row]] = {}
    for row in rows:
        of.setdefault(row["checkpoint"], []).append(row)
    rope = [
        _line("RoPE, to compare with", of[name], is_quiet=True)
        for name in [run_name(ROPE, seed) for seed in family.seeds.get(ROPE, ())][:1]
        if name in of
    ]
    panels = []
    for member, seeds in family.seeds.items():
        lines = [
            _line(f"seed {s}", of[run_name(member, s)]) for s in seeds if run_name(member, s) in of
        ]
        panels.append(Panel(MEMBERS[member].title, [*lines, *(rope if member != ROPE else [])]))
    return line_chart(
        panels,
        key="loss-curves",
        title="Training loss in nats per token",
        x=Axis("step"),
        y=Axis("nats per token"),
    )


def loss_chart(table: pd.DataFrame) -> Chart:
    """Mean held-out losses with intervals over seeds, the published means beside them."""
    means = select(table, statistic=f"mean_{LOSS}")
    return dot_chart(
        pd.concat([select(means, checkpoint=member) for member in MEMBERS]),
        _loss_label,
        key="losses",
        title="Mean held-out loss, nats per character",
        note="Intervals are t over seeds; published means have none.",
    )


def _loss_label(row: Row) -> str:
    title = MEMBERS[row["checkpoint"]].title
    return f"{title}, {row['reference']}" if row["reference"] else title


def _line(name: str, rows: Sequence[Row], is_quiet: bool = False) -> Line:
    """Values over the number at the end of each row's group."""
    xs = [float(row["group"].rpartition(" ")[2]) for row in rows]
    return Line(name, xs, [row["value"] for row in rows], is_quiet)
