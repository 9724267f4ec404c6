"""What a model is made of: sizes, and which position encoding with which settings."""

import dataclasses
import math
from dataclasses import dataclass, field
from typing import Any, Literal

from interp.model.plain import from_plain, require, require_one_of
from interp.text import D_VOCAB

MOST_CTX = 1 << 20
"""Tokens of the longest window: what no weight's shape bounds, this does."""

SCALINGS = ("pi", "ntk", "yarn")
"""Ways to stretch rotary positions: position interpolation, NTK-aware base, YaRN."""


@dataclass(frozen=True)
class PositionConfig:
    """The settings of a position encoding: plain values, one subclass for each.

    Attributes:
        encoding: Its name, in recipes and checkpoints.
    """

    encoding: str


@dataclass(frozen=True)
class NoPositionsConfig(PositionConfig):
    """Nothing but the causal mask tells where a token is."""

    encoding: Literal["none"] = "none"  # type: ignore[assignment]


@dataclass(frozen=True)
class SinusoidalConfig(PositionConfig):
    """A fixed table of sines and cosines is added to the embedding.

    Attributes:
        base: The longest wavelength is about 2 pi x base tokens.
    """

    encoding: Literal["sinusoidal"] = "sinusoidal"  # type: ignore[assignment]
    base: float = 10_000.0

    def __post_init__(self) -> None:
        require(self.base > 1, f"position.base must be above 1, not {self.base}")


@dataclass(frozen=True)
class LearnedAbsoluteConfig(PositionConfig):
    """A learned vector for each of n_ctx positions is added to the embedding."""

    encoding: Literal["learned-absolute"] = "learned-absolute"  # type: ignore[assignment]


@dataclass(frozen=True)
class RelativeBiasConfig(PositionConfig):
    """A learned number for each layer, head and distance is added to the scores.

    Attributes:
        max_distance: Keys that are farther away share the number of this distance.
    """

    encoding: Literal["relative-bias"] = "relative-bias"  # type: ignore[assignment]
    max_distance: int = 32

    def __post_init__(self) -> None:
        require(
            1 <= self.max_distance <= MOST_CTX,
            f"position.max_distance must be 1 to {MOST_CTX}, not {self.max_distance}",
        )


@dataclass(frozen=True)
class AlibiConfig(PositionConfig):
    """Scores fall with the distance in tokens, at a rate of each head's own."""

    encoding: Literal["alibi"] = "alibi"  # type: ignore[assignment]


@dataclass(frozen=True)
class ForgetGateConfig(PositionConfig):
    """Scores fall with every token in between, by as much as a learned gate says."""

    encoding: Literal["forget-gate"] = "forget-gate"  # type: ignore[assignment]


@dataclass(frozen=True)
class RopeConfig(PositionConfig):
    """Rotary positions that advance by 1 per token.

    Attributes:
        base: The longest wavelength is about 2 pi x base tokens.
        layout: Which channels are rotated together: ``half`` pairs channel i with
            i + d_head / 2, ``interleaved`` pairs 2 i with 2 i + 1.
        recency: What else makes scores fall with the distance in tokens: an encoding that
            biases scores, or nothing.
        unrotated_every: Every so-manieth layer has no positions: 4 leaves out layers 3, 7, ...
        scaling: How positions are stretched beyond the training length: ``pi:2``, ``ntk:2`` or
            ``yarn:2`` for twice the length. Set when a model is loaded, not in training.
        trained_spans: For YaRN, the span of positions in training, one number or one per layer;
            None for n_ctx.
    """

    encoding: Literal["rope"] = "rope"  # type: ignore[assignment]
    base: float = 10_000.0
    layout: Literal["half", "interleaved"] = "half"
    recency: Literal["none", "alibi", "forget-gate"] = "none"
    unrotated_every: int | None = None
    scaling: str | None = None
    trained_spans: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        require(self.base > 1, f"position.base must be above 1, not {self.base}")
        require_one_of("position.layout", self.layout, ("half", "interleaved"))
        require_one_of("position.recency", self.recency, ("none", "alibi", "forget-gate"))
        require(
            self.unrotated_every is None or self.unrotated_every >= 2,
            f"position.unrotated_every must be 2 or more, or none, not {self.unrotated_every}",
        )
        scaling_of(self.scaling)
        require(
            all(span > 0 for span in self.trained_spans or ()),
            "position.trained_spans must be above 0",
        )

    def is_rotated(self, layer: int) -> bool:
        """Whether a layer has positions."""
        return self.unrotated_every is None or (layer + 1) % self.unrotated_every != 0


