"""What a training run wrote down of each of its steps."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from interp.corpus.files import shown
from interp.errors import InputError, reason
from interp.files import own_file
from interp.studies.study_input import StudyInput
from interp.training.continuation import METRICS_FILE

_TOO_LARGE = 2**63


@dataclass(frozen=True)
class Step:
    """One optimizer step.

    Attributes:
        number: Counted from 1.
        loss_nats: Mean surprisal of a token of its windows.
        gradient_norm: Before clipping.
    """

    number: int
    loss_nats: float
    gradient_norm: float


def in_points(steps: Sequence[Step], size: int) -> Iterator[Sequence[Step]]:
    """The steps, ``size`` at a time: single ones are too noisy for a curve."""
    for start in range(0, len(steps), size):
        yield steps[start : start + size]


def recorded_steps(given: StudyInput, name: str) -> list[Step]:
    """Every step that the folder of a checkpoint has a record of; none where there is no record.

    A training leaves it in its folder; the checkpoints of the repository come without.

    Raises:
        InputError: The record cannot be read, or is not one.
    """
    path = given.checkpoints / name / METRICS_FILE
    try:
        lines = own_file(path).read_text("utf-8").splitlines()
    except FileNotFoundError:
        return []
    except (OSError, UnicodeError) as error:
        why = reason(error) if isinstance(error, OSError) else "not UTF-8"
        raise InputError(f"{shown(str(path))}: {why}") from error
    found = []
    for number, line in enumerate(lines, start=1):
        try:
            entry = json.loads(line)
            step = Step(entry["step"], float(entry["loss_nats"]), float(entry["gradient_norm"]))
            _require_step(step, after=found[-1].number if found else 0)
        except (ValueError, KeyError, TypeError, RecursionError, OverflowError) as error:
            raise InputError(
                f"{shown(str(path))}: line {number} is no step of a training run",
                "Training writes one JSON object per line, with step, loss_nats and gradient_norm.",
            ) from error
        found.append(step)
    return found


def _require_step(step: Step, after: int) -> None:
    """Raise `ValueError` for what no step of a training can be."""
    is_next = type(step.number) is int and after < step.number < _TOO_LARGE
    if not (is_next and abs(step.loss_nats) < _TOO_LARGE and 0 <= step.gradient_norm < _TOO_LARGE):
        raise ValueError("not a step, a loss and a norm")
