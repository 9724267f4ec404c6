"""Models small enough for a test, whose weights are large enough to matter."""

from typing import Any

import torch
from torch import Tensor

from interp.model import IncrementsConfig, ModelConfig, RopeConfig, Transformer

SIZES: dict[str, Any] = {"d_model": 32, "n_heads": 2, "n_layers": 2, "d_mlp": 48, "n_ctx": 64}

INCREMENTS: dict[str, IncrementsConfig] = {
    f"{scope}{' per head' if per_head else ''}": IncrementsConfig(
        d_hidden=8,
        scope=scope,
        per_head=per_head,
        max_increment=None if scope == "shared" else 10.0,
    )
    for scope in ("shared", "per_layer")
    for per_head in (False, True)
}
"""Every kind of learned increments."""

POSITIONS: dict[str, RopeConfig] = {"rope": RopeConfig(), **INCREMENTS}


def fresh(position: RopeConfig, **sizes: Any) -> Transformer:
    """A model at the start of its training."""
    return Transformer(ModelConfig(**(SIZES | sizes), position=position))


def spread(position: RopeConfig, **sizes: Any) -> Transformer:
    """A model in which every weight counts: gains are not 1, increments differ."""
    model = fresh(position, **sizes)
    generator = torch.Generator().manual_seed(5)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn(parameter.shape, generator=generator), alpha=0.25)
    return model.requires_grad_(False)


def some_ids(n_pos: int = 40, batch: int = 2) -> Tensor:
    """Token ids; each row begins with the separator."""
    ids = torch.randint(0, 256, (batch, n_pos), generator=torch.Generator().manual_seed(3))
    ids[:, 0] = 256
    return ids
