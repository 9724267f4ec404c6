"""A program: train, be killed at the Nth file operation, go on, for each N; see test_training.

    run_and_be_killed.py TEXT FOLDER N ...

The operations are those of the whole call, from reading the text to the last rename. Each run
is a fork, because importing takes longer than training.
"""

import os
import signal
import sys
from pathlib import Path

import torch
from small_runs import small_recipe

from interp.training import train

_OPERATIONS = {"open", "os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.chmod"}


def kill_at(n: int, folder: str) -> None:
    """From now on, count file operations below ``folder``, and die before number ``n``."""
    left = n

    def hook(event: str, arguments: tuple) -> None:
        nonlocal left
        if event in _OPERATIONS and folder in str(arguments[0]):
            left -= 1
            if left < 0:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(hook)


def run(text: str, out: Path, n: int | None) -> int:
    """The status of a child that trains; -9 if it was killed before operation ``n``."""
    child = os.fork()
    if child == 0:
        try:
            torch.set_num_threads(1)
            recipe = small_recipe(
                Path(text),
                optimization__steps=6,
                optimization__decay_steps=2,
                keeping__keep_state=True,
                keeping__keep_steps=[3],
                keeping__held_out_every=3,
            )
            if n is not None:
                kill_at(n, str(out))
            train(recipe, out)
        except BaseException as error:
            sys.stderr.write(f"{type(error).__name__}: {error}\n")
            os._exit(1)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


if __name__ == "__main__":
    text, folder, *numbers = sys.argv[1:]
    statuses = [run(text, Path(folder) / "undisturbed", None)]
    for number in numbers:
        out = Path(folder) / f"killed-{number}"
        statuses += [run(text, out, int(number)), run(text, out, None)]
    sys.stdout.write(" ".join(map(str, statuses)))
