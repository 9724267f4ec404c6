"""How far apart the model puts names, brackets, newlines of code: a signal by token class."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Float, Int8

from interp import text
from interp.analyses.class_totals import ClassTotals, class_fields, class_rows
from interp.analyses.python_tokens import TOKEN_CLASSES, TokenClasses, python_token_classes
from interp.analyses.statistics import clustered_mean
from interp.corpus.files import shown
from interp.errors import InputError
from interp.extraction.increment_table import DocumentSignal, IncrementTable
from interp.tables import analysis_table, joined_notes

TOKENIZERS: Mapping[str, Callable[[bytes], TokenClasses]] = {"python": python_token_classes}
"""What gives every byte of source code its class, by language."""

BYTE_MEAN, EXCESS = "byte_mean", "excess_over_byte"
"""What the bytes of a class alone would give, and how far its mean lies from that."""

ABSENT = "no such byte in the text"
"""The note of a class that the text lacks."""

NOT_TOKENIZED = "not_tokenized"
"""The statistic of the row that counts bytes of source that are none."""


def token_classes(
    table: IncrementTable,
    signal: str = "increment",
    *,
    language: str = "python",
    progress: Callable[[int, int], None] | None = None,
) -> pd.DataFrame:
    """Mean of ``signal`` per layer and class of token, beside what the bytes alone would give.

    A layer may step over a newline because it ends a statement, or because it is that byte. So
    every class has a baseline, ``byte_mean``: each of its bytes gets the mean of the signal over
    all bytes of that value in the text, in strings and comments too. ``excess_over_byte`` is the
    mean of the class less that: 0 in a layer that sees the byte alone. Where a byte value hardly
    ever stands outside of one class, the baseline is the class itself, and an excess near 0 says
    nothing; classes such as "newline in a string" are there to compare with.

    Memory: one document of the table, one byte per byte of the text, and a count and a sum per
    document, class and column.

    Args:
        table: The signal of each token of source code.
        signal: Its name.
        language: A key of `TOKENIZERS`.
        progress: Called after each document with the bytes done and those of the whole table.

    Returns:
        An analysis table with the rows ``mean``, ``sd``, ``min``, ``max``, ``excess_over_byte``
        and ``byte_mean`` per column of the signal and class of `TOKEN_CLASSES`, in the unit of
        the signal. Mean and excess have a 95 % interval clustered by document; that of the
        excess takes the means of the byte values as given. A class that the text lacks has n = 0
        and null values. The last row, ``not_tokenized``, is the number of bytes among the n of
        the text that are not in this language; its n_documents are the texts with such bytes,
        and its note names the first.

    Raises:
        InputError: There is no such language.
    """
    if language not in TOKENIZERS:
        raise InputError(
            f"token classes: no tokenizer for the language {text.one_line(language)}",
            f"There is one for: {', '.join(TOKENIZERS)}.",
        )
    totals = ClassTotals(len(TOKEN_CLASSES), len(table.columns(signal)))
    bytes_alone = _ByteMeans(len(table.columns(signal)))
    classes: list[Int8[np.ndarray, " _"]] = []
    errors: list[str] = []
    n_bytes, n_bytes_in_all = 0, int(np.sum(table.documents["n_bytes"].to_numpy()))
    for document in table.read_documents(signal):
        found = TOKENIZERS[language](document.content)
        classes.append(found.classes)
        totals.add_document(document.values, found.classes)
        bytes_alone.add_document(document)
        if found.error_line is not None:
            errors.append(f"{_place(document)}, line {found.error_line}")
        n_bytes += len(document.content)
        if progress:
            progress(n_bytes, n_bytes_in_all)

    rows = class_rows(totals, table, signal, TOKEN_CLASSES, reference=language, absent=ABSENT)
    rows += _baseline_rows(table, signal, language, classes, totals, bytes_alone.means())
    n_wrong = sum(int((each == TOKEN_CLASSES.index("not Python")).sum()) for each in classes)
    wrong = {
        "checkpoint": table.manifest["checkpoint"],
        "statistic": NOT_TOKENIZED,
        "group": "not Python",
        "reference": language,
        "n": n_bytes,
        "n_documents": len(errors),
        "value": n_wrong,
        "note": f"first in {errors[0]}" if errors else None,
    }
    return analysis_table([*rows, wrong])


class _ByteMeans:
    """The mean of a signal over all tokens of one id."""

    def __init__(self, n_columns: int) -> None:
        self._counts = np.zeros((text.D_VOCAB, n_columns), dtype=np.int64)
        self._sums = np.zeros((text.D_VOCAB, n_columns))

    def add_document(self, document: DocumentSignal) -> None:
        """Count one document's values in."""
        ids = text.encode(document.content)
        for column, values in enumerate(document.values.T):
            is_defined = ~np.isnan(values)
            of = ids[is_defined]
            self._counts[:, column] += np.bincount(of, minlength=text.D_VOCAB)
            self._sums[:, column] += np.bincount(of, values[is_defined], text.D_VOCAB)

    def means(self) -> Float[np.ndarray, "d_vocab column"]:
        """NaN where there is no such token."""
        with np.errstate(invalid="ignore"):
            return self._sums / self._counts


def _baseline_rows(
    table: IncrementTable,
    signal: str,
    language: str,
    classes: Sequence[Int8[np.ndarray, " _"]],
    of_signal: ClassTotals,
    byte_means: Float[np.ndarray, "d_vocab column"],
) -> list[dict[str, Any]]:
    """How far every class lies from its baseline, and the baseline."""
    columns = table.columns(signal)
    totals = ClassTotals(len(TOKEN_CLASSES), len(columns))
    for document, of_document in zip(table.read_documents(signal), classes, strict=True):
        with np.errstate(invalid="ignore"):  # infinite values have no excess
            excess = document.values - byte_means[text.encode(document.content)]
        totals.add_document(excess, of_document)
    counts, sums = totals.per_document()
    rows = []
    for column, name in enumerate(columns):
        for index, class_name in enumerate(TOKEN_CLASSES):
            shared = class_fields(table, signal, name, class_name, language)
            excess = clustered_mean(sums[:, index, column], counts[:, index, column]).as_row()
            note = totals.note(index, column, ABSENT)
            excess["note"] = joined_notes(excess["note"], note) if excess["n"] else note
            rows.append(shared | excess | {"statistic": EXCESS})
            of_class = None if excess["value"] is None else of_signal.mean[index, column]
            shared |= {"n": excess["n"], "n_documents": excess["n_documents"]}
            baseline = None if of_class is None else of_class - excess["value"]
            note = excess["note"] if baseline is None else note
            rows.append(shared | {"statistic": BYTE_MEAN, "value": baseline, "note": note})
    return rows


def _place(document: DocumentSignal) -> str:
    of_row = f", text {text.one_line(document.id)}" if document.id else ""
    return f"{shown(document.source)}{of_row}"
