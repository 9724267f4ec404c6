"""``interp train-family``: models that differ in their position encoding alone."""

from typing import TYPE_CHECKING, Annotated

import typer

from interp.cli.options import CsvOption, DeviceOption, JsonOption, QuietOption

if TYPE_CHECKING:
    import pandas as pd

    from interp.cli.rendering import Rendered

_MOST_SEEDS_SHOWN = 4
"""More do not fit into 80 columns."""


def train_family(
    recipe: Annotated[
        str,
        typer.Argument(
            metavar="RECIPE",
            help="family-characters, family-bytes, or a TOML file.",
            show_default=False,
        ),
    ],
    out: Annotated[
        str,
        typer.Option(
            "--out",
            metavar="DIR",
            help="Each run is a folder DIR/ENCODING-seedN. The same command goes on where it "
            "stopped; runs of another recipe are refused.",
            show_default=False,
        ),
    ],
    encodings: Annotated[
        str | None,
        typer.Option(
            "--encodings", metavar="A,B,...", help="Which members.  [default: all of them]"
        ),
    ] = None,
    seeds: Annotated[
        str | None,
        typer.Option(
            "--seeds",
            metavar="0,1,...",
            help="Seeds to train every member with.  [default: the recipe's, which is 0]",
        ),
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="KEY=VALUE",
            help="Put over the recipe, such as optimization.steps=600; several times.",
        ),
    ] = None,
    device: DeviceOption = None,
    as_json: JsonOption = False,
    as_csv: CsvOption = False,
    quiet: QuietOption = False,
) -> None:
    """Train position encodings side by side: same text, same windows, same initial weights.

    One model after the other, each of which is a checkpoint. Ctrl-C saves and stops, and the
    same command goes on. Prints every held-out loss in the end, with mean and sd over seeds.
    """
    import sys
    from pathlib import Path

    from interp.cli.family_progress import family_progress
    from interp.cli.output import Interrupted, Output
    from interp.training import load_recipe
    from interp.training.family import family_runs
    from interp.training.family import train_family as train

    output = Output.chosen(as_json=as_json, as_csv=as_csv, quiet=quiet)
    members, numbers = _listed(encodings), _seeds(seeds)
    chosen = load_recipe(recipe, settings or ())
    runs = family_runs(chosen, Path(out), members, numbers)
    with family_progress(output, runs, is_terminal=sys.stderr.isatty()) as progress:
        trained = train(
            chosen,
            Path(out),
            members=members,
            seeds=numbers,
            device=device,
            progress=progress,
            warn=output.warn,
        )
    if len(trained) < len(runs):
        raise Interrupted(
            f"stopped with {len(trained)} of {len(runs)} models trained, and saved in {out}",
            "The same command goes on.",
        )
    from interp.studies.family_losses import trained_table

    found = trained_table(trained)
    output.result(found, lambda: family_tables(found))
    output.remark(f"checkpoints: {out}")


def family_tables(found: "pd.DataFrame") -> "list[Rendered]":
    """A table for each corpus, for a reader.

    Args:
        found: Of `interp.studies.family_losses.trained_table`.
    """
    from rich.text import Text

    from interp.cli.rendering import UNDEFINED, Rendered, number, table_of, whole
    from interp.studies.family_losses import LOSS, PARAMETERS
    from interp.tables import rows_of

    n_parameters = {
        r["checkpoint"]: r["value"] for r in rows_of(found) if r["statistic"] == PARAMETERS
    }
    losses = [row for row in rows_of(found) if row["statistic"] != PARAMETERS]
    seeds = dict.fromkeys(
        row["checkpoint"].rpartition("-seed")[2] for row in losses if row["statistic"] == LOSS
    )
    shown = list(seeds)[:_MOST_SEEDS_SHOWN]
    notes = ["Over all held-out text."]
    if len(seeds) == 1:
        notes.append(f"{UNDEFINED}: mean and sd need two seeds or more.")
    if len(seeds) > len(shown):
        notes.append(f"Mean and sd are of {len(seeds)} seeds; --json and --csv show each.")
    rendered = []
    for corpus in dict.fromkeys(row["group"] for row in losses):
        value = {
            (r["checkpoint"], r["statistic"]): r["value"] for r in losses if r["group"] == corpus
        }
        columns = [f"seed {seed}" for seed in shown]
        table = table_of("encoding", "parameters", *columns, "mean", "sd")
        for member, n in n_parameters.items():
            cells = [number(value[f"{member}-seed{seed}", LOSS]) for seed in shown]
            mean = number(value[member, f"mean_{LOSS}"]) if len(seeds) > 1 else UNDEFINED
            sd = number(value[member, f"sd_{LOSS}"])
            table.add_row(Text(member), whole(int(n)), *cells, mean, sd)
        title = f"Held-out loss, {corpus}: nats per byte"
        rendered.append(Rendered(title, table, (" ".join(notes),)))
    return rendered


def _listed(words: str | None) -> list[str]:
    return [] if words is None else [word.strip() for word in words.split(",")]


def _seeds(words: str | None) -> list[int]:
    """The numbers of a list such as ``0,1,2``.

    Raises:
        UsageError: It is none.
    """
    from interp.errors import UsageError

    try:
        return [int(word) for word in _listed(words)]
    except ValueError as error:
        raise UsageError(
            f"--seeds {words!a:.60} is no list of whole numbers", "Such as --seeds 0,1,2."
        ) from error
