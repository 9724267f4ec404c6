"""Does a signal know where words end? ROC-AUC against a segmenter, over gaps."""

from array import array
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Bool, Float, Float32, Int, UInt8

from interp.analyses.statistics import Estimate, clustered_auc, clustered_mean, tied_pair_share
from interp.extraction.increment_table import DocumentSignal, IncrementTable, layer_and_head
from interp.segmentation import Gaps, Segmenter, find_segmenter
from interp.tables import LEAD_BYTE_CEILING, analysis_table

N_FOLDS = 10
"""Folds of documents for what is fitted to the reference itself."""

SCORED_AT = "lead byte"

ALL_DOCUMENTS = "all"
"""The name of the group that every document belongs to."""


def word_boundary_auc(
    table: IncrementTable,
    *,
    language: str | Segmenter = "zh",
    signal: str = "increment",
    is_simultaneous: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> pd.DataFrame:
    """How well ``signal`` at the next character's lead byte tells word ends from other gaps.

    Over the gaps between two neighbouring characters that the reference can judge. An area
    below 0.5 says that boundaries have the smaller value; it is shown as it is. The reference
    is another program's opinion, and anything that only knows the lead byte reaches no more
    than the ceiling beside it.

    Memory: one document of the table and one float32 per gap and column.

    Args:
        table: The signal of each token.
        language: Whose words: a key of `interp.segmentation.SEGMENTERS`, or a segmenter.
        signal: The signal's name.
        is_simultaneous: Whether the areas of all columns are looked at together. The level of
            each interval is then 1 - 0.05 / columns, so that all of them hold with 95 %.
        progress: Called after each document with the bytes done and those of the whole table.

    Returns:
        An analysis table with the rows ``roc_auc`` and ``tied_share`` per column; ``roc_auc``
        of the signal ``lead_byte_ceiling``, cross-fitted and in sample; ``base_rate``, the
        share of gaps that are boundaries, whose note has the reference's settings;
        ``left_out``, the characters left out by reason, of n characters of the script; and
        ``other_script``, where there are any, the texts that may be in another language.

    Raises:
        InputError: No segmenter for ``language``.
    """
    segmenter = find_segmenter(language) if isinstance(language, str) else language
    groups = _collect(table, segmenter, signal, lambda _: ALL_DOCUMENTS, progress)
    return _table_of(table, groups[ALL_DOCUMENTS], segmenter, signal, is_simultaneous)


def word_boundary_auc_by_group(
    table: IncrementTable,
    group_of: Callable[[bytes], str],
    *,
    language: str | Segmenter = "zh",
    signal: str = "increment",
    is_simultaneous: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> dict[str, pd.DataFrame]:
    """What `word_boundary_auc` gives, for all documents and for every group of them.

    Args:
        table: The signal of each token.
        group_of: The name of the group of a document, from its bytes.
        language: As in `word_boundary_auc`, and so are the others.
        signal: The signal's name.
        is_simultaneous: Over the columns, within each group.
        progress: Called after each document.

    Returns:
        Tables by group, that of `ALL_DOCUMENTS` first.

    Raises:
        InputError: No segmenter for ``language``.
    """
    segmenter = find_segmenter(language) if isinstance(language, str) else language
    groups = _collect(table, segmenter, signal, group_of, progress)
    groups = {ALL_DOCUMENTS: _joined(list(groups.values())), **groups}
    return {
        name: _table_of(table, gaps, segmenter, signal, is_simultaneous)
        for name, gaps in groups.items()
    }


def lead_byte_ceilings(
    lead_bytes: UInt8[np.ndarray, " gap"],
    labels: Bool[np.ndarray, " gap"],
    documents: Int[np.ndarray, " gap"],
) -> tuple[Estimate, Estimate]:
    """The areas that P(boundary | next character's lead byte) reaches: cross-fitted, in sample.

    What a score that depends on that byte alone can reach at most: no function of the byte
    beats the in-sample area on this text, and the cross-fitted one is what can be learned from
    other documents. The documents are dealt to `N_FOLDS` folds in turn (to as many as there are
    documents, if fewer), each fold is scored with the rates of the others, a byte that those
    lack with their base rate, and the scores are pooled. With few documents the pooled area
    falls below what the byte is worth, since a fold's own rates are missing from its scores.

    Returns:
        Cross-fitted (undefined with a note below two documents), in sample.
    """
    in_sample = clustered_auc(labels, _rates(lead_bytes, labels)[lead_bytes], documents)
    names, members = np.unique(documents, return_inverse=True)
    if len(names) < 2 or in_sample.value is None:
        note = in_sample.note if in_sample.value is None else "not defined: one document only"
        return Estimate(None, n=len(labels), n_documents=len(names), note=note), in_sample
    folds = members % min(N_FOLDS, len(names))
    scores = np.empty(len(labels))
    for fold in range(folds.max() + 1):
        is_held_out = folds == fold
        rates = _rates(lead_bytes[~is_held_out], labels[~is_held_out])
        scores[is_held_out] = rates[lead_bytes[is_held_out]]
    return clustered_auc(labels, scores, documents), in_sample


@dataclass(frozen=True)
class _ScoredGaps:
    """Every gap of a table: where it is from, what stands after it, and its scores."""

    judged: str
    documents: Int[np.ndarray, " gap"]
    lead_bytes: UInt8[np.ndarray, " gap"]
    is_boundary: Bool[np.ndarray, " gap"]
    scores: Float32[np.ndarray, "gap column"]
    n_characters: int
    left_out: Counter[str]
    other_scripts: Counter[str]

    @property
    def n_documents(self) -> int:
        return len(np.unique(self.documents))


class _Gathering:
    """Gaps of a group of documents, one document after the other.

    Its arrays grow in place: joining a list of them at the end would need twice the memory.
    """

    def __init__(self, n_columns: int) -> None:
        self._n_columns = n_columns
        self._documents, self._scores = array("i"), array("f")
        self._lead_bytes, self._is_boundary = bytearray(), bytearray()
        self._n_characters = 0
        self._left_out, self._other_scripts = Counter[str](), Counter[str]()

    def add(self, document: DocumentSignal, gaps: Gaps) -> None:
        values = np.frombuffer(document.content, dtype=np.uint8)
        self._documents.extend([document.doc] * len(gaps.tokens))
        self._lead_bytes += values[gaps.tokens - 1].tobytes()
        self._is_boundary += gaps.is_boundary.tobytes()
        self._scores.frombytes(document.values[gaps.tokens].astype(np.float32).tobytes())
        self._n_characters += gaps.n_characters
        self._left_out.update(gaps.left_out)
        if gaps.other_script is not None:
            self._other_scripts[gaps.other_script] += 1

    def finished(self, judged: str) -> _ScoredGaps:
        return _ScoredGaps(
            judged=judged,
            documents=np.frombuffer(self._documents, dtype=np.int32),
            lead_bytes=np.frombuffer(self._lead_bytes, dtype=np.uint8),
            is_boundary=np.frombuffer(self._is_boundary, dtype=bool),
            scores=np.frombuffer(self._scores, dtype=np.float32).reshape(-1, self._n_columns),
            n_characters=self._n_characters,
            left_out=self._left_out,
            other_scripts=self._other_scripts,
        )


def _collect(
    table: IncrementTable,
    segmenter: Segmenter,
    signal: str,
    group_of: Callable[[bytes], str],
    progress: Callable[[int, int], None] | None,
) -> dict[str, _ScoredGaps]:
    n_columns = len(table.columns(signal))
    gathered: dict[str, _Gathering] = {}
    n_bytes, n_bytes_in_all = 0, int(np.sum(table.documents["n_bytes"].to_numpy()))
    for document in table.read_documents(signal):
        group = group_of(document.content)
        gathering = gathered.setdefault(group, _Gathering(n_columns))
        gathering.add(document, segmenter.gaps(document.content))
        n_bytes += len(document.content)
        if progress:
            progress(n_bytes, n_bytes_in_all)
    gathered = gathered or {ALL_DOCUMENTS: _Gathering(n_columns)}
    return {name: each.finished(segmenter.judged) for name, each in gathered.items()}


def _joined(groups: list[_ScoredGaps]) -> _ScoredGaps:
    left_out, other_scripts = Counter[str](), Counter[str]()
    for each in groups:  # adding counters would lose the reasons that did not occur
        left_out.update(each.left_out)
        other_scripts.update(each.other_scripts)
    return _ScoredGaps(
        judged=groups[0].judged,
        documents=np.concatenate([each.documents for each in groups]),
        lead_bytes=np.concatenate([each.lead_bytes for each in groups]),
        is_boundary=np.concatenate([each.is_boundary for each in groups]),
        scores=np.concatenate([each.scores for each in groups]),
        n_characters=sum(each.n_characters for each in groups),
        left_out=left_out,
        other_scripts=other_scripts,
    )


def _table_of(
    table: IncrementTable,
    gaps: _ScoredGaps,
    segmenter: Segmenter,
    signal: str,
    is_simultaneous: bool,
) -> pd.DataFrame:
    columns = table.columns(signal)
    common = {
        "checkpoint": table.manifest["checkpoint"],
        "reference": segmenter.reference,
        "scored_at": SCORED_AT,
    }
    n_simultaneous = len(columns) if is_simultaneous else 1
    rows = [common | row for row in _signal_rows(gaps, columns, signal, n_simultaneous)]
    ceilings = lead_byte_ceilings(gaps.lead_bytes, gaps.is_boundary, gaps.documents)
    for group, estimate in zip(("cross-fitted", "in sample"), ceilings, strict=True):
        row = {"statistic": "roc_auc", "signal": LEAD_BYTE_CEILING, "group": group}
        rows.append(common | row | _explained(estimate, gaps.judged).as_row())
    rows += [common | {"scored_at": None} | row for row in _text_rows(gaps, segmenter.details)]
    return analysis_table(rows)


def _signal_rows(
    gaps: _ScoredGaps, columns: list[str], signal: str, n_simultaneous: int
) -> Iterator[dict[str, Any]]:
    for column, name in enumerate(columns):
        layer, head = layer_and_head(name)
        scores = np.ascontiguousarray(gaps.scores[:, column])
        where = {"signal": signal, "layer": layer, "head": head}
        area = clustered_auc(
            gaps.is_boundary, scores, gaps.documents, n_simultaneous=n_simultaneous
        )
        tied = _explained(tied_pair_share(gaps.is_boundary, scores), gaps.judged)
        yield where | {"statistic": "roc_auc"} | _explained(area, gaps.judged).as_row()
        tied_row = tied.as_row() | {"n_documents": gaps.n_documents}
        yield where | {"statistic": "tied_share"} | tied_row


def _text_rows(gaps: _ScoredGaps, details: str) -> Iterator[dict[str, Any]]:
    members = np.unique(gaps.documents, return_inverse=True)[1]
    n_boundaries = np.bincount(members, gaps.is_boundary).astype(np.float64)
    share = clustered_mean(n_boundaries, np.bincount(members), limits=(0.0, 1.0))
    base_rate = _explained(share, gaps.judged)
    note = "; ".join(filter(None, [base_rate.note, details]))
    yield base_rate.as_row() | {"statistic": "base_rate", "note": note}
    for reason, count in gaps.left_out.items():
        yield {
            "statistic": "left_out",
            "group": reason,
            "n": gaps.n_characters,
            "value": count,
            "note": "of n characters of the script",
        }
    for script, count in gaps.other_scripts.items():
        yield {
            "statistic": "other_script",
            "group": script,
            "n_documents": gaps.n_documents,
            "value": count,
            "note": "texts that may be in a language whose words the reference does not know",
        }


def _rates(
    lead_bytes: UInt8[np.ndarray, " gap"], labels: Bool[np.ndarray, " gap"]
) -> Float[np.ndarray, " byte"]:
    """P(boundary | lead byte) for each of 256 values; the base rate for one that is missing."""
    counts = np.bincount(lead_bytes, minlength=256)
    boundaries = np.bincount(lead_bytes, labels, minlength=256)
    base_rate = labels.mean() if len(labels) else np.nan
    return np.where(counts > 0, boundaries / np.maximum(counts, 1), base_rate)


def _explained(estimate: Estimate, judged: str) -> Estimate:
    """``estimate``, saying what a text without gaps lacks."""
    if estimate.n:
        return estimate
    note = f"not defined: no gap between {judged} in the text"
    return Estimate(None, n=0, n_documents=0, note=note)
