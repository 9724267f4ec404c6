"""How long a user waits for the first words, and for the demonstration."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.figures import Figure, median_seconds

ROUNDS = 5


def figures() -> Iterator[Figure]:
    """Seconds of ``interp --help`` and of ``interp demo`` with an empty cache."""
    (help_seconds,) = median_seconds((lambda: _run("--help"),), rounds=ROUNDS)
    yield Figure("interp --help, seconds", help_seconds, at_most=0.3)
    (demo_seconds,) = median_seconds((lambda: _run("demo", "--quiet"),), rounds=1)
    yield Figure("interp demo, seconds", demo_seconds, at_most=60)


def _run(*arguments: str) -> None:
    with TemporaryDirectory() as folder:
        subprocess.run(
            [Path(sys.executable).with_name("interp"), *arguments],
            check=True,
            cwd=folder,
            env={"INTERP_CACHE": f"{folder}/cache", "PATH": "", "HOME": folder},
            stdout=subprocess.DEVNULL,
        )
