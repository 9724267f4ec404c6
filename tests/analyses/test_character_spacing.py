import numpy as np
import pytest

from interp.analyses.character_spacing import ALL_CHARACTERS, character_spacing


def values(table):
    keys = ("reference", "layer", "group", "statistic")
    return {tuple(row[key] for key in keys): row for row in table.to_dict("records")}


def test_a_characters_increment_is_the_sum_over_its_bytes(table_of):
    # a b 人: bytes 1, 2 and 3 + 4 + 5; the separator's 9 is nobody's
    table = table_of(["ab人".encode()], lambda _, _c: [9, 1, 2, 3, 4, 5])
    found = values(character_spacing(table))
    assert found["0", 0, ALL_CHARACTERS, "mean"]["value"] == pytest.approx(5)
    assert found["0", 0, ALL_CHARACTERS, "mean"]["n"] == 3
    assert found["0", 0, ALL_CHARACTERS, "sd"]["value"] == pytest.approx(np.std([1, 2, 12], ddof=1))
    assert found["0", 0, "lead E4-E9", "mean"]["value"] == pytest.approx(12)
    assert found["0", 0, "lowercase, word-initial", "mean"]["value"] == pytest.approx(1)
    one = found["0", 0, "lead E4-E9", "sd"]
    assert one["value"] is None or np.isnan(one["value"])
    assert "one character" in one["note"]
    assert "continuation after E4-E9" not in {group for _, _, group, _ in found}


def test_texts_and_columns_are_kept_apart_and_an_empty_text_has_no_rows(table_of):
    table = table_of(
        [b"aa", b"", b"bbbb"], lambda doc, c: [[doc, 10 * doc]] * (len(c) + 1), ("L0", "L1")
    )
    found = values(character_spacing(table))
    assert {(text, layer) for text, layer, _, _ in found} == {
        ("0", 0),
        ("0", 1),
        ("2", 0),
        ("2", 1),
    }
    assert found["2", 1, ALL_CHARACTERS, "mean"]["value"] == pytest.approx(20)
    assert found["2", 1, ALL_CHARACTERS, "sd"]["value"] == 0
