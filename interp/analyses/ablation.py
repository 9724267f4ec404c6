"""Does a model use its increments? What replaced ones add to its loss, by group of bytes."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import regex
from jaxtyping import Float, Int, Int8

from interp import text
from interp.analyses.seeds import MARGIN_NATS
from interp.analyses.statistics import NEGLIGIBLE, clustered_mean, paired_difference
from interp.errors import InputError
from interp.extraction.increment_table import IncrementTable
from interp.segmentation.gaps import Segmenter
from interp.tables import analysis_table

SIGNAL = "surprisal"
LOSS, LOSS_DIFFERENCE = "loss", "loss_difference"
"""Statistics: the loss with the increments as they are, and what a replacement adds to it."""

AS_THEY_ARE = "increments as they are"
"""The reference of the loss itself."""

ALL_BYTES = "all bytes"

_IN_COMMON = {
    "checkpoint": "model",
    "corpus_fingerprint": "text",
    "shard": "shard of the text",
    "window": "length of window",
}
"""What two tables must have in common for the same bytes to be compared, and its name."""

HIGHER, LOWER, SAME, UNDECIDED = "higher", "lower", "same", "undecided"
"""What a change of the loss can be: see `answer`."""


@dataclass(frozen=True)
class Grouping:
    """Groups of bytes; each byte is in one of them or in none.

    Attributes:
        names: Of the groups.
        group_of: The number of each byte's group in a document, -1 for none.
    """

    names: tuple[str, ...]
    group_of: Callable[[bytes], Int8[np.ndarray, " byte"]]


WHOLE_TEXT = Grouping((ALL_BYTES,), lambda content: np.zeros(len(content), dtype=np.int8))
CLASSES = Grouping(text.BYTE_CLASSES, lambda content: text.byte_classes(content)[1:])

WORD_START, WORD_REST = "first letter of a word", "later letters of a word"


def latin_words() -> Grouping:
    """The first letter of every word in Latin script, and the letters after it.

    A letter is the first one where no Latin letter stands directly before it, as in
    `interp.text.byte_classes`; here capitals and letters of several bytes count too.
    """
    return Grouping((WORD_START, WORD_REST), _latin_word_groups)


def after_gaps(segmenter: Segmenter) -> Grouping:
    """The bytes of the character after a gap that ends a word, and after one that does not.

    Args:
        segmenter: Who says where words end; only gaps that it judges count.
    """

    def group_of(content: bytes) -> Int8[np.ndarray, " byte"]:
        gaps = segmenter.gaps(content)
        spans = text.grapheme_spans(content)
        of_character = np.full(len(spans), -1, dtype=np.int8)
        after = np.searchsorted(spans[:, 0], gaps.tokens - 1, side="right") - 1
        of_character[after] = ~gaps.is_boundary
        return np.repeat(of_character, spans[:, 1] - spans[:, 0])

    return Grouping(gap_groups(segmenter.reference), group_of)


def gap_groups(reference: str) -> tuple[str, str]:
    """Names of the two groups of `after_gaps`: where a word has ended, and where not."""
    return f"after a word end ({reference})", f"inside a word ({reference})"


@dataclass(frozen=True)
class Ablated:
    """The surprisal of a text, read with replaced increments.

    Attributes:
        intervention: What stands in their place, in a few words.
        layer: The layer in which it does; None for all of them together.
        table: The signal ``surprisal``, in windows that do not overlap.
    """

    intervention: str
    layer: int | None
    table: IncrementTable


def loss_changes(
    unchanged: IncrementTable,
    ablated: Iterable[Ablated],
    groupings: Sequence[Grouping] = (WHOLE_TEXT, CLASSES),
) -> pd.DataFrame:
    """What replaced increments add to the loss, in nats per byte, by group of bytes.

    The loss is that of `interp.model.loss`. Differences are paired: the same bytes, with and
    without the replacement; intervals are clustered by document and simultaneous over the
    layers (and all of them together) that have the same replacement. Only the forward pass is
    changed; a model that was trained that way could have another loss.

    Memory: one document of the table, a byte for each byte of text and grouping, and two numbers
    for each document, group and replacement.

    Args:
        unchanged: The surprisal with the increments as they are.
        ablated: The surprisal with replaced increments; taken one by one, so that tables may be
            made as they are asked for.
        groupings: Groups of bytes; those without a byte in the text are left out.

    Returns:
        An analysis table: ``loss`` of every group with the reference `AS_THEY_ARE`, then
        ``loss_difference`` of every replacement, layer (null for all together) and group, with
        the replacement as reference. Below 0 the loss is the smaller one with the replacement.

    Raises:
        InputError: A table is of another model, text, shard or length of window, its windows
            overlap, or the model gives no byte a finite loss.
    """
    grouped = _GroupedText.of(unchanged, groupings)
    if not any(grouped.present()):
        raise InputError(
            f"ablation: {unchanged.manifest['checkpoint']} gives no byte of the text a finite loss",
            "Its weights may be damaged.",
        )
    before = grouped.nats(unchanged)
    after = [(each.intervention, each.layer, grouped.nats(each.table)) for each in ablated]
    n_simultaneous = Counter(intervention for intervention, _, _ in after)
    common = {"checkpoint": unchanged.manifest["checkpoint"], "signal": SIGNAL}
    rows: list[dict[str, Any]] = []
    for name, column in grouped.present():
        n_bytes = grouped.n_bytes[:, column]
        loss = clustered_mean(before[:, column], n_bytes, limits=(0.0, np.inf))
        about = {"statistic": LOSS, "group": name, "reference": AS_THEY_ARE}
        rows.append(common | about | loss.as_row())
    for intervention, layer, nats in after:
        for name, column in grouped.present():
            difference = paired_difference(
                nats[:, column],
                before[:, column],
                grouped.n_bytes[:, column],
                n_simultaneous=n_simultaneous[intervention],
            )
            about = {"statistic": LOSS_DIFFERENCE, "group": name, "reference": intervention}
            rows.append(common | {"layer": layer} | about | difference.as_row())
    return analysis_table(rows)


def answer(value: float | None, low: float | None, high: float | None) -> str:
    """Whether a replacement makes the loss higher or lower, or leaves it the same.

    ``same`` where the whole interval lies within `MARGIN_NATS` of 0, even if it does not hold 0;
    ``higher`` or ``lower`` where it lies on one side of 0; else ``undecided``. A difference that
    is exactly 0 in every document has no interval, and is ``same``.
    """
    if value is not None and abs(value) <= NEGLIGIBLE:
        return SAME
    if value is None or low is None or high is None:
        return UNDECIDED
    if low >= -MARGIN_NATS and high <= MARGIN_NATS:
        return SAME
    return HIGHER if low > 0 else LOWER if high < 0 else UNDECIDED


@dataclass(frozen=True)
class _GroupedText:
    """The groups of every byte of a text.

    Attributes:
        names: Of the groups of all groupings, one after the other.
        labels: For each document and grouping, the number of each byte's group, or -1.
        sizes: How many groups each grouping has.
        n_bytes: By document and group.
        about: The manifest of the table that they are of.
    """

    names: tuple[str, ...]
    labels: list[list[Int8[np.ndarray, " _"]]]
    sizes: tuple[int, ...]
    n_bytes: Int[np.ndarray, "document group"]
    about: dict[str, Any]

    @classmethod
    def of(cls, table: IncrementTable, groupings: Sequence[Grouping]) -> "_GroupedText":
        labels = [
            [
                # nothing predicts the first character of a text without a separator
                np.where(np.isnan(document.values[1:, 0]), np.int8(-1), group)
                for group in (grouping.group_of(document.content) for grouping in groupings)
            ]
            for document in table.read_documents(SIGNAL)
        ]
        sizes = tuple(len(grouping.names) for grouping in groupings)
        return cls(
            names=tuple(name for grouping in groupings for name in grouping.names),
            labels=labels,
            sizes=sizes,
            n_bytes=np.array([_sums(of_document, sizes) for of_document in labels], dtype=np.int64),
            about=table.manifest,
        )

    def nats(self, table: IncrementTable) -> Float[np.ndarray, "document group"]:
        """Sums of the surprisal of a table by document and group."""
        about = table.manifest
        for key, name in _IN_COMMON.items():
            if about[key] != self.about[key]:
                raise InputError(
                    f"ablation: {table.folder} is of another {name} than the one to compare with"
                )
        if about["stride"] != about["window"]:
            raise InputError(
                f"ablation: the windows of {table.folder} overlap (stride {about['stride']} of "
                f"{about['window']} tokens), so that it has no loss",
                f"Extract surprisal with --stride {about['window']}.",
            )
        documents = zip(self.labels, table.read_documents(SIGNAL), strict=True)
        # the separator before a text is not scored, nor what has label -1
        return np.array(
            [
                _sums(labels, self.sizes, document.values[1:, 0].astype(np.float64))
                for labels, document in documents
            ]
        )

    def present(self) -> Iterator[tuple[str, int]]:
        """The groups that have a byte, with their columns."""
        for column, name in enumerate(self.names):
            if self.n_bytes[:, column].any():
                yield name, column


def _sums(
    labels: Sequence[Int8[np.ndarray, " byte"]],
    sizes: Sequence[int],
    weights: Float[np.ndarray, " byte"] | None = None,
) -> Float[np.ndarray, " group"]:
    """Bytes of every group, or the sums of their weights."""
    of_groupings = [
        np.bincount(of_bytes.astype(np.int64) + 1, weights, minlength=size + 1)[1:]
        for of_bytes, size in zip(labels, sizes, strict=True)
    ]
    return np.concatenate(of_groupings).astype(np.float64)


def _latin_word_groups(content: bytes) -> Int8[np.ndarray, " byte"]:
    spans = text.code_point_spans(content)
    of_code_point = np.full(len(spans), -1, dtype=np.int8)
    letters = r"(?<first>\p{Latin}\p{M}*)[\p{Latin}\p{M}]*"
    for word in regex.finditer(letters, text.decode(content)):
        first, end = word.end("first"), word.end()
        of_code_point[word.start() : first] = 0
        of_code_point[first:end] = 1
    return np.repeat(of_code_point, spans[:, 1] - spans[:, 0])
