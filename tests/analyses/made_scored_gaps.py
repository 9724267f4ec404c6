"""Gaps from a few arrays."""

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

from interp.analyses.scored_gaps import ScoreColumn, ScoredGaps


def gaps_of(
    labels: Sequence[bool],
    documents: Sequence[int],
    *,
    scores: Mapping[ScoreColumn, Sequence[float]] | None = None,
    lead_bytes: Sequence[int] | None = None,
) -> ScoredGaps:
    """Gaps with scores; what is not said of them is the same for all."""
    n = len(labels)
    given = scores or {}
    columns = np.array([*given.values()], dtype=np.float32).reshape(len(given), n).T
    return ScoredGaps(
        reference="by hand 1.0",
        details="no settings",
        judged="two digits",
        documents=np.asarray(documents, dtype=np.int32),
        runs=np.asarray(documents, dtype=np.int32),
        characters=("a",),
        previous=np.zeros(n, dtype=np.int32),
        following=np.zeros(n, dtype=np.int32),
        lead_bytes=np.zeros(n, np.uint8) if lead_bytes is None else np.asarray(lead_bytes),
        is_boundary=np.asarray(labels, dtype=bool),
        columns=tuple(given),
        scores=columns,
        n_characters=n + 1,
        left_out=Counter(),
        other_scripts=Counter(),
    )
