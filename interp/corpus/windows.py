"""Training windows, as a pure function of seed, step and rank.

No state and no worker: whoever knows the step knows its windows, so that a resumed run, or one
spread over more processes, sees each window exactly when an undisturbed one would.
"""

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from jaxtyping import Int, UInt16


def training_windows(
    streams: Sequence[UInt16[np.ndarray, " _"]],
    *,
    n_ctx: int,
    seed: int,
    first: int,
    count: int,
) -> Int[np.ndarray, "batch pos"]:
    """Windows number ``first`` to ``first + count - 1`` of the training order.

    A stream is cut every n_ctx tokens, whatever stands there; a window has one token more,
    which only serves as the last target. The streams take turns, so that each gives the same
    number of tokens, and each is shuffled anew for every pass over it.

    Args:
        streams: One packed corpus each; each at least n_ctx + 1 tokens.
        n_ctx: Tokens that the model reads.
        seed: Of the order.
        first: With ``batch`` windows per step on each of ``n`` ranks, rank r of step s begins
            at ``(s * n + r) * batch``.
        count: How many windows.

    Returns:
        Tokens [count, n_ctx + 1], int64.
    """
    windows = np.empty((count, n_ctx + 1), dtype=np.int64)
    for row, number in enumerate(range(first, first + count)):
        turn, which = divmod(number, len(streams))
        stream = streams[which]
        n_windows = n_windows_in(stream, n_ctx)
        n_pass, place = divmod(turn, n_windows)
        start = int(_order(n_windows, seed, which, n_pass)[place]) * n_ctx
        windows[row] = stream[start : start + n_ctx + 1]
    return windows


def n_windows_in(stream: UInt16[np.ndarray, " token"], n_ctx: int) -> int:
    """How many training windows one pass over a stream gives."""
    return (len(stream) - 1) // n_ctx


# One order per stream is in use at a time, two where a pass ends: far fewer than this. All
# orders of a run together are 8 bytes for each window that it draws.
@lru_cache(maxsize=4096)
def _order(n_windows: int, seed: int, which: int, n_pass: int) -> Int[np.ndarray, " window"]:
    return np.random.default_rng([seed, which, n_pass]).permutation(n_windows)
