"""Measure, and print a line per figure: name, number, target, ``ok`` or ``short``.

    python -m benchmarks [extraction] [training] [family] [auc] [startup] [memory] [--ckpt CKPT]

With no name, all of them: about half an hour, most of it for memory. Nothing else should run
on the machine.
"""

import argparse
from collections.abc import Callable, Iterator

import torch

from benchmarks import auc, extraction, family, memory, startup, training
from benchmarks.figures import Figure
from interp import checkpoints
from interp.checkpoints import Checkpoint

GROUPS: dict[str, Callable[[Checkpoint], Iterator[Figure]]] = {
    "extraction": extraction.figures,
    "training": lambda _checkpoint: training.figures(),
    "family": lambda _checkpoint: family.figures(),
    "auc": lambda _checkpoint: auc.figures(),
    "startup": lambda _checkpoint: startup.figures(),
    "memory": memory.figures,
}


def main() -> None:
    """Run what is asked for."""
    parser = argparse.ArgumentParser(prog="benchmarks", description=__doc__.splitlines()[0])
    parser.add_argument("groups", nargs="*", metavar="GROUP", help=", ".join(GROUPS))
    parser.add_argument("--ckpt", default=None, help="a model with per-layer increments")
    arguments = parser.parse_args()
    for unknown in set(arguments.groups) - set(GROUPS):
        parser.error(f"no group {unknown!r}: {', '.join(GROUPS)}")
    checkpoint = checkpoints.load(arguments.ckpt or checkpoints.default_checkpoint())
    print(f"torch {torch.__version__}, {torch.get_num_threads()} threads, {checkpoint.name}")
    for name in arguments.groups or GROUPS:
        for figure in GROUPS[name](checkpoint):
            print(figure, flush=True)


if __name__ == "__main__":
    main()
