"""How far positions reached in training: the length that context extension has to know."""

import torch
from jaxtyping import Int
from torch import Tensor

from interp.model import Transformer
from interp.model.rotary import Rope

_BATCH = 8
_QUANTILE = 0.99


@torch.no_grad()
def position_span(
    model: Transformer, windows: Int[Tensor, "window pos"]
) -> list[list[float]] | None:
    """The 99th percentile of a window's last position, per layer and head.

    Args:
        model: A model; only its hooks are used.
        windows: Full training windows.

    Returns:
        ``[layer][head or 1]``, or None for an encoding without positions.
    """
    if not isinstance(model.position, Rope):
        return None
    names = [f"blocks.{i}.attn.hook_position" for i in range(model.config.n_layers)]
    last = []
    for start in range(0, len(windows), _BATCH):
        _, cache = model.run_with_cache(
            windows[start : start + _BATCH], names_filter=names, return_cache_object=False
        )
        last.append(torch.stack([cache[name][:, -1] for name in names]))
    positions = torch.cat(last, dim=1).float()
    return positions.quantile(_QUANTILE, dim=1).tolist()
