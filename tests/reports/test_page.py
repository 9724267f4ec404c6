import base64
import hashlib
import html.parser
import re

import pytest

from interp import tables
from interp.errors import InterpError
from interp.reports import theme
from interp.reports.charts import auc_chart
from interp.reports.markup import Html, json_block
from interp.reports.page import Section, page, table

HOSTILE = '</title></script><script>alert(1)</script><img src=x onerror="alert(2)"> $x$ & "q"'


@pytest.fixture
def scores():
    common = {"checkpoint": "tiny", "signal": "increment", "statistic": "roc_auc", "n": 12345}
    return tables.analysis_table(
        [
            common | {"layer": 0, "value": 0.5123, "low": 0.49, "high": 0.53},
            common | {"layer": 1, "note": "one class only"},
        ]
    )


class Elements(html.parser.HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))


def test_page_says_what_was_measured_on_what():
    text = page(
        "A page",
        lead=["One model read one text."],
        facts=[("Checkpoint", "tiny"), ("Text", "3 documents")],
        warnings=["empty.txt is empty"],
        sections=[Section("First part", ["Some words."]), Section("第二", [])],
        footer="the end",
    )
    assert "<h1><bdi>A page</bdi></h1>" in text
    assert "<dt>Text</dt><dd><bdi>3 documents</bdi></dd>" in text
    assert "empty.txt is empty" in text
    assert '<a href="#first-part">' in text
    assert '<section id="first-part">' in text
    assert '<section id="第二">' in text


def test_page_lets_only_its_own_scripts_run_and_asks_nobody():
    text = page("p", sections=[Section("s", ["words"])])
    policy = re.search(r'Content-Security-Policy" content="([^"]+)"', text).group(1)
    assert "default-src 'none'" in policy
    assert "unsafe-inline" not in policy.split("script-src")[1].split(";")[0]
    for script in re.findall(r"<script>(.*?)</script>", text, re.DOTALL):
        digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in policy
    for tag, attributes in Elements(text).found:
        for name in ("src", "href"):
            value = attributes.get(name) or ""
            assert value.startswith(("#", "data:")) or not value, (tag, value)


def test_text_from_outside_stays_text():
    text = page(
        HOSTILE,
        lead=[HOSTILE],
        facts=[(HOSTILE, HOSTILE)],
        warnings=[HOSTILE],
        sections=[Section(HOSTILE, [HOSTILE])],
        footer=HOSTILE,
    )
    tags = [tag for tag, _ in Elements(text).found]
    assert "img" not in tags
    assert tags.count("script") == 2
    assert tags.count("title") == 1


def test_plotly_comes_along_only_where_a_chart_is_drawn(scores):
    without = page("p", sections=[Section("s", ["words"])])
    chart = page("p", sections=[Section("s", [auc_chart(scores)])])
    assert len(without) < 200_000 < 1_000_000 < len(chart)


def test_missing_plotly_is_one_clear_error(monkeypatch, tmp_path):
    theme.asset.cache_clear()
    monkeypatch.setattr(theme.resources, "files", lambda _: tmp_path)
    try:
        with pytest.raises(InterpError, match="missing from this installation"):
            theme.asset("plotly-basic.min.js")
    finally:
        theme.asset.cache_clear()


def test_plotly_is_the_version_of_the_python_package():
    from plotly.offline import get_plotlyjs_version

    version = re.search(
        r"plotly\.js \(basic - minified\) v(\S+)", theme.asset("plotly-basic.min.js")
    )
    assert version
    if version.group(1) != get_plotlyjs_version():
        pytest.skip(f"another plotly.py is installed, of plotly.js {get_plotlyjs_version()}")


def test_table_shows_undefined_as_a_dash_with_its_note(scores):
    text = table(scores, caption="Scores", file_name="scores.csv")
    assert "0.512" in text
    assert "—" in text
    assert "one class only" in text
    assert "n 12,345" in text
    assert "checkpoint tiny" in text


