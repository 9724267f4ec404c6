"""Gaps of documents that differ from one another, made for tests."""

import numpy as np
from hypothesis import strategies as st


def clustered_gaps(rng, n_documents, *, effect=1.0, spread=0.7, mean_length=40):
    """Gaps whose scores and base rates differ from document to document."""
    labels, scores, documents = [], [], []
    for document in range(n_documents):
        n = int(rng.integers(mean_length // 2, 2 * mean_length))
        own = rng.random(n) < np.clip(rng.normal(0.5, 0.1), 0.1, 0.9)
        labels.append(own)
        scores.append(effect * own + spread * rng.normal() * own + rng.normal(size=n))
        documents.append(np.full(n, document))
    return np.concatenate(labels), np.concatenate(scores), np.concatenate(documents)


def with_second_score(rng, labels, scores):
    """A score that shares some of the first one's errors, and what is different per document."""
    return 0.6 * scores + 0.4 * labels + rng.normal(size=len(labels))


@st.composite
def small_gaps(draw):
    n = draw(st.integers(2, 40))
    labels = np.array(draw(st.lists(st.booleans(), min_size=n, max_size=n)))
    if labels.all() or not labels.any():
        labels[0] = not labels[0]
    scores = draw(st.lists(st.integers(-3, 3), min_size=n, max_size=n))
    documents = draw(st.lists(st.integers(0, 5), min_size=n, max_size=n))
    return labels, np.array(scores, dtype=np.float32), np.array(documents)
