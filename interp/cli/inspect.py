"""``interp inspect``: what a checkpoint is."""

from typing import Annotated

import typer

from interp.cli.options import CsvOption, JsonOption, QuietOption, RopeScalingOption


def inspect(
    ckpt: Annotated[
        str | None,
        typer.Argument(
            metavar="CKPT",
            help="A folder, or OWNER/NAME on the Hub.  [default: the embedded one]",
        ),
    ] = None,
    rope_scaling: RopeScalingOption = None,
    as_json: JsonOption = False,
    as_csv: CsvOption = False,
    quiet: QuietOption = False,
) -> None:
    """What a checkpoint is: sizes, position encoding, training, held-out loss, versions.

    It is loaded and checked in full; nothing in it is run.
    """
    from interp.cli.output import CSV, JSON, Output, write_utf8
    from interp.cli.reading import load_checkpoint

    output = Output.chosen(as_json=as_json, as_csv=as_csv, quiet=quiet)
    from interp.studies.facts import checkpoint_facts, checkpoint_values
    from interp.text import one_line

    checkpoint = load_checkpoint(ckpt, rope_scaling=rope_scaling)
    facts = [(one_line(name), one_line(value)) for name, value in checkpoint_facts(checkpoint)]
    if output.format == JSON:
        import json

        values = checkpoint_values(checkpoint)
        write_utf8(json.dumps(values, indent=1) + "\n")  # escaped: it may say anything
    elif output.format == CSV:
        import csv
        import io

        written = io.StringIO()
        csv.writer(written, lineterminator="\n").writerows([("name", "value"), *facts])
        write_utf8(written.getvalue())
    else:
        from interp.cli.rendering import fact_table

        output.show([fact_table(facts)])
