"""Study: how well increments find space, newline and punctuation in English."""

from collections.abc import Mapping

import pandas as pd

from interp.analyses.delimiters import DELIMITERS, GROUPS, delimiter_auc
from interp.analyses.statistics import LEVEL
from interp.reports.chart import estimate_text
from interp.reports.dot_chart import dot_chart
from interp.reports.page import Section
from interp.reports.pictures import row_picture
from interp.reports.verdicts import Verdict, side_by_side
from interp.studies.models import PER_LAYER, SHARED
from interp.studies.published import EN_DELIMITERS_AUC
from interp.studies.study import Finding, Study
from interp.studies.study_input import StudyInput
from interp.tables import Row, row_name, rows_of

LANGUAGE = "en"

ALONE = ("space", "newline", "punctuation")
"""The kinds of delimiters: groups of `interp.analyses.delimiters`."""

_QUESTION = (
    "Training never says what a space or a full stop is. Does a model put them farther from the "
    "byte before them than it puts other bytes, so that a threshold on the increment finds them?"
)
_HOW = (
    "For every byte of the English text: is the increment at the byte larger if the byte is a "
    "space, a newline or one of . ! ? , ; : -? Areas are ROC-AUC: 0.5 is chance, and below 0.5 a "
    "delimiter has the smaller increment. Where one kind is told from every other byte, the other "
    "kinds are among these: of two that both stand apart, the nearer one cannot reach 1."
)
_BYTE_ALONE = (
    "The shared increment and that of layer 0 are functions of the byte alone, and so is what is "
    "asked. The ceiling is 1 by construction: a table of 256 numbers could put every delimiter "
    "above every other byte. A high area says nothing of context; it says in which order training "
    "put the bytes. Deeper layers have seen the text before the byte and the byte itself, and "
    "have the same ceiling."
)
_DEALT = (
    "A few bytes are most of a text, so that an area can be high by luck. To compare with: what "
    "the same numbers reach when they are dealt to the byte values at random."
)
_LIMITS = (
    "An area over bytes is ruled by the commonest ones: the space is most of the delimiters. The "
    "table has space, newline and punctuation apart.",
    "It was not published which signs counted as punctuation. Here they are . ! ? , ; : -; a row "
    "of the table adds quotation marks, brackets and all other ASCII signs.",
    "Bytes outside ASCII (dashes, curved quotation marks, letters with accents) count as other "
    "bytes.",
    "The intervals are over documents: another text of the same kind and the same checkpoint. "
    "Another seed is another model; these are one run each, of 20 MB of text where the published "
    "model had read 1.6 GB.",
    "Each interval is for itself: they are not simultaneous over layers or kinds.",
)


def run(given: StudyInput) -> Finding:
    """Areas of the shared increment and of every layer of the per-layer model."""
    found = {}
    for name in (SHARED, PER_LAYER):
        table = given.extraction(given.checkpoint(name), LANGUAGE)
        found[name] = delimiter_auc(table, progress=given.stage(f"delimiters, {name}"))
    areas = pd.concat(found.values(), ignore_index=True)
    main = areas.query("statistic == 'roc_auc' and `group` == @DELIMITERS")
    rows = rows_of(main)
    return Finding(
        question=_QUESTION,
        verdicts=[shared_verdict(found[SHARED]), layer_0_verdict(found[PER_LAYER])],
        tables={"delimiter-auc": areas},
        sections=[
            Section("Areas", [_HOW, _chart(main), _by_group(areas)]),
            Section("What the byte alone decides", [_BYTE_ALONE, _DEALT, _permuted(areas)]),
        ],
        limits=_LIMITS,
        picture=row_picture(rows, reference=0.5),
    )


STUDY = Study(
    name="en-delimiters",
    title="Do increments find spaces and punctuation?",
    sentence="How well the increment at a byte of English text tells space, newline and "
    "punctuation from everything else, in the shared model and in every layer.",
    run=run,
    texts=(LANGUAGE,),
)


def shared_verdict(areas: pd.DataFrame) -> Verdict:
    """What the areas of the shared increment say of the published one."""
    area, dealt, p_value = _shared_or_layer_0(areas)
    claim = "Thresholding the shared increment finds space, newline and punctuation in English."
    published = f"AUC {EN_DELIMITERS_AUC:.2f}"
    if area["value"] is None:
        return Verdict(claim, published, "not defined", f"Undecided: {area['note']}.")
    if p_value >= LEVEL:
        answer = f"Not repeated: {p_value:.2g} of random permutations reach as much."
    elif area["value"] >= EN_DELIMITERS_AUC - 0.005:
        answer = "Repeated: at least the published area, and more than chance would give."
    else:
        answer = (
            "Repeated in kind: delimiters have the larger increments, more than chance would give, "
            "but the area is below the published one."
        )
    answer += _each_alone(areas, area)
    return Verdict(claim, published, _in_words(area, dealt, p_value), answer)


