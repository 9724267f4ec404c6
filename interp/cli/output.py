"""What a command says: results on standard output, everything else on standard error."""

import io
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from interp.errors import InterpError, UsageError

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import Console
    from rich.live import Live
    from rich.progress import Progress, TaskID
    from rich.table import Table

    from interp.cli.rendering import Rendered
    from interp.training import TrainingProgress

TABLE, JSON, CSV = "table", "json", "csv"

STANDARD_OUTPUT = "standard output"
"""What it is called where it cannot be written to."""

TABLE_WIDTH = 80
"""Columns that every table fits into."""

LOG_SECONDS = 30.0
"""Where no live line can be shown, as in a log file, a plain one comes at most this often."""

INTERRUPTED = 130
"""Exit status after Ctrl-C: 128 and the signal's number."""


class Interrupted(InterpError):
    """Work that a signal stopped in good order."""

    exit_status = INTERRUPTED


@dataclass
class Output:
    """Where and how one command speaks.

    Attributes:
        format: ``table``, ``json`` or ``csv``: what is printed on standard output.
        is_quiet: No progress and no remarks.
    """

    format: str = TABLE
    is_quiet: bool = False
    _progress: "Progress | Live | None" = field(default=None, init=False)

    @classmethod
    def chosen(cls, *, as_json: bool, as_csv: bool, quiet: bool) -> "Output":
        """What the user's flags ask for.

        Raises:
            UsageError: Both formats are asked for.
        """
        if as_json and as_csv:
            raise UsageError("--json and --csv exclude each other", "Choose one of them.")
        return cls(JSON if as_json else CSV if as_csv else TABLE, quiet)

    def warn(self, warning: str) -> None:
        """Say one line about what is odd."""
        self._say(f"interp: warning: {warning}")

    def remark(self, words: str) -> None:
        """Say one line that a quiet user does without, such as where a file is."""
        if not self.is_quiet:
            self._say(words)

    def result(self, table: "pd.DataFrame", render: Callable[[], Sequence["Rendered"]]) -> None:
        """Print an analysis table.

        Args:
            table: It is printed as it is, in UTF-8, where JSON or CSV is asked for.
            render: Gives what a reader is shown instead.
        """
        if self.format == TABLE:
            self.show(render())
            return
        from interp import tables

        write_utf8(tables.to_json(table) + "\n" if self.format == JSON else tables.to_csv(table))

    def show(self, rendered: Sequence["Rendered"]) -> None:
        """Print tables for a reader, each with its title above and its notes below.

        Where the terminal is narrower than a table, it breaks lines, and no number is cut.
        """
        from interp.text import one_line

        with _standard_output() as stream:
            console = _console(stream)
            console.width = max(console.width, TABLE_WIDTH)
            for number, each in enumerate(rendered):
                if number:
                    console.print()
                if each.title:
                    console.print(one_line(each.title), style="bold", soft_wrap=True)
                if each.table.row_count:
                    console.print(each.table)
                for note in each.notes:
                    console.print(one_line(note))

    @contextmanager
    def progress(self) -> Iterator[Callable[[str, int, int | None], None] | None]:
        """A live line with the share done and the time left.

        Elsewhere than on a terminal, long work says a plain line now and then.

        Yields:
            What takes the name of the work, bytes done and bytes in all; None for a quiet user.
        """
        if self.is_quiet:
            yield None
            return
        if not sys.stderr.isatty():
            is_due = log_clock()

            def on_log(name: str, n_done: int, n_all: int | None) -> None:
                if is_due():
                    self._say(progress_line(name, n_done, n_all))

            yield on_log
            return
        from rich import progress as rich_progress

        bar = rich_progress.Progress(
            rich_progress.TextColumn("{task.description}", markup=False),
            rich_progress.BarColumn(),
            rich_progress.TaskProgressColumn(),
            rich_progress.DownloadColumn(),
            rich_progress.TimeRemainingColumn(),
            console=_console(sys.stderr),
            transient=True,
        )
        tasks: dict[str, TaskID] = {}

        def on_progress(name: str, n_done: int, n_all: int | None) -> None:
            if name not in tasks:
                tasks[name] = bar.add_task(name, total=n_all)
            bar.update(tasks[name], completed=n_done, total=n_all)

        with bar:
            self._progress = bar
            try:
                yield on_progress
            finally:
                self._progress = None

    @contextmanager
    def training(self) -> Iterator[Callable[["TrainingProgress"], None] | None]:
        """A live line with step, loss, held-out loss, bytes/s and time left.

        Elsewhere than on a terminal, plain lines: of the first step, now and then, of the last.
        """
        if self.is_quiet:
            yield None
            return
        if not sys.stderr.isatty():
            is_due = log_clock(at_once=True)

            def on_log(at: "TrainingProgress") -> None:
                if is_due() or at.step == at.n_steps:
                    self._say(training_line(at))

            yield on_log
            return
        from rich import progress as rich_progress

        bar = rich_progress.Progress(
            rich_progress.TextColumn("{task.description}", markup=False),
            console=_console(sys.stderr),
        )
        task = bar.add_task("reading the text")
        with bar:
            self._progress = bar
            try:
                yield lambda at: bar.update(task, description=training_line(at))
            finally:
                self._progress = None

    @contextmanager
    def live(self, table: Callable[[int], "Table"]) -> Iterator[None]:
        """A table on the terminal that is drawn anew twice a second.

        Args:
            table: Gives it as it is now, in so many lines at most.
        """
        from rich.live import Live

        console = _console(sys.stderr)
        shown = Live(
            get_renderable=lambda: table(console.height - 1), console=console, refresh_per_second=2
        )
        with shown:
            self._progress = shown
            try:
                yield
            finally:
                self._progress = None

    def _say(self, line: str) -> None:
        from interp.text import one_line

        if self._progress is not None:  # above the live line, not into it
            self._progress.console.print(one_line(line), soft_wrap=True)
        else:
            sys.stderr.write(f"{one_line(line)}\n")


