"""How alike a table of positions makes two of them, and how each frequency contributes."""

import torch
from jaxtyping import Float
from torch import Tensor

from interp.model.rotation import rotation_frequencies


def frequency_products(
    n_distances: int, d_model: int, base: float = 10_000.0
) -> Float[Tensor, "distance channel_pair"]:
    """The dot product of two rows of the table within each pair of channels, by distance.

    sin a sin b + cos a cos b = cos(a - b): it depends on the distance alone, and is the cosine of
    distance x frequency. Over all channels the dot product is the sum of these. One frequency is
    1 again after every whole turn, so that it cannot tell distances a turn apart, and a slow one
    hardly tells neighbours apart; their sum falls away from distance 0.

    Args:
        n_distances: Distances 0, 1, ...
        d_model: Channels of the table; pair i turns at base ** (-2 i / d_model).
        base: Of the table.
    """
    distance = torch.arange(n_distances, dtype=torch.float32)
    return (distance[:, None] * rotation_frequencies(d_model, base)).cos()


def row_cosines(table: Float[Tensor, "pos d_model"]) -> Float[Tensor, "query key"]:
    """The cosine of every two rows of a table of positions: 1 for a row and itself.

    Of the sinusoidal table it is the mean of `frequency_products` over the channels.

    Args:
        table: A vector for each position, none of them 0.
    """
    unit = table.float() / table.float().norm(dim=-1, keepdim=True)
    return unit @ unit.T
