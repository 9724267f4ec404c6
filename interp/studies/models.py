"""The models that studies are about: the folders of their checkpoints, and what each must hold."""

from interp.model import IncrementsConfig, ModelConfig, RopeConfig

ROPE, SHARED, PER_LAYER = "en-zh-rope", "en-zh-shared", "en-zh-per-layer"
"""Trained alike: plain rotary positions, increments shared by all layers, and those of each."""

PER_HEAD = "en-zh-per-layer-per-head"
"""Each head of each layer has increments of its own; a shorter run."""

SEEDS = (0, 1, 2)
"""Of the shorter runs from which a method is judged."""

PYTHON = "python-per-layer"
"""Trained on Python source."""


_POSITIONS = {
    ROPE: RopeConfig(),
    SHARED: IncrementsConfig(scope="shared"),
    PER_LAYER: IncrementsConfig(),
    PER_HEAD: IncrementsConfig(per_head=True),
    PYTHON: IncrementsConfig(),
}


def of_seed(name: str, seed: int) -> str:
    """The shorter run of a model with this seed."""
    return f"{name}-seed{seed}"


def kind_of(name: str) -> str:
    """The long run of its kind, of a seed's run or a step on the way: with it begins the name."""
    return name.partition("/")[0].partition("-seed")[0]


def is_as_named(name: str, model: ModelConfig) -> bool:
    """Whether a model has the positions that a checkpoint of this name has; true of other names."""
    wanted, found = _POSITIONS.get(kind_of(name)), model.position
    if wanted is None:
        return True
    if isinstance(wanted, IncrementsConfig) and isinstance(found, IncrementsConfig):
        return (found.scope, found.per_head) == (wanted.scope, wanted.per_head)
    return found.encoding == wanted.encoding
