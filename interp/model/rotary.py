"""Positions by rotation: queries and keys turned by a running sum of increments."""

import math
from typing import Literal

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional

from interp.model.biased_scores import BIASES
from interp.model.config import IncrementsConfig, ModelConfig, RopeConfig
from interp.model.norm import RMSNorm
from interp.model.position_encoding import PositionEncoding
from interp.model.rotation import rotate, rotation_frequencies
from interp.model.score_bias import ScoreBias
from interp.model.stretching import stretched


class Rope(PositionEncoding):
    """Queries and keys are rotated by their positions, which advance by 1 per token.

    In a layer without positions the increments are 0.

    Source: Su et al. 2021, "RoFormer", section 3.2; layers without positions in between as in
    Yang et al. 2025, "Rope to Nope and Back Again".
    """

    def __init__(self, config: ModelConfig, position: RopeConfig) -> None:
        super().__init__(config, position)
        self.d_head, self.n_ctx = config.d_head, config.n_ctx
        self.n_columns = config.n_increment_columns
        self.settings = position
        self.layout: Literal["half", "interleaved"] = position.layout
        self.recency: PositionEncoding | None = None
        if position.recency != "none":
            self.recency = BIASES[position.recency](config, position)
        self.by_distance_alone = self.recency is None or self.recency.by_distance_alone

    def reset(self) -> None:
        """Of what else makes scores fall."""
        if self.recency is not None:
            self.recency.reset()

    def score_bias(
        self, layer: int, normalized: Float[Tensor, "batch pos d_model"]
    ) -> ScoreBias | None:
        """What else makes scores fall with the distance in tokens."""
        return None if self.recency is None else self.recency.score_bias(layer, normalized)

    def increment_pre(
        self,
        layer: int,  # noqa: ARG002
        *,
        embedding: Float[Tensor, "batch pos d_model"],
        residual: Float[Tensor, "batch pos d_model"],  # noqa: ARG002
    ) -> Float[Tensor, "batch pos head_or_1"]:
        """What the increment is made of, before softplus or sigmoid; float32."""
        return torch.ones(*embedding.shape[:2], self.n_columns, device=embedding.device)

    def increment(
        self, layer: int, pre: Float[Tensor, "batch pos head_or_1"]
    ) -> Float[Tensor, "batch pos head_or_1"]:
        """How far each token advances the position; float32, in units of one RoPE token."""
        return self._increment(pre) if self.settings.is_rotated(layer) else torch.zeros_like(pre)

    def _increment(
        self, pre: Float[Tensor, "batch pos head_or_1"]
    ) -> Float[Tensor, "batch pos head_or_1"]:
        return pre

    def rotate(
        self,
        layer: int,
        queries: Float[Tensor, "batch pos head d_head"],
        keys: Float[Tensor, "batch pos head d_head"],
        position: Float[Tensor, "batch pos head_or_1"],
    ) -> tuple[Float[Tensor, "batch pos head d_head"], Float[Tensor, "batch pos head d_head"]]:
        """Queries and keys turned by their positions; angles, sine and cosine in float32."""
        if not self.settings.is_rotated(layer):
            return queries, keys
        frequencies, factor = self.frequencies(layer, position.device)
        angles = position.unsqueeze(-1) * frequencies
        cos, sin = angles.cos() * factor, angles.sin() * factor
        return rotate(queries, cos, sin, self.layout), rotate(keys, cos, sin, self.layout)

    def frequencies(
        self, layer: int, device: torch.device | None = None
    ) -> tuple[Float[Tensor, " channel_pair"], float]:
        """Radians per unit of position of each pair of channels, and what lengths are scaled by.

        Without scaling these are base ** (-2 i / d_head) and 1.
        """
        spans = self.settings.trained_spans or (float(self.n_ctx),)
        plain = rotation_frequencies(self.d_head, self.settings.base, device)
        return stretched(plain, self.settings, span=spans[min(layer, len(spans) - 1)])


class Increments(Rope):
    """Positions advance by a learned increment.

    At the start the increments are exactly 1: the last weight of each DeltaMLP is zero and its
    bias is the inverse of the activation at 1. Source: the public experiment behind "How
    Far Apart Does a Model Think Its Tokens Are?", which draws that weight from N(0, 0.02)
    instead and so starts at 1 +- 0.07.
    """

    def __init__(self, config: ModelConfig, position: IncrementsConfig) -> None:
        super().__init__(config, position)
        self.by_distance_alone = False  # the increments of the tokens in between count
        self.scope = position.scope
        self.max_increment = position.max_increment
        n_out = config.n_increment_columns
        if position.scope == "shared":
            self.shared = DeltaMLP(config.d_model, position.d_hidden, n_out)
        else:
            self.layers = nn.ModuleList(
                nn.Sequential(
                    RMSNorm(config.d_model, position.norm_eps),
                    DeltaMLP(config.d_model, position.d_hidden, n_out),
                )
                if position.is_rotated(layer)
                else nn.Identity()
                for layer in range(config.n_layers)
            )

    def reset(self) -> None:
        """Make every increment 1, whatever the input: exactly, for softplus and a bound of 10."""
        super().reset()
        if self.max_increment is None:
            bias = math.log(math.e - 1)  # softplus(0.5413) = 1
        else:
            bias = -math.log(self.max_increment - 1)  # 10 x sigmoid(-2.1972) = 1
        for mlp in self.modules():
            if isinstance(mlp, DeltaMLP):
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
        if not self.settings.is_rotated(layer):
            return super().increment_pre(layer, embedding=embedding, residual=residual)
        if self.scope == "shared":
            return self.shared(embedding)
        return self.layers[layer](residual)

    def _increment(
        self, pre: Float[Tensor, "batch pos head_or_1"]
    ) -> Float[Tensor, "batch pos head_or_1"]:
        # above 0, below max_increment
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
