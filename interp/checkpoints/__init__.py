"""Checkpoints: save, load and verify; nothing in one is ever run."""

from interp.checkpoints.load import Checkpoint, default_checkpoint, load
from interp.checkpoints.save import save

__all__ = ["Checkpoint", "default_checkpoint", "load", "save"]
