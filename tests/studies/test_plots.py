import numpy as np
import pandas as pd
import pytest

from interp.corpus.sources import TextInput
from interp.studies.plots import (
    MAX_CELLS,
    MAX_CHARACTERS,
    document_title,
    drawn_documents,
    language_of,
    position_traces,
    text_traces,
    window_note,
)
from interp.studies.reading import increments_of


def documents(*rows: tuple[str, int]) -> pd.DataFrame:
    return pd.DataFrame(
        [
            {"doc": doc, "source": source, "n_bytes": n_bytes}
            for doc, (source, n_bytes) in enumerate(rows)
        ]
    )


def test_sources_take_turns():
    table = documents(("en", 9), ("en", 9), ("en", 9), ("zh", 9), ("zh", 9))
    assert drawn_documents(table, n_rows=6, max_plots=3) == [0, 1, 3]
    assert drawn_documents(table, n_rows=6, max_plots=20) == [0, 1, 2, 3, 4]


def test_empty_texts_are_not_drawn():
    assert drawn_documents(documents(("a", 0), ("b", 1)), n_rows=6, max_plots=20) == [1]
    assert drawn_documents(documents(("a", 0)), n_rows=6, max_plots=20) == []


def test_a_page_does_not_grow_without_end():
    long = documents(*[(f"{n}.txt", 10**9) for n in range(20)])
    drawn = drawn_documents(long, n_rows=6, max_plots=20)
    assert len(drawn) == MAX_CELLS // (6 * MAX_CHARACTERS)
    assert drawn_documents(long, n_rows=1000, max_plots=20) == [0]


@pytest.mark.parametrize(
    ("text", "language"),
    [("plain", ""), ("中文", "zh"), ("日本の", "ja"), ("漢字 한국", "ko"), ("한국", "")],
)
def test_ideographs_take_the_shapes_of_their_language(text, language):
    assert language_of(text.encode()) == language


def test_a_title_is_one_harmless_line():
    assert document_title("text", "") == "The text given"
    assert document_title("a.txt", "") == "a.txt"
    assert document_title("rows.jsonl", "7") == "rows.jsonl · 7"
    assert "\n" not in document_title("a\nb\x1b.txt", "")


def test_a_text_that_fits_a_window_needs_no_note():
    assert window_note(63, 64, 32) == ""  # 63 bytes and the separator are 64 tokens
    assert "longer than one window of 64 tokens" in window_note(64, 64, 32)


def traces_of_rows(content: bytes, n_rows: int):
    columns = [f"L{row // 4}H{row % 4}" for row in range(n_rows)]
    values = np.ones((len(content) + 1, n_rows))
    return text_traces("title", content, values, columns, window=512, stride=256)


def test_of_a_plot_of_many_rows_fewer_characters_are_drawn():
    traces = traces_of_rows(b"ab " * 1000, 48)
    assert len(traces) == 12
    assert {len(trace.characters) for trace in traces} == {MAX_CELLS // 48}
    assert "The first 833 characters are drawn, of 3,000 bytes of text." in traces[0].note
    (trace,) = traces_of_rows(b"ab " * 100, 4)
    assert (len(trace.characters), trace.note) == (300, "")


def test_of_characters_that_are_piles_of_marks_fewer_are_drawn_and_none_is_cut():
    pile = ("a" + "\u0301" * 300).encode()
    (trace,) = traces_of_rows(pile * 100, 4)
    assert set(trace.characters) == {pile}
    assert 20 < len(trace.characters) < 30
    (trace,) = traces_of_rows(("a" + "\u0301" * 30_000).encode(), 4)
    assert len(trace.characters) == 1


@pytest.mark.usefixtures("cache")
def test_a_very_long_text_is_cut_before_it_is_counted(tiny):
    content = "长文。".encode() * 30_000
    with increments_of(tiny, TextInput(literal=content)) as table:
        (trace,) = position_traces(table, [0])
    assert trace.content == content[: 3 * MAX_CHARACTERS]
    assert "The first 2,000 characters are drawn, of 270,000 bytes" in trace.note
    assert trace.language == "zh"
