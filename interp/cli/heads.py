"""``interp heads``: do heads that step further attend nearer?"""

from typing import TYPE_CHECKING

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
    from interp.checkpoints import Checkpoint


def heads(
    files: FilesArgument = None,
    ckpt: CheckpointOption = None,
    corpus: CorpusOption = None,
    limit: LimitOption = None,
    increments: IncrementsOption = None,
    as_json: JsonOption = False,
    as_csv: CsvOption = False,
    quiet: QuietOption = False,
) -> None:
    """Mean increment of every head against how many tokens its attention looks back.

    For checkpoints in which every head of every layer has its own increments; the embedded one
    has one increment per layer. Over tokens with at least 255 tokens of context, with 95 %
    intervals clustered by document, and Spearman's correlation of the two within each layer and
    over all. --increments takes a folder with the signals increment and attention_distance.
    """
    from interp.cli.output import Output
    from interp.cli.reading import increment_table

    output = Output.chosen(as_json=as_json, as_csv=as_csv, quiet=quiet)
    with output.progress() as progress:
        from interp.analyses.heads import SIGNALS, head_distances, head_sums
        from interp.studies.reading import stage

        with increment_table(
            output,
            ckpt=ckpt,
            files=files,
            corpora=corpus,
            limit=limit,
            increments=increments,
            progress=progress,
            signals=SIGNALS,
            check=_require_per_head,
        ) as table:
            found = head_distances([head_sums(table, progress=stage("heads", progress))])

    from interp.cli.head_rendering import head_tables

    output.result(found, lambda: head_tables(found))


def _require_per_head(checkpoint: "Checkpoint") -> None:
    """Find out before a long extraction that heads have no increments of their own."""
    from interp.analyses.heads import require_own_increments
    from interp.extraction.signals import increment_columns

    require_own_increments(checkpoint.name, increment_columns(checkpoint.model.config))
