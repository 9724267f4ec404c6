"""Terms that attention adds to its scores, given by blocks: no table of all pairs is ever kept.

A term belongs to a query and a key. What is the same for all queries of a row changes nothing,
since the softmax of a row does not see it; so a term that is a difference of running sums needs
one number per token and head.
"""

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import torch
from jaxtyping import Float
from torch import Tensor


@runtime_checkable
class ScoreBias(Protocol):
    """What is added to the scores of a layer."""

    def block(self, start: int, end: int) -> Float[Tensor, "batch_or_1 head query key"]:
        """For queries ``start`` to ``end - 1``, and keys 0 to ``end - 1``; float32.

        What stands where a key comes after its query is arbitrary: it is masked.
        """
        ...


@dataclass(frozen=True)
class DistanceBias:
    """A number for each head and distance in tokens.

    Attributes:
        table: For distances 0, 1, ...; keys that are farther away have the last one.
    """

    table: Float[Tensor, "head distance"]

    def block(self, start: int, end: int) -> Float[Tensor, "1 head query key"]:
        """See `ScoreBias.block`."""
        place = torch.arange(end, device=self.table.device)
        distance = (place[start:, None] - place).clamp(0, self.table.shape[1] - 1)
        return self.table[:, distance].unsqueeze(0)


@dataclass(frozen=True)
class RunningBias:
    """The running sum at the query less the one at the key.

    Attributes:
        total: Running sums, falling; float32.
    """

    total: Float[Tensor, "batch_or_1 pos head"]

    def block(self, start: int, end: int) -> Float[Tensor, "batch_or_1 head query key"]:
        """See `ScoreBias.block`."""
        total = self.total.transpose(1, 2)
        return total[..., start:end, None] - total[..., None, :end]
