"""Study: do heads that step further attend nearer?"""

from collections.abc import Mapping, Sequence

import pandas as pd

from interp.analyses.heads import (
    DISTANCE,
    INCREMENT,
    MIN_CONTEXT,
    P_VALUE,
    SIGNALS,
    UNIFORM,
    WITHIN_LAYERS,
    HeadSums,
    head_distances,
    head_sums,
)
from interp.analyses.statistics import LEVEL
from interp.reports.chart import Chart, estimate_text
from interp.reports.markup import Html
from interp.reports.page import Section
from interp.reports.pictures import value_picture
from interp.reports.scatter_chart import Pair, scatter_chart
from interp.reports.verdicts import Verdict, number_in_words, side_by_side
from interp.studies.models import PER_HEAD
from interp.studies.published import HEADS_SPEARMAN, N_HEADS
from interp.studies.study import Finding, Study
from interp.studies.study_input import LANGUAGES, StudyInput
from interp.tables import Row, row_name, rows_of

TEXT_BYTES = 200_000
"""Of each language: in 60 kB a head's distance is known to about one token already."""

TOGETHER = "English and Chinese"

NEAR_UNIFORM = 0.05
"""How near a head's distance is to that of uniform attention, as a share, if it counts as such."""

_QUESTION = (
    "In this model every head of every layer has positions of its own. Published was that heads "
    "with larger increments attend more locally. Do they: the larger a head's mean increment, the "
    "fewer tokens does its attention look back?"
)
_HOW = (
    f"For every token with at least {MIN_CONTEXT} tokens of context: the head's increment there, "
    "and how many tokens back its attention looks on average, each token weighed with the "
    "attention that it gets. Both are averaged over the same tokens. The correlation is "
    "Spearman's, of the heads' two means: below 0, heads that step further look less far back."
)
_HOW_POOLED = (
    "Layers differ in both numbers, so that a correlation over the heads of all layers, as "
    "published, can come from layers alone. The test of this page ranks the heads within their "
    "layer and pools the ranks; its p value compares with every other way to deal the distances "
    "of a layer to its heads, and treats the heads of a layer as if they were independent. The "
    "correlation as it was published stands below it; its p value deals the distances to heads of "
    "any layer."
)
_LIMITS = (
    "Attention distance counts tokens; what a head rotates by is the distance in positions. A head "
    "whose increments are twice as large turns twice as far over the same tokens, so that to "
    "attend nearer in tokens may be to attend equally far in positions. The mean distance in "
    "positions was not measured.",
    "A correlation does not say which of the two made the other: larger steps may narrow where a "
    "head looks, or training may give larger steps to a head that looks near anyway. Interventions "
    "on the increments could tell; this page makes none.",
    "Ranks take every difference alike: heads that weigh all tokens about alike are ranked by "
    "tenths of a token.",
    "A head may step far in one language and little in the other; its mean over both is that of "
    "this mixture.",
    "The first verdict is the one that this page is made for. The others, and the single layers, "
    "are further looks at the same heads; their p values are not corrected for that.",
    "One model of one seed. Its heads are not independent: they were trained together and add to "
    "one residual stream. Another seed is another model.",
    "The intervals of the means are over documents: another text of the same kind. They say "
    "nothing of other heads; the p values rest on the number of heads, not on that of tokens.",
    "The published model was trained on about 1.6 GB of text; what this one has read stands above. "
    "Early in training all increments are near 1 and all attention is wide: heads differ little.",
    "It was not published which text and which tokens the number rests on, nor its p value.",
)


