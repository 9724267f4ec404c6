"""Charts over layers and steps as a reader meets them, in headless Chromium."""

import pytest

from interp.reports.layer_chart import layer_chart
from interp.reports.page import Section, page
from interp.reports.scatter_chart import scatter_chart
from interp.reports.series import Series
from interp.reports.step_chart import step_chart
from interp.reports.verdicts import side_by_side
from interp.tables import analysis_table, rows_of

STEPS = (10, 100, 1000)


def rows(values, **about):
    listed = [
        {"signal": "increment", "layer": layer, "value": value, "low": value / 2, "high": value * 2}
        | about
        for layer, value in enumerate(values)
    ]
    return rows_of(analysis_table(listed))


def over_steps(scale):
    at_steps = [rows([scale * step, 1 / step], n=step) for step in STEPS]
    return [row for each in at_steps for row in each]


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    series = [Series("space", over_steps(0.01)), Series("letter", over_steps(0.002))]
    charts = [
        layer_chart(
            [Series("here", rows([0.5, 0.7])), Series("<i>there</i>", rows([0.4, 0.6]))],
            key="layers",
            title="Over layers",
            lines={"chance 0.5": 0.5, "ceiling": 0.55},
        ),
        *(
            step_chart(
                series,
                lambda row: row["n"],
                key=f"steps-{is_log}".lower(),
                title="Over steps",
                line=1.0,
                is_log=is_log,
            )
            for is_log in (False, True)
        ),
        scatter_chart(
            list(zip(rows([1.0, 2.0]), rows([40.0, 30.0]), strict=True)),
            key="scatter",
            title="One against the other",
            x_title="increment",
            y_title="tokens",
        ),
    ]
    ranges = [["lowercase", "0.68 to 0.96 (0.79)", "0.97 to 1.08 (1.02)"]]
    charts.append(side_by_side("Shared increments", ["class", "published", "here"], ranges))
    path = tmp_path_factory.mktemp("page") / "page.html"
    path.write_text(page("Charts", sections=[Section("Charts", charts)]), encoding="utf-8")
    return path.as_uri()


@pytest.mark.parametrize("width", [1280, 390])
def test_every_series_panel_and_line_is_drawn(watched, address, width):
    watched.set_viewport_size({"width": width, "height": 900})
    watched.goto(address)
    watched.wait_for_selector("#chart-scatter .main-svg")
    count = lambda selector: watched.locator(selector).count()  # noqa: E731
    assert count("#chart-layers .scatterlayer .point") == 4
    assert count("#chart-layers .shapelayer path") == 2
    for chart in ("steps-false", "steps-true"):
        assert count(f"#chart-{chart} .cartesianlayer .subplot") == 2
        assert count(f"#chart-{chart} .scatterlayer .point") == 2 * 2 * len(STEPS)
        assert count(f"#chart-{chart} .shapelayer path") == 2
        assert count(f"#chart-{chart} .legend .traces") == 2
    assert count("#chart-scatter .cartesianlayer .subplot") == 2
    assert count("#chart-scatter .scatterlayer .point") == 2
    assert watched.locator("#chart-layers .legendtext").all_text_contents() == [
        "here",
        "<i>there</i>",
    ]
    assert watched.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_ours_beside_the_published_is_seen_on_a_narrow_screen(watched, address):
    watched.set_viewport_size({"width": 390, "height": 900})
    watched.goto(address)
    table = watched.locator(".scroll", has_text="0.97 to 1.08").first
    assert table.evaluate("it => it.scrollWidth <= it.clientWidth")
