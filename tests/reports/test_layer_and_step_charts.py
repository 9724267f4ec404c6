import json

import pytest

from interp.reports import theme
from interp.reports.layer_chart import layer_chart
from interp.reports.series import Series
from interp.reports.step_chart import step_chart
from interp.tables import analysis_table, rows_of


def rows(*values, checkpoint="model", low=0.05, layers=None):
    """A row per layer, each with an interval of ``low`` to either side unless that is None."""
    listed = [
        {
            "checkpoint": checkpoint,
            "signal": "increment",
            "layer": layer,
            "value": value,
            "low": None if value is None or low is None else value - low,
            "high": None if value is None or low is None else value + low,
            "note": "not defined: why" if value is None else None,
        }
        for layer, value in zip(layers or range(len(values)), values, strict=True)
    ]
    return rows_of(analysis_table(listed))


def each_figure(chart):
    for mode in theme.MODES:
        for size in ("wide", "narrow"):
            yield chart.figures[mode][size]


def test_series_stand_beside_one_another_at_their_layer_with_their_own_marks():
    chart = layer_chart(
        [Series("here", rows(0.5, 0.7)), Series("there", rows(0.4, 0.6, low=None))],
        key="areas",
        title="Areas",
        lines={"chance": 0.5},
    )
    for drawn in each_figure(chart):
        here, there = drawn["data"]
        assert (here["y"], there["y"]) == ([0.5, 0.7], [0.4, 0.6])
        assert [round(x) for x in here["x"]] == [round(x) for x in there["x"]] == [0, 1]
        assert all(a < b for a, b in zip(here["x"], there["x"], strict=True))
        assert here["marker"]["symbol"] != there["marker"]["symbol"]
        assert here["error_y"]["array"] == pytest.approx([0.05, 0.05])
        assert "error_y" not in there or there["error_y"] is None
        assert [shape["y0"] for shape in drawn["layout"]["shapes"]] == [0.5]
    assert "here: L0 0.500, L1 0.700; there: L0 0.400, L1 0.600" in chart.description


def test_a_value_that_is_not_defined_is_not_drawn_and_keeps_its_place():
    chart = layer_chart([Series("here", rows(0.5, None, 0.7))], key="a", title="Areas")
    for drawn in each_figure(chart):
        assert drawn["data"][0]["y"] == [0.5, 0.7]
        assert [round(x) for x in drawn["data"][0]["x"]] == [0, 2]
    assert chart.remarks == ("Not defined: why (here, L1).",)


def test_notes_of_rows_stand_under_the_chart():
    noted = [row | {"note": "unreliable: fewer than 20 documents"} for row in rows(0.5, 0.7)]
    series = [Series("here", noted), Series("there", rows(0.4, None))]
    expected = "Unreliable: fewer than 20 documents (here, L0{at}; here, L1{at})."
    chart = layer_chart(series, key="a", title="Areas")
    assert chart.remarks == (expected.format(at=""), "Not defined: why (there, L1).")
    chart = step_chart(series, lambda _: 1000, key="a", title="Areas")
    at = " at step 1,000"
    assert chart.remarks == (expected.format(at=at), f"Not defined: why (there, L1{at}).")


@pytest.mark.parametrize("chart", [layer_chart, lambda *a, **k: step_chart(*a, lambda _: 1, **k)])
def test_nothing_to_draw_is_said(chart):
    drawn = chart([Series("here", rows(None))], key="a", title="Areas")
    assert drawn.figures == {}
    assert drawn.remarks == ("Not defined: why.",)
    assert chart([], key="a", title="Areas").remarks == ("Not defined: there is no value.",)


def test_names_of_series_cannot_act():
    chart = layer_chart([Series("<b>$x$</b>", rows(0.5))], key="a", title="Areas")
    for drawn in each_figure(chart):
        (trace,) = drawn["data"]
        for shown in (trace["name"], *trace["hovertext"]):
            assert "<" not in shown
            assert "$" not in shown


STEPS = {"late": 1000, "early": 10}


def over_steps(is_log=False):
    series = [
        Series("space", [*rows(5.0, 2.0, checkpoint="late"), *rows(1.0, 1.1, checkpoint="early")]),
        Series(
            "letter", [*rows(0.5, 0.02, checkpoint="late"), *rows(1.0, 0.9, checkpoint="early")]
        ),
    ]
    return step_chart(
        series,
        lambda row: STEPS[row["checkpoint"]],
        key="classes",
        title="Means",
        line=1.0,
        is_log=is_log,
    )


@pytest.mark.parametrize("is_log", [False, True])
def test_a_panel_per_layer_has_every_series_in_the_order_of_steps(is_log):
    for drawn in each_figure(over_steps(is_log)):
        places = [(trace["xaxis"], trace["name"], trace["y"]) for trace in drawn["data"]]
        assert places == [
            ("x", "space", [1.0, 5.0]),
            ("x", "letter", [1.0, 0.5]),
            ("x2", "space", [1.1, 2.0]),
            ("x2", "letter", [0.9, 0.02]),
        ]
        assert {tuple(trace["x"]) for trace in drawn["data"]} == {(10, 1000)}
        layout = drawn["layout"]
        assert layout["xaxis"]["type"] == layout["xaxis2"]["type"] == "log"
        assert layout["yaxis"]["range"] == layout["yaxis2"]["range"]
        assert layout["xaxis"]["domain"] != layout["xaxis2"]["domain"]
        assert [trace["showlegend"] for trace in drawn["data"]] == [True, True, False, False]


def test_a_series_that_begins_in_a_later_panel_is_in_the_legend():
    series = [Series("both", rows(0.5, 0.7)), Series("late", rows(0.6, layers=[1]))]
    for drawn in each_figure(step_chart(series, lambda _: 1, key="a", title="Areas")):
        named = [(trace["name"], trace["xaxis"], trace["showlegend"]) for trace in drawn["data"]]
        assert named == [("both", "x", True), ("both", "x2", False), ("late", "x2", True)]


def test_a_logarithmic_panel_holds_the_upper_ends_of_intervals():
    (wide,) = rows(1.0, low=0.5)
    series = [Series("here", [wide | {"high": 50.0}])]
    chart = step_chart(series, lambda _: 1, key="a", title="Areas", is_log=True)
    for drawn in each_figure(chart):
        low, high = drawn["layout"]["yaxis"]["range"]
        assert 10**low < 1 < 50 < 10**high


def test_where_the_logarithm_ends_an_interval_has_no_lower_bar():
    for drawn in each_figure(over_steps(is_log=True)):
        low_one = drawn["data"][3]  # 0.02 - 0.05 is below zero
        assert low_one["error_y"]["arrayminus"] == [pytest.approx(0.05), "none"]
        assert low_one["error_y"]["array"] == pytest.approx([0.05, 0.05])


def test_what_lies_under_a_logarithmic_panel_is_counted():
    chart = over_steps(is_log=True)  # from 5 two decades down: 0.02 is smaller
    for drawn in each_figure(chart):
        low, high = drawn["layout"]["yaxis"]["range"]
        assert 0.02 < 10**low < 0.05
        assert 5 < 10**high < 10
    assert chart.remarks == ("1 of 8 values lie below 0.036, under the panels.",)
    assert over_steps().remarks == ()


def test_figures_are_plain_json():
    json.dumps([over_steps().figures, over_steps(is_log=True).figures], allow_nan=False)
