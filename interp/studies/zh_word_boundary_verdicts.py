"""What the essay says of Chinese word boundaries, and the verdicts on it."""

from collections.abc import Mapping, Sequence

import pandas as pd

from interp.analyses.scored_gaps import ALL_DOCUMENTS
from interp.analyses.script import SCRIPTS, SIMPLIFIED, TRADITIONAL
from interp.reports.chart import estimate_text
from interp.reports.verdicts import Verdict, number_in_words
from interp.studies.models import SHARED
from interp.studies.published import PUBLISHED
from interp.tables import IN_SAMPLE, LEAD_BYTE_CEILING, Row, row_name, rows_of

ESSAY, REPRODUCTION = "the essay", "its reproduction"
PUBLISHED_AREAS: Mapping[str, tuple[float, ...]] = {
    ESSAY: (0.50, 0.54, 0.68, 0.37, 0.63, 0.47),
    REPRODUCTION: (0.516, 0.528, 0.634, 0.414, 0.722, 0.411),
}
"""Of L0 to L5 of the per-layer model, over about 40 000 gaps of held-out Wikipedia."""

PUBLISHED_SHARED = {ESSAY: 0.498, REPRODUCTION: 0.497}
"""Of the shared model."""

CHANCE = 0.5

ROUNDING = 1e-9
"""How far sums of areas may be off."""


def verdicts(by_script: Mapping[str, pd.DataFrame], shared: pd.DataFrame | None) -> list[Verdict]:
    """A verdict on every claim about word boundaries.

    Args:
        by_script: Tables of the per-layer model, by script and for all documents.
        shared: The table of the shared model; None if it is not there.
    """
    found = by_script[ALL_DOCUMENTS]
    layers = increments(found)
    return [
        _of_layer_0(layers, found),
        _of_middle_layers(layers, found),
        _of_reversed_layers(layers, found),
        _of_shared(shared),
        _of_scripts(by_script, layers),
    ]


def increments(table: pd.DataFrame) -> list[Row]:
    """The areas of a model's increments, in the order of its columns."""
    return rows_of(table.query("statistic == 'roc_auc' and signal == 'increment'"))


def ceilings(table: pd.DataFrame) -> dict[str, float | None]:
    """The areas that the lead byte is worth, ``cross-fitted`` and ``in sample``."""
    rows = rows_of(table.query(f"statistic == 'roc_auc' and signal == {LEAD_BYTE_CEILING!r}"))
    return {row["group"]: row["value"] for row in rows}


def published_rows() -> list[Row]:
    """The published areas as rows of an analysis table; the shared model has no layer."""
    rows = []
    for who in PUBLISHED_AREAS:
        values = [*enumerate(PUBLISHED_AREAS[who]), (None, PUBLISHED_SHARED[who])]
        rows += [
            dict.fromkeys(("head", "low", "high", "note"))
            | {
                "checkpoint": who,
                "signal": "increment",
                "statistic": "roc_auc",
                "layer": layer,
                "reference": PUBLISHED,
                "scored_at": "lead byte",
                "value": value,
            }
            for layer, value in values
        ]
    return rows


def _of_layer_0(layers: Sequence[Row], table: pd.DataFrame) -> Verdict:
    row, ceiling = layers[0], ceilings(table)[IN_SAMPLE]
    here = f"{area_in_words(row)}; the lead byte is worth {number_in_words(ceiling)} at most"
    if row["value"] is None or ceiling is None:
        verdict = f"Not defined: {row['note']}."
    elif row["low"] is None:
        verdict = f"Undecided: {row['note']}."
    elif abs(row["value"] - CHANCE) > ceiling - CHANCE + ROUNDING:
        verdict = (
            "No: it is further from chance than any function of the lead byte can be, which "
            "cannot happen in a layer that knows nothing else."
        )
    elif _holds(row, CHANCE):
        verdict = "Yes: it cannot be told from chance, and could not be far from it."
    else:
        verdict = (
            "Nearly: it differs from chance, by no more than the lead byte alone allows; that "
            "byte is all that layer 0 reads."
        )
    return Verdict(
        "Layer 0 is near chance by construction: of the next character it knows the lead byte "
        "alone.",
        _published_in_words(0),
        here,
        verdict,
    )


def _of_middle_layers(layers: Sequence[Row], table: pd.DataFrame) -> Verdict:
    claim = "A middle layer finds the ends of Chinese words, with a larger increment there."
    published = "L2 0.68, L4 0.63 (essay); L4 0.722, L2 0.634 (reproduction)"
    middle = [row for row in layers[1:-1] if row["value"] is not None]
    ceiling = ceilings(table)[IN_SAMPLE]
    if not middle or ceiling is None:
        return Verdict(claim, published, "not defined", f"Not defined: {layers[0]['note']}.")
    here = "; ".join(map(area_in_words, middle))
    known = [row for row in middle if row["low"] is not None]
    if not known:
        return Verdict(claim, published, here, f"Undecided: {middle[0]['note']}.")
    best = max(known, key=lambda row: row["low"])
    low = best["low"]
    if low > ceiling:
        verdict = (
            f"Yes: {row_name(best)} is above chance and above the {ceiling:.3f} that the lead byte "
            f"alone could give{_beside_published(best['value'])}."
        )
    elif low > CHANCE:
        beside = "below" if best["high"] < ceiling else "not surely above"
        verdict = (
            f"Not shown: {row_name(best)} is above chance, but {beside} the {ceiling:.3f} that "
            "the lead byte alone could give."
        )
    else:
        verdict = "Not shown: no middle layer is surely above chance in this model."
    against = [row for row in middle if row["high"] is not None and row["high"] < 1 - ceiling]
    if against:
        names = ", ".join(map(row_name, against))
        verdict += f" The other way round, {names} knows more than the lead byte could tell."
    return Verdict(claim, published, here, verdict)


