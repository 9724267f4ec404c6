"""``interp merge``: the shards of an extraction become one folder."""

from functools import partial
from typing import Annotated

import typer

from interp.cli.options import CsvOption, JsonOption, QuietOption


def merge(
    shards: Annotated[
        list[str],
        typer.Argument(
            metavar="SHARD_DIR",
            help="The folders of all shards of one extraction, in any order.",
        ),
    ],
    out: Annotated[
        str,
        typer.Option(
            "--out",
            metavar="DIR",
            help="The folder of the whole. The same merge goes on where it stopped; a folder "
            "with anything else is refused.",
        ),
    ],
    as_json: JsonOption = False,
    as_csv: CsvOption = False,
    quiet: QuietOption = False,
) -> None:
    """Join what `interp extract --shard` kept into the folder that one run would have written.

    Prints what `interp extract` prints. The shards stay as they are.
    """
    from interp.cli.extract import say_what_is_kept
    from interp.cli.output import Output

    output = Output.chosen(as_json=as_json, as_csv=as_csv, quiet=quiet)
    from interp.extraction.merge import merge as merge_shards

    with output.progress() as progress:
        on_bytes = partial(progress, "merging") if progress is not None else None
        table = merge_shards(shards, out, progress=on_bytes)
    say_what_is_kept(output, table, out)
