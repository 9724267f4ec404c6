"""TransformerLens by hand: ``run_with_cache`` on one window at a time."""

from collections.abc import Sequence

import numpy as np
import torch
from transformer_lens import HookedRootModule


@torch.no_grad()
def increments(
    model: HookedRootModule, windows: Sequence[np.ndarray], n_old: Sequence[int]
) -> np.ndarray:
    """Every layer's increments, [rows, layers], with the default arguments.

    Args:
        model: With hook points ``blocks.I.attn.hook_increment``.
        windows: Token ids.
        n_old: How many tokens of each window have a value from a window before.
    """
    rows = []
    for ids, old in zip(windows, n_old, strict=True):
        _, cache = model.run_with_cache(torch.from_numpy(ids).unsqueeze(0))
        layers = [
            cache[f"blocks.{layer}.attn.hook_increment"][0, old:, 0]
            for layer in range(len(model.blocks))
        ]
        rows.append(torch.stack(layers, dim=-1).float().numpy())
    return np.concatenate(rows)
