import json

import pytest

from interp.reports import theme
from interp.reports.scatter_chart import scatter_chart
from interp.tables import analysis_table, rows_of


def rows(signal, values, n_heads=2, half_width=0.1):
    listed = [
        {
            "signal": signal,
            "layer": index // n_heads,
            "head": index % n_heads,
            "value": value,
            "low": None if value is None else value - half_width,
            "high": None if value is None else value + half_width,
            "note": None if value is not None else "not defined: why",
        }
        for index, value in enumerate(values)
    ]
    return rows_of(analysis_table(listed))


def chart(xs, ys, **settings):
    pairs = list(zip(rows("increment", xs), rows("attention_distance", ys), strict=True))
    titles = {"title": "Heads", "x_title": "increment", "y_title": "<b>tokens</b>"}
    return scatter_chart(pairs, key="heads", **titles, **settings)


def each_figure(drawn):
    return [drawn.figures[mode][size] for mode in theme.MODES for size in ("wide", "narrow")]


def test_every_head_is_a_point_in_the_panel_of_its_layer():
    drawn = chart([1.0, 2.0, 3.0, 4.0], [40.0, 30.0, 20.0, 10.0])
    for figure in each_figure(drawn):
        first, second = figure["data"]
        assert (list(first["x"]), list(first["y"])) == ([1, 2], [40, 30])
        assert (list(second["x"]), list(second["y"])) == ([3, 4], [20, 10])
        assert list(second["text"]) == ["0", "1"]
        assert (first["xaxis"], second["xaxis"]) == ("x", "x2")
        for axis in ("error_x", "error_y"):
            assert first[axis]["array"] == pytest.approx([0.1, 0.1])
        low, high = figure["layout"]["xaxis2"]["range"]
        assert low < 2.9 < 4.1 < high
    assert "L1H0 3, 20" in drawn.description


def test_panels_do_not_overlap_and_are_named():
    drawn = chart(range(10), range(10), panel_notes={"L3": "<i>rho</i>"})
    for figure in each_figure(drawn):
        layout = figure["layout"]
        places = [(f"xaxis{i}", f"yaxis{i}") for i in ("", 2, 3, 4, 5)]
        boxes = [tuple(layout[name]["domain"] for name in pair) for pair in places]
        for index, (x, y) in enumerate(boxes):
            for other_x, other_y in boxes[:index]:
                is_beside = x[0] > other_x[1] or x[1] < other_x[0]
                assert is_beside or y[1] < other_y[0] or y[0] > other_y[1]
        words = [note["text"] for note in layout["annotations"]]
        assert "L3  &lt;i&gt;rho&lt;/i&gt;" in words
        assert "&lt;b&gt;tokens&lt;/b&gt;" in words


def test_points_without_a_value_are_named_and_not_drawn():
    drawn = chart([1.0, None, 3.0, 4.0], [1.0, 2.0, None, 4.0])
    for figure in each_figure(drawn):
        assert [list(trace["x"]) for trace in figure["data"]] == [[1], [4]]
    assert drawn.remarks == ("Not defined: why (L0H1, increment; L1H0, <b>tokens</b>).",)
    assert chart([None], [1.0]).figures == {}
    assert chart([], []).remarks == ("Not defined: there is no point.",)


def test_one_point_has_a_scale_and_figures_are_plain_json():
    drawn = chart([1.0], [5.0])
    low, high = drawn.figures["light"]["wide"]["layout"]["xaxis"]["range"]
    assert low < 1 < high
    json.dumps(drawn.figures, allow_nan=False)
