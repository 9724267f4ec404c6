"""Losses by input position of a family: bands seed by seed, curves, and where positions reach."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from interp.analyses.loss_by_position import (
    MEAN,
    SMOOTHED,
    Band,
    band_name,
    default_bands,
    loss_by_position,
    position_of,
    trained_length,
)
from interp.analyses.position_spans import position_spans
from interp.analyses.seed_tables import paired_values, seed_rows
from interp.checkpoints import Checkpoint
from interp.extraction.increment_table import layer_and_head
from interp.extraction.signals import increment_columns
from interp.studies.family import Family
from interp.studies.study_input import StudyInput
from interp.tables import analysis_table, rows_of, select
from interp.training.family import run_name

BAND_LOSS, BAND_DIFFERENCE = "band_loss", "band_loss_difference"

_EVERY = 4
"""Of a smoothed curve every fourth position is kept: neighbours share nearly all they are of."""

BandLosses = Mapping[str, Mapping[str, Mapping[int, float]]]
"""Mean surprisals in nats per token: by member (or scaling), band and seed."""


@dataclass(frozen=True)
class Lengths:
    """In which windows a family is read.

    Attributes:
        trained: Tokens of a training window.
        window: Tokens of the windows that are read.
        bands: First and last position of each band.
    """

    trained: int
    window: int
    bands: Sequence[Band]

    @classmethod
    def of(cls, checkpoint: Checkpoint, factor: int) -> "Lengths":
        """Windows of ``factor`` times those of a checkpoint's training, in bands that double."""
        trained = trained_length(checkpoint.model.config.to_dict())
        window = factor * trained
        return cls(trained, window, default_bands(window, trained))

    def within(self, most: int | None) -> "Lengths":
        """The same for a model that has only so many positions."""
        if most is None or most >= self.window:
            return self
        return Lengths(self.trained, most, [band for band in self.bands if band[1] < most])

    @property
    def names(self) -> list[str]:
        """Of the bands."""
        return [band_name(band) for band in self.bands]


def by_position(
    given: StudyInput, checkpoint: Checkpoint, text: str, lengths: Lengths, name: str
) -> pd.DataFrame:
    """The surprisal of held-out text by input position; bands, and the smoothed curve thinned.

    Args:
        given: Where the text is.
        checkpoint: The model; of a text it reads what its training left out. One that has only
            so many positions reads windows of that many tokens.
        text: A key of `interp.studies.study_input.TEXTS`.
        lengths: Windows and bands.
        name: What the model is called in the table.
    """
    lengths = lengths.within(checkpoint.model.position.most_positions)
    table = given.extraction(
        checkpoint,
        text,
        ("surprisal",),
        window=lengths.window,
        stride=lengths.window,
        held_out_of=[checkpoint],
    )
    found = loss_by_position(table, bands=lengths.bands, names=[name])
    is_kept = np.array([_is_kept(group) for group in found["group"]], dtype=bool)
    is_band = found["group"].isin(lengths.names) & (found["statistic"] == MEAN)
    is_curve = (found["statistic"] == SMOOTHED) & is_kept
    kept: Any = found[is_band | is_curve]
    return kept.reset_index(drop=True)


def _is_kept(group: str) -> bool:
    """Whether the smoothed value of a position is kept: all at first, then every few."""
    position = position_of(group)
    return position is not None and (position < 2 * _EVERY or position % _EVERY == 0)


def band_losses(found: pd.DataFrame, names: Mapping[str, Mapping[int, str]]) -> BandLosses:
    """The band means of `by_position`, by member, band and seed.

    Args:
        found: Tables of all models, one after the other.
        names: Of each member its names there, by seed.
    """
    rows = rows_of(select(found, statistic=MEAN))
    values = {(row["checkpoint"], row["group"]): row["value"] for row in rows}
    bands = list(dict.fromkeys(row["group"] for row in rows))
    return {
        member: {
            band: {
                seed: values[name, band]
                for seed, name in of_member.items()
                if values.get((name, band)) is not None
            }
            for band in bands
            if any(values.get((name, band)) is not None for name in of_member.values())
        }
        for member, of_member in names.items()
    }


def band_table(losses: BandLosses) -> pd.DataFrame:
    """The band losses seed by seed with mean and sd, and what each band costs beyond the first.

    Returns:
        An analysis table. ``band_loss``: nats per token. ``band_loss_difference``: paired by
        seed, the band less the first one (``reference``).
    """
    rows: list[dict[str, Any]] = []
    for member, by_band in losses.items():
        for band, values in by_band.items():
            about = {"signal": "surprisal", "group": band}
            rows += seed_rows(member, values, BAND_LOSS, about)
        first, *later = by_band or [""]
        for band in later:
            values = paired_values(by_band[band], by_band[first])
            about = {"signal": "surprisal", "group": band, "reference": first}
            rows += seed_rows(member, values, BAND_DIFFERENCE, about)
    return analysis_table(rows)


def span_table(
    given: StudyInput, family: Family, member: str, text: str, lengths: Lengths
) -> pd.DataFrame:
    """How far the learned positions of each seed reach, beside how far they did in training."""
    tables = []
    for seed in family.seeds[member]:
        checkpoint = given.checkpoint(family.name(member, seed))
        table = given.extraction(
            checkpoint,
            text,
            window=lengths.window,
            stride=lengths.window,
            held_out_of=[checkpoint],
        )
        sizes = [end + 1 for _, end in lengths.bands]
        spans = position_spans(table, sizes, _trained_spans(checkpoint))
        tables.append(spans.assign(checkpoint=run_name(member, seed)))
    return pd.concat(tables, ignore_index=True)


def _trained_spans(checkpoint: Checkpoint) -> dict[str, float]:
    """The span of positions in training, by column of the increments."""
    spans = checkpoint.config.get("position_span") or []
    found: dict[str, float] = {}
    for column in increment_columns(checkpoint.model.config) if spans else ():
        layer, head = layer_and_head(column)
        of_layer = spans[layer or 0]  # shared increments are the same in every layer
        found[column] = of_layer[min(head or 0, len(of_layer) - 1)]
    return found
