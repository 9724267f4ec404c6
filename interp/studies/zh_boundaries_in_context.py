"""Study: are Chinese word boundaries in the increments a finding, or what any signal would show?"""

from collections.abc import Sequence

import pandas as pd

from interp.analyses.boundary_tests import paired_areas
from interp.analyses.character_counts import shipped_counts
from interp.analyses.scored_gaps import CHARACTER, LAST_BYTE_BEFORE, LEAD_BYTE, SCORED_AT
from interp.reports.chart import Chart, estimate_text
from interp.reports.layer_chart import layer_chart
from interp.reports.markup import Html
from interp.reports.page import Section
from interp.reports.pictures import row_picture
from interp.reports.series import Series
from interp.reports.verdicts import Verdict, number_in_words, side_by_side
from interp.segmentation.references import find_reference
from interp.segmentation.treebank_reference import TreebankReference
from interp.studies.boundary_scores import (
    INCREMENT,
    BoundaryScores,
    beats,
    boundary_scores,
    scores_beside,
    scores_chart,
)
from interp.studies.models import PER_LAYER
from interp.studies.study import Finding, Study
from interp.studies.study_input import StudyInput
from interp.studies.zh_word_boundary_verdicts import (
    CHANCE,
)
from interp.tables import PROBE, Row, rows_of

LANGUAGE = "zh"

_QUESTION = (
    "A layer whose increment is larger where a Chinese word ends is a finding only if the same "
    "could not be had for less. Here the increments stand beside what bytes, characters, counts "
    "and the model's own predictions tell of the same gaps, and beside a probe of what each layer "
    "could have said, against jieba and against people."
)
_HOW = (
    "Every score is judged on the same gaps between two Chinese characters. At the lead byte of "
    "the next character an increment or a surprisal has seen that byte; the entropy of the "
    "prediction of that byte has seen nothing of it; minus the pointwise mutual information of the "
    "two characters, from counts of other text, has seen both whole. Compare like with like."
)
_HOW_REFERENCES = (
    "The lead byte: what the best function of that byte alone reaches. Character and lead byte: a "
    "table of how often jieba (or people) ended a word between a character and a lead byte in the "
    "other documents, so a supervised reference, not a bound. Probe: a ridge regression from the "
    "residual stream that enters a layer, which is what its increment is made of, fitted on other "
    "documents."
)
_HOW_NULL = (
    "The null is the middle 95 % of the areas when the labels of each document are shifted in a "
    "circle, 999 times; p is from these shifts, adjusted over the layers of a signal (Holm). AP is "
    "average precision, to be compared with the share of boundaries. F1, word F1 and R-value: at "
    "the threshold of best F1 on one half of the documents, measured on the other."
)
_HOW_PLACES = (
    "An increment can also be read over all bytes of the next character (it has then seen all of "
    "it) or at the last byte before the gap (it has then seen nothing of it)."
)
_HOW_PEOPLE = (
    "In the treebank people marked the words. Each sentence is read after the two before it; "
    "sentences in the neighbourhood of ten count as one document for intervals, unless the "
    "treebank names its documents."
)
_LIMITS = (
    "That a signal goes along with boundaries does not say that the model treats words as units: "
    "what is hard to predict stands at boundaries too.",
    "The probe is supervised: it shows that a layer's input has the boundaries in it, not that the "
    "layer uses them, and a probe that is not linear may find more.",
    "The counts behind -PMI and branching entropy are of the model's own training text; a better "
    "unsupervised segmenter exists than either.",
    "One training run is one model; intervals are about other text.",
    "Wikipedia sentences of the treebanks may have been in the training text.",
)


def run(given: StudyInput) -> Finding:
    """All signals and baselines against jieba on all held-out text, and against treebanks."""
    checkpoint, counts = given.checkpoint(PER_LAYER), shipped_counts(LANGUAGE)
    treebanks = given.treebanks(LANGUAGE)
    jieba = boundary_scores(
        given, checkpoint, LANGUAGE, find_reference(LANGUAGE), scored_at=SCORED_AT, counts=counts
    )
    people = [
        boundary_scores(
            given,
            checkpoint,
            LANGUAGE,
            TreebankReference(treebank, LANGUAGE),
            scored_at=SCORED_AT,
            counts=counts,
        )
        for treebank in treebanks
    ]
    everything = [jieba, *people]
    return Finding(
        question=_QUESTION,
        verdicts=[*_verdicts(jieba), _of_people(jieba, people)],
        tables={
            "boundary-scores": pd.concat([each.table for each in everything], ignore_index=True),
            "boundary-differences": pd.concat(map(_differences, everything), ignore_index=True),
        },
        sections=[
            Section("All scores", [_HOW, *_shown(jieba, 0), _HOW_REFERENCES, _HOW_NULL]),
            Section("Where increments are read", [_HOW_PLACES, _places_chart(jieba)]),
            *([_people_section(people)] if people else []),
        ],
        limits=_LIMITS,
        picture=_picture(jieba),
    )


STUDY = Study(
    name="zh-boundaries-in-context",
    title="Chinese word boundaries in context",
    sentence="What the increments know of Chinese word boundaries beside bytes, counts, "
    "predictions and a probe, against jieba and against people.",
    run=run,
    texts=(LANGUAGE,),
)


