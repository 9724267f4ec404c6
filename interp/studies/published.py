"""Published numbers: of learned increments, and of the family of position encodings.

Increments: the essay "How Far Apart Does a Model Think Its Tokens Are?" and its experiment. The
family: a tutorial chapter, "Position encoding: from added sinusoids to rotations".
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

PUBLISHED = "published"
"""The reference of rows that hold published numbers."""

LOSS_NATS = {"rope": 1.0753, "shared": 1.0747, "per-layer": 1.0722, "per-layer-per-head": 1.0701}
"""Validation loss in nats per byte, English and Chinese mixed, after 1.6 GB of text."""

EN_DELIMITERS_AUC = 0.97
"""Of the shared increment for space, newline and punctuation in English."""

HEADS_SPEARMAN, N_HEADS = -0.48, 48
"""Of mean increment and attention look-back over all heads of the per-head model."""

CODE_SCOPE, CODE_REST = 8.0, 1.0
"""About where one layer of a model of Python puts newline and brackets, and all else."""


@dataclass(frozen=True)
class PublishedClass:
    """The increments of the byte values of one class.

    Attributes:
        group: A class of `interp.text.VOCABULARY_CLASSES`.
        low: The smallest.
        high: The largest.
        mean: Over the byte values of the class; None where only the range was published.
    """

    group: str
    low: float
    high: float
    mean: float | None = None

    @property
    def middle(self) -> float:
        """The mean, or the middle of the range where no mean was published."""
        return (self.low + self.high) / 2 if self.mean is None else self.mean

    def rows(self, name: str, layer: int | None) -> list[dict[str, Any]]:
        """As rows of an analysis table."""
        values = {"mean": self.mean, "min": self.low, "max": self.high}
        return [
            {
                "checkpoint": name,
                "signal": "increment",
                "statistic": statistic,
                "layer": layer,
                "group": self.group,
                "reference": PUBLISHED,
                "value": value,
                "note": "only the range was published" if value is None else None,
            }
            for statistic, value in values.items()
        ]


SHARED_CLASSES: Sequence[PublishedClass] = (
    PublishedClass("lowercase", 0.68, 0.96, 0.79),
    PublishedClass("continuation", 0.73, 0.86, 0.80),
    PublishedClass("lead E4-E9", 0.84, 0.98, 0.92),
    PublishedClass("space", 1.05, 1.05, 1.05),
    PublishedClass("uppercase", 1.01, 1.29, 1.10),
    PublishedClass(", ; : -", 1.01, 1.25, 1.14),
    PublishedClass(". ! ?", 1.10, 1.29, 1.18),
    PublishedClass("newline", 2.12, 2.12, 2.12),
    PublishedClass("separator", 2.90, 2.90, 2.90),
)
"""The shared model."""

LAYER_0_CLASSES: Sequence[PublishedClass] = (
    PublishedClass("lowercase", 1.21, 2.53, 1.64),
    PublishedClass("continuation", 1.57, 2.08, 1.79),
    PublishedClass("lead E4-E9", 2.04, 2.72, 2.43),
    PublishedClass("uppercase", 2.87, 9.98, 9.52),
    PublishedClass("separator", 9.82, 9.82, 9.82),
    PublishedClass(". ! ?", 9.80, 9.98),
    PublishedClass("space", 9.99, 9.99, 9.99),
    PublishedClass("newline", 9.99, 9.99, 9.99),
)
"""Layer 0 of the per-layer model; a reproduction had uppercase at 1.81 to 2.58 (2.17)."""


@dataclass(frozen=True)
class PublishedEncoding:
    """A model of one position encoding, trained on characters of TinyShakespeare.

    Attributes:
        n_parameters: Of the model.
        loss: Validation loss of seed 0 in nats per character, windows of 64.
        mean: Of three seeds.
        sd: Of three seeds.
        bands: Loss of predictions at input positions 0-63, 64-127 and 128-255 in windows of 256;
            None where the model cannot run.
    """

    n_parameters: int
    loss: float
    mean: float
    sd: float
    bands: tuple[float | None, ...]


FAMILY: Mapping[str, PublishedEncoding] = {
    "none": PublishedEncoding(803_712, 2.259, 2.240, 0.027, (2.250, 2.404, 2.503)),
    "sinusoidal": PublishedEncoding(803_712, 2.038, 2.011, 0.024, (2.040, 3.234, 3.237)),
    "learned-absolute": PublishedEncoding(811_904, 2.105, 2.096, 0.022, (2.110, None, None)),
    "relative-bias": PublishedEncoding(804_240, 2.139, 2.130, 0.017, (2.135, 2.273, 2.428)),
    "alibi": PublishedEncoding(803_712, 1.952, 1.938, 0.018, (1.967, 1.951, 1.958)),
    "rope": PublishedEncoding(803_712, 1.881, 1.867, 0.021, (1.895, 2.007, 2.352)),
}
"""By encoding; bands are of seed 0."""

ROPE_SCALING: Mapping[str, tuple[float, float]] = {
    "plain": (1.899, 2.028),
    "pi:2": (2.477, 2.566),
    "ntk:2": (1.908, 1.965),
}
"""Loss of the RoPE model of seed 0 in bands 0-63 and 64-127 of windows of 128, untuned."""

FAMILY_BANDS = ("positions 0-63", "positions 64-127", "positions 128-255")
"""What `PublishedEncoding.bands` are about: input positions of windows of 256."""


def family_band_rows() -> list[dict[str, Any]]:
    """The published losses by band as rows of an analysis table."""
    return [
        {
            "checkpoint": f"{member}-seed0",
            "signal": "surprisal",
            "statistic": "band_loss",
            "group": band,
            "reference": PUBLISHED,
            "value": value,
            "note": "not defined: cannot run" if value is None else None,
        }
        for member, known in FAMILY.items()
        for band, value in zip(FAMILY_BANDS, known.bands, strict=True)
    ]


def rope_scaling_rows() -> list[dict[str, Any]]:
    """The published losses of stretched RoPE as rows of an analysis table."""
    return [
        {
            "checkpoint": f"rope ({scaling})-seed0",
            "signal": "surprisal",
            "statistic": "band_loss",
            "group": band,
            "reference": PUBLISHED,
            "value": value,
        }
        for scaling, values in ROPE_SCALING.items()
        for band, value in zip(FAMILY_BANDS, values, strict=False)
    ]
