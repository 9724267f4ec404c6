"""``interp extract``: signals of a text, into a folder."""

from typing import TYPE_CHECKING, Annotated

import typer

from interp.cli.options import (
    CheckpointOption,
    CorpusOption,
    CsvOption,
    DeviceOption,
    FilesArgument,
    JsonOption,
    LimitOption,
    QuietOption,
    RopeScalingOption,
)

if TYPE_CHECKING:
    from interp.cli.output import Output
    from interp.extraction.increment_table import IncrementTable


def extract(
    out: Annotated[
        str,
        typer.Option(
            "--out",
            metavar="DIR",
            help="The folder to keep the signals in. The same extraction goes on where it "
            "stopped; a folder with anything else is refused.",
        ),
    ],
    files: FilesArgument = None,
    ckpt: CheckpointOption = None,
    corpus: CorpusOption = None,
    limit: LimitOption = None,
    signal: Annotated[
        list[str] | None,
        typer.Option(
            "--signal",
            metavar="NAME",
            help="increment, increment_pre, surprisal, entropy, attention_distance, or "
            "HOOK:REDUCTION, such as blocks.*.hook_resid_post:norm; can be given several times.  "
            "[default: increment]",
        ),
    ] = None,
    dtype: Annotated[
        str,
        typer.Option(
            "--dtype",
            metavar="DTYPE",
            help="float32, or bfloat16 for faster products; increments stay float32.",
        ),
    ] = "float32",
    device: DeviceOption = None,
    rope_scaling: RopeScalingOption = None,
    window: Annotated[
        int | None,
        typer.Option(
            "--window",
            metavar="N",
            help="Tokens that are read together.  [default: as in the model's training; with "
            "--rope-scaling as far as that stretches it]",
        ),
    ] = None,
    stride: Annotated[
        int | None,
        typer.Option(
            "--stride",
            metavar="N",
            help="Tokens from one window to the next.  [default: half a window]",
        ),
    ] = None,
    shard: Annotated[
        str | None,
        typer.Option(
            "--shard",
            metavar="I/N",
            help="Read every N-th document, from number I on, counted from 0: one of N parts of "
            "the work, each with an --out of its own.  [default: every document]",
        ),
    ] = None,
    as_json: JsonOption = False,
    as_csv: CsvOption = False,
    quiet: QuietOption = False,
) -> None:
    """Read the increments (or other signals) of every byte and keep them as Parquet.

    Prints the share of saturated entries per layer: increments within 0.1 % of the model's
    upper bound, which hardly differ. The shards of a corpus are joined by interp merge.
    """
    from interp.cli.output import Output
    from interp.cli.reading import load_checkpoint, text_input

    output = Output.chosen(as_json=as_json, as_csv=as_csv, quiet=quiet)
    given = text_input(files, corpus, limit)
    from interp.extraction.shards import WHOLE, Shard

    which = WHOLE if shard is None else Shard.parse(shard)
    from interp.extraction.extract import extract as extract_signals
    from interp.studies.reading import EXTRACTING, Warnings, documents_of, stage

    warnings = Warnings(output.warn)
    with output.progress() as progress:
        table = extract_signals(
            load_checkpoint(ckpt, device=device, rope_scaling=rope_scaling),
            lambda: documents_of(given, warnings),
            out,
            signals=tuple(signal or ["increment"]),
            dtype=dtype,
            window=window,
            stride=stride,
            shard=which,
            progress=stage(EXTRACTING, progress),
        )
    say_what_is_kept(output, table, out)


def say_what_is_kept(output: "Output", table: "IncrementTable", out: str) -> None:
    """Print the share of saturated entries per column, and say where the table is."""
    from interp.cli.rendering import saturation_tables
    from interp.extraction.saturation import saturated_shares
    from interp.text import counted

    found = saturated_shares(table)
    output.result(found, lambda: saturation_tables(found))
    n_documents, n_bytes = len(table.documents), table.manifest["n_bytes"]
    of_what = f"shard {table.shard}: " if table.shard.count > 1 else ""
    sizes = f"{counted(n_documents, 'text')}, {counted(n_bytes, 'byte')}"
    output.remark(f"{', '.join(table.signals)}: {out} ({of_what}{sizes})")
