"""Study: do the increments know where Chinese words end?"""

from collections.abc import Mapping, Sequence

import pandas as pd

from interp.analyses.agreement import reference_agreement
from interp.analyses.byte_classes import byte_classes
from interp.analyses.scored_gaps import ALL_DOCUMENTS, gather
from interp.analyses.script import SCRIPTS, UNDECIDED, script_of
from interp.analyses.word_boundaries import areas_by_group
from interp.extraction.increment_table import IncrementTable
from interp.reports.chart import estimate_text, interval_text
from interp.reports.layer_chart import layer_chart
from interp.reports.markup import Html
from interp.reports.page import Section
from interp.reports.pictures import row_picture
from interp.reports.series import Series
from interp.reports.verdicts import number_in_words, side_by_side
from interp.segmentation.references import find_reference
from interp.segmentation.treebank import Treebank
from interp.segmentation.treebank_reference import TreebankReference
from interp.studies.models import PER_LAYER, SHARED
from interp.studies.study import Finding, Study
from interp.studies.study_input import StudyInput
from interp.studies.zh_word_boundary_verdicts import (
    CHANCE,
    PUBLISHED_AREAS,
    PUBLISHED_SHARED,
    ceilings,
    increments,
    published_rows,
    verdicts,
)
from interp.tables import IN_SAMPLE, Row, analysis_table, row_name, rows_of
from interp.text import decode

LANGUAGE = "zh"

_QUESTION = (
    "Chinese is written without spaces. Does the increment know where its words end all the same? "
    "For every gap between two Chinese characters of held-out text it is asked whether the "
    "increment at the next character's lead byte is larger where the segmenter jieba ends a word."
)
_HOW_AREAS = (
    "The area under the ROC curve is the probability that the increment at a word's end exceeds "
    "the one at another gap. 0.5 is chance; below 0.5 the increment at a word's end is the "
    "smaller one, and nothing is turned round. All layers are shown, and their intervals, "
    "clustered by document, are simultaneous: together they hold with 95 %."
)
_HOW_CEILING = (
    "At that moment a layer has read the text up to the lead byte of the next character, which it "
    "shares with hundreds of others. The lines say what that byte alone is worth: the best "
    "function of it in sample, which no increment that the byte decides can beat, and the same "
    "fitted on other documents. The study zh-boundaries-in-context has baselines that see more."
)
_HOW_SIZES = (
    "What is ranked: the increments at the first bytes of Chinese characters, in positions. Where "
    "they hardly vary, the order of small differences makes the area."
)
_HOW_SCRIPTS = (
    "Chinese Wikipedia is written in simplified and in traditional characters. An article counts "
    "as one of them if at least nine in ten of the characters that tell the scripts apart belong "
    "to it, and as mixed otherwise; hanzidentifier knows which character belongs where, from the "
    "headwords of CC-CEDICT."
)
_HOW_AGREEMENT = (
    "jieba is a program with a dictionary, not the truth. In treebanks people have marked the "
    "words: this is how often jieba ends a word where they do, over gaps between two Chinese "
    "characters."
)
_NO_AGREEMENT = (
    "jieba's agreement with people was not measured: no treebank was given "
    "(--reference ud:FILE.conllu)."
)
_LIMITS = (
    "An area says that an increment goes along with jieba's boundaries, not that the model uses "
    "it to group characters: what is rare or hard to predict also stands at boundaries.",
    "jieba's boundaries are those of one program; where it and people differ, the area can move "
    "either way.",
    "One training run is one model. Two published runs differ by up to 0.09 in the same layer, and "
    "which layer finds boundaries changes from run to run; the intervals are about other text, "
    "not about other runs.",
    "The published models were trained on about 1.6 GB of text, these on 20 MB, and scored on "
    "other articles: what is not found here may come with more training.",
    "Simultaneous intervals cover the layers of one model on one set of documents. Scripts are "
    "compared by whether two such intervals meet, which finds less than a test of their difference "
    "would.",
    "An area is about the order of increments and not about their size: a layer that is nearly "
    "everywhere at its bound, or that hardly varies, has one too.",
)


