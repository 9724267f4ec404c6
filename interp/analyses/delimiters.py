"""Does a signal tell delimiters from other bytes? ROC-AUC at the bytes themselves."""

from array import array
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Bool, Float, Int, Int8, Integer, UInt8

from interp import text
from interp.analyses.statistics import clustered_auc
from interp.extraction.increment_table import IncrementTable, layer_and_head
from interp.tables import analysis_table
from interp.tokenizer import BYTES

DELIMITERS = "space, newline, punctuation"
GROUPS: Mapping[str, tuple[str, ...]] = {
    DELIMITERS: ("space", "newline", ". ! ?", ", ; : -"),
    "these and other ASCII signs": ("space", "newline", ". ! ?", ", ; : -", "other ASCII"),
    "space": ("space",),
    "newline": ("newline",),
    "punctuation": (". ! ?", ", ; : -"),
}
"""What is told from every other byte, as classes of `interp.text.BYTE_CLASSES`."""

N_PERMUTATIONS = 20_000

_AT_A_TIME = 1_000


def delimiter_auc(
    table: IncrementTable,
    *,
    signal: str = "increment",
    progress: Callable[[int, int], None] | None = None,
) -> pd.DataFrame:
    """How well ``signal`` at a byte tells that the byte is a delimiter, per group of `GROUPS`.

    Over every byte of the text, separators left out. The byte itself says which class it is
    of, so that the ceiling is 1 for anything that knows the byte, and the question is only in
    which order a signal puts the bytes. For a column that the byte alone decides, an interval
    over documents says how the area changes with the text and not whether the order is chance:
    there are but a hundred or so byte values. So such a column has rows ``permuted_roc_auc``
    and ``permutation_p`` too: its own values dealt to the bytes of the text at random.

    Memory: one float32 per byte and column.

    Args:
        table: The signal of each token.
        signal: The signal's name.
        progress: Called after each document with the bytes done and those of the whole table.

    Returns:
        An analysis table: ``roc_auc`` per column and group, clustered by document;
        ``permuted_roc_auc`` with mean and 2.5 and 97.5 % of `N_PERMUTATIONS` permutations, and
        ``permutation_p``, the share of them that reach the area (itself counted as one), where
        the byte decides; ``base_rate``, the share of bytes of each group.
    """
    columns = table.columns(signal)
    documents, bytes_, classes, scores = _collect(table, signal, len(columns), progress)
    decided = _decided_by_the_byte(table, signal)
    rows = []
    for group, members in GROUPS.items():
        is_member = np.isin(classes, [text.BYTE_CLASSES.index(name) for name in members])
        common = {"checkpoint": table.manifest["checkpoint"], "group": group, "scored_at": "byte"}
        for column, name in enumerate(columns):
            layer, head = layer_and_head(name)
            about = common | {"signal": signal, "layer": layer, "head": head}
            auc = clustered_auc(is_member, np.ascontiguousarray(scores[:, column]), documents)
            rows.append(about | {"statistic": "roc_auc"} | auc.as_row())
            if name in decided and auc.value is not None:
                dealt = permuted_areas(decided[name], bytes_, is_member)
                rows += [about | row for row in _permutation_rows(dealt, auc.value, bytes_)]
        share = float(is_member.mean()) if len(is_member) else None
        rows.append(common | {"statistic": "base_rate", "value": share, "n": len(is_member)})
    return analysis_table(rows)


def permuted_areas(
    values: Float[np.ndarray, " byte"],
    content: Integer[np.ndarray, " pos"],
    is_member: Bool[np.ndarray, " pos"],
    *,
    n_permutations: int = N_PERMUTATIONS,
    seed: int = 0,
) -> Float[np.ndarray, " permutation"]:
    """The areas of ``values`` dealt at random to the byte values that a text has.

    Args:
        values: The signal of each of the 256 byte values.
        content: The text's bytes.
        is_member: Which bytes are to be told from the others; decided by the byte's value.
        n_permutations: How often they are dealt.
        seed: Of the permutations.
    """
    counts = np.bincount(content, minlength=256)
    members = np.bincount(content, is_member, minlength=256)
    present = np.flatnonzero(counts)
    n_member, n_other = members[present], (counts - members)[present]
    # the values in order stay where they are, and the bytes are dealt to them
    _, starts = np.unique(np.sort(values[present]), return_index=True)
    generator = np.random.default_rng(seed)
    areas = []
    for first in range(0, n_permutations, _AT_A_TIME):
        n_at_once = min(_AT_A_TIME, n_permutations - first)
        dealt = generator.permuted(np.tile(np.arange(len(present)), (n_at_once, 1)), axis=1)
        of_value = np.add.reduceat(n_member[dealt], starts, axis=1)
        others = np.add.reduceat(n_other[dealt], starts, axis=1)
        others_below = np.cumsum(others, axis=1) - others
        areas.append((of_value * (others_below + others / 2)).sum(1))
    return np.concatenate(areas) / (n_member.sum() * n_other.sum())


def _permutation_rows(
    dealt: Float[np.ndarray, " permutation"], area: float, content: Integer[np.ndarray, " pos"]
) -> list[dict[str, Any]]:
    note = f"{len(np.unique(content))} byte values"
    low, high = np.quantile(dealt, [0.025, 0.975])
    reached = int((dealt >= area).sum())
    return [
        {
            "statistic": "permuted_roc_auc",
            "value": float(dealt.mean()),
            "low": float(low),
            "high": float(high),
            "n": len(dealt),
            "method": "2.5 to 97.5 % of permutations of the byte values",
            "note": note,
        },
        {
            "statistic": "permutation_p",
            "value": (reached + 1) / (len(dealt) + 1),
            "n": len(dealt),
            "note": note,
        },
    ]


def _collect(
    table: IncrementTable,
    signal: str,
    n_columns: int,
    progress: Callable[[int, int], None] | None,
) -> tuple[
    Int[np.ndarray, " pos"],
    UInt8[np.ndarray, " pos"],
    Int8[np.ndarray, " pos"],
    Float[np.ndarray, "pos column"],
]:
    """Document, byte, class and scores of every byte."""
    documents, contents, classes, scores = array("i"), bytearray(), bytearray(), array("f")
    n_bytes_in_all = int(np.sum(table.documents["n_bytes"].to_numpy()))
    for document in table.read_documents(signal):
        documents.extend([document.doc] * len(document.content))
        contents += document.content
        classes += text.byte_classes(document.content)[1:].tobytes()
        scores.frombytes(document.values[1:].astype(np.float32).tobytes())
        if progress:
            progress(len(contents), n_bytes_in_all)
    return (
        np.frombuffer(documents, dtype=np.int32),
        np.frombuffer(contents, dtype=np.uint8),
        np.frombuffer(classes, dtype=np.int8),
        np.frombuffer(scores, dtype=np.float32).reshape(-1, n_columns),
    )


def _decided_by_the_byte(
    table: IncrementTable, signal: str
) -> Mapping[str, Float[np.ndarray, " byte"]]:
    vocabulary = table.vocabulary(signal)
    if vocabulary is None or table.tokenizer != BYTES:
        return {}
    names = [name for name in vocabulary if name not in ("token", "n_in_training")]
    return {name: vocabulary[name].to_numpy(dtype=np.float64)[:256] for name in names}
