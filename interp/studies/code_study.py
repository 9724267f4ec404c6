"""Study: which tokens of Python source a model puts far apart, beside the published claim."""

from collections.abc import Callable

import pandas as pd

from interp.analyses.python_tokens import TOKEN_CLASSES
from interp.analyses.token_classes import BYTE_MEAN, EXCESS, NOT_TOKENIZED, token_classes
from interp.corpus.sources import ignore
from interp.extraction.increment_table import IncrementTable
from interp.reports.chart import Chart
from interp.reports.charts import byte_class_chart
from interp.reports.markup import Html
from interp.reports.page import Section
from interp.reports.pictures import value_picture
from interp.reports.verdicts import side_by_side
from interp.studies.code_verdicts import (
    NOT_CODE,
    SCOPE,
    isolation_verdict,
    isolations,
    most_telling,
    number,
    token_verdict,
)
from interp.studies.models import PER_LAYER, PYTHON, SHARED
from interp.studies.reading import Progress, stage
from interp.studies.study import Finding, Study
from interp.studies.study_input import StudyInput
from interp.tables import row_name, rows_of
from interp.text import counted

LANGUAGE = "python"
BILINGUAL = (PER_LAYER, SHARED)
"""Models that never saw any Python source."""

_HUES = {
    "newline": "newline",
    "other newline": "newline",
    "open bracket": "uppercase",
    "close bracket": "uppercase",
    "colon": ", ; : -",
    "other colon": ", ; : -",
    "comma": ", ; : -",
    "dot": ", ; : -",
    "operator": "other ASCII",
    "keyword": "lowercase, word-initial",
    "name": "lowercase, word-internal",
    "number": "digit",
    "string": "lead, other",
    "comment": "continuation, other",
    "indentation": "space",
    "white space": "space",
    "line continuation": "other ASCII",
    "not Python": "invalid byte",
    "separator": "separator",
}
HUES = {
    name: next(hue for start, hue in _HUES.items() if name.startswith(start))
    for name in TOKEN_CLASSES
}
"""The byte class whose colour a token class has."""

_QUESTION = (
    "Which bytes of Python source does a model put far from the byte before them? The published "
    "claim is about a model trained on Python: in one of its layers newline and brackets, which "
    "delimit scopes, are at about 8, and all else is at about 1."
)
_HOW = (
    "Every byte of the source belongs to one class, by the standard library's own tokenizer; the "
    "first byte of a name, a number, a string is apart from the others. Mean increment of every "
    "layer over held-out modules, with intervals clustered by file. The ratio is that of the "
    "delimiter with the smallest mean to the class with the largest among all else."
)
_BYTE_OR_TOKEN = (
    "Layer 0 sees the byte alone: there a newline is a newline, wherever it stands. Deeper layers "
    "have seen the text before the byte. Two things to compare a delimiter with: what its bytes "
    "get on average over all the text, and the same bytes in strings and comments, where they "
    "delimit nothing. In code nearly every such byte is a delimiter, so that the average is mostly "
    "the delimiter itself; the second comparison is the sharper one."
)
_OUT_OF_DISTRIBUTION = (
    "Out of distribution: {names} read English and Chinese articles, and no source code. What "
    "they do with Python shows their habits with these bytes, not what they know of scopes."
)
_LIMITS = (
    "One run of a small model on a few megabytes of one library's source; another seed, a longer "
    "training or other code may give other layers.",
    "All of this source is by one group of writers and in one style. The held-out modules are "
    "those whose names begin with s; some resemble modules that training read.",
    "A replacement field of an f-string counts as string, and a dedent, which closes a scope, has "
    "no byte: what marks it is the byte that begins the next statement.",
    "Increments only matter as differences of positions within a layer, and a layer that stretches "
    "all of them alike only rescales its frequencies: ratios within a layer compare, sizes do not.",
    "The intervals of what goes beyond the byte take the average of each byte value as given.",
)


