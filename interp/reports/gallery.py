"""The index over a folder of pages: a picture and a sentence of each; they share one script.

What a page says of itself is text from outside, whoever wrote it. It is escaped, and its
picture is shown as an image, in which nothing can run or be fetched.
"""

import html.parser
import os
import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from interp import text
from interp.errors import InputError, OutputError, reason
from interp.files import replacing
from interp.reports import theme
from interp.reports.document import (
    GENERATOR,
    PICTURE,
    PICTURE_START,
    document,
    plotly_file,
    shares_plotly,
    with_shared_plotly,
)
from interp.reports.markup import Html, escape, isolated, joined

INDEX = "index.html"
"""The file that a gallery is."""

TITLE = "What the increments show"

_KIND = "gallery"
_MAX_CHARACTERS = 400
_MAX_PICTURE = 1 << 18
_MAX_HEAD = 2 * _MAX_PICTURE
_MAX_PAGE = 1 << 28  # bytes; what is longer is left alone
_HEAD_END = b"</title>"
_PICTURE = re.compile(re.escape(PICTURE_START) + r"[A-Za-z0-9+/]+=*")


@dataclass(frozen=True)
class Entry:
    """What a gallery says of one page.

    Args:
        name: The name of its file, as bytes that need not be UTF-8.
        title: What it calls itself.
        description: The sentence about it, or "".
        picture: Its picture as a ``data:`` address, or "".
    """

    name: bytes
    title: str
    description: str = ""
    picture: str = ""

    def to_html(self) -> Html:
        """Its card, all of which leads to the page."""
        shown = text.display(self.name)
        picture = Html(f'<img src="{escape(self.picture)}" alt="">' if self.picture else "")
        sentence = Html(f"<p>{isolated(_in_line(self.description))}</p>")
        return Html(
            f'<li><div class="picture">{picture}</div>'
            f'<h2><a href="{escape(quote(self.name, safe=""))}">'
            f"{isolated(_in_line(self.title) or shown)}</a></h2>"
            f'{sentence if self.description else ""}<p class="file">{isolated(shown)}</p></li>'
        )


def write_gallery(
    folder: str | Path, *, title: str = TITLE, order: Sequence[str] = ()
) -> tuple[Path, ...]:
    """Write ``index.html`` over the pages of ``folder``, and let them share one script.

    Pages are what `interp.reports.page` made: files of the folder itself whose names end in
    ``.html``. Links, hidden files and all else are left alone. A page that holds Plotly is
    written again without it, and needs the file beside it from then on.

    Args:
        folder: Where the pages are.
        title: The heading of the index.
        order: Names of pages without ``.html``, in the order of the index; others follow by
            name.

    Returns:
        The index, and the shared script where a page needs it.

    Raises:
        InputError: The folder cannot be read, or no page is in it.
        OutputError: Something cannot be written, or ``index.html`` is no gallery.
    """
    folder = Path(folder)
    _check_index(folder / INDEX)
    entries, has_charts = [], False
    for path in _candidates(folder):
        entry = _entry(path.name, _read(path, _MAX_HEAD))
        if entry is None:
            continue
        entries.append(entry)
        content = _read(path)
        shared = with_shared_plotly(content)
        if shares_plotly(shared):
            has_charts = True
            _write(folder / plotly_file(), theme.asset(theme.PLOTLY).encode("utf-8"))
            if shared != content:
                _write(path, shared)
    if not entries:
        raise InputError(
            f"gallery: {folder} has no page that interp wrote",
            f"Write one: interp report FILE --out {folder / 'page.html'}",
        )
    ranks = {f"{name}.html".encode(): rank for rank, name in enumerate(order)}
    entries.sort(key=lambda entry: (ranks.get(entry.name, len(ranks)), entry.name))
    _write(folder / INDEX, _index(title, entries).encode("utf-8", "backslashreplace"))
    return folder / INDEX, *([folder / plotly_file()] if has_charts else [])


