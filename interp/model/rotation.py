"""Rotating queries and keys by their positions."""

from typing import Literal

import torch
from jaxtyping import Float
from torch import Tensor


def rotation_frequencies(
    d_head: int, base: float, device: torch.device | None = None
) -> Float[Tensor, " channel_pair"]:
    """Radians per unit of position by which each pair of channels turns; float32.

    Args:
        d_head: Channels of a head; pair i turns at base ** (-2 i / d_head).
        base: RoPE's base.
        device: Where.

    Source: Su et al. 2021, "RoFormer", section 3.4.2; the position is any real number here.
    """
    exponents = torch.arange(0, d_head, 2, device=device, dtype=torch.float32) / d_head
    return base**-exponents


def rotate(
    vectors: Float[Tensor, "batch pos head d_head"],
    cos: Float[Tensor, "batch pos head_or_1 channel_pair"],
    sin: Float[Tensor, "batch pos head_or_1 channel_pair"],
    layout: Literal["half", "interleaved"],
) -> Float[Tensor, "batch pos head d_head"]:
    """``vectors`` with each pair of channels turned by its angle; lengths are kept.

    Args:
        vectors: Queries or keys, in any float type.
        cos: Cosine of position x frequency, float32.
        sin: Sine of the same angles.
        layout: ``half`` pairs channel i with i + d_head / 2, ``interleaved`` 2 i with 2 i + 1.

    Returns:
        Turned vectors in the type of ``vectors``; the product is taken in float32.
    """
    # Every channel as one product and one fused addition over whole vectors: where a head's
    # vectors lie together, a CPU then runs over all positions at a stretch.
    x = vectors.float()
    if layout == "half":
        partner = x.roll(x.shape[-1] // 2, dims=-1)
        cos, sin = torch.cat((cos, cos), -1), torch.cat((-sin, sin), -1)
    else:
        partner = x.unflatten(-1, (-1, 2)).flip(-1).flatten(-2)
        cos, sin = cos.repeat_interleave(2, -1), torch.stack((-sin, sin), -1).flatten(-2)
    return torch.addcmul(x * cos, partner, sin).to(vectors.dtype)
