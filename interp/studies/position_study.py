"""Study: where models put the characters of a few short texts."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd

from interp.analyses.character_spacing import ALL_CHARACTERS, character_spacing
from interp.checkpoints import Checkpoint
from interp.corpus.documents import Document
from interp.extraction.extract import extract
from interp.extraction.increment_table import DocumentSignal, IncrementTable
from interp.reports.character_positions import PositionTrace, traces_of
from interp.reports.markup import Html
from interp.reports.page import Section
from interp.reports.pictures import position_picture
from interp.reports.position_panels import folded_plots
from interp.reports.position_plot import position_plot
from interp.reports.verdicts import Verdict
from interp.studies.models import PER_HEAD, PER_LAYER, ROPE, SHARED
from interp.studies.position_texts import ENGLISH, TEXTS, ShownText
from interp.studies.study import Finding, Study
from interp.studies.study_input import MissingCheckpoint, StudyInput
from interp.tables import Row, rows_of

MODELS = (ROPE, SHARED, PER_LAYER, PER_HEAD)
"""The models that are drawn, as far as they are there."""

SOURCE = "texts of the study"

NOTICEABLE = 0.05
"""The share by which one mean must exceed another to be called larger in a picture."""

_QUESTION = (
    "What does it look like when a model spaces its text? Two sentences of the essay and six other "
    "short texts, every character at the position that each model and each layer gives it."
)
_HOW = (
    "Every plot has the same text in all models, one above the other: {rows}. A character stands "
    "at the running sum of the increments through its last byte, and the faint lines follow it "
    "from row to row. With “each row by its mean” all rows end together, and only the pattern is "
    "compared; with “same for all rows” a row that moves further is longer."
)
_ROW_NAMES = {
    ROPE: "rope is plain rotary positions, where every byte is one step",
    SHARED: "shared has one increment for all layers",
    PER_LAYER: "L0, L1, ... are the layers of the model whose layers have their own",
}
_LIMITS = (
    "These are pictures of eight texts that were chosen, not a sample: what is true of text in "
    "general is asked in the other studies, with intervals.",
    "A text stands here alone; in a longer one, what comes before it would change the increments "
    "of every layer but the first.",
    "A Chinese character has three bytes and a Latin letter one, so that even plain rotary "
    "positions put Chinese characters three steps apart.",
    "That a layer steps far is no proof that it uses the distance.",
)


def run(given: StudyInput) -> Finding:
    """Plots of every text with the rows of all models, and what the plots show in numbers."""
    present = [name for name in MODELS if given.has_checkpoint(name)]
    if not set(present) & set(_ROW_NAMES):
        raise MissingCheckpoint(
            f"character positions: none of {', '.join(_ROW_NAMES)} is in {given.checkpoints.name}",
            "Train one of them with its recipe.",
        )
    values, tables = {}, []
    for name in present:
        with _increments(given.checkpoint(name)) as increments:
            columns = increments.columns("increment")
            documents = list(increments.read_documents("increment"))
            values[name] = [(columns, document) for document in documents]
            if name != PER_HEAD:  # its plots have their numbers; in the table they would be most
                tables.append(character_spacing(increments))
    spacing = pd.concat(tables, ignore_index=True)
    sections = [
        _section(text, {name: found[index] for name, found in values.items()}, is_first=not index)
        for index, text in enumerate(TEXTS)
    ]
    first = _beside(ENGLISH, {name: found[0] for name, found in values.items()})
    return Finding(
        question=_QUESTION,
        verdicts=[_of_spaces(spacing), _of_layers(spacing)],
        tables={"character-spacing": spacing},
        sections=sections,
        limits=_LIMITS,
        picture=position_picture(first),
    )


STUDY = Study(
    name="character-positions",
    title="Characters at their positions",
    sentence="Two sentences of the essay and six other short texts, drawn as every model and "
    "every layer spaces them.",
    run=run,
)


@contextmanager
def _increments(checkpoint: Checkpoint) -> Iterator[IncrementTable]:
    documents = [Document(SOURCE, text.title, text.words.encode()) for text in TEXTS]
    with TemporaryDirectory(prefix="interp-", ignore_cleanup_errors=True) as folder:
        yield extract(checkpoint, lambda: documents, Path(folder) / "increments")


Found = tuple[Sequence[str], DocumentSignal]
"""Columns, and the values of one text."""


def _section(text: ShownText, found: Mapping[str, Found], *, is_first: bool) -> Section:
    parts: list[Html | str] = [position_plot(_beside(text, found))]
    if is_first:
        rows = "; ".join(words for name, words in _ROW_NAMES.items() if name in found)
        parts.insert(0, _HOW.format(rows=rows))
    if PER_HEAD in found:
        columns, document = found[PER_HEAD]
        traces = traces_of(
            f"{text.title}, head by head",
            document.content,
            document.values,
            columns,
            language=text.language,
        )
        parts.append(folded_plots("Every head of the per-head model", traces))
    return Section(text.title, parts)


def _beside(text: ShownText, found: Mapping[str, Found]) -> PositionTrace:
    """One plot with the rows of all models; plain rotary positions are one row."""
    rows = {}
    for name in [name for name in _ROW_NAMES if name in found]:
        columns, document = found[name]
        if name == ROPE:
            rows["rope"] = document.values[:, 0]
        else:
            rows |= dict(zip(columns, document.values.T, strict=True))
    return PositionTrace(
        f"{text.title}, model by model",
        text.words.encode(),
        np.stack(list(rows.values())),
        tuple(rows),
        text.language,
    )


def _of_spaces(spacing: pd.DataFrame) -> Verdict:
    claim = "A space stands further from its neighbour than a letter inside a word."
    published = "shared 1.05 against 0.79; layer 0 of the per-layer model 9.99 against 1.64"
    letters = _of_english(spacing, "mean", "lowercase, word-internal")
    spaces = _of_english(spacing, "mean", "space")
    learned = [row for row in spaces if row != "rope"]
    if not learned:
        return Verdict(claim, published, "no model with learned increments is there", "Not drawn.")
    here = ", ".join(f"{row} {spaces[row]:.2f} against {letters[row]:.2f}" for row in learned)
    wider = [row for row in learned if spaces[row] > (1 + NOTICEABLE) * letters[row]]
    if len(wider) == len(learned):
        verdict = "Yes, in every row"
    elif wider:
        verdict = f"In part: in {len(wider)} of {len(learned)} rows ({', '.join(wider)})"
    else:
        verdict = f"No: in none of {len(learned)} rows"
    return Verdict(claim, published, here, f"{verdict}, by more than 5 %, in this one sentence.")


def _of_layers(spacing: pd.DataFrame) -> Verdict:
    claim = "Every layer has a spacing of its own: some even, some that set characters apart."
    means = _of_english(spacing, "mean", ALL_CHARACTERS)
    deviations = _of_english(spacing, "sd", ALL_CHARACTERS)
    of_layers = [row for row in means if row.startswith("L")]
    if not of_layers:
        return Verdict(claim, "", f"there is no checkpoint {PER_LAYER}", "Not drawn.")
    # a layer that puts all characters on one spot has no spacing to compare
    layers = {row: deviations[row] / means[row] for row in of_layers if means[row]}
    if not layers:
        return Verdict(claim, "", "every increment is 0", "Not defined.")
    here = ", ".join(f"{row} {share:.2f}" for row, share in layers.items())
    even, uneven = min(layers, key=layers.__getitem__), max(layers, key=layers.__getitem__)
    return Verdict(
        claim,
        "",
        f"standard deviation of a character's increment, in means of its row: {here}",
        f"In this sentence {even} is the most even layer and {uneven} the most uneven; plain "
        "rotary positions would have 0.",
    )


def _of_english(spacing: pd.DataFrame, statistic: str, group: str) -> dict[str, float]:
    """Values of a group in the essay's English sentence, by the name of their row in the plot."""
    wanted = {"reference": ENGLISH.title, "statistic": statistic, "group": group}
    found = [row for row in rows_of(spacing) if wanted.items() <= row.items()]
    return {_plot_row(row): row["value"] for row in found}


def _plot_row(row: Row) -> str:
    if row["checkpoint"] == ROPE:
        return "rope"
    return "shared" if row["layer"] is None else f"L{row['layer']}"
