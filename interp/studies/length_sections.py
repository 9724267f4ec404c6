"""The page of windows longer than those of training: a section for each encoding, then all."""

from collections.abc import Mapping, Sequence

import pandas as pd

from interp.analyses.loss_by_position import SMOOTHED, SMOOTHED_HOW, position_of
from interp.analyses.position_spans import IN_TRAINING, RATIO, SPAN
from interp.reports.chart import Chart
from interp.reports.line_chart import Axis, Line, Panel, line_chart
from interp.reports.markup import Html
from interp.reports.page import Section
from interp.reports.verdicts import side_by_side as words_table
from interp.studies.family import INCREMENTS, LEARNED, MEMBERS, ROPE, Family
from interp.studies.length_tables import BAND_LOSS, BandLosses, Lengths
from interp.studies.length_verdicts import Beyond
from interp.studies.published import PUBLISHED
from interp.tables import Row, row_name, rows_of, select
from interp.training.family import run_name

_HOW = (
    "Held-out text is read in windows that do not overlap, and every prediction is filed under "
    "its input position, the place of the token that it is made at, counted from 0. Loss is the "
    "mean surprisal there, in nats per character. Band a-b is the mean over positions a to b; the "
    "dotted line in the curves is the end of the training length."
)
_HOW_SPANS = (
    "How far do learned positions reach? A position is the sum of the increments in its window; "
    "with plain RoPE the N-th token stands at N. The span is the 99th percentile over windows. If "
    "it grew less than the number of tokens, the model would itself keep its angles in the range "
    "that it knows."
)


def lesson(
    family: Family, losses: BandLosses, tables: Mapping[str, pd.DataFrame], refusal: str
) -> list[Section]:
    """A section for each member: what it is, what to expect, what was found."""
    sections = []
    for member in family.seeds:
        about = MEMBERS[member]
        parts: list[Html | Chart | str] = [about.what, about.beyond]
        parts.append(found_in_words(losses, member))
        if member == LEARNED and refusal:
            parts.append(f"Asked to read a longer window, it says: “{refusal}”.")
        if member == INCREMENTS and "position-spans" in tables:
            parts += [_HOW_SPANS, _spans(tables["position-spans"])]
        sections.append(Section(about.title, parts))
    return sections


def side_by_side(
    family: Family, losses: BandLosses, tables: Mapping[str, pd.DataFrame], lengths: Lengths
) -> Section:
    """All members: curves by position, and bands beside the published ones."""
    curves = _curves(tables["by-position"], family, lengths)
    names = lengths.names
    rows = [[MEMBERS[m].title, *band_cells(tables["bands"], m, names)] for m in losses]
    head = ["encoding", *band_titles(names)]
    caption = "Loss by band in nats per character: mean ± sd over seeds; published: one seed"
    bands = words_table(caption, head, rows)
    return Section("Side by side", [_HOW, curves, bands, SMOOTHED_HOW])


def found_in_words(losses: BandLosses, member: str) -> str:
    """What each band beyond the training length costs more than the first."""
    beyond = Beyond.of(losses, member)
    published = f" Published: {beyond.published}." if beyond.published else ""
    if not beyond.costs:
        return "Only windows of the training length can be read."
    return f"Beyond the first band it costs, in nats per character: {beyond.in_words}.{published}"


def band_titles(bands: Sequence[str]) -> list[str]:
    """Titles of the columns of `band_cells`."""
    titles = [name.removeprefix("positions ") for name in bands]
    return [*titles, *(f"published {title}" for title in titles)]


def band_cells(table: pd.DataFrame, model: str, bands: Sequence[str]) -> list[str]:
    """The loss of every band over seeds, then what was published of seed 0."""
    ours, published = select(table, reference=None), select(table, reference=PUBLISHED)
    cells = []
    for band in bands:
        mean = _value(ours, model, f"mean_{BAND_LOSS}", band)
        sd = _value(ours, model, f"sd_{BAND_LOSS}", band)
        spread = "" if sd is None else f" ± {sd:.3f}"
        cells.append("cannot run" if mean is None else f"{mean:.3f}{spread}")
    is_known = f"{model}-seed0" in set(published["checkpoint"])
    for band in bands:
        value = _value(published, f"{model}-seed0", BAND_LOSS, band)
        none = "cannot run" if is_known and model == LEARNED else ""
        cells.append(none if value is None else f"{value:.3f}")
    return cells


def _curves(table: pd.DataFrame, family: Family, lengths: Lengths) -> Chart:
    """Smoothed surprisal by position, a panel for each member, RoPE in each to compare with."""
    rows = [row for row in rows_of(table) if row["statistic"] == SMOOTHED]
    of: dict[str, list[Row]] = {}
    for row in rows:
        of.setdefault(row["checkpoint"], []).append(row)
    first = [run_name(ROPE, seed) for seed in family.seeds.get(ROPE, ())][:1]
    rope = [_line("RoPE, to compare with", of[name], is_quiet=True) for name in first]
    panels = [
        Panel(
            MEMBERS[member].title,
            [_line(f"seed {seed}", of[run_name(member, seed)]) for seed in seeds]
            + (rope if member != ROPE else []),
        )
        for member, seeds in family.seeds.items()
    ]
    return line_chart(
        panels,
        key="by-position",
        title="Loss by input position, smoothed",
        x=Axis("input position (tokens)", marks=(float(lengths.trained),)),
        y=Axis("nats per character"),
        note="Further right there is more context to go by. The dotted line is the end of the "
        "training length.",
    )


def _line(name: str, rows: Sequence[Row], is_quiet: bool = False) -> Line:
    drawn = [row for row in rows if row["value"] is not None]
    places = [float(position_of(row["group"]) or 0) for row in drawn]
    return Line(name, places, [row["value"] for row in drawn], is_quiet)


def _value(table: pd.DataFrame, checkpoint: str, statistic: str, group: str) -> float | None:
    chosen = select(table, checkpoint=checkpoint, statistic=statistic, group=group)
    values = [row["value"] for row in rows_of(chosen)]
    return values[0] if values else None


def _spans(table: pd.DataFrame) -> Html:
    rows = rows_of(table)
    groups = list(dict.fromkeys(row["group"] for row in rows if row["group"]))
    lines = []
    for name in dict.fromkeys((row["checkpoint"], row_name(row)) for row in rows):
        of_line = [row for row in rows if (row["checkpoint"], row_name(row)) == name]
        spans = {row["group"]: row for row in of_line if row["statistic"] == SPAN}
        ratios = {row["group"]: row for row in of_line if row["statistic"] == RATIO}
        trained = [r for r in of_line if r["statistic"] == SPAN and r["reference"] == IN_TRAINING]
        cells = [_number(trained[0]["value"])]
        for group in groups:
            ratio = ratios[group]["value"]
            times = "" if ratio is None else f" ({ratio:.2f} x)"
            cells.append(_number(spans[group]["value"]) + times)
        lines.append([f"{name[1]}, {name[0].rpartition('-')[2]}", *cells])
    head = ["layer", "in training", *(f"after {group}" for group in groups)]
    return words_table("Span of learned positions, and its ratio to that of training", head, lines)


def _number(value: float | None) -> str:
    return "not known" if value is None else f"{value:.1f}"