def run(given: StudyInput) -> Finding:
    """Both means of every head in each language and together, and how they go together."""
    checkpoint = given.checkpoint(PER_HEAD)
    sums: dict[str, HeadSums] = {}
    for language, words in LANGUAGES.items():
        table = given.extraction(checkpoint, language, SIGNALS, limit_bytes=TEXT_BYTES)
        sums[words] = head_sums(table, progress=given.stage(f"heads, {words}"))
    found = {TOGETHER: head_distances(sums.values(), group=TOGETHER)}
    found |= {words: head_distances([each], group=words) for words, each in sums.items()}
    together = found[TOGETHER]
    return Finding(
        question=_QUESTION,
        verdicts=[
            within_layers_verdict(together),
            over_all_verdict(together),
            *(_of_language_verdict(words, found[words]) for words in sums),
        ],
        tables={"heads": pd.concat(found.values(), ignore_index=True)},
        sections=[
            Section(
                "Heads of each layer",
                [_HOW, _in_numbers(found), _chart(together), _HOW_POOLED],
            ),
            Section("Correlations", [_correlations(found)]),
            Section("Every head", [_every_head(found)]),
        ],
        limits=_LIMITS,
        picture=_picture(together),
    )


STUDY = Study(
    name="heads",
    title="Do heads that step further attend nearer?",
    sentence="The mean increment of every head against how many tokens its attention looks back, "
    "in a model whose heads have positions of their own.",
    run=run,
    texts=tuple(LANGUAGES),
)


def within_layers_verdict(table: pd.DataFrame) -> Verdict:
    """Whether heads of one layer that step further attend nearer."""
    row, p_row = _correlation(table, WITHIN_LAYERS)
    claim = "Within a layer, heads with larger increments attend more locally."
    published = f"{HEADS_SPEARMAN} over {N_HEADS} heads, not said to be within layers"
    return Verdict(claim, published, _in_words(row, p_row), answer(row, p_row))


def over_all_verdict(table: pd.DataFrame) -> Verdict:
    """Whether the correlation over the heads of all layers has the published sign."""
    row, p_row = _correlation(table, "spearman")
    claim = "Over the heads of all layers, those with larger increments attend more locally."
    published = f"Spearman {HEADS_SPEARMAN} over {N_HEADS} heads"
    return Verdict(claim, published, _in_words(row, p_row), answer(row, p_row))


def answer(row: Row, p_row: Row) -> str:
    """What a correlation and its p value say of a negative relation."""
    if row["value"] is None or p_row["value"] is None:
        return f"Undecided: {row['note'] or p_row['note']}."
    if p_row["value"] >= LEVEL:
        return f"Undecided: {p_row['value']:.0%} of random permutations correlate as much."
    if row["value"] > 0:
        return "No: the relation is the opposite one."
    return "Yes: the relation is negative, beyond what random permutations give."


def _of_language_verdict(words: str, table: pd.DataFrame) -> Verdict:
    row, p_row = _correlation(table, WITHIN_LAYERS)
    claim = f"Within a layer and in {words} alone, they attend more locally."
    return Verdict(claim, "", _in_words(row, p_row), answer(row, p_row))


def _correlation(table: pd.DataFrame, statistic: str, layer: int | None = None) -> tuple[Row, Row]:
    """The row of a correlation and that of its p value."""
    rows = {row["statistic"]: row for row in rows_of(table) if row["layer"] == layer}
    return rows[statistic], rows[f"{statistic}{P_VALUE}"]


def _in_words(row: Row, p_row: Row) -> str:
    if row["value"] is None:
        return "not defined"
    p_value = "not defined" if p_row["value"] is None else f"{p_row['value']:.2g}"
    correlation = f"Spearman {estimate_text(row, '.2f')}"
    return f"{correlation} over {row['n']} heads, two-sided p = {p_value}"


def _means(table: pd.DataFrame) -> list[Pair]:
    """The two means of every head."""
    rows = rows_of(table.query("statistic == 'mean'"))
    of = {signal: [row for row in rows if row["signal"] == signal] for signal in SIGNALS}
    return list(zip(of[INCREMENT], of[DISTANCE], strict=True))


def _uniform(table: pd.DataFrame) -> Row:
    (row,) = [row for row in rows_of(table) if row["signal"] == UNIFORM]
    return row