@dataclass(frozen=True)
class IncrementsConfig(RopeConfig):
    """Rotary positions that advance by a learned increment.

    Attributes:
        scope: ``shared``: one DeltaMLP reads the token embedding and serves every layer;
            ``per_layer``: each layer has its own, which reads the normalised residual stream.
        per_head: Whether every head has its own increments.
        d_hidden: Width of the DeltaMLP.
        max_increment: Increments are max_increment x sigmoid(.); None means softplus(.).
        norm_eps: Epsilon of the per-layer RMSNorm before the DeltaMLP.
    """

    encoding: Literal["increments"] = "increments"  # type: ignore[assignment]
    scope: Literal["shared", "per_layer"] = "per_layer"
    per_head: bool = False
    d_hidden: int = 64
    max_increment: float | None = 10.0
    norm_eps: float = 1e-5

    def __post_init__(self) -> None:
        super().__post_init__()
        require_one_of("position.scope", self.scope, ("shared", "per_layer"))
        require(self.d_hidden >= 1, f"position.d_hidden must be 1 or more, not {self.d_hidden}")
        require(
            self.max_increment is None or 1 < self.max_increment <= MOST_CTX,
            f"position.max_increment must be above 1 (the increment at the start) and at most "
            f"{MOST_CTX}, or left out, not {self.max_increment}",
        )
        require(self.norm_eps > 0, f"position.norm_eps must be above 0, not {self.norm_eps}")


POSITION_CONFIGS: dict[str, type[PositionConfig]] = {
    "none": NoPositionsConfig,
    "sinusoidal": SinusoidalConfig,
    "learned-absolute": LearnedAbsoluteConfig,
    "relative-bias": RelativeBiasConfig,
    "alibi": AlibiConfig,
    "forget-gate": ForgetGateConfig,
    "rope": RopeConfig,
    "increments": IncrementsConfig,
}
"""The registry of position encodings: a new one is a line here and one in `ENCODINGS`."""


@dataclass(frozen=True)
class ModelConfig:
    """Sizes of a decoder-only transformer, named as in TransformerLens.

    Attributes:
        d_mlp: Width of the SwiGLU layer.
        n_ctx: Tokens of a training window.
        norm_eps: Epsilon of the RMSNorms of the residual stream.
        is_tied: Whether the unembedding is the embedding's transpose.
        initialization: ``normal``: every matrix from N(0, 0.02); ``torch``: as PyTorch
            initialises Linear and Embedding.
    """

    d_model: int = 256
    n_heads: int = 8
    n_layers: int = 6
    d_mlp: int = 1024
    d_vocab: int = D_VOCAB
    n_ctx: int = 512
    norm_eps: float = 1e-5
    is_tied: bool = True
    initialization: Literal["normal", "torch"] = "normal"
    position: PositionConfig = field(default_factory=IncrementsConfig)

    def __post_init__(self) -> None:
        for name in ("d_model", "n_heads", "n_layers", "d_mlp", "d_vocab"):
            require(getattr(self, name) >= 1, f"{name} must be 1 or more")
        require(
            8 <= self.n_ctx <= MOST_CTX, f"n_ctx must be 8 to {MOST_CTX} tokens, not {self.n_ctx}"
        )
        require(self.norm_eps > 0, f"norm_eps must be above 0, not {self.norm_eps}")
        require_one_of("initialization", self.initialization, ("normal", "torch"))
        require(
            self.d_model % (2 * self.n_heads) == 0,
            f"d_model = {self.d_model} must be a multiple of 2 x n_heads = {2 * self.n_heads}: "
            "rotation pairs the channels of a head",
        )

    @property
    def d_head(self) -> int:
        """Channels of a head."""
        return self.d_model // self.n_heads

    @property
    def n_increment_columns(self) -> int:
        """How many increments a layer has per token: one, or one per head."""
        return self.n_heads if getattr(self.position, "per_head", False) else 1

    # What TransformerLens's ActivationCache asks of a model's configuration:
    normalization_type = "RMS"
    attn_only = False
    use_attn_result = False

    def to_dict(self) -> dict[str, Any]:
        """The config as plain values, for JSON and TOML; `from_dict` reads it back."""
        return dataclasses.asdict(self)

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> "ModelConfig":
        """The config that `to_dict` wrote.

        Raises:
            ValueError: An unknown key, or a value of the wrong type or out of range.
        """
        values = dict(values)
        position = values.pop("position", {})
        if not isinstance(position, dict):
            raise ValueError(f"position must be a table of settings, not {position!r}")
        encoding = position.get("encoding", "increments")
        require_one_of("position.encoding", encoding, tuple(POSITION_CONFIGS))
        made = from_plain(POSITION_CONFIGS[encoding], position, "position.")
        return dataclasses.replace(from_plain(cls, values, ""), position=made)


def scaling_of(words: str | None) -> tuple[str, float] | None:
    """The kind and the factor of a scaling such as ``ntk:2``; None for none.

    Raises:
        ValueError: It is no scaling.
    """
    if words is None:
        return None
    kind, _, factor = words.partition(":")
    try:
        number = float(factor)
    except ValueError:
        number = math.nan
    require(
        kind in SCALINGS and 1 <= number <= MOST_CTX,
        f"position.scaling must be one of {', '.join(f'{name}:2' for name in SCALINGS)} (or "
        f"another factor of 1 or more), not {words!r:.40}",
    )
    return kind, number
