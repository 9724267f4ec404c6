"""The guide says what the program does: commands, links, and examples that run as they stand."""

import os
import re
import runpy
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import typer

from interp.cli.app import app

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
PYTHON_PAGES = ("README.md", "docs/python.md", "docs/position-encodings.md")
"""Those whose Python examples run."""
EXTENDING = (ROOT / "docs" / "extending.md").read_text("utf-8")
BOOK = (
    "It was the best of times, it was the worst of times. 人工智能是计算机科学的一个分支。\n" * 40
)

NEW_CODE = re.compile(
    r"(?:In|in|A new file,) `(?P<file>interp/[^`]+)`(?:, above `(?P<above>\w+)`)?:\n\n"
    r"```python\n(?P<code>.*?)```",
    re.DOTALL,
)
CHANGES = re.compile(
    r"in `(?P<file>interp/[^`]+)`, in the registry:\n\n(?P<changes>(?:```diff\n.*?```\n+)+)",
    re.DOTALL,
)
EVERY = [
    "tests/extraction/test_every_signal.py",
    "tests/checkpoints/test_every_position_encoding.py",
    "tests/segmentation/test_every_segmenter.py",
]


def commands_in(text: str) -> list[list[str]]:
    """The commands of the program in the indented or fenced lines of a page."""
    joined = re.sub(r" *\\\n *", " ", text)
    return [
        shlex.split(line, comments=True)[1:]
        for line in re.findall(r"^ {4}(interp .*)", joined, re.MULTILINE)
    ]


def python_blocks(page: Path) -> list[str]:
    return re.findall(r"```python\n(.*?)```", page.read_text("utf-8"), re.DOTALL)


def test_the_command_reference_is_what_the_program_says(monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    make = runpy.run_path(str(ROOT / "docs" / "make_commands.py"))
    written = make["PAGE"].read_text("utf-8")
    assert written == make["commands_page"](), "docs/commands.md is out of date: run `make docs`"
    assert len(re.findall("^Example: `interp ", written, re.MULTILINE)) == len(
        app.registered_commands
    )


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_leads_to_a_file(page):
    targets = re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", page.read_text("utf-8"))
    inside = [target for target in targets if "://" not in target]
    assert [target for target in inside if not (page.parent / target).exists()] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_command_of_a_page_is_understood(page):
    commands = typer.main.get_command(app).commands
    for name, *arguments in commands_in(page.read_text("utf-8")):
        if name == "COMMAND" or page.name == "commands.md":
            continue
        commands[name].make_context(f"interp {name}", arguments)


@pytest.mark.parametrize("page", [ROOT / name for name in PYTHON_PAGES])
def test_the_python_examples_run_one_after_the_other(page, tmp_path, monkeypatch):
    import pandas as pd

    monkeypatch.chdir(tmp_path)
    (tmp_path / "articles").mkdir()
    pd.DataFrame({"text": [BOOK[:400], BOOK[400:900]]}).to_parquet("articles/some.parquet")
    names: dict = {}
    blocks = python_blocks(page)
    assert blocks
    for block in blocks:
        exec(compile(block, page.name, "exec"), names)


@pytest.fixture(scope="module")
def extended(tmp_path_factory) -> Path:
    """A copy of the package in which everything was done that the page says."""
    place = tmp_path_factory.mktemp("extended")
    for folder in ("interp", "tests"):
        shutil.copytree(ROOT / folder, place / folder, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", place)
    (place / "checkpoints").symlink_to(ROOT / "checkpoints")
    for new in NEW_CODE.finditer(EXTENDING):
        add_code(place / new["file"], new["code"], above=new["above"])
    for changes in CHANGES.finditer(EXTENDING):
        for change in re.findall(r"```diff\n(.*?)```", changes["changes"], re.DOTALL):
            apply_change(place / changes["file"], change)
    return place


def add_code(path: Path, code: str, *, above: str | None) -> None:
    if above is None:
        assert not path.exists()
        path.write_text(code, "utf-8")
        return
    before, line, after = re.split(rf"(^{above}\b)", path.read_text("utf-8"), flags=re.MULTILINE)
    path.write_text(f"{before}{code}\n\n{line}{after}", "utf-8")


def apply_change(path: Path, change: str) -> None:
    lines = change.splitlines(keepends=True)
    there = "".join(line[1:] for line in lines if line[0] != "+")
    text = path.read_text("utf-8")
    assert text.count(there) == 1, f"{path.name} has no such lines:\n{there}"
    path.write_text(text.replace(there, "".join(line[1:] for line in lines if line[0] != "-")))


def run_there(extended: Path, *command: str) -> str:
    environment = {**os.environ, "PYTHONPATH": str(extended)}
    done = subprocess.run(
        [sys.executable, *command], cwd=extended, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_what_is_added_as_the_page_says_passes_the_tests_of_its_kind(extended):
    ran = run_there(extended, "-m", "pytest", "-vv", "-p", "no:cacheprovider", *EVERY)
    for added in ("attention_to_first", "log-bias", "de"):
        assert ran.count(f"[{added}] PASSED") >= 3, ran


def test_the_commands_of_the_page_run_where_that_was_done(extended):
    for name in ("book.txt", "other-book.txt"):
        (extended / name).write_text(name + BOOK, "utf-8")
    (recipe,) = re.findall(r"`(\S+\.toml)`:\n\n```toml\n(.*?)```", EXTENDING, re.DOTALL)
    (extended / recipe[0]).write_text(recipe[1], "utf-8")
    commands = commands_in(EXTENDING)
    assert len(commands) == 5
    script = (
        "import sys, interp.cli\n"
        f"for command in {commands!r}:\n"
        "    try:\n"
        "        interp.cli.main(command)\n"
        "    except SystemExit as ended:\n"
        "        assert not ended.code, (command, ended.code)\n"
    )
    said = run_there(extended, "-c", script)
    assert "letters 1" in said
    assert "position encoding log-bias" in said
    assert (extended / "attention" / "attention_to_first" / "part-00000.parquet").is_file()


def test_findings_are_what_the_studies_say():
    """How a verdict begins stands in its README; numbers stand there or in the tables."""
    page = (ROOT / "docs" / "findings.md").read_text("utf-8")
    rows = [line.split(" | ") for line in page.splitlines() if "](../analyses/" in line[-60:]]
    rows = [row for row in rows if len(row) == 5]
    assert len(rows) > 10
    for _, _, here, verdict, link in rows:
        folder = ROOT / "analyses" / re.search(r"analyses/([\w-]+)", link)[1]
        said = (folder / "README.md").read_text("utf-8")
        begins = re.match(r"[\w ]+?(?=[:,.]| in L)", verdict)[0]
        assert f"**{begins}" in said, f"{folder.name}: {begins}"
        numbers = {
            f"{float(cell):.{digits}f}"
            for table in folder.glob("*.csv")
            for cell in re.findall(r"(?<=,)-?\d+\.\d+(?:e-\d+)?(?=,)", table.read_text("utf-8"))
            for digits in (2, 3, 4)
        }
        for number in re.findall(r"-?\d+\.\d+", here):
            is_there = number in said or {number, f"-{number}"} & numbers
            assert is_there, f"{folder.name}: {number}"
