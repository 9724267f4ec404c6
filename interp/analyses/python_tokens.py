"""Which token of Python source a byte belongs to, as the standard library tokenizes it."""

import io
import keyword
import re
import tokenize
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate

import numpy as np
from jaxtyping import Int, Int8

from interp.text import code_point_spans, decode

TOKEN_CLASSES = (
    "newline after a statement",
    "other newline",
    "open bracket",
    "close bracket",
    "colon before a block",
    "other colon",
    "comma",
    "dot",
    "operator, first byte",
    "operator, rest",
    "keyword, first byte",
    "keyword, rest",
    "name, first byte",
    "name, rest",
    "number, first byte",
    "number, rest",
    "string, first byte",
    "string, rest",
    "newline, not code",
    "comment, first byte",
    "comment, rest",
    "open bracket, not code",
    "close bracket, not code",
    "indentation, first byte",
    "indentation, rest",
    "white space in a line",
    "line continuation",
    "not Python",
    "separator",
)
"""Classes of bytes of Python source, in the order in which they are shown.

"Other newline" ends an empty line, a line with a comment alone, or a line inside of brackets or
after a backslash. "Not code" is in a string or comment, to be compared with the same bytes as
tokens; an f-string is one string, whatever is in its braces, and its brackets are "string, rest".
Indentation is the white space that a line begins with; a dedent has no bytes. "Not Python" is
what ``tokenize`` refuses: after some errors all the rest of a file, and Python 3.12 gives up at
more of them than 3.11.
"""


_MOST_READ_AGAIN = 1 << 20
"""After an error Python 3.11 reads the rest of the line again, and may find another one in its next
character: a line of a few thousand blanks or backslashes took minutes. After so many code points
that were read again the rest is not Python."""


@dataclass(frozen=True)
class TokenClasses:
    """The classes of a text.

    Attributes:
        classes: One entry per token of the model (the separator, then every byte): an index
            into `TOKEN_CLASSES`.
        error_line: The first line with something that is not Python, counted from 1; None where
            there is none.
    """

    classes: Int8[np.ndarray, " pos"]
    error_line: int | None


def python_token_classes(content: bytes) -> TokenClasses:
    """The class of every byte of ``content``; never fails, whatever the bytes are.

    The source is read as UTF-8, whatever it declares, as every text is here. A byte that is not
    UTF-8 stands for an unknown character: allowed in strings and comments. A lone carriage
    return ends a line, as Python reads a file.
    """
    source = re.sub("[\udc80-\udcff]", "\N{REPLACEMENT CHARACTER}", decode(content))
    source = re.sub("\r(?!\n)", "\n", source)
    of_characters = _code_point_classes(source)
    spans = code_point_spans(content)
    classes = np.repeat(of_characters, spans[:, 1] - spans[:, 0])
    is_first = np.zeros(len(classes), dtype=bool)
    is_first[spans[:, 0]] = True
    for first, rest in _FIRST_AND_REST.items():  # the first character may have several bytes
        classes[(classes == first) & ~is_first] = rest
    wrong = np.flatnonzero(of_characters == _NOT_PYTHON)
    return TokenClasses(
        np.concatenate([[TOKEN_CLASSES.index("separator")], classes]).astype(np.int8),
        error_line=source.count("\n", 0, int(wrong[0])) + 1 if len(wrong) else None,
    )


def _code_point_classes(source: str) -> Int8[np.ndarray, " code_point"]:
    values = np.frombuffer(source.encode("utf-32-le"), dtype="<u4").astype(np.int64)
    classes = np.full(len(values), _UNSET, dtype=np.int8)
    is_literal = np.zeros(len(values), dtype=bool)
    end = 0
    try:
        for kind, start, stop in _tokens(source):
            end = max(end, stop)
            if kind in TOKEN_CLASSES:
                classes[start:stop] = TOKEN_CLASSES.index(kind)
                continue
            first = TOKEN_CLASSES.index(f"{kind}, first byte")
            classes[start:stop] = _FIRST_AND_REST[first]
            classes[start] = first
            prefix = source[start:stop].partition(source[stop - 1])[0].lower()
            is_plain = kind == "string" and not set(prefix) & {"f", "t"}
            is_literal[start:stop] = is_plain or kind == "comment"
    except (tokenize.TokenError, SyntaxError):
        if source[end:].strip():
            classes[end:] = _NOT_PYTHON
    is_string = np.isin(classes, [TOKEN_CLASSES.index(f"string, {p}") for p in _PARTS])
    is_line_end = np.isin(values, _LINE_ENDS)
    classes[is_string & is_line_end] = TOKEN_CLASSES.index("newline, not code")
    for name, brackets in {"open bracket": "([{", "close bracket": ")]}"}.items():
        is_bracket = np.isin(values, [ord(bracket) for bracket in brackets])
        classes[is_literal & is_bracket] = TOKEN_CLASSES.index(f"{name}, not code")
    _set_white_space(classes, values)
    return classes


