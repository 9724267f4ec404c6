"""How much each of four terms does in the attention scores of layer 0; see `score_terms`."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float

from interp.model.score_terms import TERMS

SCORE = "score"
"""The group of rows about the sum of the terms."""

MEAN_ABSOLUTE, VARIANCE_SHARE = "mean_absolute", "variance_share"


@dataclass(frozen=True)
class TermSums:
    """Sums over pairs of a query and a key that is not after it; those of windows add up.

    Attributes:
        n: How many pairs.
        absolute: Of the absolute values of each term and, last, of the score.
        products: Of term times score, both less their mean over the keys of the query; the last
            is the score's own square.
    """

    n: int
    absolute: Float[np.ndarray, "head term_or_score"]
    products: Float[np.ndarray, "head term_or_score"]

    def __add__(self, other: "TermSums") -> "TermSums":
        return TermSums(
            self.n + other.n, self.absolute + other.absolute, self.products + other.products
        )


def term_sums(terms: Float[np.ndarray, "batch head query key term"]) -> TermSums:
    """The sums of some windows.

    Args:
        terms: As `interp.model.score_terms.score_terms` gives them.
    """
    n_pos = terms.shape[2]
    is_seen = np.tril(np.ones((n_pos, n_pos), dtype=bool))[..., None]
    with_score = np.concatenate([terms, terms.sum(-1, keepdims=True)], axis=-1, dtype=np.float64)
    seen = np.where(is_seen, with_score, 0.0)
    n_keys = np.arange(1, n_pos + 1)[:, None, None]
    centred = np.where(is_seen, with_score - seen.sum(3, keepdims=True) / n_keys, 0.0)
    return TermSums(
        n=terms.shape[0] * n_pos * (n_pos + 1) // 2,
        absolute=np.abs(seen).sum((0, 2, 3)),
        products=(centred * centred[..., -1:]).sum((0, 2, 3)),
    )


def score_term_rows(sums: TermSums) -> list[dict[str, Any]]:
    """Rows of an analysis table: the size of each term, and its share of what scores differ by.

    ``mean_absolute`` is over all pairs. ``variance_share`` is of the variance of scores over the
    keys of one query, since what is the same for all keys of a query the softmax does not see:
    the covariance of the term with the score over the variance of the score. Shares sum to 1; one
    is negative where a term counteracts the others.

    Returns:
        Of every head, and of all heads together (head null).
    """
    heads: Iterable[int | None] = (None, *range(len(sums.absolute)))
    rows: list[dict[str, Any]] = []
    for head in heads:
        chosen = slice(None) if head is None else slice(head, head + 1)
        n = sums.n * len(sums.absolute[chosen])
        absolute, products = (each[chosen].sum(0) for each in (sums.absolute, sums.products))
        about = {"signal": "attention_score", "layer": 0, "head": head}
        for name, total in zip((*TERMS, SCORE), absolute, strict=True):
            values = {"group": name, "value": total / n, "n": n}
            rows.append(about | {"statistic": MEAN_ABSOLUTE} | values)
        is_defined = products[-1] > 0
        why = None if is_defined else "not defined: the scores of a query do not differ"
        for name, product in zip(TERMS, products[:-1], strict=True):
            share = product / products[-1] if is_defined else None
            values = {"group": name, "value": share, "n": n, "note": why}
            rows.append(about | {"statistic": VARIANCE_SHARE} | values)
    return rows
