"""Shares of what is found: precision, recall and F1, from sums over documents."""

import numpy as np
from jaxtyping import Float


def ratio(part: Float[np.ndarray, " _"], whole: Float[np.ndarray, " _"]) -> Float[np.ndarray, " _"]:
    """``part / whole``; NaN where there is nothing to divide by."""
    return np.divide(part, whole, out=np.full(len(whole), np.nan), where=whole > 0)


def precision(
    both: Float[np.ndarray, " _"], called: Float[np.ndarray, " _"]
) -> Float[np.ndarray, " _"]:
    """The share of what is called that is true, 0 to 1; ``both`` is called and true."""
    return ratio(both, called)


def recall(both: Float[np.ndarray, " _"], true: Float[np.ndarray, " _"]) -> Float[np.ndarray, " _"]:
    """The share of what is true that is called, 0 to 1."""
    return ratio(both, true)


def f1(
    both: Float[np.ndarray, " _"], called: Float[np.ndarray, " _"], true: Float[np.ndarray, " _"]
) -> Float[np.ndarray, " _"]:
    """The harmonic mean of precision and recall; 0 where nothing that is called is true."""
    return ratio(2 * both, called + true)
