"""The page about loss by input position: curves, bands, all numbers."""

from collections.abc import Mapping, Sequence

import pandas as pd

import interp
from interp.analyses.loss_by_position import (
    DIFFERENCE,
    MEAN,
    SMOOTHED,
    SMOOTHED_HOW,
    position_of,
)
from interp.reports import page as pages
from interp.reports.chart import Chart, estimate_text, remarks_on
from interp.reports.line_chart import Axis, Line, Panel, line_chart
from interp.reports.markup import Html
from interp.reports.verdicts import side_by_side
from interp.studies.facts import model_in_words, training_in_words
from interp.studies.position_losses import PositionLosses
from interp.tables import Row, rows_of
from interp.text import counted, one_line

_LEAD = (
    "How surprised a model is by the next token, by how many tokens of its window it has read: "
    "within the length of its training windows this tells what context is worth to it, and beyond "
    "what it makes of positions that it never saw."
)
_HOW = (
    "Every text is read in windows that do not overlap, each as if it were the start of a text. At "
    "input position p a model has read p + 1 tokens and predicts the next one; at position 0 it "
    "has read one. The mean over all positions is the loss of a text read in such windows."
)
_HOW_BANDS = (
    "Means over the predictions made at the input positions of a band, with 95 % intervals in "
    "brackets. They are those of each number alone: that two intervals overlap does not mean that "
    "two models are alike, since they read the same text; the differences say it."
)
_HOW_DIFFERENCES = (
    "How much higher the loss is than that of {first}, over the same predictions: what makes a "
    "passage hard for both cancels out. Below 0 the loss is the smaller one."
)


def position_loss_page(found: PositionLosses, *, text: str, command: str) -> str:
    """The page as an HTML document.

    Args:
        found: What was found.
        text: What was read, in a few words.
        command: The command that makes the page.
    """
    bands = [row for row in rows_of(found.table) if position_of(str(row["group"])) is None]
    trained = dict(zip(found.names, found.trained, strict=True))
    parts: list[Html | Chart | str] = [
        _HOW,
        position_chart(found.table, trained=trained, unit=found.unit),
    ]
    sections = [
        pages.Section("By input position", parts),
        pages.Section("Bands", [_HOW_BANDS, *band_tables(found.table, unit=found.unit)]),
        pages.Section("Numbers", [_numbers(found.table)]),
    ]
    return pages.page(
        "Loss by input position",
        lead=[_LEAD],
        facts=[(name, one_line(value)) for name, value in _facts(found, text, command)],
        warnings=[
            *found.warnings,
            *(f"{doubt[0].upper()}{doubt[1:]}." for doubt in found.doubts()),
            *remarks_on(bands, lambda row: f"{row['checkpoint']} {row['group']}"),
        ],
        sections=sections,
        footer=f"Made by interp {interp.__version__}.",
        description=f"The loss of {', '.join(found.names)} by input position, on {one_line(text)}.",
    )


def position_chart(
    table: pd.DataFrame,
    *,
    trained: Mapping[str, int],
    unit: str,
    key: str = "loss-by-position",
    title: str = "Loss by input position",
    note: str = "",
) -> Chart:
    """A curve for each model of a table of `loss_by_position`, smoothed over what it smooths.

    Args:
        table: Of one or more models.
        trained: The training length of every model, by its name in the table.
        unit: Of the values.
        key: The chart's name on its page.
        title: What is shown.
        note: How to read it, after what is said of every such chart.
    """
    rows = [row for row in rows_of(table) if position_of(str(row["group"])) is not None]
    lines = []
    for name in dict.fromkeys(str(row["checkpoint"]) for row in rows):
        means, smoothed = (_by_position(rows, name, statistic) for statistic in (MEAN, SMOOTHED))
        both = sorted(means.keys() & smoothed.keys())
        values = [[round(of[p], 4) for p in both] for of in (smoothed, means)]
        lines.append(Line(name, both, values[0], under=values[1]))
    last = max((line.xs[-1] for line in lines if line.xs), default=0)
    ends = sorted({length for length in trained.values() if length <= last})
    return line_chart(
        [Panel("", lines)],
        key=key,
        title=f"{title}, {unit}",
        x=Axis("input position", marks=[end - 0.5 for end in ends]),
        y=Axis(unit),
        note=" ".join(filter(None, [f"{SMOOTHED_HOW} Faint: every position.", _ends(ends), note])),
    )


