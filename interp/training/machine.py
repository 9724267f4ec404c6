"""What the machine gives a run: memory, a compiler, a device with a name."""

import os
from dataclasses import replace

import torch

from interp.errors import RecipeError, TrainingError, is_out_of_memory
from interp.model import ModelConfig, Transformer

_BYTES_PER_WEIGHT = 16  # the weight, its gradient and AdamW's two moments


def require_memory(model: ModelConfig) -> None:
    """Refuse a model whose weights alone would fill this machine.

    Raises:
        RecipeError: With the size and what there is.
    """
    hint = "Lower model.d_model, model.d_mlp, model.n_layers, or the sizes of model.position."
    try:
        n_weights = count_weights(model)
    except (RuntimeError, TypeError, OverflowError) as error:  # more than 2^63 bytes
        raise RecipeError("recipe: model: no machine can hold its weights", hint) from error
    needed = n_weights * _BYTES_PER_WEIGHT
    try:
        there = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):  # not a system that says
        return
    if needed > there:
        raise RecipeError(
            f"recipe: model: {n_weights:,} weights need {needed // 10**9:,} GB to train; this "
            f"machine has {there // 10**9:,}",
            hint,
        )


def count_weights(model: ModelConfig) -> int:
    """How many numbers a model learns, without anything being made: its layers are alike."""

    def weights_with(n_layers: int) -> int:
        with torch.device("meta"):
            made = Transformer(replace(model, n_layers=n_layers), seed=None)
        return sum(parameter.numel() for parameter in made.parameters())

    of_one = weights_with(1)
    return of_one + (model.n_layers - 1) * (weights_with(2) - of_one)


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
