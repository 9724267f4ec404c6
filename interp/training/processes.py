"""Several processes that train one model, as torchrun starts them.

The first process alone looks into the run's folder, writes, measures and reports; the others
wait for it. Every process holds the model and the optimizer, and takes its share of each step's
windows. Gradients and a few numbers are all that passes between them.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, TypeVar

import torch
from torch import distributed, nn
from torch.distributed.rendezvous import rendezvous
from torch.nn.parallel import DistributedDataParallel

from interp.errors import InputError, RecipeError, TrainingError
from interp.training.recipe import Optimization

_Given = TypeVar("_Given")

# The others wait while the first process reads a corpus or measures. A process that dies closes
# its connections, which ends every wait at once.
_PATIENCE = timedelta(days=7)


class StoppedElsewhere(TrainingError):
    """Another process of the run raised first: its error is the one to show."""


@dataclass(frozen=True)
class Processes:
    """The processes of a run, seen from one of them; by default the only one.

    Attributes:
        rank: Of this process, from 0.
        n: How many there are.
    """

    rank: int = 0
    n: int = 1

    @property
    def is_first(self) -> bool:
        """Whether this is the process that writes, measures and reports."""
        return self.rank == 0

    def first(self, work: Callable[[], _Given]) -> _Given:
        """What ``work`` gives in the first process, where alone it is called; all get it."""
        if self.n == 1:
            return work()
        given: list[Any] = [work() if self.is_first else None]
        distributed.broadcast_object_list(given, src=0, device=torch.device("cpu"))
        return given[0]

    def mean(self, value: float) -> float:
        """The mean over all processes; all have to ask."""
        if self.n == 1:
            return value
        total = torch.tensor(value, dtype=torch.float64)
        distributed.all_reduce(total)
        return total.item() / self.n

    def any(self, is_so: bool) -> bool:
        """Whether it is so in any process; all have to ask."""
        return self.mean(float(is_so)) > 0

    def share(self, optimization: Optimization) -> tuple[int, int]:
        """How many windows of a step are this process's, and how many it takes at a time.

        Raises:
            RecipeError: A step cannot be shared out evenly.
        """
        share, rest = divmod(optimization.batch_size, self.n)
        if rest:
            raise RecipeError(
                f"train: optimization.batch_size = {optimization.batch_size} windows cannot be "
                f"shared out evenly over {self.n} processes",
                f"Give a multiple of {self.n}, or start another number of processes.",
            )
        at_a_time = min(share, optimization.micro_batch_size)
        if share % at_a_time:
            raise RecipeError(
                f"train: each of {self.n} processes has {share} windows of a step, which is no "
                f"multiple of optimization.micro_batch_size = {at_a_time}",
                "Lower optimization.micro_batch_size to a divisor.",
            )
        return share, at_a_time

    def device(self, device: str | None) -> str | None:
        """The device of this process: with ``cuda``, each has its own.

        Raises:
            InputError: Several processes cannot train on it.
        """
        if self.n == 1 or device in (None, "cpu"):
            return device
        if device != "cuda":
            raise InputError(
                f"device {device!r} cannot be used by {self.n} processes",
                "Leave --device out for the CPU, or say cuda: each process has its own then.",
            )
        return f"cuda:{os.environ.get('LOCAL_RANK', self.rank)}"

    def sharing(self, model: nn.Module) -> nn.Module:
        """``model``, with gradients that are the mean over all processes."""
        if self.n == 1:
            return model
        return DistributedDataParallel(model, gradient_as_bucket_view=True)


def exchanging(model: nn.Module, is_last: bool) -> AbstractContextManager[None]:
    """Forward and backward inside exchange gradients only if they are the last of a step."""
    if isinstance(model, DistributedDataParallel) and not is_last:
        return model.no_sync()
    return nullcontext()


@contextmanager
def joined() -> Iterator[Processes]:
    """The processes that torchrun started together with this one, or this one alone.

    An error in one of them ends all: it is raised as it is where it came first, and the process
    has to leave then; the others raise `StoppedElsewhere`.

    Raises:
        TrainingError: They do not find each other, or another one was killed.
    """
    if os.environ.get("WORLD_SIZE", "1") == "1":
        yield Processes()
        return
    try:
        store, rank, n = next(rendezvous("env://", timeout=_PATIENCE))
        backend = "cpu:gloo,cuda:nccl" if torch.cuda.is_available() else "gloo"
        distributed.init_process_group(
            backend, store=store, rank=rank, world_size=n, timeout=_PATIENCE
        )
    except (RuntimeError, ValueError) as error:
        raise TrainingError(
            f"train: the processes of the run do not find each other: {str(error).splitlines()[0]}",
            "Start them with torchrun, or one alone with WORLD_SIZE unset.",
        ) from error
    try:
        yield Processes(rank, n)
    except BaseException as error:
        if not _came_first(store, rank):
            raise StoppedElsewhere("train: another process of the run has stopped") from error
        if _is_lost_connection(error):
            raise TrainingError(
                "train: another process of the run was killed",
                "The same command goes on from the last save.",
            ) from error
        raise
    distributed.destroy_process_group()


def _came_first(store: Any, rank: int) -> bool:
    """Whether no other process has asked this before."""
    try:
        return store.add("stopped", 1) == 1
    except RuntimeError:  # the process that kept the store is gone
        return rank == 0


def _is_lost_connection(error: BaseException) -> bool:
    is_of_torch = isinstance(error, distributed.DistError) or "gloo" in str(error).lower()
    return isinstance(error, RuntimeError) and is_of_torch
