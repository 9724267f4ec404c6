"""How well a segmenter agrees with people about where words end."""

from collections.abc import Mapping

import numpy as np
import pandas as pd
from jaxtyping import Float, Int

from interp.analyses.statistics import clustered_mean
from interp.segmentation import Segmenter
from interp.segmentation.treebank import Sentence, Treebank
from interp.tables import analysis_table

STATISTICS = ("accuracy", "precision", "recall", "f1", "base_rate")

BY_SENTENCE = "clustered by sentence: the treebank names no documents"


def segmenter_agreement(
    segmenter: Segmenter, treebank: Treebank, *, group: str | None = None
) -> pd.DataFrame:
    """How often ``segmenter`` ends a word where the people of ``treebank`` do.

    Over the gaps that the segmenter judges. A sentence is segmented by itself, so that a
    segmenter that leans on what stands around it has less to lean on than in running text.

    Args:
        segmenter: Whose boundaries are judged.
        treebank: The boundaries that count as right.
        group: What the rows say of the treebank, such as its script.

    Returns:
        An analysis table: ``accuracy`` over gaps; ``precision``, ``recall`` and ``f1`` of
        boundaries; ``base_rate``, the share of gaps that people call a boundary. Each is a
        share, 0 to 1, with an interval clustered by document, or by sentence where the
        treebank names no documents; n is the number of gaps. The signal is the segmenter, the
        reference the treebank.
    """
    counts = np.array([_counts(segmenter, sentence) for sentence in treebank.sentences])
    names = [sentence.document_id for sentence in treebank.sentences]
    is_by_document = len(set(names)) > 1 and all(names)
    if is_by_document:
        members = np.unique(names, return_inverse=True)[1]
        counts = np.stack([np.bincount(members, column) for column in counts.T], axis=1)
    common = {"signal": segmenter.reference, "reference": treebank.name, "group": group}
    n_gaps = int(counts.sum())
    rows = []
    for name, (right, of) in _shares(counts).items():
        row = clustered_mean(right, of.astype(np.int64), limits=(0.0, 1.0)).as_row()
        notes = [row["note"], None if is_by_document else BY_SENTENCE]
        note = "; ".join(filter(None, notes)) or None
        rows.append(common | {"statistic": name} | row | {"n": n_gaps, "note": note})
    return analysis_table(rows)


def _counts(segmenter: Segmenter, sentence: Sentence) -> tuple[int, int, int, int]:
    """Gaps of a sentence: both end a word, only the segmenter, only people, neither."""
    content = sentence.text.encode()
    gaps = segmenter.gaps(content)
    starts = [len(sentence.text[:start].encode()) for start, _ in sentence.word_spans]
    is_word_end = np.isin(gaps.tokens - 1, starts)
    found = gaps.is_boundary
    return (
        int((found & is_word_end).sum()),
        int((found & ~is_word_end).sum()),
        int((~found & is_word_end).sum()),
        int((~found & ~is_word_end).sum()),
    )


def _shares(
    counts: Int[np.ndarray, "document 4"] | Float[np.ndarray, "document 4"],
) -> Mapping[str, tuple[Float[np.ndarray, " document"], Float[np.ndarray, " document"]]]:
    """For every statistic what is right and of how many, per document."""
    both, found_only, people_only, neither = counts.T.astype(np.float64)
    n_gaps = both + found_only + people_only + neither
    return dict(
        zip(
            STATISTICS,
            (
                (both + neither, n_gaps),
                (both, both + found_only),
                (both, both + people_only),
                (2 * both, 2 * both + found_only + people_only),
                (both + people_only, n_gaps),
            ),
            strict=True,
        )
    )
