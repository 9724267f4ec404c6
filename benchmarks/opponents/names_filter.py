"""TransformerLens by hand, with care: ``run_with_cache`` that keeps the increments alone."""

from collections.abc import Sequence

import numpy as np
import torch
from transformer_lens import HookedRootModule


@torch.no_grad()
def increments(
    model: HookedRootModule, windows: Sequence[np.ndarray], n_old: Sequence[int]
) -> np.ndarray:
    """Every layer's increments, [rows, layers], one window at a time.

    Args:
        model: With hook points ``blocks.I.attn.hook_increment``.
        windows: Token ids.
        n_old: How many tokens of each window have a value from a window before.
    """
    names = [f"blocks.{layer}.attn.hook_increment" for layer in range(len(model.blocks))]
    rows = []
    for ids, old in zip(windows, n_old, strict=True):
        _, cache = model.run_with_cache(torch.from_numpy(ids).unsqueeze(0), names_filter=names)
        rows.append(torch.stack([cache[name][0, old:, 0] for name in names], -1).float().numpy())
    return np.concatenate(rows)
