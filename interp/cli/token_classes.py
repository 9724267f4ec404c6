"""``interp token-classes``: the increment of names, brackets, newlines, ... of source code."""

from typing import Annotated

import typer

from interp.cli.options import (
    CheckpointOption,
    CorpusOption,
    CsvOption,
    IncrementsOption,
    JsonOption,
    LimitOption,
    QuietOption,
)


def token_classes(
    files: Annotated[
        list[str] | None,
        typer.Argument(metavar="FILE", help="Source files; - is standard input."),
    ] = None,
    language: Annotated[
        str, typer.Option("--lang", metavar="LANGUAGE", help="The language of the source.")
    ] = "python",
    ckpt: CheckpointOption = None,
    corpus: CorpusOption = None,
    limit: LimitOption = None,
    increments: IncrementsOption = None,
    as_json: JsonOption = False,
    as_csv: CsvOption = False,
    quiet: QuietOption = False,
) -> None:
    """Mean increment by class of token of source code, per layer, with 95 % intervals.

    Beside every mean stands what the same bytes get on average, whatever token they belong to:
    what is left is what the layer makes of the token. Every byte has one class; the first byte
    of a name is another class than the others. What is no Python is a class too, and is counted
    in a warning.
    """
    from interp.analyses.token_classes import TOKENIZERS
    from interp.cli.output import Output
    from interp.cli.reading import increment_table
    from interp.errors import UsageError

    output = Output.chosen(as_json=as_json, as_csv=as_csv, quiet=quiet)
    if language not in TOKENIZERS:
        raise UsageError(
            f"--lang {language}: nobody here says what its tokens are",
            f"Known: {', '.join(sorted(TOKENIZERS))}.",
        )
    if not (files or corpus or increments):
        raise UsageError("token-classes: no source to read", "Name a file, such as module.py.")
    with (
        output.progress() as progress,
        increment_table(
            output,
            ckpt=ckpt,
            files=files,
            corpora=corpus,
            limit=limit,
            increments=increments,
            progress=progress,
        ) as table,
    ):
        from interp.studies.code_study import token_class_table

        found = token_class_table(table, language=language, warn=output.warn, progress=progress)

    from interp.cli.rendering import token_class_tables

    output.result(found, lambda: token_class_tables(found))
