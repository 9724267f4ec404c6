"""Stopping work at random moments, for the programs of the tests of interruptions.

Each piece of work runs in a fork, because importing takes longer than the work.
"""

import os
import random
import signal
import sys
import time
from collections.abc import Callable

INTERRUPTED = 130


def run(work: Callable[[], object], kill_after: float | None = None, number: int = 0) -> int:
    """The status of a child that works; minus the signal's number if that ended it.

    Args:
        work: What the child does.
        kill_after: Seconds until the child is sent a signal; None for never.
        number: The signal's number.
    """
    child = os.fork()
    if child == 0:
        try:
            signal.signal(signal.SIGINT, signal.default_int_handler)  # also in the background
            work()
        except KeyboardInterrupt:
            os._exit(INTERRUPTED)
        except BaseException as error:
            sys.stderr.write(f"{type(error).__name__}: {error}\n")
            os._exit(1)
        os._exit(0)
    if kill_after is not None:
        time.sleep(kill_after)
        os.kill(child, number)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def run_undisturbed(work: Callable[[], object]) -> float:
    """The seconds that ``work`` takes."""
    began = time.monotonic()
    assert run(work) == 0
    return time.monotonic() - began


def run_disturbed(
    work: Callable[[], object],
    number: int,
    *,
    seed: int,
    seconds: float,
    n_times: int = 6,
    look: Callable[[], None] = lambda: None,
) -> list[int]:
    """Statuses of ``n_times`` runs that are sent a signal at a random moment, and of a last one.

    Args:
        work: What each run does, going on from the last.
        number: The signal's number.
        seed: Of the moments.
        seconds: That the work takes undisturbed; the first third of it has the moments, so that
            most runs are still at work then.
        n_times: How many are disturbed.
        look: Called after each of them.
    """
    draw = random.Random(seed)
    statuses = []
    for _ in range(n_times):
        statuses.append(run(work, draw.uniform(0, seconds / 3), number))
        look()
    return [*statuses, run(work)]
