"""What the arithmetic alone costs: floating-point operations, and the rate of matrix products."""

import time
from collections.abc import Iterable

import torch
from torch.nn import functional

from interp.model import IncrementsConfig, ModelConfig

_SECONDS = 0.5


def increment_flops(config: ModelConfig, window_lengths: Iterable[int]) -> float:
    """Operations without which a model's per-layer increments cannot be had.

    Those of the layers before the last one, over the tokens of the windows without padding:
    2 per weight and token, and 4 x d_model per pair of a query and a key that is not later.
    The increments of layer 0 are looked up.
    """
    position = config.position
    assert isinstance(position, IncrementsConfig)
    n_layers = config.n_layers - 1
    of_block = 2 * (4 * config.d_model**2 + 3 * config.d_model * config.d_mlp)
    of_increment = 2 * position.d_hidden * (config.d_model + config.n_increment_columns)
    flops = 0.0
    for length in window_lengths:
        pairs = length * (length + 1) / 2
        flops += n_layers * (length * (of_block + of_increment) + 4 * config.d_model * pairs)
    return flops


def training_flops(config: ModelConfig, batch_size: int) -> float:
    """Operations of one training step with plain rotary positions: three times a forward pass."""
    pairs = config.n_ctx * (config.n_ctx + 1) / 2
    of_block = 2 * (4 * config.d_model**2 + 3 * config.d_model * config.d_mlp)
    of_token = config.n_layers * of_block + 2 * config.d_model * config.d_vocab
    forward = config.n_ctx * of_token + config.n_layers * 4 * config.d_model * pairs
    return 3 * batch_size * forward


def product_rate(dtype: torch.dtype, config: ModelConfig) -> float:
    """Operations per second of [2048, d_model] x [d_model, 2 d_mlp], a product of the MLP."""
    activations = torch.randn(2048, config.d_model).to(dtype)
    weights = torch.randn(2 * config.d_mlp, config.d_model).to(dtype)
    for _ in range(3):
        functional.linear(activations, weights)
    began, n_products = time.perf_counter(), 0
    while time.perf_counter() - began < _SECONDS:
        functional.linear(activations, weights)
        n_products += 1
    seconds = time.perf_counter() - began
    return n_products * 2 * activations.shape[0] * weights.numel() / seconds