def run(given: StudyInput) -> Finding:
    """Token classes of the model of Python, and of the bilingual models that are there."""
    names = [PYTHON, *(name for name in BILINGUAL if given.has_checkpoint(name))]
    found = {}
    for name in names:
        table = given.extraction(given.checkpoint(name), LANGUAGE)
        found[name] = token_class_table(table, warn=given.warn, progress=given.progress)
    of_python, others = found[PYTHON], names[1:]
    warnings = [_OUT_OF_DISTRIBUTION.format(names=" and ".join(others))] if others else []
    sections = [
        Section("Every layer", [_HOW, scope_table(of_python), _chart(of_python, PYTHON)]),
        Section("The byte or the token?", [_BYTE_OR_TOKEN, _byte_or_token(of_python)]),
    ]
    for name in others:
        parts = [warnings[0], scope_table(found[name]), _chart(found[name], name)]
        sections.append(Section(f"{name}: out of distribution", parts))
    return Finding(
        question=_QUESTION,
        verdicts=[
            isolation_verdict(PYTHON, of_python),
            token_verdict(PYTHON, of_python),
            *(isolation_verdict(f"{name} (out of distribution)", found[name]) for name in others),
        ],
        tables={"token-classes": pd.concat(found.values(), ignore_index=True)},
        sections=sections,
        limits=_LIMITS,
        warnings=warnings,
        picture=_picture(of_python),
    )


STUDY = Study(
    name="code",
    title="Does a layer isolate the delimiters of scopes?",
    sentence="Mean increment of every layer by class of token of Python source: newlines, "
    "brackets, names, strings and all else.",
    run=run,
    texts=(LANGUAGE,),
)


def scope_table(table: pd.DataFrame) -> Html:
    """Delimiters beside the farthest other class, per column."""
    rows = [
        [
            each.column,
            *(number(each.means[group]) for group in SCOPE),
            f"{number(each.farthest)}, {each.farthest['group']}",
            f"{each.ratio:.2f}",
        ]
        for each in isolations(table)
    ]
    return side_by_side(
        "Newline and brackets, and the farthest of all else",
        ["layer", *SCOPE, "farthest of all else", "ratio"],
        rows,
    )


def token_class_table(
    increments: IncrementTable,
    *,
    language: str = LANGUAGE,
    warn: Callable[[str], None] = ignore,
    progress: Progress | None = None,
) -> pd.DataFrame:
    """The increments of token classes, with a warning where a text is not in the language.

    Args:
        increments: A complete table.
        language: Of the source; see `interp.analyses.token_classes.TOKENIZERS`.
        warn: Called with one line where some of the text is not in it.
        progress: Called as the work goes on.
    """
    found = token_classes(increments, language=language, progress=stage("token classes", progress))
    for row in rows_of(found):
        if row["statistic"] == NOT_TOKENIZED and row["value"]:
            warn(
                f"{row['value']:,.0f} of {counted(row['n'], 'byte')} are not {language.title()} "
                f"({counted(row['n_documents'], 'text')}; {row['note']}): a class of their own"
            )
    return found


def _byte_or_token(table: pd.DataFrame) -> Html:
    values = {
        (row_name(row), row["group"], row["statistic"]): row
        for row in rows_of(table)
        if row["value"] is not None
    }
    rows = []
    for column in dict.fromkeys(name for name, group, _ in values if group in SCOPE):
        for group, outside in zip(SCOPE, NOT_CODE, strict=True):
            cells = [
                values.get((column, name, statistic))
                for name, statistic in (
                    (group, "mean"),
                    (group, BYTE_MEAN),
                    (group, EXCESS),
                    (outside, "mean"),
                )
            ]
            rows.append([f"{column}, {group}", *("" if c is None else number(c) for c in cells)])
    return side_by_side(
        "Delimiters beside the same bytes anywhere",
        [
            "layer and class",
            "mean",
            "by the byte alone",
            "beyond the byte",
            "in strings and comments",
        ],
        rows,
    )


def _chart(table: pd.DataFrame, name: str) -> Chart:
    drawn = table.query("statistic == 'mean' and n > 0")
    return byte_class_chart(drawn, key=f"tokens-{name}", kind=f"class of token, {name}", hues=HUES)


def _picture(table: pd.DataFrame) -> str:
    columns = isolations(table)
    values = [row["value"] for row in most_telling(columns).means.values()] if columns else []
    return value_picture(values, reference=1.0)
