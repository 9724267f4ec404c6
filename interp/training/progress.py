"""What a run tells its caller: where it stands, and what it left."""

import time
from dataclasses import dataclass
from pathlib import Path

from interp.training.held_out import HeldOutLoss

_SPAN_SECONDS = 30.0


@dataclass(frozen=True)
class TrainingProgress:
    """Where a run stands.

    Attributes:
        step: Steps done.
        n_steps: Steps of the whole run.
        loss_nats: Of the last step's windows, nats per token.
        bytes_per_second: Over the last seconds, measuring and saving included.
        seconds_left: At that rate.
        held_out_nats: By corpus, nats per byte of the fixed subset, as last measured.
    """

    step: int
    n_steps: int
    loss_nats: float
    bytes_per_second: float
    seconds_left: float
    held_out_nats: dict[str, float]


@dataclass(frozen=True)
class TrainingResult:
    """What a run left in its folder.

    Attributes:
        folder: The checkpoint.
        step: Steps done.
        n_steps: Steps of the whole run.
        is_interrupted: Whether it was stopped before its last step; the same call goes on.
        held_out: By corpus, the loss of the finished model over all held-out text; empty if
            interrupted.
        is_signalled: Whether a signal asked to stop, be it too late to interrupt the run: who
            trains several goes no further.
    """

    folder: Path
    step: int
    n_steps: int
    is_interrupted: bool
    held_out: dict[str, HeldOutLoss]
    is_signalled: bool = False


class Rate:
    """Steps per second over the last half minute, or over the last step if that took longer."""

    def __init__(self, step: int) -> None:
        self._times: list[tuple[float, int]] = [(time.monotonic(), step)]

    def update(self, step: int) -> float:
        """The rate now that ``step`` steps are done; above 0."""
        now = time.monotonic()
        recent = [(t, s) for t, s in self._times if now - t < _SPAN_SECONDS]
        self._times = [*(recent or self._times[-1:]), (now, step)]
        first, first_step = self._times[0]
        return max(step - first_step, 1) / max(now - first, 1e-9)
