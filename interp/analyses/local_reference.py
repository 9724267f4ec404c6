"""What the character before a gap and the byte after it tell about the gap: a learned reference."""

from collections.abc import Callable

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
    context = np.unique(previous, return_inverse=True)[1] * 256 + lead_bytes
    contexts, context = np.unique(context, return_inverse=True)
    byte_of_context = contexts % 256

    def rates_of(is_other: Bool[np.ndarray, " gap"]) -> Float[np.ndarray, " context"]:
        of_byte = byte_rates(lead_bytes[is_other], labels[is_other])
        return _shrunk(context[is_other], labels[is_other], of_byte[byte_of_context], WEIGHT)

    return out_of_fold(context, documents, rates_of)


def out_of_fold(
    contexts: Int[np.ndarray, " gap"] | UInt8[np.ndarray, " gap"],
    documents: Int[np.ndarray, " gap"],
    rates_of: Callable[[Bool[np.ndarray, " gap"]], Float[np.ndarray, " context"]],
) -> Float[np.ndarray, " gap"]:
    """The rate of each gap's context in other documents.

    The documents are dealt to `N_FOLDS` folds in turn (to as many as there are documents, if
    fewer), and each fold is scored with the rates of the others.

    Args:
        contexts: What a gap's score depends on, as an index into the rates.
        documents: Which document each gap comes from; any numbers.
        rates_of: Gives the rates in the gaps that are chosen.

    Returns:
        Rates; NaN for all gaps of a single document.
    """
    names, members = np.unique(documents, return_inverse=True)
    scores = np.full(len(contexts), np.nan)
    if len(names) < 2:
        return scores
    folds = members % min(N_FOLDS, len(names))
    for fold in range(folds.max() + 1):
        is_held_out = folds == fold
        scores[is_held_out] = rates_of(~is_held_out)[contexts[is_held_out]]
    return scores


def byte_rates(
    lead_bytes: UInt8[np.ndarray, " gap"], labels: Bool[np.ndarray, " gap"]
) -> Float[np.ndarray, " byte"]:
    """P(boundary | lead byte) for each of 256 values; the base rate for one that is missing."""
    base_rate = labels.mean() if len(labels) else np.nan
    return _shrunk(lead_bytes, labels, np.full(256, base_rate), 0.0)


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
