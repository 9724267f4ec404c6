"""A program: train, be killed at random moments, go on; see test_killed_at_random.

    train_and_be_killed.py TEXT SEED FOLDER

Leaves the runs ``undisturbed`` and ``disturbed`` in FOLDER. Prints, as JSON, the statuses of the
runs, and the step of the checkpoint that was there after each kill (null for none).
"""

import importlib
import json
import signal
import sys
from functools import partial
from itertools import count
from pathlib import Path
from types import SimpleNamespace

import torch
from killed_at_random import run_disturbed, run_undisturbed
from small_runs import small_recipe

from interp.checkpoints import load
from interp.training import train

N_STEPS = 40


def main(text: Path, seed: int, folder: Path) -> None:
    torch.set_num_threads(1)
    ticks = count(step=10.0)  # a clock on which the time to save has come every third step or so
    clock = SimpleNamespace(monotonic=lambda: next(ticks))
    importlib.import_module("interp.training.train").time = clock  # type: ignore[attr-defined]
    recipe = small_recipe(
        text,
        optimization__steps=N_STEPS,
        keeping__keep_steps=[5, 20],
        keeping__save_every_seconds=60,
    )
    work = partial(train, recipe)
    seconds = run_undisturbed(lambda: work(folder / "undisturbed"))
    out, steps = folder / "disturbed", []

    def look() -> None:
        is_there = (out / "config.json").exists()
        steps.append(load(out).config["step"] if is_there else None)

    statuses = run_disturbed(
        lambda: work(out), signal.SIGKILL, seed=seed, seconds=seconds, look=look
    )
    sys.stdout.write(json.dumps({"statuses": statuses, "steps": steps}))


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3]))
