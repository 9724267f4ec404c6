"""``interp entity-order``: are the two words of a name spaced as one thing?"""

from typing import Annotated

import typer

from interp.cli.options import CheckpointOption, CsvOption, DeviceOption, JsonOption, QuietOption


def entity_order(
    ckpt: CheckpointOption = None,
    entities: Annotated[
        str | None,
        typer.Option(
            "--entities",
            metavar="FILE",
            help="Two-word names of your own, one per line, as New York or New,York.  "
            "[default: 200 of the package]",
        ),
    ] = None,
    device: DeviceOption = None,
    as_json: JsonOption = False,
    as_csv: CsvOption = False,
    quiet: QuietOption = False,
) -> None:
    """Increments inside two-word names against pairs that the model expects as much.

    At the inner space, the real order against the reversed one and against ordinary pairs of the
    same surprisal and entropy; at and over the second word, the name's first word against another
    one, and that against ordinary pairs whose second word is as probable. Every name is read in
    five English sentences. Median differences with 95 % intervals, the share of names with the
    smaller increment, Wilcoxon's p adjusted by Holm over the layers.
    """
    from interp.cli.output import Output
    from interp.cli.reading import load_checkpoint

    output = Output.chosen(as_json=as_json, as_csv=as_csv, quiet=quiet)
    from interp.studies.entity_file import read_pairs
    from interp.studies.entity_order import entity_order_of
    from interp.studies.entity_texts import ENTITIES

    pairs = ENTITIES if entities is None else read_pairs(entities)
    checkpoint = load_checkpoint(ckpt, device=device)
    with output.progress() as progress:
        found = entity_order_of(checkpoint, pairs, progress=progress)

    from interp.cli.entity_rendering import entity_tables

    output.result(found.as_table(), lambda: entity_tables(found))
