"""Position encodings: the registry of all of them; each is a class behind one protocol."""

from interp.model.added_positions import LearnedAbsolute, Sinusoidal
from interp.model.biased_scores import BIASES
from interp.model.config import ModelConfig
from interp.model.position_encoding import NoPositions, PositionEncoding
from interp.model.rotary import Increments, Rope

ENCODINGS: dict[str, type[PositionEncoding]] = {
    "none": NoPositions,
    "sinusoidal": Sinusoidal,
    "learned-absolute": LearnedAbsolute,
    **BIASES,
    "rope": Rope,
    "increments": Increments,
}
"""The registry of position encodings: a new one is a line here and one in `POSITION_CONFIGS`."""


def make_encoding(config: ModelConfig) -> PositionEncoding:
    """The position encoding that ``config`` names."""
    return ENCODINGS[config.position.encoding](config, config.position)
