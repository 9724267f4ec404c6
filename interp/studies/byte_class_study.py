"""Study: which bytes the models step over, beside the published tables."""

from collections.abc import Mapping, Sequence
from itertools import combinations, pairwise
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import kendalltau

from interp.analyses.byte_classes import byte_classes, vocabulary_byte_classes
from interp.analyses.statistics import LEVEL
from interp.reports.chart import Chart, estimate_text
from interp.reports.charts import byte_class_chart
from interp.reports.markup import Html
from interp.reports.page import Section
from interp.reports.pictures import value_picture
from interp.reports.verdicts import Verdict, side_by_side
from interp.studies.models import PER_LAYER, SHARED
from interp.studies.published import LAYER_0_CLASSES, SHARED_CLASSES, PublishedClass
from interp.studies.study import Finding, Study
from interp.studies.study_input import LANGUAGES, StudyInput
from interp.tables import analysis_table, rows_of, select

INSIDE = ("lowercase", "lead E4-E9", "continuation")
"""Classes of bytes that words are made of."""

OUTSIDE = ("space", "newline", ". ! ?", ", ; : -", "separator")
"""Classes of ASCII bytes that stand between words, and the separator."""

_QUESTION = (
    "Which bytes does a model put far from the byte before them? In the published shared model "
    "letters and the bytes of Chinese characters are near, punctuation is farther, newline and the "
    "separator between texts are farthest."
)
_HOW_BY_BYTE = (
    "The shared increment and that of layer 0 are decided by the byte alone. Every byte value "
    "that training saw counts once, however frequent it is, as in the published tables: smallest, "
    "largest, and their mean in brackets."
)
_HOW_RUNNING = (
    "Deeper layers have seen the text before a byte, so that one byte value has many increments: "
    "means over every byte of the text, with intervals clustered by document."
)
_LIMITS = (
    "One run of each model. Between seeds single classes moved much in the public experiment: "
    "uppercase letters in layer 0 had a mean of 9.52 in one run and 2.17 in another.",
    "Increments only matter as differences of positions within a layer, and a layer that stretches "
    "all of them alike only rescales its frequencies: orders and ratios compare between models, "
    "sizes do not.",
    "The published models read about 1.6 GB of text, and these 20 MB: what is not repeated here "
    "may come with more training. In layer 0 the published ones had brought whatever stands "
    "between words to the bound of 10; the order of classes at a bound says little.",
    "Published of layer 0 are no means of . ! ?, whose range has its middle here, and nothing of "
    ", ; : -.",
    "The correlation of orders treats the classes as if they were drawn at random, which they "
    "are not; its p value is a yardstick.",
)


def run(given: StudyInput) -> Finding:
    """Increments by class: of byte values beside the published, of running text in every layer."""
    shared, per_layer = given.checkpoint(SHARED), given.checkpoint(PER_LAYER)
    by_byte, running = [], []
    for language, words in LANGUAGES.items():
        for checkpoint in (shared, per_layer):
            table = given.extraction(checkpoint, language)
            if language == "en":  # what the byte alone decides is the same in every text
                by_byte.append(vocabulary_byte_classes(table))
            found = byte_classes(table, progress=given.stage(f"byte classes, {words}"))
            running.append(found.assign(reference=f"running text, {words}").astype(found.dtypes))
    of_shared, of_layer_0 = by_byte
    in_text = pd.concat(running, ignore_index=True)
    return Finding(
        question=_QUESTION,
        verdicts=[
            order_verdict("The shared model", of_shared, SHARED_CLASSES),
            order_verdict("Layer 0 of the per-layer model", of_layer_0, LAYER_0_CLASSES),
            words_apart_verdict("the shared model", of_shared, SHARED_CLASSES),
            words_apart_verdict("layer 0 of the per-layer model", of_layer_0, LAYER_0_CLASSES),
            farthest_verdict(of_shared, SHARED_CLASSES),
            chinese_signs_verdict(in_text),
        ],
        tables={
            "byte-values": pd.concat([*by_byte, _published()], ignore_index=True),
            "running-text": in_text,
        },
        sections=[
            Section(
                "Byte values",
                [
                    _HOW_BY_BYTE,
                    _beside("Shared increments", of_shared, SHARED_CLASSES),
                    byte_class_chart(of_shared, key="shared", kind="byte class, shared"),
                    _beside("Layer 0 of the per-layer model", of_layer_0, LAYER_0_CLASSES),
                    byte_class_chart(of_layer_0, key="layer-0", kind="byte class, layer 0"),
                ],
            ),
            Section(
                "Every layer over running text",
                [_HOW_RUNNING, *(_running_chart(in_text, language) for language in LANGUAGES)],
            ),
        ],
        limits=_LIMITS,
        picture=_picture(of_shared),
    )


