"""Positions that are added to the embedding."""

import torch
from jaxtyping import Float
from torch import Tensor, nn

from interp.model.config import LearnedAbsoluteConfig, ModelConfig, SinusoidalConfig
from interp.model.position_encoding import PositionEncoding
from interp.model.rotation import rotation_frequencies


class Sinusoidal(PositionEncoding):
    """Sines and cosines of the position at falling frequencies are added to the embedding.

    Source: Vaswani et al. 2017, "Attention Is All You Need", section 3.5.
    """

    def __init__(self, config: ModelConfig, position: SinusoidalConfig) -> None:
        super().__init__(config, position)
        self.base = position.base

    def add_to_embedding(
        self, embedding: Float[Tensor, "batch pos d_model"]
    ) -> Float[Tensor, "batch pos d_model"]:
        """The embedding and the table."""
        _, n_pos, d_model = embedding.shape
        return embedding + sinusoidal_table(n_pos, d_model, self.base, embedding.device)


class LearnedAbsolute(PositionEncoding):
    """A learned vector for each position is added to the embedding; there are n_ctx of them.

    Source: Radford et al. 2018, "Improving Language Understanding by Generative Pre-Training".
    """

    def __init__(self, config: ModelConfig, position: LearnedAbsoluteConfig) -> None:
        super().__init__(config, position)
        self.most_positions = config.n_ctx
        self.W_pos = nn.Parameter(torch.empty(config.n_ctx, config.d_model))

    def add_to_embedding(
        self, embedding: Float[Tensor, "batch pos d_model"]
    ) -> Float[Tensor, "batch pos d_model"]:
        """The embedding and the vectors of the first positions."""
        return embedding + self.W_pos[: embedding.shape[1]]


def sinusoidal_table(
    n_pos: int, d_model: int, base: float, device: torch.device | None = None
) -> Float[Tensor, "pos d_model"]:
    """Channel 2 i is sin(pos / base ** (2 i / d_model)), channel 2 i + 1 the cosine; float32."""
    place = torch.arange(n_pos, device=device, dtype=torch.float32)
    angles = place[:, None] * rotation_frequencies(d_model, base, device)
    return torch.stack((angles.sin(), angles.cos()), dim=-1).flatten(-2)
