"""``interp report``: the page about a text."""

from typing import Annotated

import typer

from interp.cli.options import CheckpointOption, FilesArgument, QuietOption

LONGEST_TEXT = 200
"""Characters of a text that the command on the page repeats."""


def report(
    out: Annotated[
        str,
        typer.Option(
            "--out", metavar="FILE.html", help="The page to write; an existing one is replaced."
        ),
    ],
    files: FilesArgument = None,
    ckpt: CheckpointOption = None,
    text: Annotated[
        str | None, typer.Option("--text", metavar="TEXT", help="A text to draw, as typed.")
    ] = None,
    quiet: QuietOption = False,
) -> None:
    """One HTML page about a text: character positions, word boundaries, byte classes.

    It opens from disk, works offline and asks nobody anything. Of each text at most 2 000
    characters are drawn, of at most 20 texts; the tables are about everything that was read.
    """
    from interp.cli.output import Output
    from interp.cli.reading import load_checkpoint, refuse_replacing, text_input

    output = Output(is_quiet=quiet)
    given = text_input(files, literal=text)
    refuse_replacing(out, files)
    from interp.studies.report import report as write_report

    with output.progress() as progress:
        write_report(
            load_checkpoint(ckpt),
            given,
            out,
            command=_command(files, ckpt, text, out),
            warn=output.warn,
            progress=progress,
        )
    output.remark(f"page: {out}")


def _command(files: list[str] | None, ckpt: str | None, text: str | None, out: str) -> str:
    """The command as it could be typed again; a long text is left out, and that is said."""
    from interp.cli.reading import command_of

    words = ["interp", "report"]
    words += ["--ckpt", ckpt] if ckpt is not None else []
    if text is not None:
        is_long = len(text) > LONGEST_TEXT
        words += ["--text", f"(text of {len(text):,} characters left out)" if is_long else text]
    words += ["--out", out]
    return command_of(words, files)