def _each_alone(areas: pd.DataFrame, area: Row) -> str:
    """Which kinds of delimiters, each against all other bytes, are beyond chance."""
    p_values = {
        row["group"]: row["value"]
        for row in rows_of(areas)
        if row["statistic"] == "permutation_p"
        and (row["checkpoint"], row["layer"]) == (area["checkpoint"], area["layer"])
        and row["group"] in ALONE
    }
    beyond = [group for group, p_value in p_values.items() if p_value < LEVEL]
    others = [group for group in p_values if group not in beyond]
    said = [f"{', '.join(beyond)} beyond chance"] if beyond else []
    said += [f"{', '.join(others)} not"] if others else []
    return f" Each kind alone: {'; '.join(said)}." if said else ""


def layer_0_verdict(areas: pd.DataFrame) -> Verdict:
    """What the areas of the per-layer model say of its layer 0."""
    area, dealt, p_value = _shared_or_layer_0(areas)
    claim = "Layer 0 of the per-layer model, which also sees only the byte, finds them."
    published = "no area; space and newline at 9.99 of at most 10, lowercase at 1.21 to 2.53"
    if area["value"] is None:
        return Verdict(claim, published, "not defined", f"Undecided: {area['note']}.")
    reached = f"{p_value:.2g} of random permutations reach as much"
    if p_value >= LEVEL:
        answer = f"Not shown: {reached}."
    elif area["value"] <= dealt["high"]:
        answer = f"Barely: {reached}, and the two-sided band of 95 % of them holds it."
    else:
        answer = f"It does: only {reached}."
    answer += _each_alone(areas, area)
    return Verdict(claim, published, _in_words(area, dealt, p_value), answer)


def _shared_or_layer_0(areas: pd.DataFrame) -> tuple[Row, Row, float]:
    """The first column's area for all delimiters, that of its values dealt at random, and p."""
    rows = [row for row in rows_of(areas) if row["group"] == DELIMITERS]
    area = next(row for row in rows if row["statistic"] == "roc_auc")
    dealt = [row for row in rows if row["statistic"] == "permuted_roc_auc"]
    p_values = [row["value"] for row in rows if row["statistic"] == "permutation_p"]
    return area, dealt[0] if dealt else {}, p_values[0] if p_values else 1.0


def _in_words(area: Row, dealt: Row, p_value: float) -> str:
    return (
        f"AUC {estimate_text(area, '.3f')} over {area['n']:,} bytes; 95 % of random permutations "
        f"{dealt['low']:.2f} to {dealt['high']:.2f}, one-sided p = {p_value:.2g}"
    )


def _name(row: Row) -> str:
    kind, column = row["checkpoint"].removeprefix("en-zh-"), row_name(row)
    return kind if kind == column else f"{kind} {column}"


def _chart(main: pd.DataFrame):
    return dot_chart(
        main,
        _name,
        key="delimiters",
        title="Space, newline and punctuation: ROC-AUC of the increment at the byte",
        note="They are clustered by document.",
        lines=[
            ("chance 0.5", 0.5),
            (f"published, shared {EN_DELIMITERS_AUC}", EN_DELIMITERS_AUC),
            ("ceiling 1", 1.0),
        ],
    )


def _by_group(areas: pd.DataFrame):
    cells: dict[str, dict[str, str]] = {}
    for row in rows_of(areas.query("statistic == 'roc_auc'")):
        value = "not defined" if row["value"] is None else f"{row['value']:.3f}"
        cells.setdefault(_name(row), {})[row["group"]] = value
    shares: Mapping[str, str] = {
        row["group"]: f"{row['value']:.2%}"
        for row in rows_of(areas.query("statistic == 'base_rate' and checkpoint == @SHARED"))
        if row["value"] is not None
    }
    rows = [[name, *(of_row[group] for group in GROUPS)] for name, of_row in cells.items()]
    rows.append(["share of bytes", *(shares.get(group, "") for group in GROUPS)])
    return side_by_side("Each kind against every other byte", ["increment", *GROUPS], rows)


def _permuted(areas: pd.DataFrame):
    rows = []
    for row in rows_of(areas.query("statistic == 'permuted_roc_auc'")):
        same = areas.query("checkpoint == @row['checkpoint'] and `group` == @row['group']")
        ours, p_value = (
            same.query("statistic == @statistic").iloc[0]["value"]
            for statistic in ("roc_auc", "permutation_p")
        )
        interval = f"{row['low']:.3f} to {row['high']:.3f}"
        name = f"{_name(row)}, {row['group']}"
        rows.append([name, f"{ours:.3f}", interval, f"{p_value:.2g}", row["note"]])
    return side_by_side(
        "Against increments dealt to the bytes at random",
        ["increment", "AUC", "95 % of permutations", "one-sided p", "among"],
        rows,
    )