def _candidates(folder: Path) -> list[Path]:
    try:
        with os.scandir(folder) as entries:
            names = [
                entry.name
                for entry in entries
                if entry.name.lower().endswith(".html")
                and not entry.name.startswith(".")
                and entry.name != INDEX
                and entry.is_file(follow_symlinks=False)
                and entry.stat(follow_symlinks=False).st_size <= _MAX_PAGE
            ]
    except OSError as error:
        raise InputError(f"gallery: cannot read {folder}: {reason(error)}") from error
    return [folder / name for name in sorted(names)]


def _check_index(path: Path) -> None:
    """Refuse to replace what no gallery has written."""
    if not os.path.lexists(path):
        return
    if not path.is_symlink() and path.is_file():
        head = _Head(_read(path, _MAX_HEAD))
        if head.generator[:1] == [GENERATOR] and head.generator[2:] == [_KIND]:
            return
    raise OutputError(
        f"gallery: {path} is something else and would be lost", "Give it another name."
    )


def _read(path: Path, most_bytes: int = _MAX_PAGE) -> bytes:
    """The file, or its first ``most_bytes``: what is longer is not read to its end."""
    try:
        with path.open("rb") as file:
            return file.read(most_bytes)
    except OSError as error:
        raise InputError(f"gallery: cannot read {path}: {reason(error)}") from error


def _write(path: Path, content: bytes) -> None:
    """Put ``content`` in the place of ``path``, and of a link there, unless it is there."""
    try:
        if not path.is_symlink() and path.is_file() and path.read_bytes() == content:
            return
        with replacing(path) as beside:
            beside.write_bytes(content)
    except OSError as error:
        raise OutputError(f"gallery: cannot write {path}: {reason(error)}") from error


def _entry(name: str, content: bytes) -> Entry | None:
    """What the page says of itself; nothing if it is none of ours."""
    head = _Head(content)
    if head.generator[:1] != [GENERATOR] or head.generator[2:]:
        return None
    picture = head.metas.get(PICTURE, "")
    is_picture = len(picture) <= _MAX_PICTURE and _PICTURE.fullmatch(picture)
    return Entry(
        os.fsencode(name),
        head.title,
        head.metas.get("description", ""),
        picture if is_picture else "",
    )


class _Head(html.parser.HTMLParser):
    """The title and the ``meta`` elements of a document, read up to the end of its title."""

    def __init__(self, content: bytes) -> None:
        super().__init__()
        self.metas: dict[str, str] = {}
        self.title = ""
        self._is_in_title = False
        end = content.find(_HEAD_END, 0, _MAX_HEAD)
        if end >= 0:
            # the parser gives up on some markup, which is then none of ours
            with suppress(AssertionError, ValueError):
                self.feed(content[: end + len(_HEAD_END)].decode("utf-8", "replace"))
        self.generator = self.metas.get("generator", "").split()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._is_in_title = tag == "title"
        if tag == "meta":
            values = dict(attrs)
            self.metas.setdefault(values.get("name") or "", values.get("content") or "")

    def handle_endtag(self, tag: str) -> None:
        self._is_in_title = self._is_in_title and tag != "title"

    def handle_data(self, data: str) -> None:
        if self._is_in_title:
            self.title += data


def _index(title: str, entries: Sequence[Entry]) -> str:
    cards = joined(entry.to_html() for entry in entries)
    title = _in_line(title) or TITLE
    body = Html(
        f'<div class="page"><header><h1>{isolated(title)}</h1>'
        '<button type="button" class="mode" hidden></button></header>'
        f'<main><ol class="gallery">{cards}</ol></main></div>'
    )
    return document(
        title,
        body,
        scripts=[theme.asset("page.js")],
        style=theme.asset("gallery.css"),
        kind=_KIND,
    )


def _in_line(words: str) -> str:
    """``words`` on one line of bounded length, in which nothing acts and nothing is unseen."""
    line = " ".join(words.split())
    cut = line if len(line) <= _MAX_CHARACTERS else f"{line[:_MAX_CHARACTERS]}…"
    return text.display(cut.encode("utf-8", "replace"))
