"""What a position encoding may do."""

from jaxtyping import Float
from torch import Tensor, nn

from interp.model.config import ModelConfig, PositionConfig
from interp.model.score_bias import ScoreBias


class PositionEncoding(nn.Module):
    """What any position encoding may do; this one does nothing.

    An encoding may add a term to the embedding, rotate queries and keys by a running sum of
    increments (then it is a `interp.model.rotary.Rope`), and add a term to the attention
    scores. A new one is one class, one config, and one line in each registry.

    Attributes:
        most_positions: The longest window that it can read; None for any.
        by_distance_alone: Whether it promises that the score of two tokens depends on where
            they stand by the number of tokens between them alone.
    """

    most_positions: int | None = None
    by_distance_alone: bool = False

    def __init__(self, config: ModelConfig, position: PositionConfig) -> None:  # noqa: ARG002
        super().__init__()

    def reset(self) -> None:
        """Set those weights that do not start as the model's other weights do."""

    def add_to_embedding(
        self, embedding: Float[Tensor, "batch pos d_model"]
    ) -> Float[Tensor, "batch pos d_model"]:
        """The residual stream that enters layer 0."""
        return embedding

    def score_bias(
        self,
        layer: int,  # noqa: ARG002
        normalized: Float[Tensor, "batch pos d_model"],  # noqa: ARG002
    ) -> ScoreBias | None:
        """What is added to the scores of a layer, or None for nothing.

        Args:
            layer: The layer.
            normalized: The normalised residual stream that its queries and keys are made of.
        """
        return None


class NoPositions(PositionEncoding):
    """The causal mask alone.

    Source: Haviv et al. 2022, "Transformer Language Models without Positional Encodings Still
    Learn Positional Information".
    """

    by_distance_alone = True
