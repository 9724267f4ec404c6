"""The transformer, its hook points and its position encodings."""

from interp.model.config import IncrementsConfig, ModelConfig, RopeConfig
from interp.model.transformer import Transformer

__all__ = ["IncrementsConfig", "ModelConfig", "RopeConfig", "Transformer"]