def _in_numbers(found: Mapping[str, pd.DataFrame]) -> str:
    """How far the heads differ, what to compare with, and what it rests on."""
    together = found[TOGETHER]
    uniform = _uniform(together)
    increments, distances = zip(*_means(together), strict=True)
    n_uniform = sum(
        abs(row["value"] / uniform["value"] - 1) < NEAR_UNIFORM
        for row in distances
        if row["value"] is not None
    )
    return (
        f"Mean increments of the heads: {_span(increments, 2)} positions; their distances: "
        f"{_span(distances, 0)} tokens. To compare with: attention that weighs all tokens "
        f"alike would look {number_in_words(uniform['value'], '.0f')} tokens back, half of the "
        f"context, as {n_uniform} "
        f"of the {len(distances)} heads do within {NEAR_UNIFORM:.0%}; a plain rotary model has an "
        f"increment of 1 everywhere. {uniform['n']:,} tokens of "
        f"{uniform['n_documents']:,} documents were measured."
    )


def _chart(table: pd.DataFrame) -> Chart:
    notes = {}
    for layer in sorted({x["layer"] for x, _ in _means(table)}):
        row, p_row = _correlation(table, "spearman", layer)
        if row["value"] is not None:
            notes[f"L{layer}"] = f"ρ {row['value']:.2f}, p {p_row['value']:.2g}"
    return scatter_chart(
        _means(table),
        key="heads",
        title="Mean increment and attention distance of every head, English and Chinese together",
        x_title="mean increment (positions)",
        y_title="look-back (tokens)",
        note="A point is a head, with its number; bars are 95 % intervals clustered by document "
        "where they are wider than the point. Every panel has its own scales. ρ is Spearman's "
        "correlation in the layer; p is two-sided, and not corrected for looking at several "
        "layers.",
        panel_notes=notes,
    )


def _correlations(found: Mapping[str, pd.DataFrame]) -> Html:
    layers = sorted({x["layer"] for x, _ in _means(found[TOGETHER])})
    lines: list[tuple[str, str, int | None]] = [
        (f"L{layer}", "spearman", layer) for layer in layers
    ]
    lines.append(("all, ranked within layers", WITHIN_LAYERS, None))
    lines.append(("all, as published", "spearman", None))
    rows = []
    for name, statistic, layer in lines:
        cells = [_correlation(table, statistic, layer) for table in found.values()]
        rows.append([name, f"{cells[0][0]['n']}", *(_cell(*pair) for pair in cells)])
    head = ["heads of", "n", *found]
    return side_by_side(
        "Spearman of mean increment and look-back, with 95 % interval and two-sided p", head, rows
    )


def _cell(row: Row, p_row: Row) -> str:
    if row["value"] is None:
        return "not defined"
    return f"{estimate_text(row, '.2f')}, p {p_row['value']:.2g}"


def _every_head(found: Mapping[str, pd.DataFrame]) -> Html:
    rows = []
    for pairs in zip(*(_means(table) for table in found.values()), strict=True):
        cells = [
            cell
            for x, y in pairs
            for cell in (number_in_words(x["value"], ".3f"), number_in_words(y["value"], ".1f"))
        ]
        rows.append([row_name(pairs[0][0]), *cells])
    uniform = [
        cell
        for table in found.values()
        for cell in ("1", number_in_words(_uniform(table)["value"], ".1f"))
    ]
    rows.append(["to compare with", *uniform])
    names = ["both" if name == TOGETHER else name for name in found]
    columns = [f"{name}: {what}" for name in names for what in ("increment", "tokens")]
    return side_by_side(
        "Mean increment in positions and look-back in tokens; to compare with: plain RoPE and "
        "uniform attention",
        ["head", *columns],
        rows,
    )


def _span(rows: Sequence[Row], n_decimals: int) -> str:
    in_order = sorted((row for row in rows if row["value"] is not None), key=lambda r: r["value"])
    ends = [
        number_in_words(row["value"], f".{n_decimals}f") for row in in_order[:1] + in_order[-1:]
    ]
    return " to ".join(ends) or "not defined"


def _picture(table: pd.DataFrame) -> Html:
    layers = sorted({x["layer"] for x, _ in _means(table)})
    values = [_correlation(table, "spearman", layer)[0]["value"] for layer in layers]
    return value_picture(values, reference=0.0)
