"""``interp word-boundary-auc``: do increments, or other signals, know where words end?"""

from contextlib import ExitStack
from typing import TYPE_CHECKING, Annotated

import typer

from interp.cli.options import (
    CheckpointOption,
    CorpusOption,
    CsvOption,
    FilesArgument,
    IncrementsOption,
    JsonOption,
    LimitOption,
    QuietOption,
)

if TYPE_CHECKING:
    from interp.studies.boundaries import BoundarySignals


def word_boundary_auc(
    files: FilesArgument = None,
    ckpt: CheckpointOption = None,
    lang: Annotated[
        str,
        typer.Option(
            "--lang",
            metavar="LANGUAGE",
            help="Whose words: en, ja, th or zh.  [default: zh]",
            show_default=False,
        ),
    ] = "zh",
    reference: Annotated[
        str | None,
        typer.Option(
            "--reference",
            metavar="SPEC",
            help="Who says where they end: ud:FILE.conllu (its own text), segmented:FILE (the "
            "input, its words separated by spaces), or a program; see docs/boundaries.md.  "
            "[default: the language's program, such as jieba]",
        ),
    ] = None,
    corpus: CorpusOption = None,
    limit: LimitOption = None,
    increments: IncrementsOption = None,
    signal: Annotated[
        list[str] | None,
        typer.Option(
            "--signal",
            metavar="NAME",
            help="What to score by, as for interp extract; can be given several times.  "
            "[default: increment, surprisal, entropy]",
        ),
    ] = None,
    scored_at: Annotated[
        list[str] | None,
        typer.Option(
            "--scored-at",
            metavar="PLACE",
            help="lead-byte of the next character, character (the sum over its bytes) or "
            "last-byte-before; can be given several times.  [default: lead-byte]",
        ),
    ] = None,
    counts: Annotated[
        str | None,
        typer.Option(
            "--counts",
            metavar="FILE",
            help="Character counts of interp count, for -PMI and branching entropy.  "
            "[default: those of Chinese Wikipedia, for zh]",
        ),
    ] = None,
    probe: Annotated[
        bool,
        typer.Option(
            "--probe",
            help="Also a ridge probe on what enters each layer: a supervised reference.",
        ),
    ] = False,
    versus: Annotated[
        list[str] | None,
        typer.Option(
            "--versus",
            metavar="NAME",
            help="Compare every score with this one on the same gaps, such as surprisal or "
            "'increment L2'; can be given several times.",
        ),
    ] = None,
    versus_ckpt: Annotated[
        str | None,
        typer.Option(
            "--versus-ckpt",
            metavar="CKPT",
            help="Compare with the same scores of another checkpoint on the same gaps.",
        ),
    ] = None,
    as_json: JsonOption = False,
    as_csv: CsvOption = False,
    quiet: QuietOption = False,
) -> None:
    """Do increments know where words end? ROC-AUC per layer, beside what it has to beat.

    With 95 % intervals clustered by document, a null from labels shifted in a circle, baselines
    that need no model, and what a threshold finds. What is not defined is shown as —, with the
    reason. Signals are kept in the cache folder, so that a second analysis of the same text need
    not run the model again.
    """
    from interp.cli.output import Output
    from interp.cli.reading import reference_of, refuse_beside_increments

    output = Output.chosen(as_json=as_json, as_csv=as_csv, quiet=quiet)
    if increments is not None:
        made = {"--ckpt": ckpt, "--versus-ckpt": versus_ckpt, "--probe": probe or None}
        refuse_beside_increments(made | {"FILE": files, "--corpus": corpus, "--limit": limit})
    judge = reference_of(lang, reference, has_text=bool(files or corpus))
    places = _places(scored_at)
    from interp.studies.boundaries import boundary_table, counts_for, scored_gaps

    character_counts = counts_for(lang, counts)
    with output.progress() as progress, ExitStack() as stack:
        if increments is not None:
            read, others = _kept(increments, signal), []
        else:
            from interp.cli.reading import load_checkpoint, text_input
            from interp.studies.boundaries import BOUNDARY_SIGNALS, boundary_signals

            names = [ckpt, *([] if versus_ckpt is None else [versus_ckpt])]
            checkpoints = [load_checkpoint(name) for name in names]
            others = [checkpoint.name for checkpoint in checkpoints[1:]]
            read = stack.enter_context(
                boundary_signals(
                    checkpoints,
                    text_input(files, corpus, limit),
                    judge,
                    signals=tuple(signal or BOUNDARY_SIGNALS),
                    has_probe=probe,
                    warn=output.warn,
                    progress=progress,
                )
            )
        gaps = scored_gaps(
            read,
            judge,
            scored_at=places,
            counts=character_counts,
            warn=output.warn,
            progress=progress,
        )
        found = boundary_table(gaps, versus=[*(versus or ()), *others])
        saturated = _saturated(read)

    from interp.cli.boundary_rendering import boundary_tables

    output.result(
        found,
        lambda: boundary_tables(found, saturated=saturated, cluster=gaps.cluster_noun),
    )


def _kept(increments: str, signals: list[str] | None) -> "BoundarySignals":
    """The signals that a folder holds."""
    from interp.extraction.increment_table import IncrementTable
    from interp.studies.boundaries import BoundarySignals

    table = IncrementTable.open(increments)
    for name in signals or ():
        table.columns(name)  # or the line that it is not there
    return BoundarySignals([(table, tuple(dict.fromkeys(signals or table.signals)))])


def _saturated(read: "BoundarySignals") -> list[str]:
    """Columns with many saturated increments, each with its checkpoint where there are several."""
    from interp.studies.first_look_page import saturation_notes

    tables = [table for table, signals in read.tables if "increment" in signals]
    return [
        note if len(tables) == 1 else f"{note} ({table.manifest['checkpoint']})"
        for table in tables
        for note in saturation_notes(table)
    ]


def _places(names: list[str] | None) -> list[str]:
    from interp.analyses.scored_gaps import LEAD_BYTE, SCORED_AT
    from interp.errors import UsageError

    known = {place.replace(" ", "-"): place for place in SCORED_AT}
    for name in names or ():
        if name not in known:
            raise UsageError(f"--scored-at {name}: no such place", f"Known: {', '.join(known)}.")
    return [known[name] for name in dict.fromkeys(names or ())] or [LEAD_BYTE]
