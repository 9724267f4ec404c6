"""All that is asked of word boundaries at once: signals, what they have to beat, how sure it is."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

import pandas as pd

from interp.analyses.baselines import with_baselines
from interp.analyses.boundary_tests import boundary_tests, column_named, paired_areas
from interp.analyses.character_counts import (
    SHIPPED_LANGUAGES,
    CharacterCounts,
    shipped_counts,
)
from interp.analyses.scored_gaps import ALL_DOCUMENTS, LEAD_BYTE, ScoredGaps, gather
from interp.analyses.word_boundaries import area_table
from interp.checkpoints import Checkpoint
from interp.corpus.sources import TextInput, ignore
from interp.errors import InputError, UsageError
from interp.extraction.increment_table import IncrementTable
from interp.segmentation.gaps import Reference
from interp.segmentation.references import SegmenterReference
from interp.studies.reading import (
    WORD_BOUNDARIES,
    Progress,
    Warnings,
    documents_of,
    increments_of,
    probe_of,
    stage,
)
from interp.tables import PROBE
from interp.text import counted

BOUNDARY_SIGNALS = ("increment", "surprisal", "entropy")
"""What is read for word boundaries where nothing else is asked for: the increments, and what the
same model's predictions say, which they have to beat."""

Tables = Sequence[tuple[IncrementTable, Sequence[str]]]
"""Tables of one text, each with the names of the signals that are asked for."""


@dataclass(frozen=True)
class BoundarySignals:
    """What is scored, and the text that it is about.

    Attributes:
        tables: The signals.
        contents: The documents of the input, where the reference reads something else; else None.
    """

    tables: Tables
    contents: Callable[[], Iterable[bytes]] | None = None


@contextmanager
def boundary_signals(
    checkpoints: Sequence[Checkpoint],
    text_input: TextInput,
    reference: Reference,
    *,
    signals: Sequence[str] = BOUNDARY_SIGNALS,
    has_probe: bool = False,
    warn: Callable[[str], None] = ignore,
    progress: Progress | None = None,
) -> Iterator[BoundarySignals]:
    """The signals of checkpoints on the text that a reference judges, while the block runs.

    Args:
        checkpoints: One or more.
        text_input: The text; a reference may read something else in its place.
        reference: Who says where words end.
        signals: What to read, as for `interp.extraction.extract.extract`.
        has_probe: Whether a ridge probe is read too, for each checkpoint.
        warn: Called with one line for what is odd but can be read.
        progress: Called as the work goes on.

    Raises:
        UsageError: Two checkpoints of one name.
    """
    names = [checkpoint.name for checkpoint in checkpoints]
    if len(set(names)) < len(names):
        raise UsageError(
            f"word boundaries: both checkpoints are called {names[0]}",
            "Give one of them another name in its config.json.",
        )
    warnings, signals = Warnings(warn), tuple(dict.fromkeys(signals))
    tables: list[tuple[IncrementTable, Sequence[str]]] = []
    with ExitStack() as stack:
        for checkpoint in checkpoints:
            table = increments_of(
                checkpoint,
                text_input,
                signals=signals,
                reference=reference,
                warn=warnings,
                progress=progress,
            )
            tables.append((stack.enter_context(table), signals))
            if has_probe:
                probe = probe_of(
                    checkpoint, text_input, reference, warn=warnings, progress=progress
                )
                try:
                    tables.append((stack.enter_context(probe), [PROBE]))
                except InputError as error:  # too little text for it; the rest is there
                    warn(str(error))
        yield BoundarySignals(
            tables,
            None
            if isinstance(reference, SegmenterReference)
            else lambda: (each.content[:] for each in documents_of(text_input, warnings)),
        )


def scored_gaps(
    read: BoundarySignals,
    reference: Reference,
    *,
    scored_at: Sequence[str] = (LEAD_BYTE,),
    counts: CharacterCounts | None = None,
    warn: Callable[[str], None] = ignore,
    progress: Progress | None = None,
) -> ScoredGaps:
    """The gaps of a text with the scores of signals and baselines.

    Args:
        read: The signals; they may be of several checkpoints.
        reference: Who says where words end.
        scored_at: Where gaps take their scores from.
        counts: Of characters, for the baselines that need them.
        warn: Called with one line where texts seem to be in another language.
        progress: Called as the work goes on.

    Raises:
        InputError: The tables are not about the text that the reference judges.
    """
    groups = gather(
        reference,
        read.tables,
        contents=read.contents,
        scored_at=scored_at,
        progress=stage(WORD_BOUNDARIES, progress),
    )
    gaps = groups[ALL_DOCUMENTS]
    for script, n_texts in gaps.other_scripts.items():
        judged = counted(gaps.n_documents, "judged text")
        warn(
            f"{script} in {n_texts:,} of {judged}: {gaps.reference} judges them all the same, and "
            "may not know the language"
        )
    return with_baselines(gaps, counts)


def boundary_table(
    gaps: ScoredGaps, *, versus: Sequence[str] = (), is_simultaneous: bool = False
) -> pd.DataFrame:
    """Areas, nulls, segmentation scores and comparisons of every score, as one analysis table.

    Args:
        gaps: The gaps, with their baselines.
        versus: Names of scores that every other one is compared with, such as ``surprisal`` or
            ``increment L2``; or a checkpoint, whose scores are compared with those of the others
            of the same name.
        is_simultaneous: Whether the areas of a signal's layers are looked at together.

    Raises:
        UsageError: There is no such score.
    """
    found = [area_table(gaps, is_simultaneous=is_simultaneous), boundary_tests(gaps)]
    found += [_compared(gaps, name) for name in versus]
    return pd.concat(found, ignore_index=True)


def counts_for(language: str, path: str | None = None) -> CharacterCounts | None:
    """The counts in a file, or those that are shipped for a language; None if there are none.

    Raises:
        InputError: The file cannot be read, is no table of counts, or counts no letter.
    """
    if path is not None:
        counts = CharacterCounts.read(path)
        if len(counts.letters) == 1:  # every score would be the same number
            raise InputError(f"{path}: it has no letters", "Count a text in the language.")
        return counts
    return shipped_counts(language) if language in SHIPPED_LANGUAGES else None


def _compared(gaps: ScoredGaps, name: str) -> pd.DataFrame:
    of_checkpoint = [column for column in gaps.columns if column.checkpoint == name]
    if of_checkpoint:
        others = [c for c in gaps.columns if c.checkpoint not in (None, name)]
        pairs = [
            (column, other)
            for column in others
            for other in of_checkpoint
            if (column.name, column.scored_at) == (other.name, other.scored_at)
        ]
    else:
        chosen = column_named(gaps, name)
        pairs = [(column, chosen) for column in gaps.columns if column != chosen]
    if not pairs:
        raise UsageError(
            f"word boundaries: there is nothing to compare {name} with",
            "The other checkpoint must have the same layers and signals.",
        )
    return paired_areas(gaps, pairs, against=name)
