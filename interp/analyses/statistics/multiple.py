"""Several tests looked at together."""

import numpy as np
from jaxtyping import Float


def holm(p_values: Float[np.ndarray, " test"]) -> Float[np.ndarray, " test"]:
    """The p-values of tests that are looked at together, adjusted by Holm's steps.

    Rejecting where the adjusted value is below 0.05 wrongly rejects anything at all in at most
    5 of 100 families, however the tests depend on one another.

    Args:
        p_values: One per test; NaN for a test that is not defined, which does not count.

    Returns:
        In the same order, 0 to 1; NaN where it was NaN.

    Raises:
        ValueError: A value outside 0 to 1.

    Source: Holm 1979, "A simple sequentially rejective multiple test procedure".
    """
    is_defined = ~np.isnan(p_values)
    defined = p_values[is_defined]
    if ((defined < 0) | (defined > 1)).any():
        raise ValueError(f"Holm: p-values outside 0 to 1 among {defined.tolist()}")
    order = np.argsort(defined)
    n_left = np.arange(len(defined), 0, -1)
    adjusted = np.full(len(p_values), np.nan)
    steps = np.minimum(1.0, np.maximum.accumulate(n_left * defined[order]))
    adjusted[np.flatnonzero(is_defined)[order]] = steps
    return adjusted
