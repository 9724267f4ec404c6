import json
from pathlib import Path

import pytest

from interp import tables
from interp.analyses.python_tokens import TOKEN_CLASSES

SOURCE = "def area(r):\n    return 3.14 * r**2  # of a circle\n"


@pytest.fixture
def module() -> str:
    Path("module.py").write_text(SOURCE, "utf-8")
    return "module.py"


def test_token_classes_fit_a_terminal(interp, tiny, module):
    done = interp("token-classes", "--lang", "python", module, "--ckpt", tiny)
    assert (done.status, done.err) == (0, "")
    assert max(map(len, done.out.splitlines())) <= 80
    assert "colon before a block" in done.out
    assert "not Python" not in done.out


def test_json_and_kept_increments_give_the_same_table(interp, tiny, module):
    rows = json.loads(interp("token-classes", module, "--ckpt", tiny, "--json").out)
    assert list(rows[0]) == list(tables.COLUMNS)
    assert {row["group"] for row in rows} == set(TOKEN_CLASSES)
    assert {row["signal"] for row in rows} == {"increment", None}
    assert interp("extract", "--ckpt", tiny, "--out", "kept", module).status == 0
    kept = interp("token-classes", "--increments", "kept", "--json")
    assert json.loads(kept.out) == rows
    as_csv = interp("token-classes", "--increments", "kept", "--csv").out
    assert len(as_csv.splitlines()) == len(rows) + 1


def test_what_is_no_python_is_counted_in_one_warning(interp, tiny, module):
    Path("old.py").write_bytes(b"x = 1\nprint `x`\n")
    Path("wide.py").write_bytes("x = '\N{SNOWMAN}'\n".encode("utf-16"))
    done = interp("token-classes", module, "old.py", "wide.py", "--ckpt", tiny)
    assert done.status == 0
    (line,) = [line for line in done.err.splitlines() if "Python" in line]
    assert "2 texts; first in old.py, line 2" in line
    assert "not Python" in done.out


@pytest.mark.parametrize(
    ("arguments", "status", "words"),
    [
        (["module.py", "--lang", "cobol"], 2, "Known: python."),
        ([], 2, "no source to read"),
        (["missing.py"], 1, "missing.py"),
    ],
)
def test_what_cannot_be_read_is_one_line_and_a_hint(interp, tiny, arguments, status, words):
    done = interp("token-classes", *arguments, "--ckpt", tiny)
    assert done.status == status
    assert words in done.err
    assert len(done.err.splitlines()) <= 2
