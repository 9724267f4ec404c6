"""``interp import``: another experiment's checkpoint becomes one of ours."""

from pathlib import Path
from typing import Annotated

import typer

from interp.cli.options import QuietOption


def import_checkpoint(
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE",
            help="A torch.save of {step, model_state_dict, model_config}, as the public "
            "experiment on learned increments writes it.",
        ),
    ],
    out: Annotated[
        str,
        typer.Option("--out", metavar="DIR", help="The checkpoint's folder; new or empty."),
    ],
    quiet: QuietOption = False,
) -> None:
    """Turn a checkpoint of the public experiment into a folder that every command reads.

    The file is read as data: tensors and plain values, never code. A model that can't be
    represented here is refused, and what it needs is named.
    """
    from interp.checkpoints.public_format import import_checkpoint as import_file
    from interp.cli.output import Output

    import_file(Path(file), Path(out))
    Output(is_quiet=quiet).remark(f"checkpoint: {out}")
