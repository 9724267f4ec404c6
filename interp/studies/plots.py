"""Which texts of a table are drawn, and what their plots must say."""

from collections.abc import Iterator

import pandas as pd
import regex

from interp import text
from interp.corpus.sources import LITERAL_SOURCE
from interp.extraction.increment_table import DocumentSignal, IncrementTable
from interp.reports.character_positions import MAX_CHARACTERS, PositionTrace, traces_of

MAX_PLOTS = 20
"""The most texts of which a page shows the plot."""

MAX_CELLS = 40_000
"""The most characters, each counted once per row, in all plots of a page but the first.

A cell is about 130 bytes of the page, so that a page stays under about 7 MB.
"""

_MOST_BYTES = 1 << 16
"""A longer text is cut before its characters are counted; 2 000 of them are far fewer bytes."""


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
    n_cells = (candidates["n_bytes"].clip(upper=MAX_CHARACTERS) * n_rows).cumsum()
    n_drawn = max(1, int((n_cells <= MAX_CELLS).sum()))
    return sorted(candidates["doc"].tolist()[:n_drawn])


def position_traces(increments: IncrementTable, drawn: list[int]) -> Iterator[PositionTrace]:
    """The plots of the texts ``drawn``; the table is read as far as the last of them."""
    columns = increments.columns("increment")
    left = set(drawn)
    for document in increments.read_documents("increment") if left else ():
        if document.doc not in left:
            continue
        yield from _traces(document, columns, increments.manifest)
        left.remove(document.doc)
        if not left:
            return


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


def _traces(
    document: DocumentSignal, columns: list[str], manifest: dict
) -> tuple[PositionTrace, ...]:
    content, notes = document.content, []
    if len(content) > _MOST_BYTES:
        # the last character may be cut in two, so it is left out
        spans = text.grapheme_spans(content[:_MOST_BYTES])[:-1][:MAX_CHARACTERS]
        content = content[: int(spans[-1, 1]) if len(spans) else _MOST_BYTES]
        notes.append(
            f"The first {max(1, len(spans)):,} characters are drawn, of {len(document.content):,} "
            "bytes of text."
        )
    notes.append(window_note(len(content), manifest["window"], manifest["stride"]))
    return traces_of(
        document_title(document.source, document.id),
        content,
        document.values[: len(content) + 1],
        columns,
        language=language_of(content),
        note=" ".join(filter(None, notes)),
    )
