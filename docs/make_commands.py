"""Write docs/commands.md: every command with its arguments and options, as the program has them.

`make docs` runs this; a test compares the page with the program.
"""

import re
from pathlib import Path
from typing import Any

import typer

from interp.cli.app import app

PAGE = Path(__file__).with_name("commands.md")

_TOP = """\
# Commands

Made from the program by `make docs`; `interp COMMAND --help` says the same.

Results go to standard output, everything else to standard error. The exit status is 0, or 1 for
what could not be done, 2 for a command that was not understood, 130 after an interruption.
`interp --version` prints the version.
"""


def commands_page() -> str:
    """The page as Markdown; it does not depend on the terminal."""
    commands = typer.main.get_command(app).commands  # type: ignore[attr-defined]
    shown = {name: command for name, command in commands.items() if not command.hidden}
    index = [f"| [`interp {n}`](#interp-{n}) | {_cell(c.short_help)} |" for n, c in shown.items()]
    sections = [_section(name, command) for name, command in shown.items()]
    top = "\n".join([_TOP, "| command | what |", "|---|---|", *index])
    return "\n\n".join([top, *sections]) + "\n"


def _section(name: str, command: Any) -> str:
    arguments = [p for p in command.params if p.param_type_name == "argument"]
    options = [p for p in command.params if p.param_type_name == "option" and not p.hidden]
    needed = [_name(option) for option in options if option.required]
    usage = ["interp", name, *needed, "[OPTIONS]", *map(_place, arguments)]
    rows = [f"| `{_name(p)}` | {_cell(_about(p))} |" for p in [*arguments, *options]]
    parts = [
        f"## interp {name}",
        command.help,
        f"    {' '.join(usage)}",
        "\n".join(["| argument or option | what |", "|---|---|", *rows]),
        re.sub("Example: (.*)", r"Example: `\1`", command.epilog),
    ]
    return "\n\n".join(parts)


def _name(parameter: Any) -> str:
    if parameter.param_type_name == "argument":
        return parameter.metavar
    names = [*parameter.opts, *parameter.secondary_opts]
    return f"{', '.join(names)} {parameter.metavar or ''}".strip()


def _place(argument: Any) -> str:
    name = argument.metavar + ("..." if argument.nargs == -1 else "")
    return name if argument.required else f"[{name}]"


def _about(parameter: Any) -> str:
    """Its help, and its default where the help does not say it."""
    is_flag = getattr(parameter, "is_flag", False)
    if parameter.required:
        note = "[required]"
    elif parameter.default is None or is_flag or not parameter.show_default:
        note = ""
    else:
        note = f"[default: {parameter.default}]"
    return " ".join(f"{parameter.help} {note}".split())


def _cell(text: str) -> str:
    """Text that stands in a table's cell as it is."""
    return re.sub(r"([|*<])", r"\\\1", text)


if __name__ == "__main__":
    PAGE.write_text(commands_page(), encoding="utf-8")
