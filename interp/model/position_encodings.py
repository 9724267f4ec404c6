"""Position encodings: one class each, one protocol.

An encoding may add a term to the embedding, rotate queries and keys by a running sum of
increments, and add a bias to the attention scores; each is a no-op unless a class says
otherwise. A new encoding is one class here, one config, and one line in each registry.
"""

import math
from typing import Literal

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional

from interp.model.config import IncrementsConfig, ModelConfig, RopeConfig
from interp.model.norm import RMSNorm
from interp.model.rotation import rotate, rotation_angles


class PositionEncoding(nn.Module):
    """What any position encoding may do; this one does nothing.

    One that rotates queries and keys is a `Rope`: it also says how far each token advances.
    """

    def add_to_embedding(
        self, embedding: Float[Tensor, "batch pos d_model"]
    ) -> Float[Tensor, "batch pos d_model"]:
        """The residual stream that enters layer 0."""
        return embedding

    def score_bias(
        self,
        layer: int,  # noqa: ARG002
        n_pos: int,  # noqa: ARG002
        device: torch.device,  # noqa: ARG002
    ) -> Float[Tensor, "head query key"] | None:
        """What is added to the scores of a layer, or None for nothing."""
        return None


class Rope(PositionEncoding):
    """Queries and keys are rotated by their positions, which advance by 1 per token."""

    def __init__(self, config: ModelConfig, position: RopeConfig) -> None:
        super().__init__()
        self.d_head = config.d_head
        self.base = position.base
        self.layout: Literal["half", "interleaved"] = position.layout

    def increment_pre(
        self,
        layer: int,  # noqa: ARG002
        *,
        embedding: Float[Tensor, "batch pos d_model"],
        residual: Float[Tensor, "batch pos d_model"],  # noqa: ARG002
    ) -> Float[Tensor, "batch pos head_or_1"]:
        """What the increment is made of, before softplus or sigmoid; float32."""
        return torch.ones(*embedding.shape[:2], 1, device=embedding.device)

    def increment(
        self, pre: Float[Tensor, "batch pos head_or_1"]
    ) -> Float[Tensor, "batch pos head_or_1"]:
        """How far each token advances the position; float32, in units of one RoPE token."""
        return pre

    def rotate(
        self,
        queries: Float[Tensor, "batch pos head d_head"],
        keys: Float[Tensor, "batch pos head d_head"],
        position: Float[Tensor, "batch pos head_or_1"],
    ) -> tuple[Float[Tensor, "batch pos head d_head"], Float[Tensor, "batch pos head d_head"]]:
        """Queries and keys turned by their positions; angles, sine and cosine in float32."""
        angles = rotation_angles(position, d_head=self.d_head, base=self.base)
        cos, sin = angles.cos(), angles.sin()
        return rotate(queries, cos, sin, self.layout), rotate(keys, cos, sin, self.layout)


class Increments(Rope):
    """Positions advance by a learned increment.

    At the start the increments are exactly 1: the last weight of each DeltaMLP is zero and its
    bias is the inverse of the activation at 1. Source: the public experiment behind "How
    Far Apart Does a Model Think Its Tokens Are?", which draws that weight from N(0, 0.02)
    instead and so starts at 1 +- 0.07.
    """

    def __init__(self, config: ModelConfig, position: IncrementsConfig) -> None:
        super().__init__(config, position)
        self.scope = position.scope
        self.max_increment = position.max_increment
        n_out = config.n_increment_columns
        if position.scope == "shared":
            self.shared = DeltaMLP(config.d_model, position.d_hidden, n_out)
            mlps = [self.shared]
        else:
            self.layers = nn.ModuleList(
                nn.Sequential(
                    RMSNorm(config.d_model, position.norm_eps),
                    DeltaMLP(config.d_model, position.d_hidden, n_out),
                )
                for _ in range(config.n_layers)
            )
            mlps = [layer[1] for layer in self.layers]  # type: ignore[index]
        self._mlps = mlps

    def reset_to_one(self) -> None:
        """Make every increment 1, whatever the input: exactly, for softplus and a bound of 10."""
        if self.max_increment is None:
            bias = math.log(math.e - 1)  # softplus(0.5413) = 1
        else:
            bias = -math.log(self.max_increment - 1)  # 10 x sigmoid(-2.1972) = 1
        for mlp in self._mlps:
            nn.init.zeros_(mlp.fc2.weight)
            nn.init.constant_(mlp.fc2.bias, bias)
            nn.init.zeros_(mlp.fc1.bias)

    def increment_pre(
        self,
        layer: int,
        *,
        embedding: Float[Tensor, "batch pos d_model"],
        residual: Float[Tensor, "batch pos d_model"],
    ) -> Float[Tensor, "batch pos head_or_1"]:
        """What the DeltaMLP gives, before softplus or sigmoid; float32."""
        if self.scope == "shared":
            return self.shared(embedding)
        return self.layers[layer](residual)

    def increment(
        self, pre: Float[Tensor, "batch pos head_or_1"]
    ) -> Float[Tensor, "batch pos head_or_1"]:
        """How far each token advances the position: above 0, below max_increment; float32."""
        if self.max_increment is None:
            return functional.softplus(pre)
        return self.max_increment * torch.sigmoid(pre)


class DeltaMLP(nn.Module):
    """Linear - exact GELU - Linear, with biases.

    Under autocast the first product runs in the autocast type; everything after it is float32,
    because an increment rounded to bfloat16 ties with its neighbours.
    """

    def __init__(self, d_model: int, d_hidden: int, n_out: int) -> None:
        super().__init__()
        self.fc1 = nn.Linear(d_model, d_hidden)
        self.fc2 = nn.Linear(d_hidden, n_out)

    def forward(self, x: Float[Tensor, "batch pos d_model"]) -> Float[Tensor, "batch pos n_out"]:
        """One number, or one per head, for each token; float32."""
        hidden = functional.gelu(self.fc1(x).float())
        if self.fc2.out_features == 1:  # a weighted sum fuses with what stands around it
            return (hidden * self.fc2.weight[0]).sum(-1, keepdim=True) + self.fc2.bias
        with torch.autocast(hidden.device.type, enabled=False):
            return self.fc2(hidden)


ENCODINGS: dict[str, type[PositionEncoding]] = {
    "rope": Rope,
    "increments": Increments,
}
"""The registry of position encodings: a new one is a line here and one in `POSITION_CONFIGS`."""


def make_encoding(config: ModelConfig) -> PositionEncoding:
    """The position encoding that ``config`` names."""
    return ENCODINGS[config.position.encoding](config, config.position)  # type: ignore[call-arg]
