import numpy as np
import pandas as pd
import pytest

from interp.analyses.python_tokens import TOKEN_CLASSES
from interp.analyses.token_classes import BYTE_MEAN, EXCESS, NOT_TOKENIZED, token_classes
from interp.errors import InputError
from interp.tables import COLUMNS


def row(table: pd.DataFrame, statistic: str, group: str) -> pd.Series:
    chosen = table[(table["statistic"] == statistic) & (table["group"] == group)]
    assert len(chosen) == 1
    return chosen.iloc[0]


def test_a_mean_beside_what_its_byte_alone_gives_by_hand(table_of):
    # as a token the bracket is 8 and 6, in the comment of the first file 2
    texts = [b"(#(", b"("]
    values = [[0, 8, 1, 2], [0, 6]]
    table = token_classes(table_of(texts, lambda doc, _: values[doc]))
    assert list(table.columns) == list(COLUMNS)
    found = {name: row(table, name, "open bracket") for name in ("mean", "sd", BYTE_MEAN, EXCESS)}
    assert [found[name]["value"] for name in found] == pytest.approx([7, 2**0.5, 16 / 3, 5 / 3])
    assert {(each["n"], each["n_documents"]) for each in found.values()} == {(2, 2)}
    assert found["mean"]["method"] == "jackknife over documents, t(1)"
    outside = row(table, EXCESS, "open bracket, not code")
    assert outside["value"] == pytest.approx(-10 / 3)
    assert "one document only" in outside["note"]
    assert (found["mean"]["layer"], found["mean"]["reference"]) == (0, "python")


def test_what_the_byte_alone_decides_has_no_excess(table_of):
    by_byte = np.random.default_rng(0).uniform(0, 10, 257)
    texts = [b"def f(x):\n    return x  # (x)\n", b"y = [f(1)]\n'''(\n'''\n"]
    table = token_classes(
        table_of(texts, lambda _, c: by_byte[[256, *c]]), progress=lambda *_: None
    )
    excess = table[(table["statistic"] == EXCESS) & (table["n"] > 0)]
    assert len(excess) > 12
    assert excess["value"].abs().max() < 1e-6


def test_a_class_that_the_text_lacks_is_null(table_of):
    table = token_classes(table_of([b"x\n"], lambda _, c: np.ones(len(c) + 1)))
    for statistic in ("mean", "sd", "min", "max", BYTE_MEAN, EXCESS):
        absent = row(table, statistic, "open bracket")
        assert pd.isna(absent["value"])
        assert (absent["n"], absent["note"]) == (0, "no such byte in the text")
    assert len(table) == 6 * len(TOKEN_CLASSES) + 1


def test_undefined_and_infinite_entries_leave_no_number_that_is_none(table_of):
    values = [[np.nan, np.inf, 1.0], [np.nan, 2.0, 1.0]]
    table = token_classes(table_of([b"x\n", b"x\n"], lambda doc, _: values[doc]))
    for statistic in ("mean", EXCESS, BYTE_MEAN):  # it is there, and has no value
        assert row(table, statistic, "separator")["note"] == "2 undefined entries left out"
    for statistic in ("mean", EXCESS):
        assert pd.isna(row(table, statistic, "name, first byte")["value"])
    assert row(table, "mean", "newline after a statement")["value"] == 1.0


def test_bytes_that_are_not_python_are_counted_with_their_texts(table_of):
    texts = [b"x = 1\n", b"x\n$ = '''\n", b"\x00\x00"]
    told = []
    table = token_classes(
        table_of(texts, lambda _, c: np.ones(len(c) + 1)), progress=lambda *n: told.append(n)
    )
    found = row(table, NOT_TOKENIZED, "not Python")
    assert (found["n"], found["n_documents"]) == (sum(map(len, texts)), 2)
    assert found["value"] == row(table, "mean", "not Python")["n"]
    assert found["note"] == "first in text.txt, text 1, line 2"
    assert told[-1] == (18, 18)


def test_no_text_gives_null_rows(table_of):
    table = token_classes(table_of([], lambda *_: []))
    assert table[table["statistic"] == "mean"]["value"].isna().all()


def test_an_unknown_language_is_refused(table_of):
    with pytest.raises(InputError, match="no tokenizer for the language cobol"):
        token_classes(table_of([], lambda *_: []), language="cobol")
