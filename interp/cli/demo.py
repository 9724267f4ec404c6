"""``interp demo``: the main job on what comes with the package."""

from typing import Annotated

import typer

from interp.cli.options import CsvOption, JsonOption, QuietOption


def demo(
    out: Annotated[
        str,
        typer.Option(
            "--out",
            metavar="DIR",
            help="The folder for increments, tables and page; made anew or gone on with.",
        ),
    ] = "interp-demo",
    as_json: JsonOption = False,
    as_csv: CsvOption = False,
    quiet: QuietOption = False,
) -> None:
    """Extract, measure and report the embedded sample text with the embedded checkpoint.

    Prints both tables and where the page is. Needs no network.
    """
    from interp.cli.output import Output

    output = Output.chosen(as_json=as_json, as_csv=as_csv, quiet=quiet)
    output.remark("Reading the sample text, English and Chinese, with the embedded checkpoint.")
    from interp.studies.demo import demo as run_demo
    from interp.studies.first_look_page import saturation_notes

    with output.progress() as progress:
        made = run_demo(out, warn=output.warn, progress=progress)

    import pandas as pd

    from interp.cli.boundary_rendering import boundary_tables
    from interp.cli.rendering import byte_class_tables
    from interp.extraction.increment_table import IncrementTable

    found = made.found
    saturated = saturation_notes(IncrementTable.open(made.increments))
    output.result(
        pd.concat([found.byte_classes, found.word_boundaries], ignore_index=True),
        lambda: [
            *byte_class_tables(found.byte_classes),
            *boundary_tables(found.word_boundaries, saturated=saturated),
        ],
    )
    output.remark("")
    output.remark(f"increments: {made.increments}")
    output.remark(f"tables:     {made.byte_classes}, {made.word_boundaries}")
    output.remark(f"page:       {made.page}   (open it in a browser)")