def _set_white_space(
    classes: Int8[np.ndarray, " code_point"], values: Int[np.ndarray, " code_point"]
) -> None:
    """Give what no token covers its class; a line ends with one newline, which may be CR LF."""
    is_unset = classes == _UNSET
    is_line_end = np.isin(values, _LINE_ENDS)
    is_blank = is_unset & np.isin(values, [ord(c) for c in " \t\f"])
    place = np.arange(len(values))
    last_ink = np.maximum.accumulate(np.where(is_blank | is_line_end, -1, place))
    last_end = np.maximum.accumulate(np.where(is_line_end, place, -1))
    is_leading = is_blank & (last_ink <= last_end)
    follows_leading = np.concatenate([[False], is_leading[:-1]])[: len(values)]
    for name, chosen in {
        "not Python": is_unset,
        "line continuation": is_unset & (values == ord("\\")),
        "other newline": is_unset & is_line_end,
        "white space in a line": is_blank,
        "indentation, first byte": is_leading,
        "indentation, rest": is_leading & follows_leading,
    }.items():
        classes[chosen] = TOKEN_CLASSES.index(name)
    before_feed = np.flatnonzero((values[:-1] == ord("\r")) & (values[1:] == ord("\n")))
    classes[before_feed] = classes[before_feed + 1]


def _tokens(source: str) -> Iterator[tuple[str, int, int]]:
    """Kind, start and end of every token that has characters, in code points.

    A kind is one of `TOKEN_CLASSES`, or without its ", first byte" and ", rest".

    Raises:
        TokenError, SyntaxError: The rest is not Python.
    """
    lines = io.StringIO(source, newline="\n").readlines()
    line_starts = [0, *accumulate(map(len, lines))]
    colon, f_string, depth, n_again = None, 0, 0, 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # 3.12 warns of what a later Python refuses
        for token in tokenize.generate_tokens(iter([*lines, ""]).__next__):
            start, stop = (
                min(line_starts[min(row - 1, len(lines))] + column, len(source))
                for row, column in (token.start, token.end)
            )
            n_again += len(token.line) * (token.type == tokenize.ERRORTOKEN)
            if n_again > _MOST_READ_AGAIN:
                raise tokenize.TokenError("too many errors in long lines", token.start)
            if token.type in _STRING_STARTS:  # from Python 3.12: what is in it comes as tokens
                f_string, depth = start if not depth else f_string, depth + 1
            elif token.type in _STRING_ENDS:
                depth -= 1
                if not depth:
                    yield "string", f_string, stop
            elif not depth and start < stop:
                if token.type == tokenize.NEWLINE and colon is not None:
                    yield "colon before a block", colon, colon + 1
                if token.type != tokenize.COMMENT:
                    colon = start if token.string == ":" else None
                kind = _kind(token)
                if kind is not None:
                    yield kind, start, stop


def _kind(token: tokenize.TokenInfo) -> str | None:
    """What a token is; None for one that stands for white space."""
    if token.type == tokenize.NAME:
        if not token.string.isidentifier():
            return "not Python"
        return "keyword" if keyword.iskeyword(token.string) else "name"
    if token.type == tokenize.OP:
        return _OF_OPERATOR.get(token.string, "not Python")
    if token.type == tokenize.ERRORTOKEN:
        return "not Python" if token.string.strip() else None
    return _OF_TYPE.get(token.type)


_UNSET = -1
_NOT_PYTHON = TOKEN_CLASSES.index("not Python")
_PARTS = ("first byte", "rest")
_LINE_ENDS = (ord("\r"), ord("\n"))

_FIRST_AND_REST = {
    TOKEN_CLASSES.index(name): TOKEN_CLASSES.index(name.replace("first byte", "rest"))
    for name in TOKEN_CLASSES
    if name.endswith("first byte")
}

_OF_TYPE = {
    tokenize.NUMBER: "number",
    tokenize.STRING: "string",
    tokenize.COMMENT: "comment",
    tokenize.NEWLINE: "newline after a statement",
    tokenize.NL: "other newline",
}
_OF_OPERATOR = {
    **dict.fromkeys(set(tokenize.EXACT_TOKEN_TYPES) - {"!"}, "operator"),
    **dict.fromkeys("([{", "open bracket"),
    **dict.fromkeys(")]}", "close bracket"),
    ":": "other colon",
    ",": "comma",
    ".": "dot",
}
_STRING_STARTS, _STRING_ENDS = (
    [getattr(tokenize, f"{letter}STRING_{end}", None) for letter in "FT"]
    for end in ("START", "END")
)
