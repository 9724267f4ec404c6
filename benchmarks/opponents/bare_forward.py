"""The forward pass alone, to the layer that extraction needs last: no hook, nothing kept."""

from collections.abc import Iterable

import numpy as np
import torch
from torch import nn


@torch.no_grad()
def run(model: nn.Module, batches: Iterable[np.ndarray], stop_at_layer: int) -> None:
    """Run the layers before ``stop_at_layer`` over every batch of ids."""
    for ids in batches:
        model(torch.from_numpy(ids), stop_at_layer=stop_at_layer)
