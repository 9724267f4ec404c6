"""``interp verify-encoding``: does a position encoding keep what it promises?"""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from interp.cli.options import CsvOption, JsonOption, QuietOption

if TYPE_CHECKING:
    import pandas as pd

    from interp.model.verification import Check

ALL = "all"


def verify_encoding(
    name: Annotated[
        str | None,
        typer.Argument(metavar="NAME", help="A position encoding, or all.", show_default=False),
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="KEY=VALUE",
            help="A setting of the encoding, as in a recipe's [model.position], such as "
            "scope=shared; several times.",
        ),
    ] = None,
    as_json: JsonOption = False,
    as_csv: CsvOption = False,
    quiet: QuietOption = False,
) -> None:
    """Measure what a position encoding promises, on a small model with random weights.

    Whether attention can tell the order of its tokens, with a causal mask and without; whether
    scores depend on distances alone, in tokens and in positions; whether rotation keeps lengths;
    whether the loss reaches the encoding's weights; how much a stretched model differs on short
    contexts; how long a window it reads. The status is 1 where a promise is not kept.
    """
    from interp.cli.output import Output
    from interp.errors import InterpError, UsageError

    output = Output.chosen(as_json=as_json, as_csv=as_csv, quiet=quiet)
    from interp.model.config import POSITION_CONFIGS
    from interp.model.verification import small_config, verify
    from interp.training.machine import require_memory

    if name is None or name not in (ALL, *POSITION_CONFIGS):
        problem = "which one?" if name is None else f"there is no position encoding {name!r}"
        raise UsageError(
            f"verify-encoding: {problem}", f"Known: {', '.join(POSITION_CONFIGS)}; or all."
        )
    if name == ALL and settings:
        raise UsageError("verify-encoding: --set goes with one encoding, not with all")
    chosen = dict(map(_setting, settings or []))
    checks: dict[str, tuple[Check, ...]] = {}
    for encoding in POSITION_CONFIGS if name == ALL else (name,):
        try:
            config = small_config(encoding, chosen)
            require_memory(config)
        except ValueError as error:
            raise UsageError(f"verify-encoding {encoding}: {error}") from error
        checks[encoding] = verify(config)

    from interp.cli.verification_rendering import broken, verification_tables

    output.result(_frame(checks), lambda: verification_tables(checks, settings or ()))
    not_kept = broken(checks)
    if not_kept:
        raise InterpError(f"verify-encoding: {'; '.join(not_kept)}")


def _setting(written: str) -> tuple[str, Any]:
    """The key and the value of a setting, which is TOML or plain text."""
    from interp.errors import UsageError
    from interp.training.recipe_file import value_of

    key, equals, text = written.partition("=")
    if not equals or not key:
        raise UsageError(f"verify-encoding: setting {written!r} is not of the form key=value")
    return key, value_of(text)


def _frame(checks: "dict[str, tuple[Check, ...]]") -> "pd.DataFrame":
    """One row per encoding and property."""
    import dataclasses

    import pandas as pd

    rows = [
        {"encoding": encoding, **dataclasses.asdict(check), "holds": check.holds}
        for encoding, of_encoding in checks.items()
        for check in of_encoding
    ]
    return pd.DataFrame(rows).rename(columns={"name": "property"})
