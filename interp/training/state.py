"""The state of a run: weights and optimizer in full precision, each state whole or absent."""

import json
import os
import re
import shutil
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import nn

from interp.checkpoints.save import write_tensors
from interp.errors import CheckpointError, reason
from interp.files import own_file, own_folder, replacing
from interp.model.plain import require

_MOMENTS = ("exp_avg", "exp_avg_sq")
_WHOLE = re.compile("[0-9]{6,}")
_UNFINISHED = re.compile(r"\.[0-9]{6,}\..+")
_TOO_MUCH = 2**53  # seconds or tokens; less is exact in every kind of number that it becomes


@dataclass(frozen=True)
class RunState:
    """Where a run stands, besides its weights and moments.

    Attributes:
        step: Steps done.
        seconds: Wall time spent so far, over all starts of the run.
        token_counts: How often each id stands in the windows drawn so far; None if that was not
            counted.
    """

    step: int
    seconds: float
    token_counts: tuple[int, ...] | None = None


def save_state(
    folder: Path, state: RunState, model: nn.Module, optimizer: torch.optim.Optimizer
) -> None:
    """Write ``folder/STEP``, which appears whole or not at all; one that is there stays.

    A run's state at a step is always the same, and to replace a folder is to be without it for
    a moment.

    Raises:
        OSError: It cannot be written; then nothing of it is left.
    """
    final = folder / f"{state.step:06d}"
    if final.is_dir():
        return
    beside = folder / f".{state.step:06d}.{os.getpid()}"
    named = dict(model.named_parameters())
    moments = {
        f"{moment}/{name}": optimizer.state[p][moment].cpu()
        for name, p in named.items()
        for moment in _MOMENTS
        if p in optimizer.state
    }
    try:
        beside.mkdir(parents=True)
        with replacing(beside / "model.safetensors") as path:
            write_tensors(path, {name: p.detach().cpu() for name, p in named.items()})
        with replacing(beside / "optimizer.safetensors") as path:
            write_tensors(path, moments)
        with replacing(beside / "state.json") as path:
            path.write_text(json.dumps(asdict(state)), "utf-8")
        beside.rename(final)
    finally:
        shutil.rmtree(beside, ignore_errors=True)


def saved_steps(folder: Path) -> list[int]:
    """The steps whose state is there, in order."""
    if not folder.is_dir():
        return []
    found = (entry for entry in folder.iterdir() if _WHOLE.fullmatch(entry.name))
    return sorted(int(e.name) for e in found if e.is_dir() and not e.is_symlink())


def holds_only_states(folder: Path) -> bool:
    """Whether everything in ``folder`` has the name of a state, or of one that a kill cut short."""
    return folder.is_dir() and all(
        _WHOLE.fullmatch(entry.name) or _UNFINISHED.fullmatch(entry.name)
        for entry in folder.iterdir()
    )


def load_state(
    folder: Path, step: int, model: nn.Module, optimizer: torch.optim.Optimizer
) -> RunState:
    """Put the state of ``step`` into model and optimizer.

    Raises:
        CheckpointError: It is damaged.
    """
    place = folder / f"{step:06d}"
    named = dict(model.named_parameters())
    try:
        own_folder(place)
        facts = json.loads(own_file(place / "state.json").read_text("utf-8"))
        state = _state_of(facts, step, d_vocab=len(named["embed.W_E"]))
        weights = load_file(own_file(place / "model.safetensors"))
        moments = load_file(own_file(place / "optimizer.safetensors"))
        with torch.no_grad():
            for name, parameter in named.items():
                parameter.copy_(_like(parameter, weights, name))
                if step:
                    optimizer.state[parameter] = {
                        "step": torch.tensor(float(step), device=parameter.device),
                        **{m: _like(parameter, moments, f"{m}/{name}") for m in _MOMENTS},
                    }
        return state
    except (
        *(OSError, ValueError, KeyError, TypeError, AttributeError, OverflowError),
        *(RecursionError, RuntimeError, SafetensorError),
    ) as error:
        words = reason(error) if isinstance(error, OSError) else str(error).partition("\n")[0]
        before = [earlier for earlier in saved_steps(folder) if earlier < step]
        hint = "Name another --out to train anew."
        if before:
            hint = f"Delete that folder to go on from step {before[-1]}."
        raise CheckpointError(f"go on from {place}: it is damaged ({words})", hint) from error


def drop_states(folder: Path, keep: set[int]) -> None:
    """Delete the states of all steps but ``keep``, and what a kill left of a state.

    Anything else in the folder stays.
    """
    if not folder.is_dir():
        return
    for entry in list(folder.iterdir()):
        if _UNFINISHED.fullmatch(entry.name):
            shutil.rmtree(entry, ignore_errors=True)
        elif _WHOLE.fullmatch(entry.name) and int(entry.name) not in keep:
            # a state is never there in part: first it goes hidden
            shutil.rmtree(entry.rename(folder / f".{entry.name}.dropped"), ignore_errors=True)
    with suppress(OSError):  # there is more in it
        folder.rmdir()


def _state_of(facts: Mapping[str, Any], step: int, *, d_vocab: int) -> RunState:
    """What state.json says, once it can be true of the folder of ``step``."""
    seconds, counts = facts["seconds"], facts.get("token_counts")
    for number in (facts["step"], *(counts or ())):
        require(type(number) is int and 0 <= number < _TOO_MUCH, f"{number!r:.40} is no count")
    require(facts["step"] == step, f"it says that it is of step {facts['step']}")
    require(
        type(seconds) in (int, float) and 0 <= seconds < _TOO_MUCH,
        f"seconds = {seconds!r:.40} is no time",
    )
    require(counts is None or len(counts) == d_vocab, f"token_counts must be {d_vocab} counts")
    return RunState(step, float(seconds), None if counts is None else tuple(counts))


def _like(parameter: nn.Parameter, tensors: Mapping[str, torch.Tensor], name: str) -> torch.Tensor:
    """The tensor ``name``, on the device of ``parameter``, whose shape and type it must have.

    torch would stretch and cast another one as it copies; as it steps, read beyond its end.
    """
    tensor = tensors[name]
    for found, expected in ((tensor.shape, parameter.shape), (tensor.dtype, parameter.dtype)):
        require(found == expected, f"{name} is {found}, not {expected}")
    require(bool(tensor.isfinite().all()), f"{name} has values that are not finite")
    return tensor.to(parameter.device)
