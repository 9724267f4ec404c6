"""Study: how well increments find space, newline and punctuation in English."""

from collections.abc import Mapping

import pandas as pd

from interp.analyses.delimiters import DELIMITERS, GROUPS, delimiter_auc
from interp.reports.chart import Row, row_name, rows_of
from interp.reports.dot_chart import dot_chart
from interp.reports.page import Section
from interp.reports.pictures import value_picture
from interp.reports.verdicts import Verdict, side_by_side
from interp.studies.published import EN_DELIMITERS_AUC
from interp.studies.study import Finding, Study, StudyInput

LANGUAGE = "en"
SHARED, PER_LAYER = "en-zh-shared", "en-zh-per-layer"

_QUESTION = (
    "Training never says what a space or a full stop is. Does a model put them farther from the "
    "byte before them than it puts letters, so that a threshold on the increment finds them?"
)
_HOW = (
    "For every byte of the English text: is the increment at the byte larger if the byte is a "
    "space, a newline or one of . ! ? , ; : -? Areas are ROC-AUC: 0.5 is chance, and below 0.5 a "
    "delimiter has the smaller increment."
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
    "Another seed is another model; these are one run each.",
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
        verdicts=[shared_verdict(found[SHARED]), _by_the_byte_in_layer_0(found[PER_LAYER])],
        tables={"delimiter-auc": areas},
        sections=[
            Section("Areas", [_HOW, _chart(main), _by_group(areas)]),
            Section("What the byte alone decides", [_BYTE_ALONE, _DEALT, _permuted(areas)]),
        ],
        limits=_LIMITS,
        picture=value_picture(
            [row["value"] for row in rows],
            intervals=[None if row["low"] is None else (row["low"], row["high"]) for row in rows],
            reference=0.5,
        ),
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
    area, dealt = _shared_or_layer_0(areas)
    claim = "Thresholding the shared increment finds space, newline and punctuation in English."
    published = f"AUC {EN_DELIMITERS_AUC:.2f}"
    if area["value"] is None:
        return Verdict(claim, published, "not defined", f"Undecided: {area['note']}.")
    if area["value"] <= dealt["high"]:
        answer = "Not repeated: increments dealt to the bytes at random reach as much."
    elif area["value"] >= EN_DELIMITERS_AUC - 0.005:
        answer = "Repeated: at least the published area, far above increments dealt at random."
    else:
        answer = (
            "Repeated in kind: delimiters have the larger increments, beyond what increments dealt "
            "at random reach, but the area is below the published one."
        )
    return Verdict(claim, published, _in_words(area, dealt), answer)


def _by_the_byte_in_layer_0(areas: pd.DataFrame) -> Verdict:
    area, dealt = _shared_or_layer_0(areas)
    claim = "Layer 0 of the per-layer model, which too sees the byte alone, finds them."
    published = "no area; space and newline at 9.99 of at most 10, lowercase at 1.21 to 2.53"
    if area["value"] is None:
        return Verdict(claim, published, "not defined", f"Undecided: {area['note']}.")
    is_above = area["value"] > dealt["high"]
    answer = (
        "It does, beyond what its increments reach when dealt at random."
        if is_above
        else "Not shown: its increments dealt at random reach as much."
    )
    return Verdict(claim, published, _in_words(area, dealt), answer)


def _shared_or_layer_0(areas: pd.DataFrame) -> tuple[Row, Row]:
    """The first column's area for all delimiters, and that of its values dealt at random."""
    rows = [row for row in rows_of(areas) if row["group"] == DELIMITERS]
    area = next(row for row in rows if row["statistic"] == "roc_auc")
    dealt = [row for row in rows if row["statistic"] == "permuted_roc_auc"]
    return area, dealt[0] if dealt else {}


def _in_words(area: Row, dealt: Row) -> str:
    interval = "" if area["low"] is None else f" [{area['low']:.3f}, {area['high']:.3f}]"
    return (
        f"AUC {area['value']:.3f}{interval}; dealt at random {dealt['low']:.2f} to "
        f"{dealt['high']:.2f}"
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
    return side_by_side("The same against every other byte, apart", ["increment", *GROUPS], rows)


def _permuted(areas: pd.DataFrame):
    rows = []
    for row in rows_of(areas.query("statistic == 'permuted_roc_auc'")):
        where = "checkpoint == @row['checkpoint'] and statistic == 'roc_auc'"
        ours = areas.query(f"{where} and `group` == @row['group']").iloc[0]["value"]
        interval = f"{row['low']:.3f} to {row['high']:.3f}"
        rows.append([f"{_name(row)}, {row['group']}", f"{ours:.3f}", interval, row["note"]])
    return side_by_side(
        "Against increments dealt to the bytes at random",
        ["increment", "AUC", "95 % of dealings", "among"],
        rows,
    )
