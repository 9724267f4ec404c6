import re

import pytest

from interp.reports.heat_table import heat_table, number_text


def row(value, low=None, high=None, note=None):
    return {"value": value, "low": low, "high": high, "note": note}


@pytest.mark.parametrize(
    ("of_row", "shown"),
    [
        (row(0.1234, 0.1, 0.2), "+0.123"),
        (row(-0.1234, -0.2, -0.1), "-0.123"),
        (row(0.1234, -0.1, 0.2), "(+0.123)"),
        (row(0.1234, note="no interval: one document only"), "(+0.123)"),
        (row(12.345, 12, 13), "+12.3"),
        (row(0.0), "0"),
        (row(-0.0004, -0.1, 0.1), "(0.000)"),
        (row(0.000234, 0.0001, 0.0003), "+0.00023"),
        (row(-0.000234, -0.0003, -0.0001), "-0.00023"),
        (row(None, note="not defined: no bytes"), "—"),
    ],
)
def test_a_number_has_its_sign_and_brackets_where_it_is_not_clear(of_row, shown):
    assert number_text(of_row) == shown


def test_cells_are_shaded_by_size_and_below_0_in_another_hue():
    cells = [row(0.004), row(0.02), row(-0.6, -0.7, -0.5), None, row(None, note="not defined: x")]
    found = heat_table("Heat", ["", *"abcde"], [("one", cells)], unit="nats")
    assert re.findall(r'<td(?: class="([^"]*)")?', found) == [
        "number shade0",
        "number shade2",
        "number shade4 less",
        "",
        "number shade0",
    ]
    assert 'title="[-0.7, -0.5]"' in found
    assert 'title="not defined: x"' in found
    assert "0.005 to 0.02" in found


def test_words_from_outside_are_shown_as_typed():
    hostile = '<b onclick="x">'
    cells = [row(1.0, note=hostile)]
    found = heat_table(hostile, [hostile, hostile], [(hostile, cells)], unit=hostile, note=hostile)
    assert "<b" not in found
    assert found.count("&lt;b onclick=&quot;x&quot;&gt;") == 8
