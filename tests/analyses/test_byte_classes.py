import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from interp import text
from interp.analyses import class_totals as module
from interp.analyses.byte_classes import COUNTS_UNKNOWN, byte_classes, vocabulary_byte_classes
from interp.tables import COLUMNS


def row(table: pd.DataFrame, statistic: str, group: str, **where) -> pd.Series:
    chosen = table[(table["statistic"] == statistic) & (table["group"] == group)]
    for column, value in where.items():
        chosen = chosen[chosen[column] == value]
    assert len(chosen) == 1
    return chosen.iloc[0]


def token_table(columns: dict, n_in_training) -> pd.DataFrame:
    counts = pd.array([n_in_training] * 257 if n_in_training is None else n_in_training, "Int64")
    return pd.DataFrame({"token": range(257), "n_in_training": counts, **columns})


def test_moments_of_running_text_by_hand(table_of):
    # document 0: separator, a, b, space; document 1: separator, c
    values = [[9.0, 1.0, 3.0, 5.0], [7.0, 2.0]]
    table = byte_classes(table_of([b"ab ", b"c"], lambda doc, _: values[doc]))
    assert list(table.columns) == list(COLUMNS)
    mean = row(table, "mean", "lowercase, word-initial")
    assert (mean["value"], mean["n"], mean["n_documents"]) == (1.5, 2, 2)
    assert mean["low"] < 1.5 < mean["high"]
    assert (mean["layer"], mean["signal"], mean["reference"]) == (0, "increment", "running text")
    assert mean["method"] == "jackknife over documents, t(1)"
    assert mean["checkpoint"] == "tiny"
    assert row(table, "sd", "lowercase, word-initial")["value"] == pytest.approx(np.sqrt(0.5))
    assert row(table, "min", "lowercase, word-initial")["value"] == 1.0
    assert row(table, "max", "separator")["value"] == 9.0
    inner = row(table, "mean", "lowercase, word-internal")
    assert (inner["value"], inner["n"], inner["n_documents"]) == (3.0, 1, 1)
    assert pd.isna(inner["low"])
    assert "one document only" in inner["note"]
    assert pd.isna(row(table, "sd", "space")["value"])


@pytest.mark.parametrize(
    ("kept", "low", "high"),
    [
        ({"bound": 10.0}, 0.0, 10.0),
        ({"bound": 9.9999999}, 0.0, 10.0),  # is 10 in float32
        ({}, 0.0, 9.5 + 0.5 * 12.7062),
        ({"bound": 10.0, "intervention": {"kind": "scale"}}, 0.0, 9.5 + 0.5 * 12.7062),
    ],
)
def test_intervals_end_where_increments_do(table_of, kept, low, high):
    values = [[1.0, 0.1, 9.0], [1.0, 1.9, 10.0]]  # separator, digit, space
    table = byte_classes(table_of([b"1 ", b"2 "], lambda doc, _: values[doc], **kept))
    assert row(table, "mean", "digit")["low"] == low
    space = row(table, "mean", "space")
    assert space["high"] == pytest.approx(high, rel=1e-4)
    assert space["low"] == pytest.approx(9.5 - 0.5 * 12.7062, rel=1e-4)


def test_classes_that_the_text_lacks_are_null(table_of):
    table = byte_classes(table_of([b"a"], lambda *_: [1.0, 1.0]))
    for statistic in ("mean", "sd", "min", "max"):
        absent = row(table, statistic, "lead E4-E9")
        assert pd.isna(absent["value"])
        assert (absent["n"], absent["note"]) == (0, "no such byte in the text")
    assert len(table) == 4 * len(text.BYTE_CLASSES)


def test_undefined_entries_are_left_out_and_counted(table_of):
    table = byte_classes(table_of([b"12", b"3"], lambda _, c: [np.nan, *[2.0] * len(c)]))
    separator = row(table, "mean", "separator")
    assert pd.isna(separator["value"])
    assert (separator["n"], separator["note"]) == (0, "2 undefined entries left out")
    assert pd.isna(row(table, "min", "separator")["value"])
    assert row(table, "mean", "digit")["value"] == 2.0


def test_infinite_entries_leave_no_mean_and_no_sd(table_of):
    table = byte_classes(table_of([b"12", b"34"], lambda *_: [0.0, np.inf, 1.0]))
    for statistic in ("mean", "sd"):
        assert pd.isna(row(table, statistic, "digit")["value"])
        assert "not all values are finite" in row(table, statistic, "digit")["note"]
    assert row(table, "min", "digit")["value"] == 1.0