def run(given: StudyInput) -> Finding:
    """Areas per layer on all text and per script, the shared model beside, jieba's agreement."""
    treebanks = given.treebanks()
    by_script = _areas(given, PER_LAYER)
    found = by_script[ALL_DOCUMENTS]
    shared = None
    if given.has_checkpoint(SHARED):
        shared = _areas(given, SHARED)[ALL_DOCUMENTS]
    agreement = _agreement(treebanks)
    table = given.extraction(given.checkpoint(PER_LAYER), LANGUAGE)
    sizes = byte_classes(table, progress=given.stage("sizes of increments"))
    layers = increments(found)
    tables = {
        "word-boundary-auc": _all_areas(found, shared),
        "by-script": _script_table(by_script),
    }
    if len(agreement):
        tables["segmenter-agreement"] = agreement
    return Finding(
        question=_QUESTION,
        verdicts=verdicts(by_script, shared),
        tables=tables,
        sections=[
            _areas_section(layers, found, shared, _sizes_beside(sizes, table)),
            _scripts_section(by_script, agreement),
        ],
        limits=_LIMITS,
        picture=row_picture(layers, reference=CHANCE),
    )


STUDY = Study(
    name="zh-word-boundaries",
    title="Where Chinese words end",
    sentence="Whether the increment at a Chinese character tells that a word has just ended, layer "
    "by layer, in simplified and traditional text, beside the published values.",
    run=run,
    texts=(LANGUAGE,),
)


def _areas(given: StudyInput, name: str) -> dict[str, pd.DataFrame]:
    table = given.extraction(given.checkpoint(name), LANGUAGE)
    by_script = gather(
        find_reference(LANGUAGE),
        [(table, ["increment"])],
        group_of=lambda content: script_of(decode(content)),
    )
    return areas_by_group(by_script, is_simultaneous=True)


def _agreement(treebanks: Sequence[Treebank]) -> pd.DataFrame:
    jieba = find_reference(LANGUAGE)
    tables = [
        reference_agreement(
            jieba,
            TreebankReference(each, LANGUAGE),
            group=script_of("".join(s.text for s in each.sentences)),
        )
        for each in treebanks
    ]
    return pd.concat(tables, ignore_index=True) if tables else analysis_table([])


def _areas_section(
    layers: Sequence[Row], table: pd.DataFrame, shared: pd.DataFrame | None, sizes: Html
) -> Section:
    series = [Series("here", [*layers, *(increments(shared) if shared is not None else [])])]
    for who in PUBLISHED_AREAS:
        rows = [row for row in published_rows() if row["checkpoint"] == who]
        series.append(Series(who, rows if shared is not None else rows[:-1]))
    lines = {"chance 0.5": CHANCE} | {
        f"lead byte, {name} {value:.3f}": value
        for name, value in ceilings(table).items()
        if value is not None
    }
    chart = layer_chart(
        series,
        key="areas",
        title="ROC-AUC of the increment at the next character against jieba",
        note="Bars are simultaneous 95 % intervals, clustered by document; none was published.",
        lines=lines,
    )
    parts = [_HOW_AREAS, chart, _HOW_CEILING, _beside(layers, shared), _HOW_SIZES, sizes]
    return Section("Every layer", parts)


def _sizes_beside(sizes: pd.DataFrame, table: IncrementTable) -> Html:
    """What the areas rank: how large the increments at lead bytes are, and how they spread."""
    at_lead_bytes = sizes.query("`group` == 'lead E4-E9'")
    shares = table.manifest["signals"]["increment"]["saturated"] or {}
    means, spreads = (
        rows_of(at_lead_bytes.query(f"statistic == {name!r}")) for name in ("mean", "sd")
    )
    rows = [
        [
            row_name(mean),
            number_in_words(mean["value"]),
            number_in_words(spread["value"]),
            f"{shares[row_name(mean)]:.1%}" if row_name(mean) in shares else "no bound",
        ]
        for mean, spread in zip(means, spreads, strict=True)
    ]
    head = ["layer", "mean", "standard deviation", "of all bytes within 0.1 % of the bound"]
    return side_by_side("Increments at lead bytes E4-E9", head, rows)


