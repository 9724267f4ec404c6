"""What ``make results`` runs, ``python -m interp.cli.results --out DIR``: no command of interp."""

from typing import Annotated

import typer

from interp.cli.app import main
from interp.cli.options import QuietOption

program = typer.Typer(
    name="python -m interp.cli.results", add_completion=False, rich_markup_mode=None
)


@program.command()
def results(
    out: Annotated[
        str, typer.Option("--out", metavar="DIR", help="The top of the repository.")
    ] = ".",
    quiet: QuietOption = False,
) -> None:
    """Write the tables and the page that the repository keeps of the embedded checkpoint."""
    from interp.cli.output import Output
    from interp.studies.results import results as write_results

    output = Output(is_quiet=quiet)
    with output.progress() as progress:
        written = write_results(out, progress=progress)
    for path in written:
        output.remark(f"wrote {path}")


if __name__ == "__main__":
    main(program=program)
