"""A folder of pages as a reader meets it, from disk and over HTTP; what they look like is kept."""

import base64
import functools
import http.server
import threading

import numpy as np
import pytest

from interp.reports.character_positions import PositionTrace
from interp.reports.charts import auc_chart, byte_class_chart
from interp.reports.document import plotly_file
from interp.reports.gallery import write_gallery
from interp.reports.page import Section, page, table
from interp.reports.pictures import position_picture, value_picture
from interp.reports.position_plot import position_plot
from interp.tables import analysis_table
from interp.text import BYTE_CLASSES

TEXTS = {
    "English": "Marie Curie, a Polish-born physicist, won two Nobel Prizes.",
    "Chinese": "人工智能是计算机科学的一个分支。它研究如何让机器完成需要人类智慧的任务。",
    "Mixed": "GPT-4 在 2023 年发布 🎉 “Attention” 👨‍👩‍👧‍👦"
    " naïve e\u0301 مرحبا \u202e<b>한국어</b> 日本語。\n𠀋",
}
HOSTILE = "100% <i>#1 \u202e ?.html"


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_arguments):
        pass


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("gallery")
    for name, words in TEXTS.items():
        trace = trace_of(name, words)
        sections = [
            Section("Character positions", [position_plot(trace)]),
            Section("Charts", [auc_chart(auc_table()), byte_class_chart(class_table())]),
            Section("Table", [table(class_table(), caption="Classes", file_name="c.csv")]),
        ]
        text = page(
            f"{name} text",
            lead=["What a page says first."],
            facts=[("Text", words), ("Checkpoint", "none")],
            sections=sections,
            description=f"How far apart the characters of “{words[:30]}…” stand.",
            picture=position_picture(trace),
        )
        (folder / f"{name.lower()}.html").write_text(text, "utf-8")
    text = page(
        HOSTILE,
        sections=[Section("s", [HOSTILE])],
        description=HOSTILE,
        picture='<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script>'
        '<image href="https://example.org/x.png"/></svg>',
    )
    (folder / HOSTILE).write_text(text, "utf-8")
    picture = value_picture(
        [0.5, 0.47, 0.62, 0.55], intervals=[(0.48, 0.52), None, (0.6, 0.64), None], reference=0.5
    )
    (folder / "values.html").write_text(page("Values", picture=picture), "utf-8")
    write_gallery(folder, order=["english", "chinese", "mixed"])
    return folder


@pytest.fixture(scope="module", params=["file", "http"])
def base(request, folder):
    """The address of the folder, from disk and from a server."""
    if request.param == "file":
        yield folder.as_uri()
        return
    handler = functools.partial(Quiet, directory=str(folder))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def trace_of(title: str, words: str) -> PositionTrace:
    content = words.encode()
    generator = np.random.default_rng(1)
    increments = generator.gamma(6.0, 0.2, size=(4, len(content) + 1))
    increments[2] = generator.gamma(1.0, 1.0, size=len(content) + 1)
    return PositionTrace(title, content, increments, ("L0", "L1", "L2", "L3"), "zh-Hans")


def auc_table():
    common = {"statistic": "roc_auc", "signal": "increment"}
    values = enumerate((0.5, 0.47, 0.62, 0.55))
    return analysis_table(
        [common | {"layer": i, "value": v, "low": v - 0.02, "high": v + 0.02} for i, v in values]
    )


def class_table():
    common = {"statistic": "mean", "signal": "increment"}
    return analysis_table(
        [
            common | {"layer": layer, "group": name, "value": 1 + (index + layer) % 5 / 4}
            for layer in range(4)
            for index, name in enumerate(BYTE_CLASSES)
        ]
    )


def test_every_card_leads_to_its_page_whose_charts_come_from_the_shared_script(watched, base):
    watched.goto(f"{base}/index.html")
    titles = watched.get_by_role("listitem").get_by_role("heading").all_inner_texts()
    assert titles[:3] == ["English text", "Chinese text", "Mixed text"]
    watched.get_by_role("link", name="Chinese text").click()
    watched.wait_for_selector("#chart-byte-classes .main-svg")
    assert watched.requested == [
        f"{base}/{name}" for name in ("index.html", "chinese.html", plotly_file())
    ]


def test_names_and_words_of_pages_are_shown_as_typed_and_do_nothing(watched, base):
    watched.goto(f"{base}/index.html")
    card = watched.get_by_role("listitem").filter(has_text="100%")
    shown = HOSTILE.replace("\u202e", "<U+202E>")
    assert card.get_by_role("heading").inner_text() == shown
    assert card.locator("p").all_inner_texts() == [shown, shown]
    assert watched.locator(".gallery :is(i, b, script, svg, image)").count() == 0
    card.get_by_role("link").click()
    watched.wait_for_url("**/100*")
    assert watched.locator("h1").inner_text() == HOSTILE
    assert not any("example.org" in address for address in watched.requested)