def _beside_published(area: float) -> str:
    best = {who: max(areas[1:-1]) for who, areas in PUBLISHED_AREAS.items()}
    if all(area < value for value in best.values()):
        return ", though less than in either published run"
    if all(area > value for value in best.values()):
        return ", more than in either published run"
    return ", as much as in the published runs"


def _of_reversed_layers(layers: Sequence[Row], table: pd.DataFrame) -> Verdict:
    below = [row for row in layers if row["high"] is not None and row["high"] < CHANCE]
    ceiling = ceilings(table)[IN_SAMPLE] or 1.0
    clear = ", ".join(row_name(row) for row in below if row["high"] < 1 - ceiling)
    others = ", ".join(row_name(row) for row in below if row["high"] >= 1 - ceiling)
    if clear:
        verdict = f"Yes: {clear}, by more than the lead byte alone could do"
        verdict += f"; {others} by no more than it could" if others else ""
    elif others:
        verdict = f"Not shown: {others}, by no more than the lead byte alone could do"
    else:
        verdict = "Not found in this model"
    return Verdict(
        "Some layers step less, not more, where a word ends.",
        "L3 0.37, L5 0.47 (essay); L5 0.411, L3 0.414 (reproduction)",
        "; ".join(map(area_in_words, below)) or "no layer is surely below 0.5",
        f"{verdict}.",
    )


def _of_shared(shared: pd.DataFrame | None) -> Verdict:
    claim = "The shared increment, which knows the byte alone, is at chance."
    published = ", ".join(f"{value} ({who})" for who, value in PUBLISHED_SHARED.items())
    if shared is None:
        return Verdict(claim, published, f"there is no checkpoint {SHARED}", "Not measured.")
    row, ceiling = increments(shared)[0], ceilings(shared)[IN_SAMPLE]
    if row["value"] is None or ceiling is None:
        verdict = f"Not defined: {row['note']}."
    elif row["low"] is None:
        verdict = f"Undecided: {row['note']}."
    elif abs(row["value"] - CHANCE) > ceiling - CHANCE + ROUNDING:
        verdict = "No: it is further from chance than the lead byte alone allows."
    elif _holds(row, CHANCE):
        verdict = "Yes: it cannot be told from chance."
    else:
        verdict = "Nearly: it differs from chance, by no more than the lead byte alone allows."
    return Verdict(claim, published, area_in_words(row), verdict)


def _of_scripts(by_script: Mapping[str, pd.DataFrame], layers: Sequence[Row]) -> Verdict:
    claim = "Simplified and traditional text show the same."
    clear = [name for name in (SIMPLIFIED, TRADITIONAL) if name in by_script]
    defined = [row for row in layers[1:-1] if row["value"] is not None]
    if len(clear) < 2 or not defined:
        there = ", ".join(name for name in SCRIPTS if name in by_script) or "none"
        return Verdict(claim, "", f"scripts in the text: {there}", "Not measured.")
    pairs = list(zip(*(increments(by_script[name]) for name in clear), strict=True))
    if any(row["low"] is None for pair in pairs for row in pair):
        here = "; ".join(map(_pair_in_words, pairs))
        return Verdict(claim, "", here, "Undecided: there is an area without an interval.")
    apart = [
        pair for pair in pairs if max(row["low"] for row in pair) > min(row["high"] for row in pair)
    ]
    if not apart:
        verdict = f"Yes, as far as can be seen: in all {len(pairs)} layers the intervals meet."
    else:
        differing = ", ".join(row_name(one) for one, _ in apart)
        verdict = (
            f"In {len(pairs) - len(apart)} of {len(pairs)} layers; not in {differing}. "
            "Whether that comes from the model or from jieba these areas cannot tell."
        )
    return Verdict(claim, "", "; ".join(map(_pair_in_words, pairs)), verdict)


def _pair_in_words(pair: tuple[Row, Row]) -> str:
    simplified, traditional = (number_in_words(row["value"]) for row in pair)
    return f"{row_name(pair[0])} {simplified} simplified, {traditional} traditional"


def _holds(row: Row, value: float) -> bool:
    """Whether the interval of a row, which has one, holds the value."""
    return row["low"] <= value <= row["high"]


def area_in_words(row: Row) -> str:
    """A column with its area and interval."""
    return f"{row_name(row)} {estimate_text(row, '.3f')}"


def _published_in_words(layer: int) -> str:
    return ", ".join(f"{areas[layer]} ({who})" for who, areas in PUBLISHED_AREAS.items())
