"""How far apart whole characters stand: a character is a grapheme cluster, all its bytes."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Float

from interp import text
from interp.extraction.increment_table import DocumentSignal, IncrementTable, layer_and_head
from interp.tables import analysis_table

ALL_CHARACTERS = "all characters"
"""The group of every character of a text."""


def character_spacing(table: IncrementTable) -> pd.DataFrame:
    """Mean and standard deviation of the increments of characters, text by text.

    A character's increment is the sum over its bytes. It is for single texts that are looked
    at, so that there are no intervals: about texts of a kind one text says nothing.

    Args:
        table: Increments, of short texts: all characters of a document are held in memory.

    Returns:
        An analysis table with the rows ``mean`` and ``sd`` (with n - 1; null for one character)
        per document, column and class of character that occurs, in positions. The class is
        that of the first byte; ``ALL_CHARACTERS`` has them all. The reference is the id of the
        document, n the number of characters.
    """
    columns = table.columns("increment")
    rows: list[dict[str, Any]] = []
    for document in table.read_documents("increment"):
        if len(document.content):
            rows += _rows(document, columns, table.manifest["checkpoint"])
    return analysis_table(rows)


def _rows(
    document: DocumentSignal, columns: list[str], checkpoint: str
) -> Iterator[dict[str, Any]]:
    spans = text.grapheme_spans(document.content)
    values = np.add.reduceat(document.values[1:].astype(np.float64), spans[:, 0], axis=0)
    classes = text.byte_classes(document.content)[spans[:, 0] + 1]
    groups = {ALL_CHARACTERS: np.ones(len(spans), dtype=bool)}
    groups |= {
        name: classes == index
        for index, name in enumerate(text.BYTE_CLASSES)
        if (classes == index).any()
    }
    for column, name in enumerate(columns):
        layer, head = layer_and_head(name)
        for group, is_in_group in groups.items():
            about = {
                "checkpoint": checkpoint,
                "signal": "increment",
                "layer": layer,
                "head": head,
                "group": group,
                "reference": document.id,
                "n": int(is_in_group.sum()),
            }
            of_group = values[is_in_group, column]
            yield about | {"statistic": "mean", "value": float(of_group.mean())}
            yield about | {"statistic": "sd"} | _deviation(of_group)


def _deviation(values: Float[np.ndarray, " character"]) -> dict[str, Any]:
    if len(values) < 2:
        return {"value": None, "note": "sd not defined: one character only"}
    return {"value": float(values.std(ddof=1))}
