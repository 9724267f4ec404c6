"""The page as a reader meets it, in headless Chromium."""

import numpy as np
import pytest

from interp.reports.character_positions import PositionTrace
from interp.reports.charts import auc_chart, byte_class_chart
from interp.reports.page import Section, page, table
from interp.reports.position_plot import position_plot, standalone
from interp.tables import analysis_table
from interp.text import BYTE_CLASSES

ENGLISH = b"Marie Curie, a Polish-born physicist, won two Nobel Prizes."
CHINESE = "人工智能是计算机科学的一个分支。".encode()
MARKUP = (
    "He wrote <b>bold</b> & <img src=x onerror=alert(1)> </script><script>alert(2)</script> "
    '$\\href{javascript:alert(3)}{x}$ "quotes"'
)
MIXED = (
    (MARKUP + " 👨‍👩‍👧‍👦 e\u0301  two\tspaces\n").encode()
    + b"\xff\xe4\x00 "
    + "\u202e中文".encode()
)


PATHS = "(paths) => paths.map((path) => path.getAttribute('d'))"


def n_rows_in_time(rows):
    """How many rows there are once the script has filled the table: some time after the click."""
    rows.first.wait_for()
    return rows.count()


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    sections = [
        Section("English", [position_plot(trace_of("English", ENGLISH, "en"))]),
        Section("Chinese", [position_plot(trace_of("Chinese", CHINESE, "zh-Hans"))]),
        Section("Again", [position_plot(trace_of("Chinese", CHINESE, "zh-Hans"))]),
        Section(MARKUP, [MARKUP, position_plot(trace_of(MARKUP, MIXED, ""))]),
        Section("Charts", [auc_chart(auc_table()), byte_class_chart(class_table())]),
        Section("Table", [table(class_table(), caption=MARKUP, file_name="c.csv")]),
    ]
    path = tmp_path_factory.mktemp("page") / "page.html"
    text = page(MARKUP, lead=[MARKUP], facts=[("Text", MARKUP)], sections=sections)
    path.write_text(text, encoding="utf-8")
    return path.as_uri()


@pytest.fixture
def opened(watched, address):
    """The page at desktop width."""
    watched.goto(address)
    watched.wait_for_selector("#chart-byte-classes .main-svg")
    return watched


def trace_of(title: str, content: bytes, language: str) -> PositionTrace:
    generator = np.random.default_rng(1)
    increments = generator.gamma(8.0, 0.125, size=(3, len(content) + 1)).astype(np.float32)
    increments *= np.array([[1.0], [0.7], [2.0]], dtype=np.float32)
    return PositionTrace(title, content, increments, ("L0", "L1", "L2"), language)


def auc_table():
    common = {"statistic": "roc_auc", "signal": "increment"}
    rows = [
        common | {"layer": layer, "value": 0.5 + layer / 20, "low": 0.45, "high": 0.7}
        for layer in range(3)
    ]
    return analysis_table(rows)


def class_table():
    common = {"statistic": "mean", "signal": "increment", "value": 1.5}
    rows = [common | {"layer": layer, "group": name} for layer in range(6) for name in BYTE_CLASSES]
    rows[0] |= {"low": 1.4, "high": 1.6}
    return analysis_table(rows)


def glyph_centres(tab, section: str, plot: str) -> list[tuple[int, str, float, float]]:
    """Line, glyph, x as a share of the plot's width, and y of everything that is drawn."""
    return tab.evaluate(
        """([section, plot]) => {
          const found = [];
          const lines = document.querySelectorAll(`#${section} .plot.${plot} .line`);
          lines.forEach((line, index) => {
            const box = line.firstElementChild.getBoundingClientRect();
            for (const text of line.querySelectorAll("text:not(.row)")) {
              for (let i = 0; i < text.getNumberOfChars(); i++) {
                const extent = text.getExtentOfChar(i);
                const x = (extent.x + extent.width / 2) / box.width;
                found.push([index, [...text.textContent][i], x, extent.y]);
              }
            }
          });
          return found;
        }""",
        [section, plot],
    )


@pytest.mark.parametrize(("section", "content"), [("english", ENGLISH), ("chinese", CHINESE)])
def test_glyphs_stand_where_the_numbers_say(opened, section, content):
    trace = trace_of("", content, "")
    drawn = sorted(glyph_centres(opened, section, "wide.mean"), key=lambda glyph: glyph[3])
    positions = trace.character_positions
    n = len(trace.characters)
    assert len(drawn) == 3 * n
    centres = np.sort([x for _, _, x, _ in drawn])
    # one share of the width for all rows: where the last character of each of them stands
    expected = np.sort(positions / positions[:, -1:], axis=None) * centres.max()
    assert centres == pytest.approx(expected, abs=0.002)


