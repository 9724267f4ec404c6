"""What a score has to beat: what bytes, characters and their counts alone tell of word ends."""

import numpy as np
from jaxtyping import Bool, Float, Int, UInt8

from interp.analyses.character_counts import SEEN, CharacterCounts
from interp.analyses.local_reference import byte_rates, local_reference, out_of_fold
from interp.analyses.scored_gaps import (
    LEAD_BYTE,
    ScoreColumn,
    ScoredGaps,
)
from interp.tables import (
    CROSS_FITTED,
    IN_SAMPLE,
    LEAD_BYTE_CEILING,
    LOCAL_REFERENCE,
    SEEN_LEAD_BYTE,
)


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

    Cross-fitted scores are undefined where there is one document only, ``left_entropy`` where no
    letter follows.

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
        byte_rates(lead_bytes, labels)[lead_bytes],
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

    Folds are those of `interp.analyses.local_reference.out_of_fold`; a byte that the others lack
    has their base rate. With few documents the area of these scores, pooled, falls below what the
    byte is worth, since a fold's own rates are missing from its scores.

    Returns:
        Shares, 0 to 1; NaN everywhere where there is one document only.
    """
    return out_of_fold(
        lead_bytes, documents, lambda chosen: byte_rates(lead_bytes[chosen], labels[chosen])
    )