STUDY = Study(
    name="byte-classes",
    title="Which bytes stand far apart?",
    sentence="Increments of letters, Chinese bytes, spaces and punctuation beside the published "
    "tables, and of every layer over running text.",
    run=run,
    texts=tuple(LANGUAGES),
)


def means(table: pd.DataFrame) -> dict[str, float]:
    """The mean of every class that has one."""
    rows = rows_of(table.query("statistic == 'mean'"))
    return {row["group"]: row["value"] for row in rows if row["value"] is not None}


def order_verdict(which: str, table: pd.DataFrame, published: Sequence[PublishedClass]) -> Verdict:
    """Whether the means of the classes have the published order."""
    ours = means(table)
    both = [each for each in published if each.group in ours]
    claim = f"{which} orders the classes as the published one does."
    order = _in_order({each.group: each.middle for each in published})
    if len(both) < 3:
        return Verdict(claim, order, "fewer than three classes", "Undecided: too few classes.")
    mine = [ours[each.group] for each in both]
    found: Any = kendalltau([each.middle for each in both], mine, alternative="greater")
    tau, p_value = float(found.statistic), float(found.pvalue)
    if np.isnan(tau):  # every class has the same mean
        return Verdict(claim, order, "all classes alike", "Not repeated: there is no order.")
    here = _in_order({each.group: ours[each.group] for each in both})
    pairs = [pair for pair in combinations(both, 2) if pair[0].middle != pair[1].middle]
    within = [pair for pair in pairs if len({each.group in INSIDE for each in pair}) == 1]
    across = [pair for pair in pairs if pair not in within]
    if _n_alike(pairs, ours) == len(pairs):
        answer = "Repeated, class by class."
    elif p_value < LEVEL:
        answer = (
            "In part: the orders agree better than chance would have them. In the published "
            f"order are {_n_alike(across, ours)} of the {len(across)} pairs of a class inside of "
            f"words with one that is not, and {_n_alike(within, ours)} of the {len(within)} pairs "
            "on one side of that line."
        )
    else:
        answer = "Not repeated: the orders agree no better than chance would have them."
    words = f"{here}; Kendall's tau {tau:.2f} over {len(both)} classes, one-sided p = {p_value:.2g}"
    return Verdict(claim, order, words, answer)


def _in_order(middles: Mapping[str, float]) -> str:
    """Names of classes from the nearest to the farthest, with = between those that are level."""
    names = sorted(middles, key=lambda name: middles[name])
    words = names[:1]
    for before, name in pairwise(names):
        words += ["=" if middles[before] == middles[name] else "<", name]
    return " ".join(words)


def _n_alike(
    pairs: Sequence[tuple[PublishedClass, PublishedClass]], ours: Mapping[str, float]
) -> int:
    """How many pairs have the published order."""
    return sum(
        (one.middle - other.middle) * (ours[one.group] - ours[other.group]) > 0
        for one, other in pairs
    )


def words_apart_verdict(
    which: str, table: pd.DataFrame, published: Sequence[PublishedClass]
) -> Verdict:
    """Whether the classes between words have larger means than those inside of words."""
    ours = means(table)
    theirs = {each.group: each.middle for each in published}
    inside, outside = ([g for g in groups if g in ours] for groups in (INSIDE, OUTSIDE))
    claim = (
        f"In {which} space, newline, separator and ASCII punctuation are farther than lowercase "
        "letters and the bytes of Chinese characters."
    )
    if not inside or not outside:
        return Verdict(claim, _span(theirs), "classes are missing", "Undecided: too few classes.")
    highest, lowest = (
        max(inside, key=lambda group: ours[group]),
        min(outside, key=lambda group: ours[group]),
    )
    is_apart = ours[lowest] > ours[highest]
    answer = (
        "Repeated: every such class has the larger mean."
        if is_apart
        else f"Not repeated: {lowest} has a mean of {ours[lowest]:.3f}, {highest} of "
        f"{ours[highest]:.3f}."
    )
    if not is_apart and ours.get("lowercase", np.inf) < ours[lowest]:
        answer += f" Lowercase letters, {ours['lowercase']:.3f}, are nearer than all of them."
    return Verdict(claim, _span(theirs), _span(ours), answer)