def _verdicts(scores: BoundaryScores) -> list[Verdict]:
    return [
        beats(
            scores,
            "lead byte, in sample",
            "An increment knows more of word ends than the next lead byte alone tells.",
        ),
        beats(
            scores,
            "character and lead byte",
            "An increment knows more than the character before and the next lead byte tell.",
        ),
        beats(
            scores,
            "surprisal",
            "An increment is a better sign of a word end than the model's surprisal at that byte.",
        ),
        beats(
            scores,
            "entropy",
            "An increment is better than the entropy of the model's prediction of that byte, which "
            "has seen nothing of the next character.",
        ),
        beats(
            scores,
            "-PMI",
            "An increment is better than minus the mutual information of the two characters.",
        ),
        _of_probe(scores),
    ]


def _of_probe(scores: BoundaryScores) -> Verdict:
    """Whether a layer has more of the boundaries in it than its increment says."""
    claim = "What a layer's increment is made of has more of the boundaries in it than it says."
    if not scores.layers(PROBE):
        return Verdict(claim, "", "there is too little text for a probe", "Not measured.")
    pairs = list(zip(scores.layers(PROBE), scores.layers(), strict=True))
    rows = rows_of(paired_areas(scores.gaps, pairs, against="the layer's increment"))
    here = "; ".join(f"L{row['layer']} {estimate_text(row, '.3f')}" for row in rows)
    more = [f"L{row['layer']}" for row in rows if row["low"] is not None and row["low"] > 0]
    if len(more) == len(rows):
        verdict = "Yes, in every layer."
    elif more:
        verdict = f"Yes, in {', '.join(more)}."
    else:
        verdict = "Not shown in any layer."
    return Verdict(claim, "", f"probe less increment: {here}", verdict)


def _of_people(jieba: BoundaryScores, people: Sequence[BoundaryScores]) -> Verdict:
    """Whether treebanks tell the same of the layers as jieba does."""
    claim = "People's words tell the same of the layers as jieba's."
    if not people:
        return Verdict(claim, "", "no treebank was given", "Not measured.")
    sides = {each.gaps.reference: _sides(each) for each in [jieba, *people]}
    here = "; ".join(
        f"{name}: above chance {_listed(above)}, below {_listed(below)}"
        for name, (above, below) in sides.items()
    )
    (first_above, first_below), *others = sides.values()
    clashes = sorted(
        {
            layer
            for above, below in others
            for layer in (first_above & below) | (first_below & above)
        }
    )
    if clashes:
        layers = ", ".join(f"L{layer}" for layer in clashes)
        verdict = f"No: {layers} lies on one side of chance against jieba and on the other here."
    else:
        verdict = "Yes: no layer lies on one side of chance against jieba and on the other here."
    return Verdict(claim, "", here, verdict)


def _sides(scores: BoundaryScores) -> tuple[set[int], set[int]]:
    """The layers whose increments are surely above, and surely below, chance."""
    rows = _increments(scores)
    above = {row["layer"] for row in rows if row["low"] is not None and row["low"] > CHANCE}
    below = {row["layer"] for row in rows if row["high"] is not None and row["high"] < CHANCE}
    return above, below


def _listed(layers: set[int]) -> str:
    return ", ".join(f"L{layer}" for layer in sorted(layers)) or "none"


def _increments(scores: BoundaryScores) -> list[Row]:
    return [row for row in scores.areas if row["signal"] == INCREMENT]


def _differences(scores: BoundaryScores) -> pd.DataFrame:
    """What every increment's area is less that of each other score."""
    names = dict.fromkeys(
        column.name
        for column in scores.gaps.columns
        if column.signal not in (INCREMENT, PROBE) and column.scored_at in (None, LEAD_BYTE)
    )
    pairs = {name: [(each, scores.column(name)) for each in scores.layers()] for name in names}
    tables = [paired_areas(scores.gaps, each, against=name) for name, each in pairs.items()]
    probes = list(zip(scores.layers(), scores.layers(PROBE), strict=False))
    return pd.concat([*tables, paired_areas(scores.gaps, probes, against="probe of the layer")])


def _shown(scores: BoundaryScores, index: int) -> list[Html | Chart]:
    reference, n_gaps = scores.gaps.reference, len(scores.gaps.is_boundary)
    title = f"Area under the ROC curve against {reference}, {n_gaps:,} gaps"
    return [
        scores_chart(scores, key=f"scores-{index}", title=title),
        scores_beside(scores, f"All scores against {reference}"),
    ]


def _places_chart(scores: BoundaryScores) -> Chart:
    rows = rows_of(scores.table.query("statistic == 'roc_auc' and signal == 'increment'"))
    names = {
        LEAD_BYTE: "at the lead byte",
        CHARACTER: "over the character",
        LAST_BYTE_BEFORE: "at the byte before",
    }
    return layer_chart(
        [
            Series(name, [row for row in rows if row["scored_at"] == place])
            for place, name in names.items()
        ],
        key="places",
        title="The increment at three places: ROC-AUC against jieba",
        note="Bars are 95 % intervals, simultaneous over the layers.",
        lines={"chance 0.5": CHANCE},
    )


def _people_section(people: Sequence[BoundaryScores]) -> Section:
    rows = [
        [
            each.gaps.reference,
            f"{len(each.gaps.is_boundary):,}",
            f"{each.gaps.n_documents:,}",
            number_in_words(float(each.gaps.is_boundary.mean())),
        ]
        for each in people
    ]
    head = ["treebank", "gaps", "clusters", "of them word ends"]
    parts = [_HOW_PEOPLE, side_by_side("Treebanks", head, rows)]
    for index, each in enumerate(people, start=1):
        parts += _shown(each, index)
    return Section("Against people", parts)


def _picture(scores: BoundaryScores) -> str:
    return row_picture(scores.areas, reference=CHANCE)