def training_line(at: "TrainingProgress") -> str:
    """Where a run stands, in less than 80 columns: step, losses in nats, bytes/s, time left."""
    minutes, seconds = divmod(round(at.seconds_left), 60)
    hours, minutes = divmod(minutes, 60)
    left = f"{hours}:{minutes:02}:{seconds:02} left"
    if at.step == at.n_steps:
        left = "measuring the held-out text"
    held_out = "".join(f", {name} {nats:.3f}" for name, nats in at.held_out_nats.items())
    return (
        f"step {at.step:,}/{at.n_steps:,}  loss {at.loss_nats:.3f}{held_out}  "
        f"{at.bytes_per_second / 1e3:.1f} kB/s  {left}"
    )


def progress_line(name: str, n_done: int, n_all: int | None) -> str:
    """How far work is, in MB, or in kB if that is less than one in all."""
    unit, size = ("kB", 1e3) if n_all is not None and n_all < 1e6 else ("MB", 1e6)
    if n_all is None:
        return f"{name}: {n_done / size:.1f} {unit}"
    return f"{name}: {n_done / size:.1f} of {n_all / size:.1f} {unit}, {n_done / max(n_all, 1):.0%}"


def use_any_encoding() -> None:
    """Let both streams write what their encoding lacks as escapes instead of failing."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def write_utf8(words: str) -> None:
    """Write to standard output in UTF-8, whatever the locale: it is for programs."""
    with _standard_output() as stream:
        buffer: Any = getattr(stream, "buffer", None)
        if buffer is None:
            stream.write(words)
            return
        stream.flush()
        buffer.write(words.encode("utf-8", "backslashreplace"))
        buffer.flush()


def log_clock(*, at_once: bool = False) -> Callable[[], bool]:
    """Answers whether `LOG_SECONDS` have passed since it last said so, or since now."""
    due = time.monotonic() + (0.0 if at_once else LOG_SECONDS)

    def is_due() -> bool:
        nonlocal due
        now = time.monotonic()
        if now < due:
            return False
        due = now + LOG_SECONDS
        return True

    return is_due


@contextmanager
def _standard_output() -> Iterator[Any]:
    """Standard output, named in an error of it as a file would be."""
    try:
        yield sys.stdout
    except OSError as error:
        error.filename = STANDARD_OUTPUT
        raise


def _console(stream: Any) -> "Console":
    from rich.console import Console

    return Console(file=stream, markup=False, highlight=False, emoji=False)
