"""The command line: one file per command, each of which parses, calls the library and writes.

Only typer is imported before a command runs, so that ``interp --help`` answers at once.
"""

from interp.cli.app import main

__all__ = ["main"]
