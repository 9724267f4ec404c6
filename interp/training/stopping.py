"""Stopping in good order: a signal is remembered until the loop asks."""

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def stop_signals() -> Iterator[Callable[[], bool]]:
    """While inside, SIGINT and SIGTERM only make the function given answer True."""
    stopped: list[int] = []
    before = {}
    try:
        for number in (signal.SIGINT, signal.SIGTERM):
            before[number] = signal.signal(number, lambda number, _frame: stopped.append(number))
    except ValueError:  # not in the main thread, where no signal arrives
        pass
    try:
        yield lambda: bool(stopped)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
