"""``interp word-boundary-auc``: does the increment know where words end?"""

from typing import Annotated

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


def word_boundary_auc(
    files: FilesArgument = None,
    ckpt: CheckpointOption = None,
    lang: Annotated[
        str,
        typer.Option(
            "--lang",
            metavar="LANGUAGE",
            help="Whose words, such as zh (Chinese, by jieba).  [default: zh]",
            show_default=False,
        ),
    ] = "zh",
    corpus: CorpusOption = None,
    limit: LimitOption = None,
    increments: IncrementsOption = None,
    as_json: JsonOption = False,
    as_csv: CsvOption = False,
    quiet: QuietOption = False,
) -> None:
    """ROC-AUC of the increment at the next character against word boundaries, per layer.

    With 95 % intervals clustered by document, and the ceiling of what the next lead byte alone
    can tell. What is not defined is shown as —, with the reason. Increments are kept in the
    cache folder, so that a second analysis of the same text need not run the model again.
    """
    from interp.cli.output import Output
    from interp.cli.reading import increment_table
    from interp.errors import UsageError
    from interp.segmentation import SEGMENTERS

    output = Output.chosen(as_json=as_json, as_csv=as_csv, quiet=quiet)
    if lang not in SEGMENTERS:
        raise UsageError(
            f"--lang {lang}: nobody here says where its words end",
            f"Known: {', '.join(sorted(SEGMENTERS))}.",
        )
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
        from interp.studies.first_look import word_boundary_table
        from interp.studies.first_look_page import saturation_notes

        found = word_boundary_table(table, language=lang, warn=output.warn, progress=progress)
        saturated = saturation_notes(table)

    from interp.cli.rendering import auc_tables

    output.result(found, lambda: auc_tables(found, saturated=saturated))
