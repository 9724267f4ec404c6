"""Peak memory of ``interp extract`` on a text and on one ten times as long."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.figures import Figure
from interp.checkpoints import Checkpoint
from interp.checkpoints.save import save
from interp.corpus.sources import TextInput
from interp.model import ModelConfig, Transformer

MOST_GB = 1.5


def figures(checkpoint: Checkpoint) -> Iterator[Figure]:
    """Ratios of peak memory, and the peaks: a real model, and a small one over long texts."""
    with TemporaryDirectory() as folder:
        small = Path(folder) / "small"
        model = Transformer(ModelConfig(d_model=32, n_heads=2, n_layers=1, d_mlp=64))
        save(small, model, name="small")
        for name, ckpt, n_bytes in (
            (checkpoint.name, checkpoint.folder, (500_000, 5_000_000)),
            ("1 layer of width 32", small, (10_000_000, 100_000_000)),
        ):
            peaks = [_peak_bytes(ckpt, n, Path(folder)) for n in n_bytes]
            yield Figure(
                f"memory, {name}: {n_bytes[1] / 1e6:g} MB / {n_bytes[0] / 1e6:g} MB of text",
                peaks[1] / peaks[0],
                at_most=1.10,
            )
            yield Figure(f"memory, {name}: peak in GB", peaks[1] / 1e9, at_most=MOST_GB)


def _peak_bytes(ckpt: Path, n_bytes: int, folder: Path) -> int:
    """Of a process that extracts increments and surprisal from ``n_bytes`` of the sample text."""
    text = folder / f"{n_bytes}.txt"
    sample = b"\n".join(bytes(document.content) for document in TextInput().documents())
    with text.open("wb") as file:
        for start in range(0, n_bytes, len(sample)):
            file.write(sample[: n_bytes - start])
    command = [sys.executable, "-m", "interp", "extract", str(text), "--ckpt", str(ckpt)]
    command += ["--signal", "increment", "--signal", "surprisal", "--dtype", "bfloat16"]
    command += ["--stride", "512", "--out", str(folder / f"increments-{n_bytes}"), "--quiet"]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"benchmark: interp extract failed on {n_bytes} bytes")
    return usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024)
