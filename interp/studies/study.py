"""A study: a question that checkpoints answer on held-out text, and what it finds."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from interp.reports.page import Section
from interp.reports.verdicts import Verdict
from interp.studies.study_input import StudyInput


@dataclass(frozen=True)
class Finding:
    """What a study found.

    Attributes:
        question: What was asked and of what, in one to three sentences.
        verdicts: Every claim that the study is about, with its answer; "undecided" is one.
        tables: Analysis tables by the stem of their file.
        sections: What the page shows after the verdicts.
        limits: What the study can't show, a sentence each.
        warnings: What a reader must know first.
        picture: What a gallery shows of the page: SVG, as `interp.reports.pictures` draws it.
    """

    question: str
    verdicts: Sequence[Verdict]
    tables: Mapping[str, pd.DataFrame]
    sections: Sequence[Section]
    limits: Sequence[str]
    warnings: Sequence[str] = ()
    picture: str = ""


@dataclass(frozen=True)
class Study:
    """A question and the function that answers it.

    Attributes:
        name: On the command line and of its files.
        title: Of its page.
        sentence: What its page shows, for a gallery.
        run: Answers it.
        texts: Keys of `TEXTS` that it cannot do without: one that is missing is said before
            the first model reads.
    """

    name: str
    title: str
    sentence: str
    run: Callable[[StudyInput], Finding]
    texts: tuple[str, ...] = ()
