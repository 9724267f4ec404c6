import base64
import html.parser
import os
import re

import pytest

from interp.errors import InputError, OutputError
from interp.reports import theme
from interp.reports.charts import auc_chart
from interp.reports.document import plotly_file
from interp.reports.gallery import write_gallery
from interp.reports.page import Section, page
from interp.tables import analysis_table

HOSTILE = '</title><script>alert(1)</script><img src=x onerror="alert(2)"> &amp; "q" \u202e abc'
PICTURE = '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(3)</script></svg>'


class Elements(html.parser.HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))


def write_page(path, title="A page", *, has_chart=False, **said):
    rows = [{"statistic": "roc_auc", "signal": "increment", "layer": 0, "value": 0.6}]
    parts = [auc_chart(analysis_table(rows))] if has_chart else ["words"]
    path.write_text(page(title, sections=[Section("s", parts)], **said), "utf-8")
    return path


def index_of(folder, **settings) -> str:
    return write_gallery(folder, **settings)[0].read_text("utf-8")


def links_of(text: str) -> list[str | None]:
    return [attributes["href"] for tag, attributes in Elements(text).found if tag == "a"]


def test_the_index_leads_to_every_page_with_its_picture_and_sentence(tmp_path):
    write_page(tmp_path / "one.html", "First", description="What one shows.", picture=PICTURE)
    write_page(tmp_path / "two.html", "Second 第二")
    text = index_of(tmp_path, title="Some pages")
    assert links_of(text) == ["one.html", "two.html"]
    for words in ("First", "What one shows.", "Second 第二", "Some pages"):
        assert f">{words}<" in text
    (picture,) = [attributes for tag, attributes in Elements(text).found if tag == "img"]
    assert base64.b64decode(picture["src"].partition(",")[2]).decode() == PICTURE
    assert text.count('class="picture"') == 2  # a page without a picture has an empty place


def test_a_known_order_comes_first_and_names_follow(tmp_path):
    for name in "abcd":
        write_page(tmp_path / f"{name}.html")
    assert links_of(index_of(tmp_path, order=["c", "missing", "a"])) == [
        f"{name}.html" for name in "cabd"
    ]


def test_titles_sentences_and_pictures_of_pages_stay_text(tmp_path):
    write_page(tmp_path / "p.html", HOSTILE, description=HOSTILE, picture=PICTURE)
    found = Elements(index_of(tmp_path)).found
    assert [tag for tag, _ in found].count("script") == 1  # the choice of colours
    assert [attributes["src"][:26] for tag, attributes in found if tag == "img"] == [
        "data:image/svg+xml;base64,"
    ]
    assert "\u202e" not in index_of(tmp_path)


def test_a_title_is_one_line_in_which_nothing_acts(tmp_path):
    write_page(tmp_path / "p.html")
    index = index_of(tmp_path, title="<script>\x1b[31m\n")
    assert index.count("&lt;script&gt;␛[31m<") == 2  # in the head and above the pages
    assert "\x1b" not in index


@pytest.mark.parametrize(
    "address",
    ["https://example.org/x.svg", "data:text/html;base64,QUFB", 'data:image/svg+xml;base64,A" x="'],
)
def test_an_address_that_is_no_drawing_is_no_picture(tmp_path, address):
    text = page("p", picture=PICTURE)
    text = re.sub(r"data:image/svg\+xml;base64,[^\"]*", address.replace('"', "&quot;"), text)
    (tmp_path / "p.html").write_text(text, "utf-8")
    assert "<img" not in index_of(tmp_path)


@pytest.mark.parametrize(
    ("name", "address"),
    [
        ("100% #1 ?.html", "100%25%20%231%20%3F.html"),
        ("javascript:alert(1).html", "javascript%3Aalert%281%29.html"),
        ('"><img src=x>.html', "%22%3E%3Cimg%20src%3Dx%3E.html"),
        ("小说\u202e.html", "%E5%B0%8F%E8%AF%B4%E2%80%AE.html"),
        (os.fsdecode(b"\xff.html"), "%FF.html"),
    ],
)
def test_every_name_of_a_file_is_led_to_and_shown(tmp_path, name, address):
    try:
        write_page(tmp_path / name, title="")
    except OSError:
        pytest.skip("no such name in this file system")
    text = index_of(tmp_path)
    assert links_of(text) == [address]
    assert not {"\u202e", "\udcff"} & set(text)
    assert "<img" not in text


def test_what_is_no_page_of_ours_is_neither_listed_nor_touched(tmp_path):
    write_page(tmp_path / "ours.html")
    others = {
        "other.html": "<title>Other</title><meta name=generator content='Word 1.0'>",
        "empty.html": "",
        "notes.txt": page("Not named as a page"),
        ".hidden.html": page("Hidden"),
        "binary.html": "\x00\x01</title>",
        "marked.html": "<![foo[ <!<!DOCTYPE html><title>x</title>",
        "number.html": f"<title>&#{'9' * 6000};</title>",
    }
    for name, content in others.items():
        (tmp_path / name).write_text(content, "utf-8")
    (tmp_path / "folder.html").mkdir()
    os.mkfifo(tmp_path / "pipe.html")
    with (tmp_path / "endless.html").open("wb") as file:
        file.truncate(1 << 40)  # takes no space
    assert links_of(index_of(tmp_path)) == ["ours.html"]
    assert {name: (tmp_path / name).read_text("utf-8") for name in others} == others


