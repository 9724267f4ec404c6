"""What added positions do to attention scores: the four terms into which each score splits."""

import math
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor

from interp.model.rotary import Rope
from interp.model.transformer import Transformer

TERMS = ("content-content", "content-position", "position-content", "position-position")
"""What of the query meets what of the key."""


@torch.no_grad()
def score_terms(
    model: Transformer, ids: Int[Tensor, "batch pos"]
) -> Float[Tensor, "batch head query key term"]:
    """The terms of `TERMS` whose sum is every attention score of layer 0, in the order of those.

    The residual stream there is content (the token's embedding) plus position (what the encoding
    adds), and queries and keys are linear in it but for the norm. The norm divides a token's
    vector by one number, its root mean square, which is taken from the sum: a common factor of
    content and position. So the split is exact, and a term says what it gives in this
    company, not what it would give alone. In later layers content and position are mixed.

    Args:
        model: One that does not rotate; where its encoding adds nothing to the embedding, the
            last three terms are 0.
        ids: Windows.

    Returns:
        Scores divided by sqrt(d_head) as attention takes them, without any bias; float32. Keys
        that come after their query are there too.

    Raises:
        ValueError: The encoding rotates queries and keys, which are not linear in it.

    Source: Dai et al. 2019, "Transformer-XL", section 3.3, the split of absolute positions.
    """
    if isinstance(model.position, Rope):
        raise ValueError(f"position encoding {model.config.position.encoding} rotates")
    embed, residual, scale = "hook_embed", "blocks.0.hook_resid_pre", "blocks.0.ln1.hook_scale"
    _, cache = model.run_with_cache(
        ids, stop_at_layer=1, names_filter=[embed, residual, scale], return_cache_object=False
    )
    content = cache[embed].float()
    parts = torch.stack((content, cache[residual].float() - content))
    block: Any = model.blocks[0]
    normalized = parts / cache[scale] * block.ln1.w
    weights = (block.attn.W_Q, block.attn.W_K)  # [head, d_model, d_head]
    q, k = (torch.einsum("cbpm,hmd->cbhpd", normalized, w) for w in weights)
    scores = torch.einsum("cbhqd,ebhkd->bhqkce", q, k) / math.sqrt(q.shape[-1])
    return scores.flatten(-2)
