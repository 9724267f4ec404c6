"""``interp byte-classes``: the increment of letters, spaces, Chinese bytes, ..."""

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


def byte_classes(
    files: FilesArgument = None,
    ckpt: CheckpointOption = None,
    corpus: CorpusOption = None,
    limit: LimitOption = None,
    increments: IncrementsOption = None,
    as_json: JsonOption = False,
    as_csv: CsvOption = False,
    quiet: QuietOption = False,
) -> None:
    """Mean increment by class of byte, per layer, with 95 % intervals.

    Over running text, and over the vocabulary for what the byte alone decides. Increments are
    kept in the cache folder, so that a second analysis of the same text need not run the model
    again.
    """
    from interp.cli.output import Output
    from interp.cli.reading import increment_table

    output = Output.chosen(as_json=as_json, as_csv=as_csv, quiet=quiet)
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
        from interp.studies.first_look import byte_class_table

        found = byte_class_table(table, progress=progress)

    from interp.cli.rendering import byte_class_tables

    output.result(found, lambda: byte_class_tables(found))