def test_links_are_not_followed(tmp_path):
    folder, outside = tmp_path / "pages", tmp_path / "outside"
    folder.mkdir()
    outside.mkdir()
    target = write_page(outside / "page.html", "Secret", has_chart=True)
    script = outside / "script.js"
    script.write_text("mine", "utf-8")
    before = target.read_bytes()
    (folder / "link.html").symlink_to(target)
    (folder / plotly_file()).symlink_to(script)
    write_page(folder / "own.html", has_chart=True)
    text = index_of(folder)
    assert links_of(text) == ["own.html"]
    assert "Secret" not in text
    assert target.read_bytes() == before
    assert script.read_text("utf-8") == "mine"
    assert not (folder / plotly_file()).is_symlink()


def test_pages_share_one_script_and_still_allow_no_other(tmp_path):
    for name in ("one", "two"):
        write_page(tmp_path / f"{name}.html", has_chart=True)
    write_page(tmp_path / "words.html")
    words = (tmp_path / "words.html").read_bytes()
    written = write_gallery(tmp_path)
    assert written == (tmp_path / "index.html", tmp_path / plotly_file())
    assert (tmp_path / plotly_file()).read_text("utf-8") == theme.asset(theme.PLOTLY)
    assert re.fullmatch(r"plotly-basic-\d+\.\d+\.\d+\.min\.js", plotly_file())
    for name in ("one", "two"):
        text = (tmp_path / f"{name}.html").read_text("utf-8")
        assert len(text) < 100_000
        policy = re.search(r'Content-Security-Policy" content="([^"]+)"', text).group(1)
        allowed = re.search("script-src ([^;]+);", policy).group(1).split()
        assert len([word for word in allowed if word.startswith("'sha256-")]) == 4
        assert [word for word in allowed if not word.startswith("'sha256-")] == ["'strict-dynamic'"]
        assert not re.search(r"<script[^>]* src", text)
    assert (tmp_path / "words.html").read_bytes() == words


def test_a_gallery_made_again_is_the_same_and_mends_what_is_missing(tmp_path):
    write_page(tmp_path / "one.html", has_chart=True)
    write_gallery(tmp_path)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert len(before) == 3
    (tmp_path / plotly_file()).unlink()
    (tmp_path / "index.html").unlink()
    write_gallery(tmp_path)
    write_gallery(tmp_path)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_a_page_that_is_written_meanwhile_stays(tmp_path, monkeypatch):
    path = write_page(tmp_path / "one.html", "Old", has_chart=True)
    write_gallery(tmp_path)  # from now on the page shares the script
    new = page("New")

    def shares(_content):
        path.write_text(new, "utf-8")
        return True

    monkeypatch.setattr("interp.reports.gallery.shares_plotly", shares)
    write_gallery(tmp_path)
    assert path.read_text("utf-8") == new


@pytest.mark.parametrize("content", ["", "<title>mine</title>", page("a report named so")])
def test_an_index_that_no_gallery_wrote_is_not_replaced(tmp_path, content):
    (tmp_path / "index.html").write_text(content, "utf-8")
    before = write_page(tmp_path / "one.html", has_chart=True).read_bytes()
    with pytest.raises(OutputError, match=r"index\.html is something else and would be lost"):
        write_gallery(tmp_path)
    assert (tmp_path / "index.html").read_text("utf-8") == content
    assert (tmp_path / "one.html").read_bytes() == before


def test_an_index_that_is_a_link_is_not_followed(tmp_path):
    folder = tmp_path / "pages"
    folder.mkdir()
    write_page(folder / "one.html")
    write_gallery(folder)[0].rename(tmp_path / "elsewhere.html")
    (folder / "index.html").symlink_to(tmp_path / "elsewhere.html")
    with pytest.raises(OutputError, match="is something else"):
        write_gallery(folder)


def test_an_index_is_replaced_whole_or_not_at_all(tmp_path, monkeypatch):
    write_page(tmp_path / "one.html")
    before = index_of(tmp_path)
    write_page(tmp_path / "two.html")

    def fail(_descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("interp.files.os.fsync", fail)
    with pytest.raises(OutputError, match="no space left on device"):
        write_gallery(tmp_path)
    assert (tmp_path / "index.html").read_text("utf-8") == before
    assert {path.name for path in tmp_path.iterdir()} == {"index.html", "one.html", "two.html"}


def test_a_folder_without_pages_is_one_clear_line(tmp_path):
    (tmp_path / "other.html").write_text("<title>Other</title>", "utf-8")
    with pytest.raises(InputError, match="has no page that interp wrote") as caught:
        write_gallery(tmp_path)
    assert "interp report" in caught.value.hint
    with pytest.raises(InputError, match="no such file or directory"):
        write_gallery(tmp_path / "missing")
    with pytest.raises(InputError, match="not a directory"):
        write_gallery(tmp_path / "other.html")


def test_long_words_of_a_page_are_cut(tmp_path):
    write_page(tmp_path / "p.html", "t" * 9999, description="d " * 9999)
    assert len(index_of(tmp_path)) < len(page("")) + 9000