def test_table_download_is_the_whole_table(scores):
    text = table(scores, caption="Scores", file_name="scores.csv")
    encoded = re.search(r"base64,([^\"]+)", text).group(1)
    assert base64.b64decode(encoded).decode() == tables.to_csv(scores)


def test_table_puts_mean_sd_min_and_max_of_a_group_in_one_row():
    common = {"signal": "increment", "layer": 0, "n": 3}
    rows = [
        common | {"group": group, "statistic": statistic, "value": value}
        for group in ("digit", "space")
        for statistic, value in (("mean", 1.5), ("sd", 0.25), ("min", 0.5), ("max", 2.25))
    ]
    text = table(tables.analysis_table(rows), caption="Classes", file_name="c.csv")
    assert text.count("<tr>") == 3
    assert re.search(r"digit.*1\.500.*0\.250.*0\.500.*2\.250", text)


def test_table_says_of_a_group_how_its_mean_came_about_and_that_it_has_no_sd():
    common = {"signal": "increment", "layer": 0, "n": 1, "reference": "running text"}
    rows = [common | {"group": "digit", "statistic": "sd", "note": "one value has no sd"}]
    for name, note in (("digit", "no interval: one document only"), ("space", None)):
        mean = {"group": name, "statistic": "mean", "value": 1.5, "note": note}
        interval = {} if note else {"low": 1.0, "high": 2.0, "method": "jackknife, t(3)"}
        rows.append(common | mean | interval)
    rows.append(common | {"group": "space", "statistic": "sd", "value": 0.25})
    text = table(tables.analysis_table(rows), caption="Classes", file_name="c.csv")
    digit, space = re.findall(r"<tr>(.*?)</tr>", text)[1:]
    assert re.findall(r"—|[\d.]{3,}", digit) == ["1.500", "—", "—", "—"]
    assert "one document only" in digit
    assert "one value has no sd" in digit
    assert re.findall(r"—|[\d.]{3,}", space) == ["1.500", "1.000", "2.000", "0.250"]
    assert "jackknife, t(3)" in space


def test_table_names_its_rows_and_columns_for_those_who_hear_it(scores):
    text = table(scores, caption="Scores", file_name="scores.csv")
    assert re.findall(r'<th scope="row"[^>]*><bdi>(.*?)</bdi></th>', text) == ["L0", "L1"]
    assert text.count('<th scope="col"') == 5  # layer, value, low, high, note


def test_table_shows_counts_whole_and_small_shares_with_two_digits():
    rows = [
        {"statistic": "left_out", "value": 1.0},
        {"statistic": "left_out", "value": 1234.0},
        {"statistic": "tied_share", "value": 0.0003},
        {"statistic": "base_rate", "value": 0.62},
        {"statistic": "roc_auc", "value": 1.0},
        {"statistic": "mean", "value": 2.0},
        {"statistic": "mean", "value": 0.0},
    ]
    shown = ["1", "1,234", "0.0003", "0.620", "1.000", "2.000", "0.000"]
    text = table(tables.analysis_table(rows), caption="c", file_name="c.csv")
    assert re.findall(r'<td class="number"><bdi>(.*?)</bdi>', text) == shown
    text = table(tables.analysis_table(rows[:2]), caption="c", file_name="c.csv")
    assert re.findall(r'<td class="number"><bdi>(.*?)</bdi>', text) == shown[:2]


def test_table_of_undefined_values_keeps_the_column():
    rows = [{"statistic": "roc_auc", "layer": layer, "note": "no gap"} for layer in range(2)]
    assert table(tables.analysis_table(rows), caption="c", file_name="c.csv").count("—") == 2


def test_table_escapes_what_it_shows():
    rows = [{"statistic": "mean", "group": HOSTILE, "value": 1.0, "note": HOSTILE}]
    text = table(tables.analysis_table(rows), caption=HOSTILE, file_name=HOSTILE)
    assert not {"img", "script"} & {tag for tag, _ in Elements(text).found}


def test_json_cannot_end_its_element():
    block = json_block({"x": "</script><!--\u2028&"}, css_class="c")
    assert block.count("<") == 2
    assert isinstance(block, Html)