def band_tables(table: pd.DataFrame, *, unit: str) -> list[Html | str]:
    """Band means of every model, and how far they lie from those of the first.

    Args:
        table: Of `loss_by_position`.
        unit: Of the values.
    """
    rows = [row for row in rows_of(table) if position_of(str(row["group"])) is None]
    parts: list[Html | str] = [_band_table(rows, MEAN, f"Mean, {unit}")]
    differences = [row for row in rows if row["statistic"] == DIFFERENCE]
    if differences:
        first = str(differences[0]["reference"])
        parts += [
            _HOW_DIFFERENCES.format(first=first),
            _band_table(rows, DIFFERENCE, f"Difference from {first}, {unit}"),
        ]
    return parts


def _ends(ends: Sequence[int]) -> str:
    if not ends:
        return ""
    lines = "The dotted line is" if len(ends) == 1 else "Dotted lines are"
    return f"{lines} where training windows ended: after {', '.join(map(str, ends))} tokens."


def _by_position(rows: Sequence[Row], name: str, statistic: str) -> dict[int, float]:
    return {
        int(str(row["group"]).partition(" ")[2]): row["value"]
        for row in rows
        if (row["checkpoint"], row["statistic"]) == (name, statistic) and row["value"] is not None
    }


def _band_table(rows: Sequence[Row], statistic: str, caption: str) -> Html:
    """Models against bands; whichever are more go down the page."""
    sign = "+" if statistic == DIFFERENCE else ""
    cells = {
        (str(row["checkpoint"]), str(row["group"])): _cell(row, sign)
        for row in rows
        if row["statistic"] == statistic
    }
    names, bands = (list(dict.fromkeys(key)) for key in zip(*cells, strict=True))
    titles = [band.partition(" ")[2] for band in bands]
    if len(bands) >= len(names):
        head = ["positions", *names]
        body = [[t, *(cells[n, b] for n in names)] for t, b in zip(titles, bands, strict=True)]
    else:
        head = ["positions", *titles]
        body = [[name, *(cells[name, band] for band in bands)] for name in names]
    return side_by_side(caption, head, body)


def _cell(row: Row, sign: str) -> str:
    if row["value"] is None:
        return pages.UNDEFINED
    return estimate_text(row, f"{sign}.3f")


def _numbers(table: pd.DataFrame) -> Html:
    return pages.table(table, caption="All estimates", file_name="loss-by-position.csv")


def _facts(found: PositionLosses, text: str, command: str) -> list[tuple[str, str]]:
    facts = []
    for name, checkpoint, trained in zip(
        found.names, found.checkpoints, found.trained, strict=True
    ):
        words = (
            f"{model_in_words(checkpoint)}; trained on windows of {trained:,} tokens, "
            f"{training_in_words(checkpoint)}; weights {checkpoint.fingerprint[:12]}"
        )
        facts.append((name, words))
    sizes = f"{counted(found.n_documents, 'text')}, {counted(found.n_bytes, 'byte')}"
    only = "; only what is known to be held out was read" if found.is_held_out_part else ""
    known = "not known to be held out" if found.doubts() else "yes, all of it"
    return [
        *facts,
        ("Text", f"{text}: {sizes}{only}"),
        ("Text held out from training", known),
        ("Read in", f"windows of {found.length:,} tokens, one after the other"),
        ("Command", command),
    ]
