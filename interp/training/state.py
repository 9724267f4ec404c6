"""The state of a run: weights and optimizer in full precision, each state whole or absent."""

import json
import os
import shutil
from dataclasses import dataclass
from pathlib import Path

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import nn

from interp.errors import CheckpointError

_MOMENTS = ("exp_avg", "exp_avg_sq")


@dataclass(frozen=True)
class RunState:
    """Where a run stands, besides its weights and moments.

    Attributes:
        step: Steps done.
        seconds: Wall time spent so far, over all sessions.
    """

    step: int
    seconds: float


def save_state(
    folder: Path, state: RunState, model: nn.Module, optimizer: torch.optim.Optimizer
) -> None:
    """Write ``folder/STEP``, which appears whole or not at all."""
    final = folder / f"{state.step:06d}"
    beside = folder / f".{state.step:06d}.{os.getpid()}"
    shutil.rmtree(beside, ignore_errors=True)
    beside.mkdir(parents=True)
    named = dict(model.named_parameters())
    save_file({name: p.detach().cpu() for name, p in named.items()}, beside / "model.safetensors")
    moments = {
        f"{moment}/{name}": optimizer.state[p][moment].cpu()
        for name, p in named.items()
        for moment in _MOMENTS
        if p in optimizer.state
    }
    save_file(moments, beside / "optimizer.safetensors")
    (beside / "state.json").write_text(json.dumps({"step": state.step, "seconds": state.seconds}))
    shutil.rmtree(final, ignore_errors=True)
    beside.rename(final)


def saved_steps(folder: Path) -> list[int]:
    """The steps whose state is there, in order."""
    if not folder.is_dir():
        return []
    return sorted(int(f.name) for f in folder.iterdir() if f.name.isdecimal() and f.is_dir())


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
        facts = json.loads((place / "state.json").read_text())
        weights = load_file(place / "model.safetensors")
        moments = load_file(place / "optimizer.safetensors")
        with torch.no_grad():
            for name, parameter in named.items():
                parameter.copy_(weights[name])
                if step:
                    optimizer.state[parameter] = {
                        "step": torch.tensor(float(step), device=parameter.device),
                        **{m: moments[f"{m}/{name}"].to(parameter.device) for m in _MOMENTS},
                    }
        return RunState(facts["step"], facts["seconds"])
    except (OSError, ValueError, KeyError, RuntimeError, SafetensorError) as error:
        raise CheckpointError(
            f"go on from {place}: it is damaged ({str(error).splitlines()[0]})",
            "Delete that folder to go on from the state before it, or train anew.",
        ) from error


def drop_states(folder: Path, keep: set[int]) -> None:
    """Delete the states of all steps but ``keep``, and what a kill left half-written."""
    if not folder.is_dir():
        return
    for entry in folder.iterdir():
        if not entry.name.isdecimal() or int(entry.name) not in keep:
            shutil.rmtree(entry, ignore_errors=True)
    if not keep:
        shutil.rmtree(folder, ignore_errors=True)
