"""The area under the ROC curve with its clustered interval against scikit-learn's, without one."""

from collections.abc import Iterator

import numpy as np

from benchmarks.figures import Figure, median_seconds
from benchmarks.opponents import sklearn_auc
from interp.analyses.statistics import clustered_auc

N_GAPS = 1_000_000
N_DOCUMENTS = 2_000
ROUNDS = 7


def figures() -> Iterator[Figure]:
    """One ratio, on float32 scores as extraction gives them."""
    generator = np.random.default_rng(0)
    labels = generator.random(N_GAPS) < 0.5
    scores = (generator.normal(size=N_GAPS) + 0.5 * labels).astype(np.float32)
    documents = np.sort(generator.integers(0, N_DOCUMENTS, N_GAPS))
    ours, theirs = median_seconds(
        (
            lambda: clustered_auc(labels, scores, documents),
            lambda: sklearn_auc.area(labels, scores),
        ),
        rounds=ROUNDS,
    )
    yield Figure(
        "AUC with interval, a million gaps / roc_auc_score",
        ours / theirs,
        at_most=0.5,
        remark=f"{ours:.2f} s",
    )
