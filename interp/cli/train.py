"""``interp train``: a model from a recipe."""

from typing import TYPE_CHECKING, Annotated

import typer

from interp.cli.options import CsvOption, DeviceOption, JsonOption, QuietOption

if TYPE_CHECKING:
    from interp.cli.output import Output


def train(
    recipe: Annotated[
        str | None,
        typer.Argument(metavar="RECIPE", help="A TOML file, or a shipped recipe's name."),
    ] = None,
    out: Annotated[
        str | None,
        typer.Option(
            "--out",
            metavar="DIR",
            help="The folder of the run, which is the checkpoint. The same command goes on "
            "where it stopped; a run of another recipe is refused.",
        ),
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="KEY=VALUE",
            help="Put over the recipe, such as optimization.steps=5000; several times.",
        ),
    ] = None,
    device: DeviceOption = None,
    show_list: Annotated[
        bool, typer.Option("--list", help="List the shipped recipes and stop.")
    ] = False,
    as_json: JsonOption = False,
    as_csv: CsvOption = False,
    quiet: QuietOption = False,
) -> None:
    """Train a model, or go on with a run that was stopped.

    Ctrl-C gives up the step under way, saves all before it and stops. Prints the held-out
    loss per corpus in the end. With several processes: torchrun --nproc_per_node N -m interp
    train ...
    """
    from interp.cli.output import Output
    from interp.errors import UsageError

    output = Output.chosen(as_json=as_json, as_csv=as_csv, quiet=quiet)
    if show_list:
        _list_recipes()
        return
    if recipe is None or out is None:
        missing = "RECIPE" if recipe is None else "--out DIR"
        raise UsageError(
            f"train: {missing} is missing", "interp train --list shows the shipped recipes."
        )
    _train(recipe, out, settings or [], device, output)


def _list_recipes() -> None:
    import sys

    from interp.training import shipped_recipes

    recipes = shipped_recipes()
    width = max(map(len, recipes)) + 2
    sys.stdout.writelines(f"{name:<{width}}{words}.\n" for name, words in recipes.items())


def _train(
    recipe: str, out: str, settings: list[str], device: str | None, output: "Output"
) -> None:
    """Run, and say how it ended."""
    from pathlib import Path

    from interp import training
    from interp.cli.output import Interrupted, Output

    try:
        with training.joined() as processes:
            chosen = training.load_recipe(recipe, settings)
            speaker = output if processes.is_first else Output(is_quiet=True)
            with speaker.training() as progress:
                result = training.train(
                    chosen,
                    Path(out),
                    device=device,
                    processes=processes,
                    progress=progress,
                    warn=speaker.warn,
                )
    except training.StoppedElsewhere as stopped:  # where it was first, it is said why
        raise typer.Exit(stopped.exit_status) from stopped
    if not processes.is_first:
        return
    if result.is_interrupted:
        raise Interrupted(
            f"stopped at step {result.step:,} of {result.n_steps:,} and saved in {out}",
            "The same command goes on.",
        )

    from interp.cli.rendering import held_out_tables
    from interp.training.held_out import held_out_table

    found = held_out_table(chosen.name, result.held_out)
    output.result(found, lambda: held_out_tables(found))
    output.remark(f"checkpoint: {out}")
