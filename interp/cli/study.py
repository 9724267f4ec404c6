"""``interp study``: the questions that the shipped checkpoints were trained to answer."""

import sys
from typing import Annotated

import typer

from interp.cli.options import DeviceOption, LimitOption, QuietOption

ALL = "all"


def study(
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="A study, or all.", show_default=False)
    ] = None,
    checkpoints: Annotated[
        str,
        typer.Option(
            "--checkpoints", metavar="DIR", help="The folder in which every folder is a checkpoint."
        ),
    ] = "checkpoints",
    corpus: Annotated[
        list[str] | None,
        typer.Option(
            "--corpus",
            metavar="LANGUAGE=SPEC",
            help="Held-out text: en=, zh=, python= or characters= and a path, a glob, or "
            "hub:OWNER/NAME/CONFIG; can be given several times.",
        ),
    ] = None,
    reference: Annotated[
        list[str] | None,
        typer.Option(
            "--reference",
            metavar="[LANGUAGE=]ud:FILE",
            help="A treebank in which people marked the words, as CoNLL-U: ja=, th= or, by "
            "default, zh=; can be given several times.",
        ),
    ] = None,
    out: Annotated[
        str | None,
        typer.Option("--out", metavar="DIR", help="Where analyses/ and reports/ are written."),
    ] = None,
    limit: LimitOption = None,
    device: DeviceOption = None,
    is_list: Annotated[bool, typer.Option("--list", help="Print the studies and end.")] = False,
    quiet: QuietOption = False,
) -> None:
    """Ask trained checkpoints a question on held-out text: tables, a page, a verdict per claim.

    Writes DIR/analyses/NAME/ and DIR/reports/NAME.html. What the models say of the text is kept
    in the cache folder, so that a second study need not run them again. `all` passes over a
    study whose checkpoint or text is missing, and says so; it fails if none could be run.
    """
    from interp.studies.registry import STUDIES

    if is_list:
        width = max(map(len, STUDIES)) + 2
        sys.stdout.writelines(f"{each.name:<{width}}{each.sentence}\n" for each in STUDIES.values())
        return
    from pathlib import Path

    from interp.cli.output import Output
    from interp.errors import InputError, UsageError
    from interp.studies.publishing import run_study
    from interp.studies.study_input import MissingCheckpoint, MissingText, StudyInput

    if name is None or name not in (ALL, *STUDIES):
        problem = "which one?" if name is None else f"there is no study {name!r}"
        raise UsageError(f"study: {problem}", f"Known: {', '.join(STUDIES)}; or all.")
    if out is None:
        raise UsageError("study: nowhere to write", "Name a folder with --out DIR.")
    output, skipped = Output(is_quiet=quiet), []
    chosen = list(STUDIES.values()) if name == ALL else [STUDIES[name]]
    for each in chosen:
        with output.progress() as progress:
            given = StudyInput(
                checkpoints=Path(checkpoints),
                corpus=tuple(corpus or ()),
                limit_bytes=limit,
                device=device,
                references=tuple(reference or ()),
                warn=output.warn,
                remark=output.remark,
                progress=progress,
            )
            try:
                run_study(each, given, out)
            except (MissingCheckpoint, MissingText) as missing:
                if name != ALL:
                    raise
                skipped.append(each.name)
                output.warn(f"skipped {each.name}: {missing}")
                continue
        page = Path(out) / "reports" / f"{each.name}.html"
        output.remark(f"{each.name}: {page}, tables in {Path(out) / 'analyses' / each.name}")
    if len(skipped) == len(chosen):
        raise InputError("study: none could be run", "Each line above says what is missing.")
