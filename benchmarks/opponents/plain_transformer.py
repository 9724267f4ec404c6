"""The same network as one writes it plainly: rotary positions or ALiBi, SDPA, eager."""

import torch
from torch import Tensor, nn
from torch.nn import functional


class PlainTransformer(nn.Module):
    """Pre-norm RMSNorm, SwiGLU, RoPE (half layout) or ALiBi, no biases."""

    def __init__(
        self,
        *,
        d_vocab: int = 257,
        d_model: int = 256,
        n_heads: int = 8,
        n_layers: int = 6,
        d_mlp: int = 1024,
        n_ctx: int = 512,
        base: float = 10_000.0,
        norm_eps: float = 1e-5,
        is_tied: bool = True,
        has_alibi: bool = False,
    ) -> None:
        super().__init__()
        self.embed = nn.Embedding(d_vocab, d_model)
        self.blocks = nn.ModuleList(
            PlainBlock(d_model, n_heads, d_mlp, norm_eps) for _ in range(n_layers)
        )
        self.norm = nn.RMSNorm(d_model, eps=norm_eps)
        self.unembed = self.embed if is_tied else nn.Linear(d_model, d_vocab, bias=False)
        frequencies = base ** (-torch.arange(0, d_model // n_heads, 2) / (d_model // n_heads))
        place = torch.arange(n_ctx)
        angles = place.unsqueeze(-1) * frequencies
        slopes = 2.0 ** (-8 * torch.arange(1, n_heads + 1) / n_heads)
        falling = -slopes[:, None, None] * (place[:, None] - place)
        self.has_alibi = has_alibi
        self.register_buffer("cos", angles.cos())
        self.register_buffer("sin", angles.sin())
        self.register_buffer(
            "bias", falling.masked_fill(place[:, None] < place, -torch.inf) if has_alibi else None
        )
        for parameter in self.parameters():
            if parameter.ndim > 1:
                nn.init.normal_(parameter, std=0.02)

    def forward(self, ids: Tensor) -> Tensor:
        """Logits [batch, pos, d_vocab]."""
        n_pos = ids.shape[1]
        turn = None if self.has_alibi else (self.cos[:n_pos], self.sin[:n_pos])
        bias = self.bias[:, :n_pos, :n_pos] if self.has_alibi else None
        x = self.embed(ids)
        for block in self.blocks:
            x = block(x, turn, bias)
        return functional.linear(self.norm(x), self.unembed.weight)


class PlainBlock(nn.Module):
    """Attention and SwiGLU."""

    def __init__(self, d_model: int, n_heads: int, d_mlp: int, norm_eps: float) -> None:
        super().__init__()
        self.n_heads = n_heads
        self.attn_norm = nn.RMSNorm(d_model, eps=norm_eps)
        self.mlp_norm = nn.RMSNorm(d_model, eps=norm_eps)
        self.qkv = nn.Linear(d_model, 3 * d_model, bias=False)
        self.out = nn.Linear(d_model, d_model, bias=False)
        self.gate = nn.Linear(d_model, d_mlp, bias=False)
        self.up = nn.Linear(d_model, d_mlp, bias=False)
        self.down = nn.Linear(d_mlp, d_model, bias=False)

    def forward(self, x: Tensor, turn: tuple[Tensor, Tensor] | None, bias: Tensor | None) -> Tensor:
        """The residual stream after the block."""
        heads = self.qkv(self.attn_norm(x)).unflatten(-1, (3, self.n_heads, -1))
        q, k, v = (part.transpose(1, 2) for part in heads.unbind(-3))
        if turn is not None:
            q, k = rotated(q, *turn), rotated(k, *turn)
        z = functional.scaled_dot_product_attention(q, k, v, attn_mask=bias, is_causal=bias is None)
        x = x + self.out(z.transpose(1, 2).flatten(-2))
        normalized = self.mlp_norm(x)
        return x + self.down(functional.silu(self.gate(normalized)) * self.up(normalized))


def rotated(vectors: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """``vectors`` [batch, head, pos, d_head] turned by their positions."""
    first, second = vectors.float().chunk(2, -1)
    turned = torch.cat((first * cos - second * sin, first * sin + second * cos), -1)
    return turned.to(vectors.dtype)
