"""What the character before a gap and the byte after it tell about the gap: a learned reference."""

import numpy as np
from jaxtyping import Bool, Float, Int, UInt8

N_FOLDS = 10
"""Folds of documents."""

WEIGHT = 5.0
"""Gaps that the rate of the lead byte alone counts for."""


def local_reference(
    previous: Int[np.ndarray, " gap"],
    lead_bytes: UInt8[np.ndarray, " gap"],
    labels: Bool[np.ndarray, " gap"],
    documents: Int[np.ndarray, " gap"],
) -> Float[np.ndarray, " gap"]:
    """P(boundary | character before the gap, lead byte after it), learned from other documents.

    A layer that reads the lead byte in its context should beat what a table makes of that byte
    and one character. It is a supervised reference and not a bound: a signal may know more, and
    with more text the table would.

    The documents are dealt to `N_FOLDS` folds in turn (to as many as there are documents, if
    fewer) and each fold is scored with the rates of the others. A rate is shrunk to that of the
    lead byte alone, which counts as `WEIGHT` gaps; a byte that the other folds lack has their
    base rate.

    Args:
        previous: The character before each gap, as any numbers.
        lead_bytes: The first byte of the character after it.
        labels: True for a boundary.
        documents: Which document each gap comes from; any numbers.

    Returns:
        Scores from 0 to 1, none of which has seen a label of its own document; NaN, which is
        undefined, for all gaps of a single document.
    """
    names, members = np.unique(documents, return_inverse=True)
    scores = np.full(len(labels), np.nan)
    if len(names) < 2:
        return scores
    folds = members % min(N_FOLDS, len(names))
    context = np.unique(previous, return_inverse=True)[1] * 256 + lead_bytes
    contexts, context = np.unique(context, return_inverse=True)
    byte_of_context = contexts % 256
    for fold in range(folds.max() + 1):
        is_other = folds != fold
        bytes_there, labels_there = lead_bytes[is_other], labels[is_other]
        of_byte = _shrunk(bytes_there, labels_there, np.full(256, labels_there.mean()), 0.0)
        of_context = _shrunk(context[is_other], labels_there, of_byte[byte_of_context], WEIGHT)
        scores[~is_other] = of_context[context[~is_other]]
    return scores


def _shrunk(
    contexts: Int[np.ndarray, " gap"] | UInt8[np.ndarray, " gap"],
    labels: Bool[np.ndarray, " gap"],
    towards: Float[np.ndarray, " context"],
    weight: float,
) -> Float[np.ndarray, " context"]:
    """The rate of each context with ``weight`` gaps of the rate ``towards`` added."""
    n = len(towards)
    counts = np.bincount(contexts, minlength=n) + weight
    boundaries = np.bincount(contexts, labels, n) + weight * towards
    return np.divide(boundaries, counts, out=towards.copy(), where=counts > 0)
