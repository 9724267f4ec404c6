"""A tiny checkpoint on disk, with increments that differ from byte to byte."""

from pathlib import Path
from typing import Any

import torch

from interp.checkpoints import save
from interp.model import IncrementsConfig, ModelConfig, Transformer

N_CTX = 64
N_LAYERS = 2


def save_tiny(
    folder: Path,
    *,
    n_layers: int = N_LAYERS,
    n_heads: int = 2,
    n_ctx: int = N_CTX,
    **position: Any,
) -> Path:
    """Writes the checkpoint; ``position`` are settings of its increments."""
    sizes = {"n_heads": n_heads, "n_layers": n_layers, "n_ctx": n_ctx, "d_model": 32, "d_mlp": 48}
    model = Transformer(ModelConfig(**sizes, position=IncrementsConfig(d_hidden=8, **position)))
    generator = torch.Generator().manual_seed(5)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn(parameter.shape, generator=generator), alpha=0.25)
    save(folder, model, name=folder.name)
    return folder
