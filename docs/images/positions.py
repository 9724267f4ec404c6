"""Draws positions.png for the README: the essay's two sentences, with the shipped model.

python docs/images/positions.py    (needs Chromium and the development dependencies)
"""

import contextlib
import shutil
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

import interp
from interp.corpus.sources import TextInput
from interp.studies.report import report

TEXTS = {
    "English": "Marie Curie, a Polish-born physicist, won two Nobel Prizes.",
    "Chinese": "人工智能是计算机科学的一个分支。",
}
PICTURE = Path(__file__).absolute().with_name("positions.png")


def main() -> None:
    """Make the page of both sentences and keep a picture of its plots."""
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        files = []
        for name, text in TEXTS.items():
            files.append(name)
            Path(name).write_text(text, "utf-8")
        page_file = Path(folder) / "page.html"
        report(interp.load(), TextInput(files=tuple(files)), page_file)
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(
                executable_path=shutil.which("chromium"), args=["--no-sandbox"]
            )
            page = browser.new_page(
                viewport={"width": 1280, "height": 1400}, device_scale_factor=1.5
            )
            page.goto(page_file.as_uri())
            figures = page.locator("figure.positions")
            boxes = [figures.nth(i).bounding_box() for i in range(figures.count())]
            found = [box for box in boxes if box]
            top = min(box["y"] for box in found)
            bottom = max(box["y"] + box["height"] for box in found)
            left, width = found[0]["x"], found[0]["width"]
            clip = {"x": left, "y": top, "width": width, "height": bottom - top}
            page.screenshot(path=PICTURE, clip=clip, full_page=True)
            browser.close()


if __name__ == "__main__":
    main()
