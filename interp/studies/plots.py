"""Which texts of a table are drawn, how much of each, and what their plots must say."""

from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd
import regex
from jaxtyping import Float

from interp import text
from interp.corpus.sources import LITERAL_SOURCE
from interp.extraction.increment_table import IncrementTable
from interp.reports.character_positions import PositionTrace, traces_of

MAX_PLOTS = 20
"""The most texts of which a page shows the plot."""

MAX_CHARACTERS = 2000
"""The most characters of a text that are drawn; the plot says that it was cut."""

MAX_CELLS = 40_000
"""The most characters, each counted once per row, in all plots of a page.

A cell is 140 to 200 bytes of the page, and 240 to 550 where a character needs an element of its
own (Arabic, Devanagari, emoji): a page stays under about 8 MB, or 20 MB.
"""

_BYTES_PER_CHARACTER = 8
"""Fewer characters are drawn of a text where they have more on average: marks have no end."""


def drawn_documents(documents: pd.DataFrame, *, n_rows: int, max_plots: int) -> list[int]:
    """The numbers of the texts to draw: the first ones of every source in turn, none empty.

    Args:
        documents: Of an IncrementTable.
        n_rows: Rows of a plot.
        max_plots: The most texts.

    Returns:
        Numbers in the order of the table: at least one if there is a text.
    """
    with_text = documents[documents["n_bytes"] > 0]
    turn = with_text.groupby("source", sort=False).cumcount()
    candidates = with_text.loc[turn.sort_values(kind="stable").index[:max_plots]]
    # a character has at least one byte
    n_cells = (candidates["n_bytes"].clip(upper=_max_characters(n_rows)) * n_rows).cumsum()
    return sorted(candidates.loc[n_cells <= MAX_CELLS, "doc"].tolist())


def position_traces(increments: IncrementTable, drawn: list[int]) -> Iterator[PositionTrace]:
    """The plots of the texts ``drawn``; the table is read as far as the last of them."""
    columns = increments.columns("increment")
    left = set(drawn)
    for document in increments.read_documents("increment") if left else ():
        if document.doc not in left:
            continue
        yield from text_traces(
            document_title(document.source, document.id),
            document.content,
            document.values,
            columns,
            window=increments.manifest["window"],
            stride=increments.manifest["stride"],
        )
        left.remove(document.doc)
        if not left:
            return


def text_traces(
    title: str,
    content: bytes,
    values: Float[np.ndarray, "pos column"],
    columns: Sequence[str],
    *,
    window: int,
    stride: int,
) -> tuple[PositionTrace, ...]:
    """The plots of as much of one text as a page can hold, with what they must say.

    Args:
        title: What the text is.
        content: The whole text's bytes, without a separator.
        values: One row per token of ``[256, *bytes]``, one column per name in ``columns``.
        columns: As `interp.reports.character_positions.traces_of` takes them.
        window: Tokens of the windows in which the text was read.
        stride: Tokens between two of them.
    """
    drawn, n_characters = _beginning(content, _max_characters(len(columns)))
    notes = []
    if len(drawn) < len(content):
        notes.append(
            f"The first {n_characters:,} characters are drawn, of {len(content):,} bytes of text."
        )
    notes.append(window_note(len(drawn), window, stride))
    return traces_of(
        title,
        drawn,
        values[: len(drawn) + 1],
        columns,
        language=language_of(drawn),
        note=" ".join(filter(None, notes)),
    )


def document_title(source: str, document_id: str) -> str:
    """What a text is called on a page, on one line."""
    if source == LITERAL_SOURCE and not document_id:
        return "The text given"
    return " · ".join(text.one_line(name) for name in (source, document_id) if name)


def language_of(content: bytes) -> str:
    """The language tag that chooses the shapes of ideographs; empty where there are none."""
    shown = text.decode(content)
    if not regex.search(r"\p{Han}", shown):
        return ""
    if regex.search(r"[\p{Hiragana}\p{Katakana}]", shown):
        return "ja"
    return "ko" if regex.search(r"\p{Hangul}", shown) else "zh"


def window_note(n_bytes: int, window: int, stride: int) -> str:
    """What must be said of positions that no window holds; nothing for a short text."""
    if n_bytes < window:
        return ""
    return (
        f"This text is longer than one window of {window:,} tokens. It is read in windows that "
        f"begin every {stride:,} tokens, and the positions drawn are the sum of increments of "
        "several windows; the model itself sees only the differences within one."
    )


def _max_characters(n_rows: int) -> int:
    return min(MAX_CHARACTERS, MAX_CELLS // n_rows)


def _beginning(content: bytes, max_characters: int) -> tuple[bytes, int]:
    """At most so many characters of a text, and how many these are; no character is cut."""
    cut = content[: text.align(content, _BYTES_PER_CHARACTER * max_characters + 1) - 1]
    spans = text.grapheme_spans(cut)
    if len(cut) < len(content) and len(spans) > 1:
        spans = spans[:-1]  # which may go on
    spans = spans[:max_characters]
    return cut[: int(spans[:, 1].max(initial=0))], len(spans)
