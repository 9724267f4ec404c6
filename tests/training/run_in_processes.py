"""A program: `interp train` in several processes, started as torchrun does; see test_processes.

    run_in_processes.py FOLDER

Prints, by the name of each run, the exit statuses of its processes and all that they said. Each
process is a fork, because importing takes longer than training.
"""

import json
import os
import signal
import socket
import sys
from collections.abc import Callable
from pathlib import Path

import torch

from interp.cli import main
from interp.training.learner import Learner

RECIPE = """
name = "shared"
compile = false
autocast = "float32"
held_out_fraction = 0.2

[corpora.text]
train = ["rows.jsonl"]

[model]
d_model = 32
n_heads = 2
n_layers = 2
d_mlp = 48
n_ctx = 32

[model.position]
d_hidden = 8

[optimization]
steps = 8
batch_size = 12
micro_batch_size = 3
learning_rate = 3e-3
warmup_steps = 2
schedule = "constant"
decay_steps = 2

[keeping]
held_out_every = 4
held_out_bytes = 500
keep_steps = [4]
"""
FATEFUL = 5 * 6 + 3  # windows of the second process before its fate: half of its sixth step


def run_out_of_memory() -> None:
    raise MemoryError


def be_sent(number: signal.Signals) -> Callable[[], None]:
    return lambda: os.kill(os.getpid(), number)


def record(windows: list[list[int]], fate: Callable[[], None] | None) -> None:
    """Keep the numbers of the windows of every gradient, and let ``fate`` happen in one."""
    real_gradient, real_windows = Learner.gradient, Learner.windows
    is_gradient = False

    def gradient(self, step, is_stopped):
        nonlocal is_gradient
        is_gradient = True
        try:
            return real_gradient(self, step, is_stopped)
        finally:
            is_gradient = False

    def of_this_call(self, first, count):
        if is_gradient:
            windows.extend(range(first, first + count))
        if is_gradient and fate and len(windows) == FATEFUL:
            fate()
        return real_windows(self, first, count)

    Learner.gradient, Learner.windows = gradient, of_this_call


def be_process(rank: int, n: int, port: int, arguments: list[str], fate) -> None:
    """Train, and leave with the status of the program."""
    os.environ |= {"RANK": str(rank), "LOCAL_RANK": str(rank), "WORLD_SIZE": str(n)}
    os.environ |= {"MASTER_ADDR": "localhost", "MASTER_PORT": str(port)}
    windows: list[int] = []
    record(windows, fate if rank == 1 else None)
    status = 1
    try:
        main(["train", *arguments])
    except SystemExit as stopped:
        status = stopped.code or 0
    except BaseException as error:
        sys.stderr.write(f"{type(error).__name__}: {error}\n")
    out = arguments[arguments.index("--out") + 1]
    Path(f"windows-{out}-{rank}.json").write_text(json.dumps(windows))
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


def run(n: int, *settings: str, out: str, recipe: str = "recipe.toml", fate=None) -> dict:
    with socket.socket() as free:
        free.bind(("localhost", 0))
        port = free.getsockname()[1]
    said = os.open("said.txt", os.O_RDWR | os.O_CREAT | os.O_TRUNC)
    children = []
    for rank in range(n):
        if child := os.fork():
            children.append(child)
            continue
        os.dup2(said, 1)
        os.dup2(said, 2)
        sets = [word for setting in settings for word in ("--set", setting)]
        be_process(rank, n, port, [recipe, "--out", out, *sets], fate)
    statuses = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
    os.close(said)
    return {"statuses": statuses, "said": Path("said.txt").read_text("utf-8")}


if __name__ == "__main__":
    os.chdir(sys.argv[1])
    torch.set_num_threads(1)
    Path("recipe.toml").write_text(RECIPE, "utf-8")
    found = {
        "one": run(1, out="one"),
        "two": run(2, out="two"),
        "signal": run(2, out="stopped", fate=be_sent(signal.SIGTERM)),
        "two go on": run(2, out="stopped"),
        "signal to go on alone": run(2, out="other", fate=be_sent(signal.SIGINT)),
        "one goes on": run(1, out="other"),
        "memory": run(2, out="memory", fate=run_out_of_memory),
        "killed": run(2, out="killed", fate=be_sent(signal.SIGKILL)),
        "text": run(2, 'corpora.text.train=["missing.jsonl"]', out="text"),
        "recipe": run(2, "steps=5", out="recipe"),
        "uneven": run(2, "optimization.batch_size=9", out="uneven"),
    }
    sys.stdout.write(json.dumps(found))
