"""What a score has to beat: what bytes, characters and their counts alone tell of word ends."""

import numpy as np
from jaxtyping import Bool, Float, Int, UInt8

from interp.analyses.character_counts import SEEN, CharacterCounts
from interp.analyses.local_reference import local_reference
from interp.analyses.scored_gaps import (
    LEAD_BYTE,
    SEEN_LEAD_BYTE,
    ScoreColumn,
    ScoredGaps,
)
from interp.tables import LEAD_BYTE_CEILING

N_FOLDS = 10
"""Folds of documents for what is fitted to the reference itself."""

LOCAL_REFERENCE = "local_reference"
CROSS_FITTED, IN_SAMPLE = "cross-fitted", "in sample"


def with_baselines(gaps: ScoredGaps, counts: CharacterCounts | None = None) -> ScoredGaps:
    """``gaps`` scored also by what needs no model.

    - ``lead_byte_ceiling``: P(boundary | next lead byte). What a score that depends on that byte
      alone can reach at most: no function of the byte beats the one in sample on this text, and
      the cross-fitted one is what can be learned from other documents.
    - ``local_reference``: P(boundary | previous character, next lead byte), cross-fitted: a
      supervised reference for what has read up to the lead byte, not a bound.
    - with counts: ``negative_pmi`` of the two characters, ``right_entropy`` of what follows the
      one before the gap, ``left_entropy`` of what precedes the one after it. Nobody told them
      of words.

    Cross-fitted scores are undefined where there is one document only.

    Args:
        gaps: The gaps.
        counts: How often characters and pairs of them occur in other text.
    """
    lead_bytes, labels = gaps.lead_bytes, gaps.is_boundary
    columns = [
        ScoreColumn(LEAD_BYTE_CEILING, group=group, scored_at=LEAD_BYTE, seen=SEEN_LEAD_BYTE)
        for group in (CROSS_FITTED, IN_SAMPLE)
    ]
    scores = [
        cross_fitted_rates(lead_bytes, labels, gaps.documents),
        _rates(lead_bytes, labels)[lead_bytes],
    ]
    columns.append(
        ScoreColumn(LOCAL_REFERENCE, group=CROSS_FITTED, scored_at=LEAD_BYTE, seen=SEEN_LEAD_BYTE)
    )
    scores.append(local_reference(gaps.previous, lead_bytes, labels, gaps.documents))
    if counts is not None:
        letters = counts.indices(gaps.characters)
        previous, following = letters[gaps.previous], letters[gaps.following]
        columns += [ScoreColumn(name, seen=seen) for name, seen in SEEN.items()]
        scores += [
            counts.negative_pmi(previous, following),
            counts.left_entropy(following),
            counts.right_entropy(previous),
        ]
    return gaps.scored_also(columns, scores)


def cross_fitted_rates(
    lead_bytes: UInt8[np.ndarray, " gap"],
    labels: Bool[np.ndarray, " gap"],
    documents: Int[np.ndarray, " gap"],
) -> Float[np.ndarray, " gap"]:
    """P(boundary | next character's lead byte), fitted on other documents.

    The documents are dealt to `N_FOLDS` folds in turn (to as many as there are documents, if
    fewer), and each fold is scored with the rates of the others, a byte that those lack with
    their base rate. With few documents the area of these scores, pooled, falls below what the
    byte is worth, since a fold's own rates are missing from its scores.

    Returns:
        Shares, 0 to 1; NaN everywhere where there is one document only.
    """
    names, members = np.unique(documents, return_inverse=True)
    scores = np.full(len(labels), np.nan)
    if len(names) < 2:
        return scores
    folds = members % min(N_FOLDS, len(names))
    for fold in range(folds.max() + 1):
        is_held_out = folds == fold
        rates = _rates(lead_bytes[~is_held_out], labels[~is_held_out])
        scores[is_held_out] = rates[lead_bytes[is_held_out]]
    return scores


def _rates(
    lead_bytes: UInt8[np.ndarray, " gap"], labels: Bool[np.ndarray, " gap"]
) -> Float[np.ndarray, " byte"]:
    """P(boundary | lead byte) for each of 256 values; the base rate for one that is missing."""
    counts = np.bincount(lead_bytes, minlength=256)
    boundaries = np.bincount(lead_bytes, labels, minlength=256)
    base_rate = labels.mean() if len(labels) else np.nan
    return np.where(counts > 0, boundaries / np.maximum(counts, 1), base_rate)
