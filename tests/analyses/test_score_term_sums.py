import numpy as np
import pytest

from interp.analyses.score_terms import (
    MEAN_ABSOLUTE,
    SCORE,
    VARIANCE_SHARE,
    score_term_rows,
    term_sums,
)
from interp.model.score_terms import TERMS


def made_terms(n_pos=5, batch=3):
    return np.random.default_rng(2).normal(size=(batch, 2, n_pos, n_pos, 4))


def values(rows, statistic, head=None):
    return {
        row["group"]: row["value"]
        for row in rows
        if row["statistic"] == statistic and row["head"] == head
    }


def test_sizes_and_shares_of_two_tokens_by_hand():
    terms = np.zeros((1, 1, 2, 2, 4))
    terms[0, 0, 1] = [[1, 0, 2, 0], [3, 0, -2, 0]]  # the second query: keys 0 and 1
    terms[0, 0, 0, 1] = 100  # a key after its query does not count
    rows = score_term_rows(term_sums(terms))
    assert values(rows, MEAN_ABSOLUTE) == pytest.approx(
        dict(zip((*TERMS, SCORE), (4 / 3, 0, 4 / 3, 0, 4 / 3), strict=True))
    )
    # the score is 3, then 1; the first term rises by 2 where it falls by 2, the third falls by 4
    assert values(rows, VARIANCE_SHARE) == pytest.approx(
        dict(zip(TERMS, (-1, 0, 2, 0), strict=True))
    )


def test_shares_sum_to_one_for_every_head_and_for_all():
    rows = score_term_rows(term_sums(made_terms()))
    for head in (None, 0, 1):
        assert sum(values(rows, VARIANCE_SHARE, head).values()) == pytest.approx(1)


def test_the_share_of_a_term_is_that_of_numpy_within_queries():
    terms = made_terms(batch=1)
    covariances = [
        np.cov(terms[0, 1, query, : query + 1].T, terms[0, 1, query, : query + 1].sum(-1)) * query
        for query in range(1, 5)
    ]
    summed = np.sum(covariances, axis=0)
    shares = values(score_term_rows(term_sums(terms)), VARIANCE_SHARE, 1)
    assert list(shares.values()) == pytest.approx(summed[:4, 4] / summed[4, 4])


def test_sums_of_windows_add_up():
    terms = made_terms()
    whole, parts = term_sums(terms), term_sums(terms[:1]) + term_sums(terms[1:])
    assert whole.n == parts.n == 45
    assert np.allclose(whole.products, parts.products)
    assert np.allclose(whole.absolute, parts.absolute)


def test_scores_that_do_not_differ_have_no_shares():
    for row in score_term_rows(term_sums(np.ones((1, 1, 3, 3, 4)))):
        if row["statistic"] == VARIANCE_SHARE:
            assert row["value"] is None
            assert row["note"].startswith("not defined")
