"""What areas come to when the labels no longer belong to their gaps."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int

from interp.analyses.statistics.estimate import members_of, why_undefined
from interp.analyses.statistics.ranks import doubled_ranks, each_group

ROUNDING = 1e-6
"""Sums of whole numbers that are nearer to one another than this are the same sum."""


@dataclass(frozen=True)
class ShiftNull:
    """The areas of each column under circular shifts of the labels; NaN where undefined.

    Attributes:
        centre: Their mean over all shifts that there are, not only over those drawn.
        low: Their 0.025 quantile, over those drawn.
        high: Their 0.975 quantile.
        p_value: Of the area at no shift, two-sided; at least 1 / (n_shifts + 1).
        notes: Why a column has none; None where it has.
        n: Gaps.
        n_documents: Documents that they come from.
        n_shifts: How many shifts were drawn.
        cluster: What a document is called.
    """

    centre: Float[np.ndarray, " column"]
    low: Float[np.ndarray, " column"]
    high: Float[np.ndarray, " column"]
    p_value: Float[np.ndarray, " column"]
    notes: tuple[str | None, ...]
    n: int
    n_documents: int
    n_shifts: int
    cluster: str

    @property
    def method(self) -> str:
        """How it was made, as one phrase."""
        return f"{self.n_shifts} circular shifts of the labels within {self.cluster}s"


def shift_null(
    labels: Bool[np.ndarray, " gap"],
    scores: Float[np.ndarray, "gap column"],
    documents: Int[np.ndarray, " gap"],
    *,
    n_shifts: int = 999,
    seed: int = 0,
    cluster: str = "document",
) -> ShiftNull:
    """The areas under the ROC curve that labels in the wrong place reach.

    Boundaries alternate with other gaps more than chance would have it, which shuffled labels
    would not do. So the labels of each document go round in a circle by an amount drawn for it,
    the same for all columns: their rhythm stays, and so do the differences between documents.
    The centre is therefore not always 0.5. p is the share of shifts, the observed labels among
    them, whose area is at least as far from the centre as the observed one; a test of whether
    labels and scores of a document have to do with one another.

    The number of boundaries stays, so an area is a sum of ranks at the boundaries, and the sums
    of one document at all of its shifts are one circular correlation. Memory: 8 bytes per gap
    and column, and about 40 per gap and column of the longest document.

    Args:
        labels: True for a boundary; the gaps of one document in the order of the text.
        scores: Any order-preserving scale per column; NaN makes a column undefined.
        documents: Which document each gap comes from; any numbers.
        n_shifts: How many to draw; at least 1.
        seed: Of the random generator.
        cluster: What a document is called, where it is something else.

    Returns:
        NaN with a note where the area is undefined or where no shift changes it.
    """
    members = members_of(documents)
    n, n_columns = scores.shape
    m = int(members.max(initial=-1)) + 1
    notes: list[str | None] = []
    for column in scores.T:
        reason = why_undefined(labels, column)
        notes.append(f"not defined: {reason}" if reason else None)
    defined = np.flatnonzero([note is None for note in notes])
    centres, lows, highs, p_values = np.full((4, n_columns), np.nan)
    if len(defined):
        ranks = np.stack([doubled_ranks(scores[:, each]) for each in defined], axis=1)
        observed = ranks[labels].sum(axis=0)
        centre, shifted = _sums_of_ranks(labels, ranks, members, n_shifts, seed)
        distance = np.abs(observed - centre) - ROUNDING
        n_as_far = (np.abs(shifted - centre) >= distance).sum(axis=0)
        n_pairs = int(labels.sum()) * int((~labels).sum())
        centres[defined] = 0.5 + centre / (2 * n_pairs)
        quantiles = 0.5 + np.quantile(shifted, (0.025, 0.975), axis=0) / (2 * n_pairs)
        lows[defined], highs[defined] = quantiles
        p_values[defined] = (1 + n_as_far) / (1 + n_shifts)
        for still in defined[(shifted == observed).all(axis=0)]:
            notes[still] = "not defined: no shift changes the area"
            centres[still] = lows[still] = highs[still] = p_values[still] = np.nan
    return ShiftNull(centres, lows, highs, p_values, tuple(notes), n, m, n_shifts, cluster)


def _sums_of_ranks(
    labels: Bool[np.ndarray, " gap"],
    ranks: Int[np.ndarray, "gap column"],
    members: Int[np.ndarray, " gap"],
    n_shifts: int,
    seed: int,
) -> tuple[Float[np.ndarray, " column"], Int[np.ndarray, "shift column"]]:
    """Sums of ranks at the boundaries: their mean over all shifts, and at those drawn."""
    generator = np.random.default_rng(seed)
    centre = np.zeros(ranks.shape[1])
    shifted = np.zeros((n_shifts, ranks.shape[1]), dtype=np.int64)
    for own in each_group(members):
        n, n_true = len(own), int(labels[own].sum())
        centre += n_true / n * ranks[own].sum(axis=0)
        if n_true in (0, n):
            shifted += ranks[own].sum(axis=0) * (n_true > 0)
        else:
            drawn = generator.integers(n, size=n_shifts)
            shifted += _sum_at_each_shift(labels[own], ranks[own])[drawn]
    return centre, shifted


def _sum_at_each_shift(
    labels: Bool[np.ndarray, " gap"], ranks: Int[np.ndarray, "gap column"]
) -> Int[np.ndarray, "shift column"]:
    """The sum of ranks at the labels moved on by 0, 1, ... gaps in a circle."""
    n = len(labels)
    of_labels = np.conj(np.fft.rfft(labels.astype(np.float64)))
    sums = np.fft.irfft(
        of_labels[:, None] * np.fft.rfft(ranks.astype(np.float64), axis=0), n, axis=0
    )
    # sums of whole numbers; a document of a million gaps is off by 0.004 before it is rounded
    return np.rint(sums).astype(np.int64)
