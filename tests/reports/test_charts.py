import json

import numpy as np
import plotly.io
import pytest

from interp.analyses.statistics import clustered_auc
from interp.reports import theme
from interp.reports.chart import SIZES, Chart, span
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


def test_undefined_auc_gives_its_reason_once_instead_of_a_number():
    labels, scores = np.ones(3, dtype=bool), np.arange(3.0)
    undefined = clustered_auc(labels, scores, np.arange(3)).as_row()
    rows = [row | undefined for row in auc_rows([None, None])]
    chart = auc_chart(analysis_table(rows))
    assert chart.figures == {}
    assert chart.remarks == ("Not defined: one class only (every gap is a boundary).",)
    assert "canvas" not in chart.to_html()


def test_a_table_without_scores_or_means_still_has_a_chart_that_says_so():
    for chart in (auc_chart(analysis_table([])), byte_class_chart(analysis_table([]))):
        assert "Not defined" in chart.to_html()


def test_rows_without_a_value_are_named_beside_those_with_one():
    rows = auc_rows([0.6]) + auc_rows([None, None], note="not defined: no gaps")[1:]
    assert auc_chart(analysis_table(rows)).remarks == ("Not defined: no gaps (L1).",)
    rows += [row | {"value": None, "note": "not defined: one document"} for row in ceiling_rows()]
    assert "Not defined: one document (lead byte, cross-fitted; lead byte, in sample)." in (
        auc_chart(analysis_table(rows)).remarks
    )


def test_intervals_are_spoken_of_only_where_they_are_drawn():
    without = {"low": None, "high": None, "note": "no interval: one document only"}
    heads = [row for head in range(2) for row in auc_rows([0.5], head=head)]
    assert "intervals" in auc_chart(analysis_table(auc_rows([0.5]))).note
    assert "intervals" not in auc_chart(analysis_table(auc_rows([0.5], **without))).note
    assert "intervals" not in auc_chart(analysis_table(heads)).note
    means = class_rows([0], ["digit", "space"])
    assert "intervals" in byte_class_chart(analysis_table(means)).note
    means = class_rows([0], ["digit", "space"], **without)
    assert "intervals" not in byte_class_chart(analysis_table(means)).note
    means = class_rows([0], ["digit", "space"], head=0)
    assert "intervals" not in byte_class_chart(analysis_table(means)).note


@pytest.mark.parametrize(
    ("chart_of", "rows"),
    [(auc_chart, auc_rows([0.5, 0.6])), (byte_class_chart, class_rows([0, 1], ["digit"]))],
)
def test_notes_of_rows_stand_under_the_chart_with_what_they_are_about(chart_of, rows):
    of_all, of_one = "unreliable: fewer than 20 documents", "3 undefined entries left out"
    rows = [row | {"note": of_all} for row in rows]
    rows[1]["note"] += f"; {of_one}"
    html = chart_of(analysis_table(rows)).to_html()
    below = html[html.index("</script>") :]
    assert below.count("Unreliable: fewer than 20 documents.") == 1
    assert "3 undefined entries left out (L1" in below


def test_a_remark_on_many_rows_counts_them():
    rows = auc_rows([0.5] * 9)
    for row in rows[:4]:
        row["note"] = "no interval: degenerate"
    assert auc_chart(analysis_table(rows)).remarks == ("No interval: degenerate (4 of 9).",)


def test_lines_of_an_auc_chart_differ_in_their_dashes_and_say_so_where_it_is_narrow():
    chart = auc_chart(analysis_table(auc_rows([0.51]) + ceiling_rows()))
    for size in SIZES:
        layout = chart.figures["light"][size]["layout"]
        assert len({shape["line"]["dash"] for shape in layout["shapes"]}) == 3
    marks = {note["text"].split("lead")[0].split("chance")[0] for note in layout["annotations"]}
    assert len(marks) == 3


def test_the_step_of_plain_rope_is_spoken_of_only_where_it_is_drawn():
    for highest, is_drawn in ((0.5, False), (1.2, True)):
        rows = class_rows([0], ["digit"], value=highest, low=None, high=None)
        chart = byte_class_chart(analysis_table(rows))
        assert ("shapes" in chart.figures["light"]["wide"]["layout"]) == is_drawn
        assert ("dotted line" in chart.note) == is_drawn


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
    assert specification_of(html)["data"][0]["hovertext"] == [
        "L0, &lt;b&gt;x&lt;/b&gt; &#36;y&#36;"
    ]
    assert "<b>" not in html


@pytest.mark.parametrize("key", ['"><script>', "a b", "a_b", "日", ""])
def test_a_key_that_could_be_more_than_a_name_is_refused(key):
    with pytest.raises(ValueError, match="chart: key"):
        Chart(key, "title", "description")


def test_a_page_has_the_numbers_of_a_chart_once_and_all_of_its_looks():
    chart = auc_chart(analysis_table(auc_rows([0.51, 0.4447, 0.7]) + ceiling_rows()))
    html = chart.to_html()
    assert html[html.index('class="spec"') :].count("0.4447") == 1
    specification = specification_of(html)
    for mode in theme.MODES:
        for size in SIZES:
            drawn = specification[mode][size]
            traces = [a | b for a, b in zip(specification["data"], drawn["data"], strict=True)]
            expected = chart.figures[mode][size]
            assert {"data": traces, "layout": drawn["layout"]} == json.loads(json.dumps(expected))


def test_a_chart_has_the_template_of_no_one(monkeypatch):
    before = auc_chart(analysis_table(auc_rows([0.5]))).figures
    assert "colorway" not in json.dumps(before)
    monkeypatch.setattr(plotly.io.templates, "default", "plotly_dark")
    assert auc_chart(analysis_table(auc_rows([0.5]))).figures == before


@pytest.mark.parametrize(
    ("values", "least", "ends"),
    [([1, 3, 2], 0, (0.8, 3.2)), ([1, 3], 0.5, (0.5, 3.5)), ([2], 0, (1.5, 2.5))],
)
def test_an_axis_spans_all_values_and_a_margin(values, least, ends):
    assert span(values, 0.1, least) == pytest.approx(ends)


def specification_of(html: str):
    return json.loads(html.split('class="spec">')[1].split("</script>")[0])


@pytest.mark.parametrize("mode", theme.MODES)
@pytest.mark.parametrize("paper", ["paper", "card", "wash"])
def test_every_colour_of_text_can_be_read_on_whatever_it_stands_on(mode, paper):
    colors = {name: theme.class_color(name, mode) for name in BYTE_CLASSES}
    colors |= {name: theme.PAPER[mode][name] for name in ("ink", "soft", "muted", "accent")}
    faint = {
        name: color
        for name, color in colors.items()
        if contrast(color, theme.PAPER[mode][paper]) < 4.5
    }
    assert faint == {}


def contrast(one: str, other: str) -> float:
    """The contrast ratio of WCAG 2.2 between two colours given as ``#rrggbb``."""
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def luminance(color: str) -> float:
    channels = [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
