"""Study: do increments know word ends where a model never saw words written so?"""

from collections.abc import Mapping

import pandas as pd

from interp.reports.chart import Chart, estimate_text
from interp.reports.layer_chart import layer_chart
from interp.reports.markup import Html
from interp.reports.page import Section
from interp.reports.pictures import value_picture
from interp.reports.series import Series
from interp.reports.verdicts import Verdict, number_in_words, side_by_side
from interp.segmentation.gaps import Reference
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
from interp.studies.study_input import MissingText, StudyInput
from interp.studies.zh_word_boundary_verdicts import (
    CHANCE,
)
from interp.tables import CROSS_FITTED, IN_SAMPLE, LEAD_BYTE_CEILING, LOCAL_REFERENCE, Row

SPACELESS = "English without its spaces"
LIMIT_BYTES = 400_000
"""Of English, in whole documents: some twenty long articles."""

TREEBANKS = {"ja": "Japanese", "th": "Thai"}

_QUESTION = (
    "Chinese is not the only text without spaces. Do the increments of a model that was trained on "
    "English and Chinese know where words end in Japanese and Thai, which it never read, and in "
    "English once its spaces are taken away?"
)
_HOW = (
    "For every gap between two characters of the script: is the score larger where a word ends? In "
    "Japanese and Thai people marked the words; in English the spaces did, and the text is read "
    "without them. All of it is out of the distribution that the model was trained on."
)
_HOW_BESIDE = (
    "The lead byte tells more in scripts whose letters have few lead bytes or whose signs show "
    "word ends, such as the change from kanji to kana in Japanese. What a signal is worth is how "
    "far it lies above what that byte, and the character before it, tell."
)
_LIMITS = (
    "The model was trained on English and Chinese Wikipedia. What it does with Japanese and Thai "
    "bytes is what it learned elsewhere; a model that was trained on them may do otherwise.",
    "What counts as a word differs: treebanks of Japanese cut at short units, those of Thai at "
    "units of another kind, and English at spaces.",
    "Each sentence of a treebank is read after the two before it, not in its article.",
    "No counts of characters of these languages are shipped, so that there is no -PMI beside.",
)


def run(given: StudyInput) -> Finding:
    """All scores of each treebank, and of English without its spaces."""
    checkpoint = given.checkpoint(PER_LAYER)
    references: dict[str, tuple[str, Reference]] = {
        f"{words} ({treebank.name})": (language, TreebankReference(treebank, language))
        for language, words in TREEBANKS.items()
        for treebank in given.treebanks(language)
    }
    if given.has_text("en"):
        references[SPACELESS] = ("en", find_reference("en", "spaces"))
    if not references:
        raise MissingText(
            "there is neither a Japanese or Thai treebank nor an English text",
            "Give --reference ja=ud:FILE.conllu, th=ud:FILE.conllu or --corpus en=SPEC.",
        )
    found = {
        name: boundary_scores(given, checkpoint, language, reference, limit_bytes=LIMIT_BYTES)
        for name, (language, reference) in references.items()
    }
    return Finding(
        question=_QUESTION,
        verdicts=[verdict for name, scores in found.items() for verdict in _verdicts(name, scores)],
        tables={
            "boundary-scores": pd.concat([each.table for each in found.values()], ignore_index=True)
        },
        sections=[
            Section("At a glance", [_HOW, _glance(found), _texts(found), _HOW_BESIDE]),
            *(
                Section(name, _shown(name, scores, index))
                for index, (name, scores) in enumerate(found.items())
            ),
        ],
        limits=_LIMITS,
        picture=value_picture(
            [row["value"] for each in found.values() for row in _increments(each)],
            reference=CHANCE,
        ),
    )


STUDY = Study(
    name="other-scripts",
    title="Word ends in scripts that were never read",
    sentence="Whether increments tell word ends in Japanese, Thai and English without spaces, "
    "beside bytes, predictions and a probe.",
    run=run,
)


def _verdicts(name: str, scores: BoundaryScores) -> list[Verdict]:
    rows = _increments(scores)
    far = [row for row in rows if row["low"] is not None]
    above = [row for row in far if row["low"] > CHANCE]
    below = [row for row in far if row["high"] < CHANCE]
    here = "; ".join(f"L{row['layer']} {estimate_text(row, '.3f')}" for row in rows)
    sides = [
        f"{', '.join(_layer(row) for row in side)} {words}"
        for side, words in ((above, "above chance"), (below, "below it"))
        if side
    ]
    undefined = next((row["note"] for row in rows if row["value"] is None), None)
    verdict = f"{'; '.join(sides)}." if sides else f"None: {undefined or 'all near chance'}."
    return [
        Verdict(f"{name}: increments tell where words end.", "", here, verdict),
        beats(scores, "lead byte, in sample", f"{name}: they tell more than the next lead byte."),
    ]


def _layer(row: Row) -> str:
    return f"L{row['layer']}"


def _increments(scores: BoundaryScores) -> list[Row]:
    return [row for row in scores.areas if row["signal"] == INCREMENT]


def _glance(found: Mapping[str, BoundaryScores]) -> Chart:
    return layer_chart(
        [Series(name, _increments(scores)) for name, scores in found.items()],
        key="glance",
        title="ROC-AUC of the increment at the next character",
        note="Bars are 95 % intervals, simultaneous over the layers of one text.",
        lines={"chance 0.5": CHANCE},
    )


def _texts(found: Mapping[str, BoundaryScores]) -> Html:
    rows = []
    for name, scores in found.items():
        gaps = scores.gaps
        by_name = {(row["signal"], row["group"]): row["value"] for row in scores.areas}
        rows.append(
            [
                name,
                f"{len(gaps.is_boundary):,}",
                f"{gaps.n_documents:,}",
                number_in_words(float(gaps.is_boundary.mean())),
                number_in_words(by_name[LEAD_BYTE_CEILING, IN_SAMPLE]),
                number_in_words(by_name[LOCAL_REFERENCE, CROSS_FITTED]),
            ]
        )
    head = ["text", "gaps", "clusters", "word ends", "lead byte", "character and lead byte"]
    return side_by_side("What there is of each, and what bytes and characters tell", head, rows)


def _shown(name: str, scores: BoundaryScores, index: int) -> list[Html | Chart]:
    title = f"{name}: area under the ROC curve, {len(scores.gaps.is_boundary):,} gaps"
    return [
        scores_chart(scores, key=f"scores-{index}", title=title),
        scores_beside(scores, f"All scores, {name}"),
    ]
