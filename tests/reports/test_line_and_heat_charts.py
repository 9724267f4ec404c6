import numpy as np
import pytest

from interp.reports import theme
from interp.reports.chart import SIZES
from interp.reports.heat_map import N_SHADES, heat_map
from interp.reports.line_chart import Axis, Line, Panel, line_chart


def chart(panels, **settings):
    given = {"x": Axis("steps"), "y": Axis("nats")} | settings
    return line_chart(panels, key="lines", title="Lines", **given)


TWO = [
    Panel(
        "first <b>", [Line("a", [1, 2, 3], [3.0, 2.0, 1.0]), Line("b", [1, 2], [1.0, 5.0], True)]
    ),
    Panel("second", [Line("a", [1, 2, 3], [0.5, 0.5, 0.5])]),
]


def test_lines_of_a_name_look_alike_in_every_panel_and_stand_once_in_the_legend():
    made = chart(TWO)
    for mode in theme.MODES:
        for size in SIZES:
            data = made.figures[mode][size]["data"]
            first, other, again = data
            assert first["line"] == again["line"]
            assert first["line"]["dash"] != other["line"]["dash"]
            assert other["line"]["color"] == theme.PAPER[mode]["muted"]
            assert [line["showlegend"] for line in data] == [True, True, False]
            assert (first["y"], again["y"]) == ([3.0, 2.0, 1.0], [0.5] * 3)
            layout = made.figures[mode][size]["layout"]
            assert layout["yaxis"]["range"] == layout["yaxis2"]["range"]
            words = [each["text"] for each in layout["annotations"]]
            assert "first &lt;b&gt;" in words
            assert {"steps", "nats"} <= set(words)


def test_a_line_that_is_empty_in_the_first_panel_is_in_the_legend():
    late = [Line("a", [], []), Line("b", [1], [1.0]), Line("never", [], [])]
    made = chart([Panel("first", late), Panel("second", [Line("a", [1], [2.0])])])
    for trace in made.figures["light"]["wide"]["data"]:
        assert trace["showlegend"]
    assert [trace["name"] for trace in made.figures["light"]["wide"]["data"]] == ["b", "a"]
    assert "never" not in made.description


def test_a_logarithmic_axis_holds_all_values_and_marks():
    made = chart(TWO[1:], y=Axis("turns", is_log=True, marks=(100.0,)))
    axis = made.figures["light"]["wide"]["layout"]["yaxis"]
    assert axis["type"] == "log"
    low, high = axis["range"]
    assert low < np.log10(0.5)
    assert high > 2
    assert len(axis["tickvals"]) >= 3
    assert len(made.figures["light"]["wide"]["layout"]["shapes"]) == 1


def test_without_values_the_chart_says_so():
    made = chart([Panel("none", [Line("a", [], [])])])
    assert made.figures == {}
    assert made.remarks


def cells(html, shade):
    """The boxes of a shade: how many cells they cover."""
    found = html.partition(f'<path class="{shade}" d="')[2].partition('"')[0]
    return sum(int(box.partition("h")[2].partition("v")[0]) for box in found.split("M")[1:])


def test_every_cell_of_a_heat_map_has_its_shade():
    values = np.array([[1.0, 1.0, -1.0], [0.0, 0.5, -0.5]])
    html = heat_map(values, title="<t>", row_title="rows", column_title="columns")
    assert cells(html, f"shade{N_SHADES}") == 2
    assert cells(html, f"shade{N_SHADES} less") == 1
    assert cells(html, "shade0") == 1
    assert cells(html, "shade2") == 1
    assert cells(html, "shade2 less") == 1
    assert "<t>" not in html
    assert 'viewBox="0 0 3 2"' in html


@pytest.mark.parametrize("value", [0.0, 3.0])
def test_a_heat_map_of_one_value_is_one_box_a_row(value):
    html = heat_map(np.full((4, 7), value), title="t", row_title="r", column_title="c")
    assert html.count("<path") == 1
    assert html.count("h7v1h-7z") == 4
