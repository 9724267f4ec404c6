"""Options that several commands share, each said once."""

from typing import Annotated

import typer

CheckpointOption = Annotated[
    str | None,
    typer.Option(
        "--ckpt",
        metavar="CKPT",
        help="Checkpoint: a folder, or OWNER/NAME on the Hub.  [default: the embedded one]",
    ),
]
FilesArgument = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="FILE",
        help="Text, .jsonl or .parquet files; - is standard input.  "
        "[default: the embedded sample text]",
    ),
]
CorpusOption = Annotated[
    list[str] | None,
    typer.Option(
        "--corpus",
        metavar="SPEC",
        help="A path, a glob, or hub:OWNER/NAME/CONFIG; can be given several times.",
    ),
]
LimitOption = Annotated[
    int | None,
    typer.Option(
        "--limit",
        metavar="BYTES",
        help="Read at most this much of each corpus, in whole documents; needed for hub:.  "
        "[default: everything]",
    ),
]
DeviceOption = Annotated[
    str | None,
    typer.Option("--device", metavar="D", help="cpu, cuda, cuda:1 or mps.  [default: cpu]"),
]
RopeScalingOption = Annotated[
    str | None,
    typer.Option(
        "--rope-scaling",
        metavar="HOW",
        help="Stretch rotary positions, to read beyond the training length: pi:2, ntk:2 or "
        "yarn:2 for twice the length.  [default: as trained]",
    ),
]
IncrementsOption = Annotated[
    str | None,
    typer.Option(
        "--increments",
        metavar="DIR",
        help="Measure what `interp extract` kept in this folder, instead of reading a text.",
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]
CsvOption = Annotated[bool, typer.Option("--csv", help="Print CSV instead of a table.")]
QuietOption = Annotated[
    bool, typer.Option("--quiet", "-q", help="No progress and no remarks; warnings stay.")
]
