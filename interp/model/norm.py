"""RMSNorm with TransformerLens's hook points."""

import torch
from jaxtyping import Float
from torch import Tensor, nn
from transformer_lens.hook_points import HookPoint


class RMSNorm(nn.Module):
    """x / rms(x) x gain, computed in float32 under autocast too."""

    def __init__(self, d_model: int, eps: float) -> None:
        super().__init__()
        self.w = nn.Parameter(torch.ones(d_model))
        self.eps = eps

    def scale(self, x: Float[Tensor, "*batch d_model"]) -> Float[Tensor, "*batch 1"]:
        """The root mean square of each vector."""
        return (x.float().pow(2).mean(-1, keepdim=True) + self.eps).sqrt()

    def forward(self, x: Float[Tensor, "*batch d_model"]) -> Float[Tensor, "*batch d_model"]:
        """``x`` at root mean square 1, times the gain."""
        return x.float() / self.scale(x) * self.w


class HookedRMSNorm(RMSNorm):
    """RMSNorm whose scale and output can be hooked, as in TransformerLens."""

    def __init__(self, d_model: int, eps: float) -> None:
        super().__init__(d_model, eps)
        self.hook_scale = HookPoint()
        self.hook_normalized = HookPoint()

    def forward(self, x: Float[Tensor, "*batch d_model"]) -> Float[Tensor, "*batch d_model"]:
        """``x`` at root mean square 1, times the gain."""
        scale = self.hook_scale(self.scale(x))
        return self.hook_normalized(x.float() / scale) * self.w
