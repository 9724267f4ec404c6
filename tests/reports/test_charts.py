import json

import pytest

from interp.reports import theme
from interp.reports.chart import SIZES
from interp.reports.charts import auc_chart, byte_class_chart
from interp.tables import analysis_table
from interp.text import BYTE_CLASSES


def auc_rows(values, **kwargs):
    return [
        {
            "signal": "increment",
            "statistic": "roc_auc",
            "layer": layer,
            "value": value,
            "low": None if value is None else value - 0.02,
            "high": None if value is None else value + 0.02,
            "n": 100,
        }
        | kwargs
        for layer, value in enumerate(values)
    ]


def ceiling_rows():
    common = {"signal": "lead_byte_ceiling", "statistic": "roc_auc"}
    return [
        common | {"group": "cross-fitted", "value": 0.544},
        common | {"group": "in sample", "value": 0.548},
    ]


def class_rows(layers, groups, **kwargs):
    return [
        {
            "signal": "increment",
            "statistic": "mean",
            "layer": layer,
            "group": group,
            "value": 1.0 + index,
            "low": 0.9 + index,
            "high": 1.2 + index,
            "n": 7,
        }
        | kwargs
        for layer in layers
        for index, group in enumerate(groups)
    ]


def test_auc_chart_draws_the_numbers_of_the_table():
    chart = auc_chart(analysis_table(auc_rows([0.51, 0.44, 0.7]) + ceiling_rows()))
    for mode in theme.MODES:
        for size in SIZES:
            figure = chart.figures[mode][size]
            (trace,) = figure["data"]
            assert trace["x"] == ["L0", "L1", "L2"]
            assert trace["y"] == pytest.approx([0.51, 0.44, 0.7])
            assert trace["error_y"]["array"] == pytest.approx([0.02] * 3)
            assert [shape["y0"] for shape in figure["layout"]["shapes"]] == [0.5, 0.544, 0.548]


def test_auc_axis_holds_every_interval_and_chance():
    chart = auc_chart(analysis_table(auc_rows([0.81, 0.85])))
    low, high = chart.figures["light"]["wide"]["layout"]["yaxis"]["range"]
    assert low < 0.5
    assert high > 0.87


def test_undefined_auc_gives_its_reason_instead_of_a_number():
    table = analysis_table(auc_rows([None, None], note="one class only"))
    chart = auc_chart(table)
    assert chart.figures == {}
    assert chart.note == "Not defined: one class only."
    assert "canvas" not in chart.to_html()


def test_rows_without_a_value_are_named_beside_those_with_one():
    rows = auc_rows([0.6]) + auc_rows([None, None], note="one document")[1:]
    assert "Not defined in 1 of 2 rows: one document." in auc_chart(analysis_table(rows)).note


def test_byte_classes_stand_in_their_order_one_panel_per_layer():
    groups = ["separator", "digit", "space"]
    chart = byte_class_chart(analysis_table(class_rows([0, 1], groups)))
    figure = chart.figures["dark"]["wide"]
    assert len(figure["data"]) == 2
    assert figure["layout"]["yaxis"]["categoryarray"] == ["digit", "space", "separator"]
    assert figure["data"][0]["x"] == pytest.approx([1.0, 2.0, 3.0])
    assert figure["data"][0]["error_x"]["array"] == pytest.approx([0.2] * 3)
    assert figure["layout"]["xaxis2"]["range"][0] == 0


def test_shared_increments_are_one_panel_called_shared():
    chart = byte_class_chart(analysis_table(class_rows([None], ["digit"])))
    assert [a["text"] for a in chart.figures["light"]["wide"]["layout"]["annotations"]] == [
        "shared"
    ]


def test_heads_of_a_layer_are_dots_in_one_panel():
    rows = [row for head in range(3) for row in class_rows([0], ["digit", "space"], head=head)]
    chart = byte_class_chart(analysis_table(rows))
    (trace,) = chart.figures["light"]["narrow"]["data"]
    assert trace["type"] == "scatter"
    assert len(trace["x"]) == 6
    assert "3 heads" in chart.note


def test_a_table_without_values_is_said_to_be_undefined():
    rows = class_rows([0], ["digit"], value=None, low=None, high=None, note="no byte")
    assert byte_class_chart(analysis_table(rows)).figures == {}


def test_names_from_outside_are_no_tags_and_no_tex():
    rows = class_rows([0], ["<b>x</b> $y$"])
    html = byte_class_chart(analysis_table(rows)).to_html()
    hover = json.loads(html.split('class="spec">')[1].split("</script>")[0])["light"]["wide"]
    assert hover["data"][0]["hovertext"] == ["L0, &lt;b&gt;x&lt;/b&gt; &#36;y&#36;"]
    assert "<b>" not in html


def test_every_class_has_a_readable_colour_in_both_modes():
    for name in BYTE_CLASSES:
        for mode in theme.MODES:
            assert contrast(theme.class_color(name, mode), theme.PAPER[mode]["card"]) >= 4.5
    for mode in theme.MODES:
        for color in ("ink", "soft", "muted", "accent"):
            for paper in ("paper", "card"):
                assert contrast(theme.PAPER[mode][color], theme.PAPER[mode][paper]) >= 4.5


def contrast(one: str, other: str) -> float:
    """The contrast ratio of WCAG 2.2 between two colours given as ``#rrggbb``."""
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def luminance(color: str) -> float:
    channels = [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
