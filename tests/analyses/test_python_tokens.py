import io
import keyword
import tokenize
from itertools import groupby
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from interp.analyses.python_tokens import TOKEN_CLASSES, python_token_classes

EVERY_CLASS = (
    b'if x:\r\n\t  y = f"a{b[0]}" \\\n + 12  # (c)\n\nd = {"k": ">(",\n  "l": x.n}  ; """\n"""\n$\n'
)


def runs(content: bytes) -> list[tuple[str, bytes]]:
    """Stretches of neighbouring bytes of one class, with the class."""
    names = [TOKEN_CLASSES[index] for index in python_token_classes(content).classes[1:]]
    pairs = zip(names, (content[i : i + 1] for i in range(len(content))), strict=True)
    return [(name, b"".join(c for _, c in run)) for name, run in groupby(pairs, lambda p: p[0])]


def test_every_class_by_hand():
    expected = [
        ("keyword, first byte", b"i"),
        ("keyword, rest", b"f"),
        ("white space in a line", b" "),
        ("name, first byte", b"x"),
        ("colon before a block", b":"),
        ("newline after a statement", b"\r\n"),
        ("indentation, first byte", b"\t"),
        ("indentation, rest", b"  "),
        ("name, first byte", b"y"),
        ("white space in a line", b" "),
        ("operator, first byte", b"="),
        ("white space in a line", b" "),
        ("string, first byte", b"f"),
        ("string, rest", b'"a{b[0]}"'),
        ("white space in a line", b" "),
        ("line continuation", b"\\"),
        ("other newline", b"\n"),
        ("indentation, first byte", b" "),
        ("operator, first byte", b"+"),
        ("white space in a line", b" "),
        ("number, first byte", b"1"),
        ("number, rest", b"2"),
        ("white space in a line", b"  "),
        ("comment, first byte", b"#"),
        ("comment, rest", b" "),
        ("open bracket, not code", b"("),
        ("comment, rest", b"c"),
        ("close bracket, not code", b")"),
        ("newline after a statement", b"\n"),
        ("other newline", b"\n"),
        ("name, first byte", b"d"),
        ("white space in a line", b" "),
        ("operator, first byte", b"="),
        ("white space in a line", b" "),
        ("open bracket", b"{"),
        ("string, first byte", b'"'),
        ("string, rest", b'k"'),
        ("other colon", b":"),
        ("white space in a line", b" "),
        ("string, first byte", b'"'),
        ("string, rest", b">"),
        ("open bracket, not code", b"("),
        ("string, rest", b'"'),
        ("comma", b","),
        ("other newline", b"\n"),
        ("indentation, first byte", b" "),
        ("indentation, rest", b" "),
        ("string, first byte", b'"'),
        ("string, rest", b'l"'),
        ("other colon", b":"),
        ("white space in a line", b" "),
        ("name, first byte", b"x"),
        ("dot", b"."),
        ("name, first byte", b"n"),
        ("close bracket", b"}"),
        ("white space in a line", b"  "),
        ("operator, first byte", b";"),
        ("white space in a line", b" "),
        ("string, first byte", b'"'),
        ("string, rest", b'""'),
        ("newline, not code", b"\n"),
        ("string, rest", b'"""'),
        ("newline after a statement", b"\n"),
        ("not Python", b"$"),
        ("newline after a statement", b"\n"),
    ]
    assert runs(EVERY_CLASS) == expected
    # the second bytes of names and operators, and the separator, stand in no run above
    assert runs(b"ab>=c")[:4] == [
        ("name, first byte", b"a"),
        ("name, rest", b"b"),
        ("operator, first byte", b">"),
        ("operator, rest", b"="),
    ]
    assert TOKEN_CLASSES[python_token_classes(b"").classes[0]] == "separator"
    beyond = {"name, rest", "operator, rest", "separator"}
    assert {name for name, _ in expected} | beyond == set(TOKEN_CLASSES)


@pytest.mark.parametrize(
    ("source", "colons"),
    [
        (b"class A:  # why\n  x: int = d[1:2]\n", ["before a block", "other", "other"]),
        (b"if a: b\n", ["other"]),
        (b"d = {1:\n 2}\n", ["other"]),
        (b"def f(x: int) -> {1: 2}:\n\n  pass\n", ["other", "other", "before a block"]),
    ],
)
def test_a_colon_before_a_block_is_the_last_of_its_statement(source, colons):
    names = [name for name, content in runs(source) if content == b":"]
    assert [name.replace(" colon", "").replace("colon ", "") for name in names] == colons


def test_the_first_byte_of_a_name_is_a_byte_and_not_a_character():
    assert runs("été=1".encode())[:2] == [
        ("name, first byte", b"\xc3"),
        ("name, rest", b"\xa9t\xc3\xa9"),
    ]


