"""``interp gallery``: the index over a folder of pages."""

from typing import Annotated

import typer

from interp.cli.options import QuietOption


def gallery(
    folder: Annotated[
        str, typer.Argument(metavar="DIR", help="The folder with pages of interp report.")
    ],
    title: Annotated[
        str | None, typer.Option("--title", metavar="TEXT", help="The heading of the index.")
    ] = None,
    quiet: QuietOption = False,
) -> None:
    """Write DIR/index.html, which leads to every page in DIR with a picture and a sentence.

    The pages then share one script, a file beside them, instead of each holding it: the folder
    travels as a whole. Files that interp did not write, links and folders are left alone.
    """
    from interp.cli.output import Output
    from interp.reports.gallery import TITLE, write_gallery

    index, *_ = write_gallery(folder, title=title or TITLE)
    Output(is_quiet=quiet).remark(f"gallery: {index}")
