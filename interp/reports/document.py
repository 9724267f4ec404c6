"""A whole HTML document: head, policy, scripts; alone, or beside others that share one script."""

import base64
import hashlib
import re
from collections.abc import Sequence
from functools import cache

import interp
from interp.reports import theme
from interp.reports.markup import Html, escape

GENERATOR = "interp"
"""The first word of the ``generator`` of every document that is made here."""

PICTURE = "interp:picture"
"""The name of the ``meta`` that holds a page's picture, as an address with its content."""

PICTURE_START = "data:image/svg+xml;base64,"


def document(
    title: str,
    body: Html,
    *,
    scripts: Sequence[str] = (),
    style: str = "",
    description: str = "",
    picture: str = "",
    kind: str = "",
) -> str:
    """An HTML document that works from disk, without a network.

    Its content security policy allows ``scripts`` by their hashes and nothing else: no request
    goes anywhere, and no markup that came in with a text could run.

    Args:
        title: Its name.
        body: What stands on it.
        scripts: JavaScript, run in this order after the body is there.
        style: CSS beyond the theme's.
        description: A sentence for whoever lists pages.
        picture: An SVG drawing for whoever lists pages.
        kind: A word after the generator's name and version, for what is no ordinary page.

    Returns:
        The document; encode it as UTF-8.
    """
    generator = " ".join(filter(None, (GENERATOR, interp.__version__, kind)))
    encoded = base64.b64encode(picture.encode("utf-8", "backslashreplace")).decode("ascii")
    hashes = " ".join(_hash(script) for script in scripts)
    lines = [
        "<!DOCTYPE html>",
        '<html lang="en">',
        "<head>",
        '<meta charset="utf-8">',
        '<meta http-equiv="Content-Security-Policy" content="'
        f"default-src 'none'; script-src {hashes}; style-src 'unsafe-inline'; "
        "img-src data: blob:; base-uri 'none'; form-action 'none'\">",
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        '<meta name="color-scheme" content="light dark">',
        '<meta name="referrer" content="no-referrer">',
        f'<meta name="generator" content="{escape(generator)}">',
        f'<meta name="description" content="{escape(description)}">' if description else "",
        f'<meta name="{PICTURE}" content="{PICTURE_START}{encoded}">' if picture else "",
        '<link rel="icon" href="data:,">',
        f"<title>{escape(title)}</title>",
        f"<style>{theme.style_sheet()}{style}</style>",
        "</head>",
        '<body class="interp">',
        body,
        *(_element(script) for script in scripts),
        "</body>",
        "</html>",
    ]
    return "".join(f"{line}\n" for line in lines if line)


@cache
def plotly_file() -> str:
    """The name of the file with Plotly that the pages of a folder share: it has the version."""
    version = re.search(r" v([0-9.]+)", theme.asset(theme.PLOTLY)[:200])
    return f"plotly-basic-{version.group(1)}.min.js" if version else theme.PLOTLY


def with_shared_plotly(content: bytes) -> bytes:
    """A document of `document` as it is beside others: with Plotly from the file next to it.

    Its policy then trusts what its own scripts load, wherever the page was opened from, and
    still no script that markup could bring. A document without Plotly, or with that of another
    version, is given back as it is.

    Args:
        content: The file of a page.
    """
    embedded, beside = theme.asset(theme.PLOTLY), _loader()
    element = _element(embedded).encode("utf-8")
    if content.count(element) != 1:
        return content
    policy = _hash(embedded).encode("ascii"), f"{_hash(beside)} 'strict-dynamic'".encode("ascii")
    return content.replace(*policy, 1).replace(element, _element(beside).encode("utf-8"))


def shares_plotly(content: bytes) -> bool:
    """Whether a page needs the file `plotly_file` beside it."""
    return _element(_loader()).encode("utf-8") in content


def _loader() -> str:
    return theme.asset("plotly-beside.js").replace("PLOTLY_FILE", plotly_file())


def _element(script: str) -> str:
    return f"<script>{script}</script>"


def _hash(script: str) -> str:
    digest = hashlib.sha256(script.encode("utf-8")).digest()
    return f"'sha256-{base64.b64encode(digest).decode('ascii')}'"
