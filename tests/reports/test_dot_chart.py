import pytest

from interp.reports.dot_chart import dot_chart
from interp.tables import analysis_table


def table(*rows):
    return analysis_table([{"statistic": "loss_difference", "n": 9, **row} for row in rows])


def chart_of(frame, **settings):
    return dot_chart(frame, lambda row: row["group"], key="dots", title="Differences", **settings)


def trace(chart, mode="light", size="wide"):
    return chart.figures[mode][size]["data"][0]


def test_every_estimate_is_a_dot_in_its_row():
    chart = chart_of(table({"group": "one", "value": 0.5}, {"group": "two", "value": -0.25}))
    assert list(trace(chart)["x"]) == [0.5, -0.25]
    assert list(trace(chart)["y"]) == ["one", "two"]
    assert "one 0.5; two -0.25" in chart.description
    layout = chart.figures["dark"]["narrow"]["layout"]
    assert list(layout["yaxis"]["range"]) == [1.5, -0.5]  # the first row on top


def test_intervals_are_drawn_where_there_are_any():
    chart = chart_of(
        table({"group": "one", "value": 0.5, "low": 0.25, "high": 1}, {"group": "two", "value": 0})
    )
    assert list(trace(chart)["error_x"]["array"]) == [0.5, "none"]
    assert list(trace(chart)["error_x"]["arrayminus"]) == [0.25, "none"]
    assert chart.note.startswith("Bars are 95 % intervals")
    assert "error_x" not in trace(chart_of(table({"group": "one", "value": 1.0})))


def test_lines_are_within_the_range_and_named():
    chart = chart_of(table({"group": "one", "value": 0.5}), lines=[("none", 0.0), ("bound", 1.0)])
    layout = chart.figures["light"]["wide"]["layout"]
    low, high = layout["xaxis"]["range"]
    assert [shape["x0"] for shape in layout["shapes"]] == [0.0, 1.0]
    assert low < 0 < 1 < high
    assert [note["text"] for note in layout["annotations"]] == ["—— none", "– – bound"]


def test_what_is_not_defined_is_not_drawn_and_is_said():
    chart = chart_of(
        table({"group": "one", "value": 1.0}, {"group": "two", "note": "not defined: no text"})
    )
    assert list(trace(chart)["y"]) == ["one"]
    assert chart.remarks == ("Not defined: no text (two).",)
    assert chart_of(table()).figures == {}


@pytest.mark.parametrize("size", ["wide", "narrow"])
def test_names_are_broken_at_spaces_and_nothing_in_them_acts(size):
    name = "per-layer <b>, all of the many words of a name"
    layout = chart_of(table({"group": name, "value": 1.0})).figures["light"][size]["layout"]
    (shown,) = layout["yaxis"]["ticktext"]
    lines = [line.replace("&lt;", "<").replace("&gt;", ">") for line in shown.split("<br>")]
    assert "<b>" not in shown
    assert " ".join(lines) == name
    assert max(map(len, lines)) <= 35
