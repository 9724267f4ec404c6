"""Causal attention, with and without its scores in memory."""

import math
from functools import partial

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional
from torch.utils.checkpoint import checkpoint
from transformer_lens.hook_points import HookPoint

from interp.model.config import ModelConfig
from interp.model.position_encoding import PositionEncoding
from interp.model.rotary import Rope
from interp.model.score_bias import ScoreBias

_QUERY_BLOCK, _QUERY_BLOCK_IN_TRAINING = 64, 128
"""Queries at a time on a CPU: their scores stay in the cache, and most of the half above the
diagonal is not computed. Eager reading is quickest with 64; a compiled training step, which fuses
what is done to the scores, with 128 (8 % quicker than with 64)."""

_BIASED_QUERY_BLOCK = 512
"""Queries at a time on an accelerator where scores have a bias: the kernel wants the bias as a
table over its queries and keys, which then is never larger than 512 x n."""


class Attention(nn.Module):
    """Multi-head causal attention whose positions come from a `PositionEncoding`."""

    def __init__(self, config: ModelConfig, layer: int, encoding: PositionEncoding) -> None:
        super().__init__()
        self.layer = layer
        self.n_heads = config.n_heads
        self.W_QKV = nn.Parameter(torch.empty(3 * config.d_model, config.d_model))
        self.W_out = nn.Parameter(torch.empty(config.d_model, config.d_model))
        if isinstance(encoding, Rope):
            self.hook_increment_pre = HookPoint()
            self.hook_increment = HookPoint()
            self.hook_position = HookPoint()
            self.hook_rot_q = HookPoint()
            self.hook_rot_k = HookPoint()
        self.hook_q, self.hook_k, self.hook_v = HookPoint(), HookPoint(), HookPoint()
        self.hook_attn_scores = HookPoint()
        self.hook_pattern = HookPoint()
        self.hook_z = HookPoint()

    @property
    def W_Q(self) -> Float[Tensor, "head d_model d_head"]:
        """Query weights as TransformerLens has them."""
        return self._input_weights(0)

    @property
    def W_K(self) -> Float[Tensor, "head d_model d_head"]:
        """Key weights as TransformerLens has them."""
        return self._input_weights(1)

    @property
    def W_V(self) -> Float[Tensor, "head d_model d_head"]:
        """Value weights as TransformerLens has them."""
        return self._input_weights(2)

    @property
    def W_O(self) -> Float[Tensor, "head d_head d_model"]:
        """Output weights as TransformerLens has them."""
        return self.W_out.T.unflatten(0, (self.n_heads, -1))

    def _input_weights(self, which: int) -> Tensor:
        return self.W_QKV.chunk(3)[which].unflatten(0, (self.n_heads, -1)).transpose(1, 2)

    def forward(
        self,
        normalized: Float[Tensor, "batch pos d_model"],
        *,
        residual: Float[Tensor, "batch pos d_model"],
        embedding: Float[Tensor, "batch pos d_model"],
        encoding: PositionEncoding,
    ) -> Float[Tensor, "batch pos d_model"]:
        """What attention adds to the residual stream.

        Args:
            normalized: The normalised residual stream, which queries, keys and values read.
            residual: The residual stream that enters the layer, which increments read.
            embedding: The token embedding, which shared increments read.
            encoding: The model's position encoding.
        """
        position = None
        if isinstance(encoding, Rope):
            pre = encoding.increment_pre(self.layer, embedding=embedding, residual=residual)
            pre = self.hook_increment_pre(pre)
            increment = self.hook_increment(encoding.increment(self.layer, pre))
            position = self.hook_position(increment.cumsum(dim=1))

        projected = functional.linear(normalized, self.W_QKV).unflatten(-1, (3, self.n_heads, -1))
        # [batch, pos, head, d_head], while in memory the vectors of a head lie together
        q, k, v = projected.permute(2, 0, 3, 1, 4).contiguous().transpose(2, 3)
        q, k, v = self.hook_q(q), self.hook_k(k), self.hook_v(v)
        if isinstance(encoding, Rope):
            assert position is not None
            q, k = encoding.rotate(self.layer, q, k, position)
            q, k = self.hook_rot_q(q), self.hook_rot_k(k)

        bias = encoding.score_bias(self.layer, normalized)
        q, k, v = (x.transpose(1, 2) for x in (q, k, v))
        if is_hooked(self.hook_attn_scores) or is_hooked(self.hook_pattern):
            scores = self.hook_attn_scores(causal_scores(q, k, bias))
            pattern = self.hook_pattern(scores.softmax(-1))
            z = pattern.to(v.dtype) @ v
        else:
            z = causal_attention(q, k, v, bias)
        z = self.hook_z(z.transpose(1, 2))
        return functional.linear(z.flatten(-2), self.W_out)