def test_columns_give_layers_and_heads(table_of):
    table = byte_classes(
        table_of([b"a", b"b"], lambda *_: [[1.0, 2.0], [3.0, 4.0]], columns=("L0H1", "L1H0"))
    )
    assert row(table, "mean", "separator", layer=0, head=1)["value"] == 1.0
    assert row(table, "mean", "separator", layer=1, head=0)["value"] == 2.0
    shared = byte_classes(table_of([b"a"], lambda *_: [1.0, 2.0], columns=("shared",)))
    assert shared["layer"].isna().all()


def test_progress_is_told_the_bytes_done_and_all_bytes(table_of):
    told = []
    byte_classes(
        table_of([b"ab", b"c"], lambda _, c: np.ones(len(c) + 1)),
        progress=lambda *done: told.append(done),
    )
    assert told == [(2, 3), (3, 3)]


def test_no_documents_give_null_rows(table_of):
    table = byte_classes(table_of([], lambda *_: []))
    assert (table["n"] == 0).all()
    assert table["value"].isna().all()


@settings(max_examples=30, deadline=None)
@given(contents=st.lists(st.binary(max_size=60), min_size=1, max_size=5), seed=st.integers(0, 99))
@pytest.mark.parametrize("chunk", [7, 1 << 16])
def test_moments_equal_pandas_whatever_the_chunk(chunk, contents, seed):
    rng = np.random.default_rng(seed)
    values = [rng.normal(1.0, 0.3, size=(len(c) + 1, 2)).astype(np.float32) for c in contents]
    totals = module.ClassTotals(len(text.BYTE_CLASSES), 2)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "CHUNK", chunk)
        for content, own in zip(contents, values, strict=True):
            totals.add_document(own, text.byte_classes(content))
    classes = np.concatenate([text.byte_classes(c) for c in contents])
    frame = pd.DataFrame(np.concatenate(values).astype(np.float64)).groupby(classes)
    counts, sums = totals.per_document()
    assert counts.sum() == 2 * sum(len(c) + 1 for c in contents)
    for index, expected in frame:
        assert totals.n[index, 0] == len(expected)
        np.testing.assert_allclose(totals.mean[index], expected.mean(), rtol=1e-12)
        np.testing.assert_allclose(sums[:, index].sum(axis=0), expected.sum(), rtol=1e-12)
        np.testing.assert_array_equal(totals.max[index], expected.max())
        if len(expected) > 1:
            sd = np.sqrt(totals.squares[index] / (len(expected) - 1))
            np.testing.assert_allclose(sd, expected.std(), rtol=1e-9)


def test_vocabulary_uses_each_byte_value_that_training_saw_once(table_of):
    seen = np.zeros(257, dtype=int)
    seen[[ord("a"), ord("z"), 0x80, 256]] = [1000, 1, 5, 3]
    increments = np.full(257, 50.0)
    increments[[ord("a"), ord("z"), 0x80, 256]] = [1.0, 3.0, 4.0, 6.0]
    vocabulary = token_table({"L0": increments}, seen.tolist())
    table = vocabulary_byte_classes(table_of([b""], lambda *_: [0.0], vocabulary=vocabulary))
    lowercase = row(table, "mean", "lowercase")
    assert (lowercase["value"], lowercase["n"], lowercase["layer"]) == (2.0, 2, 0)
    assert pd.isna(lowercase["low"])
    assert pd.isna(lowercase["n_documents"])
    assert lowercase["reference"] == "vocabulary"
    assert table["method"].isna().all()
    assert row(table, "sd", "lowercase")["value"] == pytest.approx(np.sqrt(2))
    assert row(table, "mean", "separator")["value"] == 6.0
    absent = row(table, "mean", "digit")
    assert pd.isna(absent["value"])
    assert absent["note"] == "training saw no such byte"


def test_upper_and_lower_case_are_classes_of_their_own(table_of):
    vocabulary = token_table({"L0": np.arange(257.0)}, [1] * 257)
    table = vocabulary_byte_classes(table_of([b""], lambda *_: [0.0], vocabulary=vocabulary))
    assert row(table, "min", "uppercase")["value"] == ord("A")
    assert row(table, "min", "lowercase")["value"] == ord("a")


def test_unknown_training_counts_are_said_and_illegal_bytes_left_out(table_of):
    vocabulary = token_table({"shared": np.arange(257.0)}, None)
    table = vocabulary_byte_classes(
        table_of([b""], lambda *_: [0.0], columns=("shared",), vocabulary=vocabulary)
    )
    assert table["note"].str.contains(COUNTS_UNKNOWN).all()
    assert row(table, "mean", "invalid byte")["n"] == 0
    assert row(table, "mean", "digit")["value"] == np.mean(range(ord("0"), ord("9") + 1))
    assert row(table, "max", "lead E4-E9")["value"] == 0xE9


def test_no_vocabulary_gives_no_rows(table_of):
    table = vocabulary_byte_classes(table_of([b""], lambda *_: [0.0]))
    assert len(table) == 0
    assert list(table.columns) == list(COLUMNS)
