"""How far apart does a language model think its tokens are?

import interp

checkpoint = interp.load()                       # the one that comes with the package
interp.increments(checkpoint, "Marie Curie")     # draws itself in a notebook
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from interp.checkpoints import load
    from interp.notebook import Increments, increments

__version__ = "0.1.0"

__all__ = ["Increments", "__version__", "increments", "load"]

_HOME = {
    "load": "interp.checkpoints",
    "increments": "interp.notebook",
    "Increments": "interp.notebook",
}


def __getattr__(name: str) -> Any:
    """Import what is asked for when it is: torch takes seconds."""
    if name not in _HOME:
        raise AttributeError(f"module 'interp' has no attribute {name!r}")
    import importlib

    return getattr(importlib.import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
