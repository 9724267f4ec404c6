"""The names of the models that studies are about: the folders of their checkpoints."""

ROPE, SHARED, PER_LAYER = "en-zh-rope", "en-zh-shared", "en-zh-per-layer"
"""Trained alike: plain rotary positions, increments shared by all layers, and those of each."""

PER_HEAD = "en-zh-per-layer-per-head"
"""Each head of each layer has increments of its own; a shorter run."""

SEEDS = (0, 1, 2)
"""Of the shorter runs from which a method is judged."""

PYTHON = "python-per-layer"
"""Trained on Python source."""


def of_seed(name: str, seed: int) -> str:
    """The shorter run of a model with this seed."""
    return f"{name}-seed{seed}"
