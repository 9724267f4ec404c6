import os
import subprocess
import sys
from pathlib import Path

import pytest

from interp.cli.app import app

COMMANDS = [command.name for command in app.registered_commands]


def run_program(*arguments: str, **settings) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "interp", *arguments],
        capture_output=True,
        text=True,
        timeout=120,
        **settings,
    )


def test_the_commands_are_those_of_the_manual():
    assert sorted(map(str, COMMANDS)) == [
        "ablate",
        "byte-classes",
        "count",
        "demo",
        "entity-order",
        "extract",
        "gallery",
        "heads",
        "import",
        "inspect",
        "loss-by-position",
        "merge",
        "reference-agreement",
        "report",
        "study",
        "token-classes",
        "train",
        "train-family",
        "verify-encoding",
        "word-boundary-auc",
    ]


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_with_an_example(interp, command):
    done = interp(command, "--help")
    assert done.status == 0
    assert done.out.count(f"Example: interp {command}") == 1
    assert max(map(len, done.out.splitlines())) <= 80


def test_help_and_import_load_nothing_heavy():
    script = (
        "import sys, interp, interp.cli; "
        "heavy = {'torch', 'numpy', 'pandas', 'transformer_lens', 'datasets', 'rich.console'}; "
        "sys.exit(str(heavy & set(sys.modules)) if heavy & set(sys.modules) else 0)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_version_is_printed(interp):
    from interp import __version__

    done = interp("--version")
    assert (done.status, done.out) == (0, f"interp {__version__}\n")


def test_without_a_command_help_goes_to_standard_error(interp):
    done = interp()
    assert done.status == 2
    assert done.out == ""
    assert "word-boundary-auc" in done.err


@pytest.mark.parametrize(
    "arguments",
    [
        ("nonsense",),
        ("demo", "--nonsense"),
        ("report", "text.txt"),
        ("inspect", "a", "b"),
        ("extract", "--out", "x", "--stride", "many"),
        ("byte-classes", "--json", "--csv"),
        ("train", "two-cores"),
        ("train", "--out", "x"),
        ("word-boundary-auc", "--lang", "tlh"),
        ("byte-classes", "--limit", "5"),
    ],
)
def test_what_is_not_understood_is_one_line_a_hint_and_status_2(interp, arguments):
    done = interp(*arguments)
    assert done.status == 2
    assert done.out == ""
    lines = done.err.splitlines()
    assert lines[0].startswith("interp: ")
    assert len(lines) <= 2


@pytest.mark.parametrize(
    "clashing",
    [("--ckpt", "x"), ("text.txt",), ("--corpus", "*.txt"), ("--limit", "9")],
)
@pytest.mark.parametrize("command", ["byte-classes", "word-boundary-auc"])
def test_kept_increments_exclude_everything_that_they_come_from(interp, command, clashing):
    done = interp(command, "--increments", "kept", *clashing)
    assert done.status == 2
    assert "--increments goes without" in done.err


def test_an_interruption_is_one_line_and_status_130(interp, tiny, monkeypatch):
    def interrupt(*_args, **_kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr("interp.checkpoints.load", interrupt)
    done = interp("inspect", tiny)
    assert (done.status, done.err) == (130, "interp: interrupted\n")


def test_an_operating_system_error_is_one_line(interp, tiny, monkeypatch):
    def fail(*_args, **_kwargs):
        raise OSError(28, "No space left on device", "some/file")

    monkeypatch.setattr("interp.checkpoints.load", fail)
    done = interp("inspect", tiny)
    assert (done.status, done.err) == (1, "interp: some/file: no space left on device\n")


@pytest.mark.parametrize(
    "error",
    [MemoryError(), RuntimeError("DefaultCPUAllocator: not enough memory: you tried to allocate")],
)
def test_too_little_memory_is_one_line_and_a_hint(interp, tiny, monkeypatch, error):
    def fail(*_args, **_kwargs):
        raise error

    monkeypatch.setattr("interp.checkpoints.load", fail)
    done = interp("inspect", tiny)
    assert done.status == 1
    first, hint = done.err.splitlines()
    assert first == "interp: there is not enough memory for this"
    assert "--window" in hint


def test_a_bug_keeps_its_traceback(tiny, monkeypatch):
    from interp.cli import main

    def fail(*_args, **_kwargs):
        raise RuntimeError("a bug")

    monkeypatch.setattr("interp.checkpoints.load", fail)
    with pytest.raises(RuntimeError, match="a bug"):
        main(["inspect", tiny])


def test_a_reader_who_stops_reading_hears_no_complaint():
    program = subprocess.Popen(
        [sys.executable, "-m", "interp", "--help"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert program.stdout is not None
    assert program.stderr is not None
    program.stdout.close()
    complaint = program.stderr.read()
    program.stderr.close()
    assert program.wait(timeout=60) in (0, 1)
    assert complaint == b""


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
@pytest.mark.parametrize(
    "arguments",
    [("--version",), ("train", "--list"), ("study", "--list"), ("inspect",), ("inspect", "--json")],
)
def test_a_full_disk_is_one_line_and_status_1(arguments):
    buffered = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [sys.executable, "-m", "interp", *arguments],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            env=buffered,
            timeout=120,
        )
    assert done.returncode == 1
    assert done.stderr == "interp: standard output: no space left on device\n"


def test_control_characters_of_an_argument_reach_no_terminal(interp):
    done = interp("inspect", "no\x1b[31m\nsuch")
    assert done.status == 1
    assert "\x1b" not in done.err
    assert done.err.count("\n") <= 2


def test_python_m_interp_is_the_program():
    done = run_program("--version")
    assert done.returncode == 0
    assert done.stdout.startswith("interp ")
