"""Positions that show in the attention scores alone: terms that are added to them."""

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional

from interp.model.config import (
    ModelConfig,
    PositionConfig,
    RelativeBiasConfig,
)
from interp.model.position_encoding import PositionEncoding
from interp.model.score_bias import DistanceBias, RunningBias

OPEN = 4.0
"""Bias of a forget gate at the start: each token in between then costs 0.018 nats of score."""


class RelativeBias(PositionEncoding):
    """A learned number for each layer, head and distance; it starts at 0.

    Source: Raffel et al. 2020, "Exploring the Limits of Transfer Learning with a Unified
    Text-to-Text Transformer", section 2.1, here without buckets and with a table for each layer.
    """

    by_distance_alone = True

    def __init__(self, config: ModelConfig, position: RelativeBiasConfig) -> None:
        super().__init__(config, position)
        shape = (config.n_layers, config.n_heads, position.max_distance + 1)
        self.b_distance = nn.Parameter(torch.empty(shape))

    def reset(self) -> None:
        """All distances are alike."""
        nn.init.zeros_(self.b_distance)

    def score_bias(
        self,
        layer: int,
        normalized: Float[Tensor, "batch pos d_model"],  # noqa: ARG002
    ) -> DistanceBias:
        """The layer's table."""
        return DistanceBias(self.b_distance[layer].float())


class Alibi(PositionEncoding):
    """Scores fall by slope x distance; head h of H (from 1) has the slope 2^(-8 h / H).

    Source: Press et al. 2022, "Train Short, Test Long", section 3.
    """

    by_distance_alone = True

    def __init__(self, config: ModelConfig, position: PositionConfig) -> None:
        super().__init__(config, position)
        self.n_heads = config.n_heads

    def slopes(self) -> Float[Tensor, " head"]:
        """Nats of score that a token of distance costs; float32."""
        heads = torch.arange(1, self.n_heads + 1, dtype=torch.float64)
        return (2 ** (-8 * heads / self.n_heads)).float()

    def score_bias(
        self,
        layer: int,  # noqa: ARG002
        normalized: Float[Tensor, "batch pos d_model"],
    ) -> RunningBias:
        """The same in every layer: a running sum that falls by each head's slope per token."""
        device = normalized.device
        place = torch.arange(normalized.shape[1], device=device, dtype=torch.float32)
        return RunningBias(-place[None, :, None] * self.slopes().to(device))


class ForgetGate(PositionEncoding):
    """Scores fall with every token in between by minus the logarithm of its learned gate.

    The content-dependent ALiBi: each layer reads a gate per head, between 0 and 1, from each
    token, and a key is worth the product of the gates after it.

    Source: Lin et al. 2025, "Forgetting Transformer: Softmax Attention with a Forget Gate",
    section 3; here the gates start open.
    """

    def __init__(self, config: ModelConfig, position: PositionConfig) -> None:
        super().__init__(config, position)
        self.layers = nn.ModuleList(
            nn.Linear(config.d_model, config.n_heads) for _ in range(config.n_layers)
        )

    def reset(self) -> None:
        """The gates start nearly open, whatever the token."""
        for layer in self.layers:
            nn.init.zeros_(layer.weight)  # type: ignore[arg-type]
            nn.init.constant_(layer.bias, OPEN)  # type: ignore[arg-type]

    def score_bias(self, layer: int, normalized: Float[Tensor, "batch pos d_model"]) -> RunningBias:
        """Running sums of the logarithms of the gates; float32."""
        with torch.autocast(normalized.device.type, enabled=False):
            gates = functional.logsigmoid(self.layers[layer](normalized.float()))
        return RunningBias(gates.cumsum(dim=1))


BIASES: dict[str, type[PositionEncoding]] = {
    "relative-bias": RelativeBias,
    "alibi": Alibi,
    "forget-gate": ForgetGate,
}
"""Encodings that bias scores and do nothing else."""

__all__ = ["BIASES", "Alibi", "ForgetGate", "RelativeBias"]
