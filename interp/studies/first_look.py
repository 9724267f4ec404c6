"""A first look at a model's increments on a text: byte classes, word boundaries, a page."""

from collections.abc import Callable
from dataclasses import dataclass

import pandas as pd

from interp.analyses.byte_classes import byte_classes, vocabulary_byte_classes
from interp.checkpoints import Checkpoint
from interp.corpus.sources import ignore
from interp.extraction.increment_table import IncrementTable
from interp.segmentation.references import find_reference
from interp.studies.boundaries import (
    BoundarySignals,
    boundary_table,
    counts_for,
    scored_gaps,
)
from interp.studies.first_look_page import first_look_page
from interp.studies.plots import MAX_PLOTS
from interp.studies.reading import BYTE_CLASSES, Progress, Warnings, stage

LANGUAGE = "zh"
"""The language whose words are looked for."""


@dataclass(frozen=True)
class FirstLook:
    """What a first look found.

    Attributes:
        byte_classes: Analysis table: over running text, then over the vocabulary.
        word_boundaries: Analysis table of the area under the ROC curve per layer.
        page: The HTML page that shows them.
    """

    byte_classes: pd.DataFrame
    word_boundaries: pd.DataFrame
    page: str


def first_look(
    checkpoint: Checkpoint,
    increments: IncrementTable,
    *,
    text: str,
    command: str = "",
    warnings: Warnings | None = None,
    max_plots: int = MAX_PLOTS,
    progress: Progress | None = None,
) -> FirstLook:
    """Byte classes and word boundaries of ``increments``, and the page that shows them.

    Args:
        checkpoint: The model that they are of.
        increments: A complete table.
        text: What was read, in a few words.
        command: The command that makes the page, or nothing.
        warnings: What was odd in the text; takes what else is, and the page lists them all.
        max_plots: The most texts whose characters are drawn.
        progress: Called as the work goes on.
    """
    warnings = warnings or Warnings()
    classes = byte_class_table(increments, progress=progress)
    boundaries = word_boundary_table(increments, warn=warnings, progress=progress)
    page = first_look_page(
        checkpoint,
        increments,
        classes,
        boundaries,
        text=text,
        command=command,
        warnings=warnings.messages,
        max_plots=max_plots,
    )
    return FirstLook(classes, boundaries, page)


def byte_class_table(
    increments: IncrementTable, *, progress: Progress | None = None
) -> pd.DataFrame:
    """The increments of byte classes over running text, then those over the vocabulary."""
    running = byte_classes(increments, progress=stage(BYTE_CLASSES, progress))
    vocabulary = vocabulary_byte_classes(increments)
    return pd.concat([running, vocabulary], ignore_index=True) if len(vocabulary) else running


def word_boundary_table(
    increments: IncrementTable,
    *,
    warn: Callable[[str], None] = ignore,
    progress: Progress | None = None,
) -> pd.DataFrame:
    """What `interp.studies.boundaries.boundary_table` gives of every signal against jieba.

    Args:
        increments: A complete table.
        warn: Called with one line where texts seem to be in another language.
        progress: Called as the work goes on.
    """
    gaps = scored_gaps(
        BoundarySignals([(increments, increments.signals)]),
        find_reference(LANGUAGE),
        counts=counts_for(LANGUAGE),
        warn=warn,
        progress=progress,
    )
    return boundary_table(gaps)
