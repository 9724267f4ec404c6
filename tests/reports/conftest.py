"""Headless Chromium for the tests of pages; what needs it is skipped where there is none.

With INTERP_REQUIRE_BROWSER set nothing is skipped: without Chromium the tests fail.
"""

import os
import shutil
from pathlib import Path

import pytest

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
ARTEFACTS = Path(__file__).parents[2] / ".test-artefacts"
PATIENCE_MS = 120_000


@pytest.fixture(scope="session")
def browser():
    if CHROMIUM is None and not os.environ.get("INTERP_REQUIRE_BROWSER"):
        pytest.skip("no Chromium on the PATH: apt-get install chromium fonts-noto-cjk")
    from playwright.sync_api import sync_playwright

    assert CHROMIUM is not None, "INTERP_REQUIRE_BROWSER is set, and no Chromium is on the PATH"
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield chromium
        chromium.close()


@pytest.fixture
def watched(browser):
    """A tab at desktop width.

    Fails its test on any error, dialog, and request but for the pages that it was sent to and
    Plotly beside them; those are in ``watched.requested``.
    """
    complaints, requested = [], []
    tab = browser.new_page(viewport={"width": 1280, "height": 900})
    tab.set_default_timeout(PATIENCE_MS)
    tab.on("console", lambda message: complaints.append(message.text))
    tab.on("pageerror", lambda error: complaints.append(str(error)))
    tab.on("dialog", lambda dialog: (complaints.append("dialog"), dialog.dismiss()))

    def on_request(request):
        if request.url.startswith(("data:", "blob:")):
            return
        requested.append(request.url)
        name = request.url.rpartition("/")[2]
        if not (request.is_navigation_request() or name.startswith("plotly-basic-")):
            complaints.append(request.url)

    tab.on("request", on_request)
    tab.requested = requested
    yield tab
    tab.close()
    assert complaints == []


@pytest.fixture(scope="session")
def keep_picture():
    """Keeps a screenshot of a whole page, under a name, for people to look at."""

    def keep(tab, name: str) -> Path:
        ARTEFACTS.mkdir(exist_ok=True)
        # what is off screen is not painted, so the screen becomes as high as the page
        height = tab.evaluate("document.documentElement.scrollHeight")
        width = tab.viewport_size["width"]
        tab.set_viewport_size({"width": width, "height": min(height + 1, 8000)})
        tab.wait_for_timeout(500)
        tab.screenshot(path=ARTEFACTS / f"{name}.png")
        return ARTEFACTS / f"{name}.png"

    return keep


def pytest_terminal_summary(terminalreporter):
    """Say where the screenshots are."""
    pictures = sorted(ARTEFACTS.glob("*.png"))
    if pictures:
        terminalreporter.write_line(f"{len(pictures)} screenshots: {ARTEFACTS}")