def test_one_scale_for_all_rows_keeps_their_proportions(opened):
    trace = trace_of("", CHINESE, "")
    plots = opened.locator("#chinese .plot")
    opened.locator("#chinese").get_by_label("same for all rows").check()
    shown = [plots.nth(i).get_attribute("class") for i in range(6) if plots.nth(i).is_visible()]
    assert shown == ["plot wide same"]
    assert opened.locator("#again .plot.wide.mean").is_visible()  # an equal plot has its own scale
    assert opened.locator("#again").get_by_label("each row by its mean").is_checked()
    full_stops = [x for _, c, x, _ in glyph_centres(opened, "chinese", "wide.same") if c == "。"]
    expected = trace.character_positions[:, -1]
    assert np.sort(full_stops) / max(full_stops) == pytest.approx(
        np.sort(expected) / expected.max(), abs=0.004
    )


def test_on_a_phone_every_wrapped_line_starts_its_numbers_again(opened):
    opened.set_viewport_size({"width": 390, "height": 800})
    positions = trace_of("", ENGLISH, "").character_positions
    ranges = opened.locator("#english .plot.narrow.mean .line").evaluate_all(
        "(lines) => lines.map((line) => [+line.dataset.start, +line.dataset.end])"
    )
    assert len(ranges) > 2
    assert [start for start, _ in ranges] == [0, *(end for _, end in ranges[:-1])]
    before = np.concatenate([np.zeros((3, 1)), positions], axis=1)
    drawn = glyph_centres(opened, "english", "narrow.mean")
    expected, centres = [], []
    for number, (start, end) in enumerate(ranges):
        offsets = (positions[:, start:end] - before[:, start : start + 1]) / positions[:, -1:]
        expected += sorted(offsets.ravel())
        centres += sorted(x for line, _, x, _ in drawn if line == number)
    factor = max(centres) / max(expected)
    assert centres == pytest.approx(np.array(expected) * factor, abs=0.003)


@pytest.mark.parametrize("scale", ["mean", "same"])
def test_lines_lead_from_a_glyph_to_the_same_character_one_row_below(opened, scale):
    labels = {"mean": "each row by its mean", "same": "same for all rows"}
    opened.locator("#chinese").get_by_label(labels[scale]).check()
    plot = opened.locator(f"#chinese .plot.wide.{scale}")
    plot.scroll_into_view_if_needed()
    plot.locator(".links path:not(.tick)").first.wait_for(state="attached")
    ways = "".join(plot.locator(".links path:not(.tick)").evaluate_all(PATHS))
    ends = np.array([step.split() for step in ways.replace("L", "M").split("M")[1:]], dtype=float)
    assert len(ends) == 2 * 2 * len(trace_of("", CHINESE, "").characters)
    width = plot.locator(".links").first.evaluate("(links) => links.viewBox.baseVal.width")
    centres = np.array([x for _, _, x, _ in glyph_centres(opened, "chinese", f"wide.{scale}")])
    nearest = np.abs(ends[:, :1] / width - centres).min(axis=1)
    assert nearest.max() < 0.002
    others = opened.locator(".plot.medium .links path:not(.tick)")
    assert others.count() == 0  # they are drawn where they are seen, or printed
    opened.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    assert others.count() > 0


def test_glyphs_of_a_row_do_not_overlap(opened):
    for section in ("english", "chinese"):
        overlaps = opened.evaluate(
            """(section) => {
              const boxes = [];
              for (const text of document.querySelectorAll(
                `#${section} .plot.wide.mean text:not(.row, .bar text)`)) {
                const em = parseFloat(getComputedStyle(text).fontSize);
                for (let i = 0; i < text.getNumberOfChars(); i++) {
                  const box = text.getExtentOfChar(i);
                  boxes.push([box.x, box.x + box.width, box.y, em]);
                }
              }
              const isHidden = ([left, right, y, em], [l, r, v]) =>
                Math.abs(v - y) < 2 && Math.min(r, right) - Math.max(l, left) > 0.08 * em;
              return boxes.filter((one, i) =>
                boxes.slice(i + 1).some((other) => isHidden(one, other))).length;
            }""",
            section,
        )
        assert overlaps == 0


