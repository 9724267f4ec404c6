"""Study: are two-word entities spaced as one thing, or is it that they are expected?"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import pandas as pd

from interp.analyses.entity_order import (
    AFTER_MATCHING,
    BEFORE_MATCHING,
    FIRST_WORD,
    FIRST_WORD_MATCHED,
    MATCHED,
    MEDIAN_DIFFERENCE,
    ORDER,
    P_HOLM,
    SECOND_WORD_CHANGE,
    SHARE_SMALLER,
    SIGNALS,
    EntityOrder,
    entity_order,
    entity_pair_texts,
)
from interp.analyses.matching import CALIPER
from interp.analyses.word_pairs import FIRST_BYTE, SECOND_WORD, SPACE, WordPair
from interp.checkpoints import Checkpoint
from interp.extraction.extract import extract
from interp.reports.chart import Chart, interval_text
from interp.reports.layer_chart import layer_chart
from interp.reports.markup import Html
from interp.reports.page import Section
from interp.reports.pictures import row_picture
from interp.reports.series import Series
from interp.reports.verdicts import side_by_side
from interp.studies.entity_order_verdicts import (
    columns_of,
    is_exactly_zero,
    p_in_words,
    verdicts,
)
from interp.studies.entity_texts import CARRIERS, ENTITIES, ORDINARY_PAIRS
from interp.studies.models import PER_LAYER
from interp.studies.reading import EXTRACTING, Progress, stage
from interp.studies.study import Finding, Study
from interp.studies.study_input import StudyInput
from interp.tables import Row, rows_of

_QUESTION = (
    f"Does a model put the two words of a name nearer to each other? {len(ENTITIES)} two-word "
    "entities, such as “New York”, are read in five sentences each, and every value is the mean "
    "over the five. Four comparisons say whether more than expectation is to be seen."
)
_HOW_SHARES = (
    "The share of pairs in which the first of the two compared has the smaller increment, with "
    "its interval over pairs; 0.5 is no difference. A layer in which all differences are exactly "
    "0 has no share."
)
_HOW_MATCHED = (
    f"The controls are {len(ORDINARY_PAIRS)} ordinary pairs that begin with a capital too, such "
    "as “French wine”. Each entity goes with one of them and none is used twice. The distance "
    "between the two is in standard deviations of the ordinary pairs; the assignment is the "
    "nearest that there is as a whole, and an entity without a partner within "
    f"{CALIPER} is left out of the comparison."
)
_HOW_OTHER = (
    "The other first word is that of another entity (of another ordinary pair), so that each "
    "first word stands once before its own second word and once before another: what it does "
    "anywhere cancels out."
)
_CAN_SHOW = (
    f"{ORDER.capitalize()}, {SPACE}: expectation only. The increment has read the first word and "
    "the space, so the two words cannot have been grouped; “New” lets expect more than “York”.",
    f"{MATCHED.capitalize()}, {SPACE}: more than how expected the space was and how sure the model "
    "was of it. Not grouping, for the second word has still not been read; what the model expects "
    "after the space is not matched, nor is what kind of word came first.",
    f"{FIRST_WORD.capitalize()}, {FIRST_BYTE} and the whole {SECOND_WORD}: expectation or "
    "grouping. The same bytes are read after both first words, but after its own first word the "
    "second is more expected too.",
    f"{FIRST_WORD_MATCHED.capitalize()}, the same two places: more than expectation, for the "
    "ordinary pair's second word is as probable after its first word. What is left goes along "
    "with being a name; that is the most to be shown here.",
)
_AT_SPACE = {ORDER: (ORDER, SPACE), MATCHED: (MATCHED, SPACE)}
_AT_SECOND_WORD = {
    "own against other, first byte": (FIRST_WORD, FIRST_BYTE),
    "own against other, word": (FIRST_WORD, SECOND_WORD),
    "and against matched pair, first byte": (FIRST_WORD_MATCHED, FIRST_BYTE),
    "and against matched pair, word": (FIRST_WORD_MATCHED, SECOND_WORD),
}
"""Comparison and place, by what a chart calls it."""

_KNOWN = {
    ("surprisal", SPACE): "surprisal of the space",
    ("entropy", SPACE): "entropy before the space",
    ("entropy", FIRST_BYTE): "entropy after the space",
    ("surprisal", SECOND_WORD): "surprisal of the second word",
    ("surprisal", SECOND_WORD_CHANGE): "its change by the first word",
}
"""What two matched pairs have in common, or not, by signal and place."""

_LIMITS = (
    "The lists were written for this study, of well-known names; they are no sample of all names, "
    "and a model trained on little text may not know many of them.",
    "All entities and ordinary pairs are English, in short sentences of their own; in a longer "
    "text more would be expected.",
    "Matching is on the model's own numbers and only on those named; the words differ in other "
    "ways too, such as their length and their kind (names against adjectives, days, cities).",
    "p is adjusted over the layers of one comparison at one place, not over the comparisons.",
    "The intervals are about other pairs, given the matches, not about another training run.",
)


def entity_order_of(
    checkpoint: Checkpoint,
    entities: Sequence[WordPair],
    *,
    progress: Progress | None = None,
) -> EntityOrder:
    """The comparisons on a model; see `interp.analyses.entity_order`.

    Args:
        checkpoint: The model.
        entities: Two-word names.
        progress: Called as the texts are read.

    Raises:
        InputError: The model has no increments, or an entity finds no other first word.
    """
    texts = entity_pair_texts(entities, ORDINARY_PAIRS, CARRIERS)
    with TemporaryDirectory(prefix="interp-", ignore_cleanup_errors=True) as folder:
        table = extract(
            checkpoint,
            texts.documents,
            Path(folder) / "increments",
            signals=SIGNALS,
            progress=stage(EXTRACTING, progress),
        )
        return entity_order(table, texts)


def run(given: StudyInput) -> Finding:
    """All comparisons on the per-layer model."""
    found = entity_order_of(given.checkpoint(PER_LAYER), ENTITIES, progress=given.progress)
    table = found.comparisons
    shares = [each[SHARE_SMALLER] for each in columns_of(table, ORDER, SPACE).values()]
    return Finding(
        question=_QUESTION,
        verdicts=verdicts(found),
        tables={"entity-order": table, "matching": found.matching},
        sections=[
            Section("What each score can show", list(_CAN_SHOW)),
            Section("At the inner space", [_HOW_SHARES, *_compared(table, "space", _AT_SPACE)]),
            Section(
                "At and over the second word",
                [_HOW_OTHER, *_compared(table, "second-word", _AT_SECOND_WORD)],
            ),
            Section("The matched pairs", [_HOW_MATCHED, _balance(found.matching)]),
        ],
        limits=_LIMITS,
        picture=row_picture(shares, reference=0.5),
    )


STUDY = Study(
    name="entity-order",
    title="Are two-word names spaced as one?",
    sentence="Increments inside two-word entities against the reversed order, and against "
    "ordinary pairs that the model expects as much.",
    run=run,
)


def _compared(
    table: pd.DataFrame, key: str, named: Mapping[str, tuple[str, str]]
) -> tuple[Chart, Html]:
    """A chart of shares and a table of medians, layer by layer."""
    columns = {name: columns_of(table, *where) for name, where in named.items()}
    chart = layer_chart(
        [
            Series(name, [each[SHARE_SMALLER] for each in of_name.values()])
            for name, of_name in columns.items()
        ],
        key=key,
        title="Share of pairs in which the increment is the smaller one",
        note="Bars are 95 % intervals.",
        lines={"no difference 0.5": 0.5},
    )
    layers = next(iter(columns.values()))
    rows = [[layer, *(_cell(of[layer]) for of in columns.values())] for layer in layers]
    head = ["increment", *columns]
    return chart, side_by_side("Median difference, and p adjusted by Holm", head, rows)


def _cell(of_layer: Mapping[str, Row]) -> str:
    median = of_layer[MEDIAN_DIFFERENCE]
    if median["value"] is None:
        return "not defined"
    if is_exactly_zero(of_layer):
        return "exactly 0"
    p = p_in_words(of_layer[P_HOLM]["value"])
    return f"{median['value']:+.2g}{interval_text(median, '.2g')}, p {p}"


def _balance(matching: pd.DataFrame) -> Html:
    cells: dict[str, dict[str, str]] = {}
    for row in rows_of(matching.query("statistic == 'standardised_difference'")):
        name = _KNOWN[row["signal"], row["scored_at"]]
        name += f" ({row['note']})" if row["note"] == "not matched" else ""
        value = "not defined" if row["value"] is None else f"{row['value']:+.2f}"
        cells.setdefault(name, {})[row["reference"]] = f"{value} (n = {row['n']})"
    return side_by_side(
        "Entities minus ordinary pairs, in standard deviations",
        ["what is known of both", BEFORE_MATCHING, AFTER_MATCHING],
        [[name, of[BEFORE_MATCHING], of[AFTER_MATCHING]] for name, of in cells.items()],
    )
