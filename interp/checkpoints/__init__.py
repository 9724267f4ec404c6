"""Checkpoints: save, load and verify; nothing in one is ever run."""

from interp.checkpoints.folder import default_checkpoint
from interp.checkpoints.load import Checkpoint, load
from interp.checkpoints.save import save

__all__ = ["Checkpoint", "default_checkpoint", "load", "save"]
