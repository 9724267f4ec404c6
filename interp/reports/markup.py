"""What makes text from outside safe on a page: the one place where strings become HTML."""

import html
import json
from collections.abc import Iterable
from typing import Any


class Html(str):
    """A fragment of HTML that may stand on a page as it is.

    A plain `str` is text from outside and is escaped wherever a page takes it. Only this
    package's functions make an `Html`, out of escaped parts.
    """

    __slots__ = ()


def escape(text: object) -> Html:
    """``text`` as HTML that shows it as typed, in an element or in a quoted attribute."""
    return text if isinstance(text, Html) else Html(html.escape(str(text)))


def isolated(text: object) -> Html:
    """``text`` escaped and fenced off, so that its writing direction reaches nothing around it."""
    return Html(f"<bdi>{escape(text)}</bdi>")


def joined(parts: Iterable[str], separator: str = "") -> Html:
    """The parts one after the other; those that are not `Html` are escaped."""
    return Html(separator.join(escape(part) for part in parts))


def json_block(payload: Any, *, css_class: str) -> Html:
    """``payload`` as a JSON element that scripts read; no text in it can end the element."""
    text = json.dumps(payload, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return Html(f'<script type="application/json" class="{css_class}">{text}</script>')
