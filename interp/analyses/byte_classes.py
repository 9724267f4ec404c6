"""How far apart the model puts letters, spaces, Chinese bytes: a signal by class of byte."""

from collections.abc import Callable

import numpy as np
import pandas as pd

from interp import text
from interp.analyses.class_totals import ClassTotals, class_fields, class_rows
from interp.extraction.increment_table import IncrementTable
from interp.tables import analysis_table, joined_notes
from interp.tokenizer import BYTES

RUNNING_TEXT, VOCABULARY = "running text", "vocabulary"
"""What the classes are taken over, in the column ``reference``."""

COUNTS_UNKNOWN = "training counts unknown: all bytes that can stand in UTF-8"
"""The note of a table over the vocabulary that may have bytes that training never saw."""


def byte_classes(
    table: IncrementTable,
    signal: str = "increment",
    *,
    progress: Callable[[int, int], None] | None = None,
) -> pd.DataFrame:
    """Mean, sd, min and max of ``signal`` over running text, per layer and class of byte.

    Every token counts, the separator before each text included; entries that are undefined do
    not, and the note counts them. The mean has a 95 % interval clustered by document (see
    `interp.analyses.statistics.clustered_mean`); sd is over tokens, with n - 1.

    Memory: one document of the table, and a count and a sum per document, class and column.

    Args:
        table: The signal of each token.
        signal: Its name.
        progress: Called after each document with the bytes done and those of the whole table.

    Returns:
        An analysis table with four rows per column of the signal and class of
        `interp.text.BYTE_CLASSES`, in the unit of the signal; a class that the text lacks has
        n = 0 and null values. Of a model of characters, whose documents are ASCII here, the
        classes are those of `interp.text.ASCII_CLASSES`.
    """
    columns = table.columns(signal)
    totals = ClassTotals(len(text.BYTE_CLASSES), len(columns))
    n_bytes = 0
    n_bytes_in_all = int(np.sum(table.documents["n_bytes"].to_numpy()))
    for document in table.read_documents(signal):
        totals.add_document(document.values, text.byte_classes(document.content))
        n_bytes += len(document.content)
        if progress:
            progress(n_bytes, n_bytes_in_all)

    rows = class_rows(
        totals,
        table,
        signal,
        text.BYTE_CLASSES if table.tokenizer == BYTES else text.ASCII_CLASSES,
        reference=RUNNING_TEXT,
        absent="no such byte in the text",
    )
    return analysis_table(rows)


def vocabulary_byte_classes(table: IncrementTable, signal: str = "increment") -> pd.DataFrame:
    """Mean, sd, min and max of ``signal`` over byte values, for what the token alone decides.

    Every byte value counts once, however frequent it is, as in the published tables. There is
    no context here, so that a lowercase letter is one class, wherever in a word it would stand.
    Only bytes that the training text had are used: about the others the model was taught
    nothing.

    Args:
        table: A table whose signal has columns that depend on the token alone (shared
            increments, layer 0).
        signal: The signal's name.

    Returns:
        An analysis table with four rows per such column and class of
        `interp.text.VOCABULARY_CLASSES`; n is the number of byte values. No rows where the
        token alone decides nothing, or is no byte. Where it is not known how often training saw
        each byte, every byte that can stand in UTF-8 is used, and the note says so.
    """
    vocabulary = table.vocabulary(signal)
    if vocabulary is None or table.tokenizer != BYTES:
        return analysis_table([])
    classes = text.vocabulary_classes()[vocabulary["token"].to_numpy(dtype=np.int64)]
    seen = vocabulary["n_in_training"]
    is_known = not bool(seen.isna().any())
    if is_known:
        is_used = seen.to_numpy(dtype=np.int64) > 0
    else:
        is_used = classes != text.VOCABULARY_CLASSES.index("invalid byte")
    columns = [name for name in vocabulary if name not in ("token", "n_in_training")]
    totals = ClassTotals(len(text.VOCABULARY_CLASSES), len(columns))
    values = vocabulary[columns].to_numpy(dtype=np.float64, na_value=np.nan)
    totals.add_document(values[is_used], classes[is_used])

    unknown = None if is_known else COUNTS_UNKNOWN
    rows = []
    for column, name in enumerate(columns):
        for index, class_name in enumerate(text.VOCABULARY_CLASSES):
            absent = "training saw no such byte" if is_known else "no such byte in UTF-8"
            note = totals.note(index, column, absent)
            shared = class_fields(table, signal, name, class_name, VOCABULARY)
            shared["note"] = joined_notes(note, unknown)
            rows.append(shared | totals.mean_fields(index, column))
            rows += totals.spread_rows(index, column, shared)
    return analysis_table(rows)
