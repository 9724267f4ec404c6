import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from interp.extraction.increment_table import layer_and_head
from interp.tables import COLUMNS, analysis_table, column_name, read_csv, to_csv, to_json

words = st.sampled_from(
    ["hub:a/b", "NA", "null", "None", "nan", "a,b", 'say "x"', "两行\n2", "é", "#", "1"]
)
numbers = st.floats(allow_nan=False, allow_infinity=False)


def test_every_column_stands_there_in_order_and_what_is_left_out_is_null():
    table = analysis_table([{"statistic": "roc_auc", "value": 0.5}, {"layer": 3}])
    assert list(table.columns) == list(COLUMNS)
    assert {name: str(kind) for name, kind in table.dtypes.items()} == COLUMNS
    assert table["layer"].tolist() == [pd.NA, 3]
    assert table["value"].isna().tolist() == [False, True]


def test_not_a_number_is_null_and_never_nan():
    table = analysis_table([{"value": float("nan"), "low": np.float64("nan"), "n": 0}])
    assert table["value"].isna().all()
    assert table["low"].isna().all()
    assert json.loads(to_json(table))[0]["value"] is None
    assert to_csv(table).splitlines()[1].count("nan") == 0


def test_no_rows_make_a_table_with_its_columns():
    assert list(analysis_table([]).columns) == list(COLUMNS)
    assert json.loads(to_json(analysis_table([]))) == []


def test_an_unknown_column_is_refused_by_name():
    with pytest.raises(ValueError, match="lair"):
        analysis_table([{"lair": 3}])


@settings(max_examples=40)
@given(
    st.lists(
        st.fixed_dictionaries(
            {},
            optional={
                "checkpoint": words,
                "note": words,
                "layer": st.integers(0, 99),
                "n": st.integers(0, 2**53),
                "value": numbers,
            },
        ),
        max_size=4,
    )
)
def test_csv_gives_the_same_table_back(tmp_path_factory, rows):
    table = analysis_table(rows)
    path = tmp_path_factory.mktemp("csv") / "table.csv"
    path.write_text(to_csv(table), "utf-8", newline="")
    pd.testing.assert_frame_equal(read_csv(str(path)), table, check_exact=True)


@settings(max_examples=20)
@given(st.lists(st.fixed_dictionaries({"note": words, "n": st.integers(0, 9)}), max_size=3))
def test_json_is_one_object_per_row_with_text_as_it_is(rows):
    written = to_json(analysis_table(rows))
    read = json.loads(written)
    assert [{key: row[key] for key in ("note", "n")} for row in read] == rows
    assert all(list(row) == list(COLUMNS) for row in read)


def test_json_has_text_unescaped():
    written = to_json(analysis_table([{"checkpoint": "runs/en-zh/两", "note": "<b>"}]))
    assert '"runs/en-zh/两"' in written
    assert '"<b>"' in written


def test_json_keeps_small_numbers():
    table = analysis_table([{"value": 6.25e-10, "low": 1e-30}])
    (row,) = json.loads(to_json(table))
    assert row["value"] == pytest.approx(6.25e-10, rel=1e-12)
    assert row["low"] == pytest.approx(1e-30, rel=1e-12)


@given(st.none() | st.integers(0, 99), st.none() | st.integers(0, 99))
def test_the_name_of_a_column_tells_its_layer_and_head(layer, head):
    assert layer_and_head(column_name("increment", layer, head)) == (layer, head)


def test_a_column_is_named_from_the_nulls_of_a_table_too():
    (row,) = analysis_table([{"signal": "increment_pre", "head": 2}]).itertuples()
    assert column_name(row.signal, row.layer, row.head) == "sharedH2"
    assert column_name("surprisal", None) == "value"