def test_a_page_that_shares_its_script_runs_none_that_markup_brings(browser, folder, tmp_path):
    text = (folder / "english.html").read_text("utf-8")
    markup = (
        '<script src="evil.js"></script><script>window.evil = 1</script>'
        '<img src=x onerror="window.evil = 1">'
    )
    (tmp_path / "page.html").write_text(text.replace("<main>", f"<main>{markup}"), "utf-8")
    (tmp_path / "evil.js").write_text("window.evil = 1", "utf-8")
    (tmp_path / plotly_file()).write_bytes((folder / plotly_file()).read_bytes())
    tab = browser.new_page()
    tab.goto((tmp_path / "page.html").as_uri())
    tab.wait_for_selector("#chart-auc .main-svg")
    assert tab.evaluate("window.evil === undefined")
    tab.close()


def test_a_page_without_the_script_beside_it_says_so_and_keeps_the_rest(browser, folder, tmp_path):
    (tmp_path / "page.html").write_bytes((folder / "english.html").read_bytes())
    tab = browser.new_page()
    tab.goto((tmp_path / "page.html").as_uri())
    words = tab.locator("#chart-auc").get_by_text(plotly_file())
    words.wait_for()
    assert "the table has its numbers" in words.inner_text()
    tab.locator(".positions").get_by_role("button", name="space").click()
    assert tab.locator(".positions.filtered").count() == 1
    tab.close()


def test_cards_are_reached_by_keyboard_and_say_where_one_is(watched, base):
    watched.goto(f"{base}/index.html")
    watched.keyboard.press("Tab")  # the choice of colours
    watched.keyboard.press("Tab")
    first = watched.get_by_role("listitem").first
    assert first.evaluate("(card) => getComputedStyle(card).outlineStyle") == "solid"
    watched.keyboard.press("Enter")
    watched.wait_for_url("**/english.html")


def brightness(browser, screenshot: bytes) -> float:
    """The mean of all channels of a PNG, from 0 to 255."""
    tab = browser.new_page()
    tab.set_content(f'<img src="data:image/png;base64,{base64.b64encode(screenshot).decode()}">')
    mean = tab.evaluate(
        """async () => {
          const image = document.querySelector("img");
          await image.decode();
          const canvas = new OffscreenCanvas(image.width, image.height).getContext("2d");
          canvas.drawImage(image, 0, 0);
          const { data } = canvas.getImageData(0, 0, image.width, image.height);
          return data.reduce((sum, value) => sum + value, 0) / data.length;
        }"""
    )
    tab.close()
    return mean


def test_pictures_follow_the_choice_of_colours(browser, watched, folder):
    # on the same black paper only the drawing itself can differ
    watched.goto((folder / "index.html").as_uri())
    watched.add_style_tag(content=".interp .gallery .picture { background: #000 !important }")
    picture = watched.get_by_role("listitem").filter(has_text="Chinese").locator("img")
    light = brightness(browser, picture.screenshot())
    watched.get_by_role("button", name="Switch to dark colours").click()
    for _ in range(50):  # a picture is painted some time after the page
        if (chosen := brightness(browser, picture.screenshot())) > light + 2:
            break
        watched.wait_for_timeout(100)
    assert chosen > light + 2  # the strokes are light now


@pytest.mark.parametrize(
    ("width", "look"), [(1280, "light"), (1280, "dark"), (390, "light"), (390, "dark")]
)
@pytest.mark.parametrize("name", ["index", "english", "chinese", "mixed"])
def test_pages_fit_their_screen_in_both_looks(watched, folder, keep_picture, name, width, look):
    watched.emulate_media(color_scheme=look)
    watched.set_viewport_size({"width": width, "height": 844})
    watched.goto((folder / f"{name}.html").as_uri())
    if name != "index":
        watched.wait_for_selector("#chart-byte-classes .main-svg")
    picture = keep_picture(watched, f"{name}-{width}-{look}")
    assert picture.stat().st_size > 10_000
    assert watched.evaluate("document.documentElement.scrollWidth") <= width
    assert watched.evaluate("getComputedStyle(document.body).colorScheme") == look
    cut_off = watched.evaluate(
        """() => [...document.querySelectorAll("h1, h2, h3, p, dd, figcaption, .legend button")]
          .filter((element) => element.getClientRects().length && !element.matches(".spoken"))
          .filter((element) => element.scrollWidth > element.clientWidth + 1
            && getComputedStyle(element).display !== "inline")
          .map((element) => element.textContent.slice(0, 40))"""
    )
    assert cut_off == []