def farthest_verdict(table: pd.DataFrame, published: Sequence[PublishedClass]) -> Verdict:
    """Whether newline and separator are the two classes with the largest means."""
    theirs = {each.group: each.middle for each in published}
    ours = {name: value for name, value in means(table).items() if name in theirs}
    claim = "In the shared model newline and the separator are the farthest."
    said, here = (
        ", ".join(f"{name} {values[name]:.2f}" for name in _farthest(values, 3))
        for values in (theirs, ours)
    )
    is_alike = {"newline", "separator"} == set(_farthest(ours, 2))
    return Verdict(claim, said, here, "Repeated." if is_alike else "Not repeated.")


def _farthest(values: Mapping[str, float], n: int) -> list[str]:
    """The classes with the largest of ``values``."""
    return sorted(values, key=lambda name: -values[name])[:n]


def chinese_signs_verdict(in_text: pd.DataFrame) -> Verdict:
    """Whether full-width signs are set apart from Chinese characters as ASCII ones are."""
    claim = (
        "In the shared model the full-width signs of Chinese text (most of its other lead "
        "bytes) are farther than the first bytes of Chinese characters."
    )
    of_chinese = in_text.query(
        f"checkpoint == @SHARED and reference == 'running text, {LANGUAGES['zh']}'"
    )
    rows = {row["group"]: row for row in rows_of(of_chinese.query("statistic == 'mean'"))}
    signs, characters = rows["lead, other"], rows["lead E4-E9"]
    if signs["low"] is None or characters["low"] is None:
        return Verdict(claim, "", "no interval", "Undecided: too little Chinese text.")
    here = "; ".join(
        f"{name} {estimate_text(row, '.4f')}"
        for name, row in (("signs", signs), ("characters", characters))
    )
    if signs["low"] > characters["high"]:
        answer = "Yes."
    elif signs["high"] < characters["low"]:
        answer = "No: they are nearer."
    else:
        answer = "Undecided: the intervals meet."
    return Verdict(claim, "", here, answer)


def _span(values: dict[str, float]) -> str:
    """The means inside and outside of words, from lowest to highest."""
    ends = []
    for groups in (INSIDE, OUTSIDE):
        found = [values[group] for group in groups if group in values]
        ends.append(f"{min(found):.2f} to {max(found):.2f}" if found else "not known")
    return f"means inside of words {ends[0]}, between them {ends[1]}"


def _beside(title: str, table: pd.DataFrame, published: Sequence[PublishedClass]) -> Html:
    values: dict[str, dict[str, float | None]] = {}
    for row in rows_of(table):
        values.setdefault(row["group"], {})[row["statistic"]] = row["value"]
    rows = []
    for each in published:
        ours = values.get(each.group, {})
        numbers = (ours.get("min"), ours.get("max"), ours.get("mean"))
        theirs = _range_in_words(each.low, each.high, each.mean)
        rows.append([each.group, theirs, _range_in_words(*numbers)])
    return side_by_side(f"{title}, by class of byte", ["class", "published", "here"], rows)


def _range_in_words(low: float | None, high: float | None, mean: float | None) -> str:
    if low is None or high is None:
        return "no such byte"
    if f"{low:.2f}" == f"{high:.2f}":
        return f"{low:.2f}"
    return f"{low:.2f} to {high:.2f}" + (f" ({mean:.2f})" if mean is not None else "")


def _running_chart(in_text: pd.DataFrame, language: str) -> Chart:
    words = LANGUAGES[language]
    drawn = select(in_text, checkpoint=PER_LAYER, reference=f"running text, {words}")
    return byte_class_chart(drawn, key=f"running-{language}", kind=f"byte class, {words} text")


def _published() -> pd.DataFrame:
    rows = [row for each in SHARED_CLASSES for row in each.rows(SHARED, None)]
    rows += [row for each in LAYER_0_CLASSES for row in each.rows(PER_LAYER, 0)]
    return analysis_table(rows)


def _picture(of_shared: pd.DataFrame) -> str:
    ours = means(of_shared)
    in_order = [ours.get(each.group) for each in SHARED_CLASSES]
    return value_picture(in_order, reference=1.0)
