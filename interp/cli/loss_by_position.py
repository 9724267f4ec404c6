"""``interp loss-by-position``: what context is worth to a model, and how far it lasts."""

from typing import Annotated

import typer

from interp.cli.options import (
    CorpusOption,
    CsvOption,
    DeviceOption,
    FilesArgument,
    JsonOption,
    LimitOption,
    QuietOption,
    RopeScalingOption,
)


def loss_by_position(
    files: FilesArgument = None,
    ckpt: Annotated[
        list[str] | None,
        typer.Option(
            "--ckpt",
            metavar="CKPT",
            help="Checkpoint: a folder, or OWNER/NAME on the Hub; can be given several times, and "
            "all are compared with the first.  [default: the embedded one]",
        ),
    ] = None,
    corpus: CorpusOption = None,
    limit: LimitOption = None,
    length: Annotated[
        int | None,
        typer.Option(
            "--length",
            metavar="N",
            help="Tokens of a window, which may be more than in training.  [default: as in the "
            "model's training; with --rope-scaling as far as that stretches it]",
        ),
    ] = None,
    held_out: Annotated[
        bool,
        typer.Option(
            "--held-out",
            help="Read only what every checkpoint is known to have held out from its training.",
        ),
    ] = False,
    rope_scaling: RopeScalingOption = None,
    device: DeviceOption = None,
    out: Annotated[
        str | None,
        typer.Option(
            "--out",
            metavar="FILE.html",
            help="Also write a page with the curves; an existing one is replaced.",
        ),
    ] = None,
    as_json: JsonOption = False,
    as_csv: CsvOption = False,
    quiet: QuietOption = False,
) -> None:
    """Mean surprisal of the next token by input position, within the training length and beyond.

    The text is read in windows that do not overlap, each as if it began there. Printed are bands
    of positions with 95 % intervals, clustered by document, or by blocks of windows where there
    are fewer than 20; --csv and --json have every position. With --rope-scaling every checkpoint
    is read as it is and then stretched.
    """
    from pathlib import Path

    from interp.cli.output import Output
    from interp.cli.reading import command_of, load_checkpoint, refuse_replacing, text_input

    output = Output.chosen(as_json=as_json, as_csv=as_csv, quiet=quiet)
    given = text_input(files, corpus, limit)
    if out is not None:
        refuse_replacing(out, files, corpus)
    from interp.studies.position_losses import position_losses

    ways = [None] if rope_scaling is None else [None, rope_scaling]
    checkpoints = [
        load_checkpoint(name, device=device, rope_scaling=way)
        for name in ckpt or [None]
        for way in ways
    ]
    with output.progress() as progress:
        found = position_losses(
            checkpoints,
            given,
            length=length,
            is_held_out=held_out,
            warn=output.warn,
            progress=progress,
        )
    for doubt in found.doubts():
        output.warn(doubt)

    from interp.cli.position_rendering import position_tables

    output.result(found.table, lambda: position_tables(found))
    if out is None:
        return
    from interp.studies.position_loss_page import position_loss_page
    from interp.studies.writing import write_text

    options = {"--length": length, "--rope-scaling": rope_scaling, "--limit": limit}
    words = ["interp", "loss-by-position"]
    words += [word for name in ckpt or () for word in ("--ckpt", name)]
    words += [word for spec in corpus or () for word in ("--corpus", spec)]
    words += [str(w) for pair in options.items() if pair[1] is not None for w in pair]
    words += [*(["--held-out"] if held_out else []), "--out", out]
    page = position_loss_page(found, text=given.describe(), command=command_of(words, files))
    write_text(Path(out), page)
    output.remark(f"page: {out}")
