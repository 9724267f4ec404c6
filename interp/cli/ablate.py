"""``interp ablate``: does the loss care what the increments are?"""

from typing import TYPE_CHECKING, Annotated

import typer

from interp.cli.options import (
    CheckpointOption,
    CorpusOption,
    CsvOption,
    DeviceOption,
    FilesArgument,
    JsonOption,
    QuietOption,
)

if TYPE_CHECKING:
    from interp.model import ModelConfig

TOGETHER = "all"
"""What stands for all layers together in ``--layers``."""


def ablate(
    files: FilesArgument = None,
    ckpt: CheckpointOption = None,
    corpus: CorpusOption = None,
    limit: Annotated[
        int | None,
        typer.Option(
            "--limit",
            metavar="BYTES",
            help="Read at most this much of each corpus, in whole documents: it is read once for "
            "every intervention and layer.  [default: 100000]",
        ),
    ] = None,
    intervention: Annotated[
        list[str] | None,
        typer.Option(
            "--intervention",
            metavar="NAME",
            help="What stands in the place of the increments: byte-table, shuffled-within-class, "
            "shuffled, mean, one, layer, scaled-0.5 or scaled-2; can be given several times.  "
            "[default: all]",
        ),
    ] = None,
    layers: Annotated[
        str | None,
        typer.Option(
            "--layers",
            metavar="LIST",
            help="In which layers, each alone, such as 0,3; all is all of them together.  "
            "[default: every layer, and all]",
        ),
    ] = None,
    device: DeviceOption = None,
    as_json: JsonOption = False,
    as_csv: CsvOption = False,
    quiet: QuietOption = False,
) -> None:
    """Replace the increments in the forward pass: how much higher is the loss, in nats per byte?

    With paired 95 % intervals, clustered by document and simultaneous over the layers; by class
    of byte, at the first letters of words, and after the word ends of jieba. Each replacement in
    each layer is a pass over the text. Finished passes are kept in the cache folder: the same
    command goes on where it was interrupted.
    """
    from interp.cli.output import Output
    from interp.cli.reading import load_checkpoint, text_input

    output = Output.chosen(as_json=as_json, as_csv=as_csv, quiet=quiet)
    from interp.studies.ablations import LIMIT_BYTES, ablate_text, replacements_for

    if corpus and limit is None:
        limit = LIMIT_BYTES
    given = text_input(files, corpus, limit)
    checkpoint = load_checkpoint(ckpt, device=device)
    names = replacements_for(checkpoint, intervention)
    where = _layers(layers, checkpoint.model.config)
    with output.progress() as progress:
        found = ablate_text(
            checkpoint,
            given,
            names,
            where,
            warn=output.warn,
            remark=output.remark,
            progress=progress,
        )

    from interp.cli.ablation_rendering import ablation_tables

    output.result(found, lambda: ablation_tables(found))


def _layers(asked: str | None, config: "ModelConfig") -> list[int | None]:
    """Layers, each alone; None for all of them together.

    Raises:
        UsageError: It is no list of the model's layers.
    """
    from interp.errors import UsageError

    if asked is None:
        return [*range(config.n_layers), None]
    known = {str(layer): layer for layer in range(config.n_layers)} | {TOGETHER: None}
    names = list(dict.fromkeys(name.strip().removeprefix("L") for name in asked.split(",")))
    for name in names:
        if name not in known:
            raise UsageError(
                f"--layers {asked!r:.60}: {name!r:.20} is no layer of the model",
                f"Known: {', '.join(known)}.",
            )
    return [known[name] for name in names]
