"""Ridge regression by layer, cross-fitted, from sums that are added up batch by batch."""

from dataclasses import dataclass

import torch
from jaxtyping import Float, Float64, Int8
from torch import Tensor

PENALTY = 1e-3
"""Of the ridge, relative to the mean variance of a channel of the inputs."""


@dataclass(frozen=True)
class RidgeSums:
    """What a ridge regression needs of its inputs, added up per fold and layer.

    The inputs have a last channel that is 1 throughout.

    Attributes:
        products: Of each channel with each.
        with_label: Of each channel with the label, 1 for a boundary and 0 for none.
    """

    products: Float64[Tensor, "fold layer d_in d_in"]
    with_label: Float64[Tensor, "fold layer d_in"]

    @classmethod
    def zeros(cls, n_folds: int, n_layers: int, d_model: int) -> "RidgeSums":
        """The sums over nothing."""
        shape = (n_folds, n_layers, d_model + 1)
        doubles = torch.float64
        return cls(torch.zeros(*shape, shape[-1], dtype=doubles), torch.zeros(shape, dtype=doubles))

    def add(
        self,
        layer: int,
        inputs: Float[Tensor, "gap d_model"],
        labels: Int8[Tensor, " gap"],
        folds: Int8[Tensor, " gap"],
    ) -> None:
        """Take in some gaps of a layer."""
        ones = torch.ones(len(inputs), 1, dtype=torch.float64)
        doubles = torch.cat([inputs.cpu().double(), ones], dim=1)
        for fold in folds.unique().tolist():
            own = doubles[folds == fold]
            self.products[fold, layer] += own.T @ own
            self.with_label[fold, layer] += own.T @ labels[folds == fold].double()

    def weights(self) -> Float[Tensor, "fold layer d_in"]:
        """For each fold, the ridge regression on all others; the last weight is the intercept.

        The intercept is not penalised, and the penalty is `PENALTY` times the mean variance of
        a channel: the same as ``alpha = PENALTY * variance * gaps`` in scikit-learn's ``Ridge``.
        """
        products = self.products.sum(0) - self.products
        with_label = self.with_label.sum(0) - self.with_label
        n = products[..., -1:, -1:]
        means = products[..., :-1, -1] / n[..., 0]
        covariance = products[..., :-1, :-1] / n - means[..., :, None] * means[..., None, :]
        label_mean = with_label[..., -1:] / n[..., 0]
        covariance_with_label = with_label[..., :-1] / n[..., 0] - means * label_mean
        variance, square = (
            matrix.diagonal(dim1=-2, dim2=-1).mean(-1)[..., None, None]
            for matrix in (covariance, products[..., :-1, :-1] / n)
        )
        # a stream that never changes has no variance but what rounding leaves
        penalty = PENALTY * variance.clamp(min=1e-300).maximum(1e-12 * square)
        covariance += penalty * torch.eye(means.shape[-1], dtype=torch.float64)
        slopes = torch.linalg.solve(covariance, covariance_with_label)
        intercept = label_mean - (slopes * means).sum(-1, keepdim=True)
        return torch.cat([slopes, intercept], dim=-1).float()