def test_legend_shows_one_class_alone_and_all_again(opened):
    figure = opened.locator("#english figure")
    space = figure.get_by_role("button", name="space")
    opacity = """(name) => getComputedStyle(document.querySelector(
        `#english .plot.wide.mean text.${name}`)).opacity"""
    assert space.get_attribute("aria-pressed") == "false"
    space.focus()
    opened.keyboard.press("Enter")
    assert space.get_attribute("aria-pressed") == "true"
    assert float(opened.evaluate(opacity, f"c{BYTE_CLASSES.index('space')}")) == 1
    assert float(opened.evaluate(opacity, f"c{BYTE_CLASSES.index('uppercase')}")) < 0.2
    figure.get_by_role("button", name="show all").click()
    assert float(opened.evaluate(opacity, f"c{BYTE_CLASSES.index('uppercase')}")) == 1
    assert space.get_attribute("aria-pressed") == "false"


def test_pointing_at_a_character_shows_its_bytes(opened):
    trace = trace_of("", CHINESE, "")
    figure = opened.locator("#chinese figure")
    figure.scroll_into_view_if_needed()
    line = figure.locator(".plot.wide.mean .line > svg").bounding_box()
    x = next(x for _, c, x, _ in glyph_centres(opened, "chinese", "wide.mean") if c == "人")
    opened.mouse.move(line["x"] + x * line["width"], line["y"] + 16)
    reading = figure.locator(".reading").inner_text()
    assert "人" in reading
    assert "CJK" in reading
    rows = trace.byte_positions[0, 1:4], trace.increments[0, 1:4], ("E4", "BA", "BA")
    for position, increment, pair in zip(*rows, strict=True):
        assert pair in reading
        assert f"{increment:.4g}" in reading
        assert f"{position:.2f}" in reading
    opened.mouse.move(5, 5)
    assert figure.locator(".reading").is_hidden()


def test_arrow_keys_read_character_after_character(opened):
    trace = trace_of("", ENGLISH, "")
    figure = opened.locator("#english figure")
    # a screen reader hands its keys to nothing but an application
    plot = figure.get_by_role("application", name="Character positions of English, rows L0, L1, L2")
    plot.focus()
    opened.keyboard.press("Home")
    for key in ("ArrowRight", "ArrowRight", "ArrowDown"):
        opened.keyboard.press(key)
    spoken = figure.locator(".spoken").text_content()
    assert spoken.startswith("r, lowercase, word-internal, L1: ")
    assert f"position {trace.character_positions[1, 2]:.2f}" in spoken
    assert figure.locator(".spoken [lang]").evaluate("(it) => [it.lang, it.textContent]") == [
        "en",
        "r",
    ]
    assert figure.locator(".reading .glyph").get_attribute("lang") == "en"
    assert figure.locator(".reading").is_visible()
    opened.keyboard.press("Escape")
    assert figure.locator(".reading").is_hidden()


def test_numbers_open_as_a_table_with_a_download(opened):
    details = opened.locator("#chinese details.numbers")
    details.locator("summary").click()
    assert (
        n_rows_in_time(details.get_by_role("region", name="Numbers of Chinese").locator("tbody tr"))
        == 16
    )
    assert details.get_by_role("rowheader").all_inner_texts()[:4] == ["0", "人", "1", "工"]
    titles = details.get_by_role("columnheader").all_inner_texts()
    assert titles[4:] == ["L0 increment", "L1 increment", "L2 increment"]
    assert details.locator("bdi").first.get_attribute("lang") == "zh-Hans"
    with opened.expect_download() as download:
        details.get_by_role("button", name="Download").click()
    lines = download.value.path().read_text("utf-8").splitlines()
    assert len(lines) == 1 + len(CHINESE)
    assert lines[0].startswith('"character","shown","offset","byte","class","L0 increment"')
    assert lines[1].startswith('"0","人","0","E4"')


def test_markup_in_a_text_is_shown_as_typed_and_does_nothing(opened):
    assert opened.locator("img").count() == 0
    assert opened.locator("main b, h1 b, mjx-container").count() == 0
    assert opened.title() == MARKUP
    assert opened.locator("h1").inner_text() == MARKUP
    assert MARKUP in opened.locator("main").inner_text()


def test_every_byte_of_a_mixed_text_can_be_read(opened):
    section = opened.locator("section").nth(3)
    section.locator("details.numbers summary").click()
    assert n_rows_in_time(section.locator("details.numbers tbody tr"))
    table_text = section.locator("details.numbers tbody").inner_text()
    for shown in ("<FF>", "<E4>", "␀", "<U+202E>", "👨‍👩‍👧‍👦"):
        assert shown in table_text
    assert section.locator(".plot.wide.mean .cell").count() >= 3 * 4


