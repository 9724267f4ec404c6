"""What the machine gives a run: memory, a compiler, a device with a name."""

import os

import torch

from interp.errors import RecipeError, TrainingError, is_out_of_memory
from interp.model import ModelConfig
from interp.model.config import IncrementsConfig

_BYTES_PER_WEIGHT = 16  # the weight, its gradient and AdamW's two moments


def require_memory(model: ModelConfig) -> None:
    """Refuse a model whose matrices alone would fill this machine.

    Raises:
        RecipeError: With the size and what there is.
    """
    n_weights = n_matrix_weights(model)
    needed = n_weights * _BYTES_PER_WEIGHT
    try:
        there = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):  # not a system that says
        return
    if needed > there:
        raise RecipeError(
            f"recipe: model: {n_weights:,} weights need {needed // 10**9:,} GB to train; this "
            f"machine has {there // 10**9:,}",
            "Lower model.d_model, model.d_mlp, model.n_layers or model.position.d_hidden.",
        )


def n_matrix_weights(model: ModelConfig) -> int:
    """How many weights the matrices of a model have, without anything being made."""
    n_weights = model.d_vocab * model.d_model
    n_weights += model.n_layers * model.d_model * (4 * model.d_model + 3 * model.d_mlp)
    position = model.position
    if isinstance(position, IncrementsConfig):
        n_mlps = 1 if position.scope == "shared" else model.n_layers
        n_weights += n_mlps * position.d_hidden * (model.d_model + model.n_increment_columns)
    return n_weights


def explained(error: Exception, *, micro_batch_size: int, n_ctx: int) -> TrainingError | None:
    """What an error of torch means for who trains: no memory, or no compiler; else None."""
    if is_out_of_memory(error):
        return TrainingError(
            f"train: there is not enough memory for windows of {n_ctx} tokens, "
            f"{micro_batch_size} at a time",
            "Lower optimization.micro_batch_size; batch_size may stay as it is.",
        )
    if type(error).__module__.startswith(("torch._dynamo", "torch._inductor")):
        words = (str(error).strip().splitlines() or [type(error).__name__])[0]
        return TrainingError(
            f"train: the model cannot be compiled here: {words[:300]}",
            "Install a C++ compiler such as g++, or train uncompiled: --set compile=false.",
        )
    return None


def hardware(device: torch.device, n_processes: int = 1) -> str:
    """What a run is trained on, for the checkpoint."""
    if n_processes > 1:
        return f"{n_processes} processes, each on {hardware(device)}"
    if device.type == "cuda":
        return torch.cuda.get_device_name(device)
    if device.type != "cpu":
        return device.type
    n_threads = torch.get_num_threads()
    return f"{n_threads} CPU thread{'s' if n_threads > 1 else ''}"
