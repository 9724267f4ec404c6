"""Where a family in training stands: a live table on a terminal, else plain lines."""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from interp.cli.output import Output, log_clock, training_line
from interp.cli.rendering import table_of

if TYPE_CHECKING:
    from interp.training import TrainingProgress
    from interp.training.family import FamilyRun, TrainedMember

WAITING, RUNNING, DONE = "waiting", "running", "done"

_LINES_AROUND_ROWS = 2
"""The head of a table and the rule below it."""


@dataclass
class FamilyRow:
    """Where one run stands.

    Attributes:
        state: ``waiting``, ``running`` or ``done``.
        step: Steps done.
        loss_nats: Of the last step, nats per token.
        held_out_nats: By corpus, as last measured.
        seconds: Since it began or was gone on with; of its whole training when it is done.
    """

    state: str = WAITING
    step: int | None = None
    loss_nats: float | None = None
    held_out_nats: tuple[float, ...] = ()
    seconds: float | None = None

    def cells(self, name: str) -> tuple[Text | str, ...]:
        """What the table shows; nothing where nothing is known."""
        return (
            Text(name),
            self.state,
            "" if self.step is None else f"{self.step:,}",
            "" if self.loss_nats is None else f"{self.loss_nats:.3f}",
            " ".join(f"{nats:.3f}" for nats in self.held_out_nats),
            "" if self.seconds is None else f"{self.seconds:.0f}",
        )


class FamilyTable:
    """The rows of all runs, which `update` keeps up to date."""

    def __init__(self, runs: "Sequence[FamilyRun]") -> None:
        self.rows = {run.folder.name: FamilyRow() for run in runs}
        self._last = 0  # the row that changed last
        self._began = time.monotonic()

    def update(self, run: "FamilyRun", at: "TrainingProgress | TrainedMember") -> None:
        """Take in where ``run`` stands."""
        from interp.training import TrainingProgress

        name = run.folder.name
        row, self._last = self.rows[name], list(self.rows).index(name)
        if isinstance(at, TrainingProgress):
            row.state, row.step, row.loss_nats = RUNNING, at.step, at.loss_nats
            row.held_out_nats = tuple(at.held_out_nats.values())
            row.seconds = time.monotonic() - self._began
            return
        row.state, row.step = DONE, run.recipe.optimization.steps
        row.held_out_nats = tuple(loss.nats_per_byte for loss in at.held_out.values())
        row.seconds, self._began = at.seconds, time.monotonic()

    def table(self, most_lines: int) -> Table:
        """As many rows as fit, those around the one that changed last."""
        most = max(1, most_lines - _LINES_AROUND_ROWS)
        first = max(0, min(self._last - most // 2, len(self.rows) - most))
        table = table_of("", "state", "step", "loss", "held out", "seconds")
        for name in list(self.rows)[first : first + most]:
            table.add_row(*self.rows[name].cells(name))
        return table


@contextmanager
def family_progress(
    output: Output, runs: "Sequence[FamilyRun]", *, is_terminal: bool
) -> "Iterator[Callable[[FamilyRun, TrainingProgress | TrainedMember], None] | None]":
    """Say where a family stands while it is trained.

    Args:
        output: What speaks.
        runs: All of them.
        is_terminal: Whether what it says can be drawn over; else there is a plain line for the
            first step of a run, one now and then, and one when it is done.

    Yields:
        What `train_family` calls; None for a quiet user.
    """
    if output.is_quiet:
        yield None
    elif is_terminal:
        family = FamilyTable(runs)
        with output.live(family.table):
            yield family.update
    else:
        yield _log(output)


def _log(output: Output) -> "Callable[[FamilyRun, TrainingProgress | TrainedMember], None]":
    """Plain lines."""
    from interp.training import TrainingProgress

    begun: set[str] = set()
    is_due = log_clock()

    def on_progress(run: "FamilyRun", at: "TrainingProgress | TrainedMember") -> None:
        name = run.folder.name
        if isinstance(at, TrainingProgress):
            if is_due() or name not in begun:
                output.remark(f"{name}  {training_line(at)}")
            begun.add(name)
            return
        losses = ", ".join(
            f"{corpus} {loss.nats_per_byte:.3f}" for corpus, loss in at.held_out.items()
        )
        output.remark(f"{name}  {DONE}, held out {losses}")

    return on_progress