def is_hooked(point: HookPoint) -> bool:
    """Whether anything listens at a hook point.

    Reads TransformerLens's lists, which a compiled graph is guarded by; PyTorch's own
    dictionaries of hooks are not, so that a graph would not notice a hook added later.
    """
    return len(point.fwd_hooks) > 0 or len(point.bwd_hooks) > 0


def causal_scores(
    q: Float[Tensor, "batch head query d_head"],
    k: Float[Tensor, "batch head key d_head"],
    bias: ScoreBias | None = None,
) -> Float[Tensor, "batch head query key"]:
    """Attention scores in float32, minus infinity where a key comes after its query."""
    later = torch.ones(q.shape[-2], k.shape[-2], dtype=torch.bool, device=q.device).triu(1)
    return unmasked_scores(q, k, bias).masked_fill(later, -torch.inf)


def unmasked_scores(
    q: Float[Tensor, "batch head query d_head"],
    k: Float[Tensor, "batch head key d_head"],
    bias: ScoreBias | None = None,
) -> Float[Tensor, "batch head query key"]:
    """Attention scores in float32; the bias of a key after its query is arbitrary."""
    scores = (q @ k.transpose(-1, -2)).float() / math.sqrt(q.shape[-1])
    return scores if bias is None else scores + bias.block(0, q.shape[-2])


def causal_attention(
    q: Float[Tensor, "batch head pos d_head"],
    k: Float[Tensor, "batch head pos d_head"],
    v: Float[Tensor, "batch head pos d_head"],
    bias: ScoreBias | None = None,
) -> Float[Tensor, "batch head pos d_head"]:
    """What each query gathers from itself and the keys before it, without storing all scores.

    Equal to softmax(`causal_scores`) @ v to the rounding of the type of ``v``.
    """
    if q.device.type != "cpu":
        if bias is None:
            return functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        return biased_attention(q, k, v, bias)
    batch, n_heads, n_pos, d_head = q.shape
    q, k, v = (x.contiguous().flatten(0, 1) for x in (q, k, v))
    n_queries = _QUERY_BLOCK_IN_TRAINING if q.requires_grad else _QUERY_BLOCK
    gathered = []
    with torch.autocast("cpu", enabled=False):  # the softmax of bfloat16 scores stays bfloat16
        for start in range(0, n_pos, n_queries):
            end = min(start + n_queries, n_pos)
            added = torch.full((1, end - start, end), -torch.inf, dtype=q.dtype).triu(start + 1)
            if bias is not None:
                block = bias.block(start, end)  # of every window, or of all
                added = (added + block).to(q.dtype).expand(batch, -1, -1, -1).flatten(0, 1)
            scores = torch.baddbmm(
                added, q[:, start:end], k[:, :end].transpose(-1, -2), alpha=1 / math.sqrt(d_head)
            )
            gathered.append(scores.softmax(-1) @ v[:, :end])
    return torch.cat(gathered, dim=-2).unflatten(0, (batch, n_heads))


def biased_attention(
    q: Float[Tensor, "batch head pos d_head"],
    k: Float[Tensor, "batch head pos d_head"],
    v: Float[Tensor, "batch head pos d_head"],
    bias: ScoreBias,
    *,
    n_queries: int = _BIASED_QUERY_BLOCK,
) -> Float[Tensor, "batch head pos d_head"]:
    """`causal_attention` with a bias by PyTorch's fused kernel, some queries at a time.

    No table of all pairs is kept: what a training step needs of a block for its gradient is
    made again when it is needed.

    Args:
        q: Queries.
        k: Keys.
        v: Values.
        bias: What is added to the scores.
        n_queries: Queries at a time.
    """

    def attend(q: Tensor, k: Tensor, v: Tensor, start: int) -> Tensor:
        end = start + q.shape[-2]
        later = torch.ones(q.shape[-2], end, dtype=torch.bool, device=q.device).triu(start + 1)
        added = bias.block(start, end).masked_fill(later, -torch.inf).to(q.dtype)
        return functional.scaled_dot_product_attention(q, k, v, attn_mask=added)

    attend_again = partial(checkpoint, attend, use_reentrant=False, preserve_rng_state=False)
    gathered = []
    for start in range(0, q.shape[-2], n_queries):
        end = min(start + n_queries, q.shape[-2])
        block = q[..., start:end, :], k[..., :end, :], v[..., :end, :], start
        gathered.append(attend_again(*block) if q.requires_grad else attend(*block))
    return torch.cat(gathered, dim=-2)