def test_a_whole_f_string_is_a_string_on_every_version():
    nested = b"f'{x!r:>{w}}' + rf\"\"\"{\n y['(']}\n\"\"\" + b'('\n"
    names = [name for name, _ in runs(nested)]
    assert "open bracket" not in names
    assert names.count("open bracket, not code") == 1  # that of b'('
    assert names.count("string, first byte") == 3
    assert names.count("newline, not code") == 2


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
def test_line_ends_of_every_kind_are_newlines(end):
    source = end.join([b"x = 1  # c", b"", b"'''a", b"b'''", b"  "])
    newlines = [name for name, content in runs(source) if content[:1] in b"\r\n"]
    assert newlines == [
        "newline after a statement",
        "other newline",
        "newline, not code",
        "newline after a statement",
    ]
    assert python_token_classes(source).error_line is None


def test_a_form_feed_is_white_space():
    assert runs(b"x\n\fy")[2:] == [("indentation, first byte", b"\f"), ("name, first byte", b"y")]


@pytest.mark.parametrize(
    ("source", "line"),
    [
        (b"x = 1\ny = '''(\n", 2),  # the string does not end
        (b"def f():\n    x\n  y\nz = 1\n", 3),  # a dedent to nowhere
        (b"x = 1\nprint `x`\n", 2),  # Python 2
        (b"\n\nx = 1 ? 2\n", 3),
        (b"a\x00b\n", 1),
        ("x = 1\n".encode("utf-16"), 1),
        (b"\xff\xfe\xfd", 1),
        (b"x = 'a\n", 1),
        ("x\N{NO-BREAK SPACE}= 1\n".encode(), 1),
        ("\N{ZERO WIDTH NO-BREAK SPACE}x = 1".encode(), 1),  # a second byte order mark
    ],
)
def test_what_is_no_python_is_a_class_and_the_first_line_of_it_is_known(source, line):
    found = python_token_classes(source)
    assert found.error_line == line
    assert TOKEN_CLASSES.index("not Python") in found.classes
    assert len(found.classes) == len(source) + 1


@pytest.mark.parametrize("line", [b"x = '" + b"\\'" * 50_000, b"x" + b" " * 100_000 + b"$"])
def test_a_long_line_of_errors_is_not_python(line):
    found = python_token_classes(b"x = 1\n" + line)
    assert found.error_line == 2
    assert found.classes[-1] == TOKEN_CLASSES.index("not Python")


def test_an_error_leaves_what_stands_before_it_as_it_is():
    whole, broken = (python_token_classes(b"x = (1)\n" + rest) for rest in (b"", b"'''("))
    np.testing.assert_array_equal(broken.classes[:9], whole.classes)
    assert set(broken.classes[9:]) == {TOKEN_CLASSES.index("not Python")}


@pytest.mark.parametrize("source", [b"x = (\n", b"x)\n", b"'caf\xe9' # \xe9\n", b"print 'x'\n"])
def test_what_tokenize_takes_is_python_here(source):
    assert python_token_classes(source).error_line is None


@settings(max_examples=60)
@given(
    st.binary(max_size=40)
    | st.text("xé1 \n\r\t\f'\"#()[]{}:.,=>\\f!$\0", max_size=40).map(str.encode)
)
def test_every_byte_has_one_class_and_white_space_is_where_it_says(content):
    classes = [TOKEN_CLASSES[index] for index in python_token_classes(content).classes]
    assert len(classes) == len(content) + 1
    assert classes[0] == "separator"
    assert "separator" not in classes[1:]
    for name, value in zip(classes[1:], content, strict=True):
        byte = bytes([value])
        assert not name.startswith(("indentation", "white space")) or byte in b" \t\f"
        assert "newline" not in name or byte in b"\r\n"
        assert "open bracket" not in name or byte in b"([{"
        assert "close bracket" not in name or byte in b")]}"
        assert name not in ("comma", "dot", "other colon") or byte in b",.:"


def test_tokenize_says_the_same_of_this_very_file():
    source = Path(__file__).read_text("utf-8")
    lines = source.splitlines(keepends=True)
    starts = np.concatenate([[0], np.cumsum([len(line.encode()) for line in lines])])
    classes = python_token_classes(source.encode()).classes[1:]
    n_checked = 0
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        wanted = {tokenize.NAME: "name", tokenize.NUMBER: "number", tokenize.COMMENT: "comment"}
        if token.type not in wanted:
            continue
        (row, column), size = token.start, len(token.string.encode())
        at = starts[row - 1] + len(lines[row - 1][:column].encode())
        if TOKEN_CLASSES[classes[at]].startswith("string"):
            continue  # from Python 3.12 the inside of an f-string is tokens too
        kind = "keyword" if keyword.iskeyword(token.string) else wanted[token.type]
        names = [TOKEN_CLASSES[index] for index in classes[at : at + size]]
        assert names[0] == f"{kind}, first byte"
        assert set(names[1:]) <= {
            f"{kind}, rest",
            "open bracket, not code",
            "close bracket, not code",
        }
        n_checked += 1
    assert n_checked > 300
