"""A program: extract or merge, be stopped at random moments, go on; see test_interruptions.

    extract_and_be_killed.py extract|merge SIGNAL SEED FOLDER

Leaves ``undisturbed`` and ``disturbed`` in FOLDER. Prints, as JSON, the statuses of the runs, and
the parts that were there after each stop, with the times when they were written.
"""

import json
import sys
from functools import partial
from pathlib import Path
from typing import Any

import torch
from killed_at_random import run, run_disturbed, run_undisturbed
from tiny import TinyCheckpoint, documents, tiny_model

from interp.extraction.extract import extract
from interp.extraction.merge import merge
from interp.extraction.shards import Shard

TEXTS = [b"Hello, Worlds. " * 150, "人工智能是计算机科学".encode() * 60, b"", b"Hy"] * 2
N_SHARDS = 3

read = partial(
    extract,
    documents=documents(*TEXTS),
    signals=("increment", "surprisal"),
    part_tokens=100,
    batch_tokens=64,
)


def main(what: str, number: int, seed: int, folder: Path) -> None:
    torch.set_num_threads(1)
    checkpoint: Any = TinyCheckpoint(tiny_model())
    work = partial(read, checkpoint)
    if what == "merge":
        shards = [folder / f"shard-{index}" for index in range(N_SHARDS)]
        for index, shard in enumerate(shards):
            each = partial(read, checkpoint, out=shard, shard=Shard(index, N_SHARDS))
            assert run(each) == 0
        work = partial(merge, shards)
    seconds = run_undisturbed(lambda: work(out=folder / "undisturbed"))
    out, kept = folder / "disturbed", []

    def look() -> None:
        kept.append({str(part): part.stat().st_mtime_ns for part in out.rglob("part-*")})

    statuses = run_disturbed(lambda: work(out=out), number, seed=seed, seconds=seconds, look=look)
    sys.stdout.write(json.dumps({"statuses": statuses, "kept": kept}))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), Path(sys.argv[4]))