def test_charts_are_drawn_without_upload_button_and_follow_the_colours(opened):
    chart = opened.locator("#chart-auc")
    assert chart.locator(".main-svg").count() > 0
    assert opened.locator("[data-title*='loud'], [data-title*='Chart Studio']").count() == 0
    color = """() => document.querySelector("#chart-auc .point").style.fill"""
    light = opened.evaluate(color)
    opened.get_by_role("button", name="Switch to dark colours").click()
    assert opened.evaluate(color) != light
    assert opened.evaluate("getComputedStyle(document.body).colorScheme") == "dark"


def test_a_mean_without_an_interval_has_no_bar_not_one_of_length_zero(opened):
    panels = opened.locator("#chart-byte-classes")
    assert panels.locator(".point").count() == 6 * len(BYTE_CLASSES)
    drawn = panels.locator("path.xerror").evaluate_all(
        "(paths) => paths.filter((path) => path.getAttribute('d')).length"
    )
    assert drawn == 1


@pytest.mark.parametrize("width", [320, 360, 390, 768])
def test_narrow_screens_scroll_down_only(opened, width):
    opened.locator("details.table summary").click()
    opened.set_viewport_size({"width": width, "height": 740})
    opened.wait_for_timeout(150)
    assert opened.evaluate("document.documentElement.scrollWidth") <= width
    right = """() => Math.max(...[...document.querySelectorAll(".plot:not(.bar) .line text")]
        .map((text) => text.getBoundingClientRect().right))"""
    assert opened.evaluate(right) <= width
    sizes = """() => [...document.querySelectorAll("#english .plot")]
        .filter((plot) => plot.getClientRects().length).map((plot) => plot.style.fontSize)"""
    (font,) = opened.evaluate(sizes)
    assert float(font.removesuffix("px")) >= 15


def test_dark_system_gives_a_dark_page(browser, address):
    tab = browser.new_page(color_scheme="dark")
    tab.goto(address)
    assert tab.evaluate("getComputedStyle(document.body).colorScheme") == "dark"
    tab.close()


def test_plot_is_there_without_scripts(browser, address):
    context = browser.new_context(java_script_enabled=False)
    tab = context.new_page()
    tab.goto(address)
    assert tab.locator("#chinese .plot.wide.mean .line text").first.is_visible()
    assert tab.locator("#chinese .plot.wide.same").is_hidden()
    tab.locator("#chinese").get_by_label("same for all rows").check()
    assert tab.locator("#chinese .plot.wide.same").is_visible()
    assert tab.locator("#again .plot.wide.mean").is_visible()
    assert "need scripts" in tab.locator("#chinese noscript").inner_text()
    assert not tab.locator("#chinese").get_by_text("Point at a character").is_visible()
    assert not tab.locator("#chinese details.numbers").is_visible()
    assert tab.locator("#chinese .legend button:enabled:visible").count() == 0
    context.close()


def test_one_text_in_two_cells_of_a_notebook_is_two_plots(browser):
    output = standalone(trace_of("Chinese", CHINESE, ""))
    tab = browser.new_page()
    tab.set_content(f"<!DOCTYPE html><div>{output}</div><div>{output}</div>")
    first, second = tab.locator("figure").all()
    second.get_by_label("same for all rows").check()
    assert first.get_by_label("each row by its mean").is_checked()
    tab.keyboard.press("Enter")  # sends no form: the choice is still there
    assert second.get_by_label("same for all rows").is_checked()
    second.get_by_role("button", name="CJK").click()
    assert first.locator("[aria-pressed=true]").count() == 0
    first.get_by_text("The numbers of this plot").click()
    assert n_rows_in_time(tab.locator("tbody tr:visible")) == 16
    tab.close()


def test_positions_far_from_the_start_are_not_rounded_and_long_characters_not_listed(browser):
    content = b"a" * 100 + b"\r\n" + ("a" + "\u0301" * 40).encode()
    increments = np.full((1, len(content) + 1), 0.25)
    increments[0, 1:101] = 123.456
    tab = browser.new_page()
    tab.set_content(f"<!DOCTYPE html>{standalone(PositionTrace('', content, increments, ('L0',)))}")
    spoken, reading = tab.locator(".spoken"), tab.locator(".reading")
    tab.locator(".plots").focus()
    tab.keyboard.press("End")
    tab.keyboard.press("ArrowLeft")
    assert spoken.text_content() == "␍␊, newline, L0: increment 0.5, position 12346.10"
    tab.keyboard.press("End")
    last_rows = [row.split("\t") for row in reading.locator("tr").all_inner_texts()[-2:]]
    assert last_rows == [
        ["…", "49 more bytes", "12.25", "12366.35"],
        ["", "character", "20.25", "12366.35"],
    ]
    assert reading.locator("tr").count() == 1 + 32 + 2
    tab.close()