def _beside(layers: Sequence[Row], shared: pd.DataFrame | None) -> Html:
    rows = [
        [
            row_name(row),
            number_in_words(row["value"]),
            interval_text(row, ".3f").strip(),
            *(_at(areas, index) for areas in PUBLISHED_AREAS.values()),
        ]
        for index, row in enumerate(layers)
    ]
    if shared is not None:
        row = increments(shared)[0]
        values = [f"{value:.3f}" for value in PUBLISHED_SHARED.values()]
        interval = interval_text(row, ".3f").strip()
        rows.append(["shared", number_in_words(row["value"]), interval, *values])
    head = ["layer", "here", "simultaneous 95 %", *PUBLISHED_AREAS]
    return side_by_side("Areas under the ROC curve, here and published", head, rows)


def _scripts_section(by_script: Mapping[str, pd.DataFrame], agreement: pd.DataFrame) -> Section:
    groups = [name for name in SCRIPTS if name in by_script]
    chart = layer_chart(
        [Series(name, increments(by_script[name])) for name in groups if name != UNDECIDED],
        key="areas-by-script",
        title="The same by script of the article",
        note="Bars are 95 % intervals, simultaneous over the layers of one script.",
        lines={"chance 0.5": CHANCE},
    )
    rows = []
    for name in groups:
        areas, base = by_script[name], _base_rate(by_script[name])
        ceiling = ceilings(areas)[IN_SAMPLE]
        counts = (f"{base['n_documents']:,}", f"{base['n']:,}")
        rows.append([name, *counts, number_in_words(base["value"]), number_in_words(ceiling)])
    head = ["script", "articles", "gaps", "of them word ends", "lead byte, in sample"]
    beside = side_by_side("What there is of each script", head, rows)
    parts = [_HOW_SCRIPTS, chart, beside, _HOW_AGREEMENT]
    parts.append(_agreement_beside(agreement) if len(agreement) else _NO_AGREEMENT)
    return Section("Scripts", parts)


def _agreement_beside(agreement: pd.DataFrame) -> Html:
    titles = {"f1": "F1", "precision": "precision", "recall": "recall", "base_rate": "word ends"}
    rows = []
    for name in agreement["reference"].unique():
        found = {row["statistic"]: row for row in rows_of(agreement.query("reference == @name"))}
        share = found["agreement"]
        shown = estimate_text(share, ".3f")
        others = [number_in_words(found[statistic]["value"]) for statistic in titles]
        rows.append([name, str(share["group"]), f"{share['n']:,}", shown, *others])
    head = ["treebank", "script", "gaps", "agreement [95 %]", *titles.values()]
    return side_by_side("jieba against people", head, rows)


def _all_areas(found: pd.DataFrame, shared: pd.DataFrame | None) -> pd.DataFrame:
    """One table: what was found, the shared model without what the text alone decides, others."""
    tables = [found, analysis_table(published_rows())]
    if shared is not None:
        tables.insert(1, shared.query("signal == 'increment'"))
    return pd.concat(tables, ignore_index=True)


def _script_table(by_script: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Areas, ceilings and base rates with the script as their group."""
    tables = []
    for name in [name for name in SCRIPTS if name in by_script]:
        rows = by_script[name].query("statistic in ('roc_auc', 'base_rate')").copy()
        rows["group"] = (name + ", " + rows["group"]).fillna(name)
        tables.append(rows)
    return pd.concat(tables, ignore_index=True)


def _base_rate(table: pd.DataFrame) -> Row:
    return rows_of(table.query("statistic == 'base_rate'"))[0]


def _at(areas: Sequence[float], index: int) -> str:
    return f"{areas[index]:.3f}" if index < len(areas) else ""
