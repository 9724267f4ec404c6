"""The built wheel, installed into an environment of its own, with everything it needs.

Runs where INTERP_WHEEL names it (`make wheel`): pip downloads what it has not kept.
"""

import json
import os
import subprocess
import venv
from pathlib import Path

import pandas as pd
import pytest

import interp
from interp import tables
from interp.studies.demo import demo

pytestmark = pytest.mark.skipif(
    "INTERP_WHEEL" not in os.environ, reason="INTERP_WHEEL does not name a wheel"
)

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def place(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("wheel")


@pytest.fixture(scope="module")
def programs(place) -> Path:
    """The programs of an environment in which nothing is but pip, and then the wheel."""
    venv.create(place / "environment", with_pip=True)
    programs = place / "environment" / ("Scripts" if os.name == "nt" else "bin")
    pip = [programs / "python", "-m", "pip", "--disable-pip-version-check", "install", "--quiet"]
    pip += ["--constraint", ROOT / "constraints.txt"]
    if index := os.environ.get("TORCH_INDEX"):
        subprocess.run([*pip, "--no-deps", "--index-url", index, "torch"], check=True)
    subprocess.run([*pip, os.environ["INTERP_WHEEL"]], check=True)
    return programs


@pytest.fixture(scope="module")
def run(programs, place):
    """Run a program in an empty folder, as a user without a network whose home is empty."""
    home, folder = place / "home", place / "empty"
    home.mkdir()
    folder.mkdir()
    environment = {
        "PATH": os.pathsep.join([str(programs), os.environ["PATH"]]),
        "HOME": str(home),
        "INTERP_CACHE": str(home / "cache"),
        "https_proxy": "http://127.0.0.1:9",
        "http_proxy": "http://127.0.0.1:9",
    }

    def run(*command: str) -> str:
        done = subprocess.run(
            command, cwd=folder, env=environment, capture_output=True, text=True, timeout=1200
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


def test_the_package_and_the_checkpoint_are_those_of_the_wheel(run, programs):
    script = (
        "import interp, json\n"
        "from interp.checkpoints import default_checkpoint\n"
        "print(json.dumps([interp.__file__, str(default_checkpoint()), interp.__version__]))"
    )
    package, checkpoint, version = json.loads(run("python", "-c", script))
    assert Path(package).is_relative_to(programs.parent)
    assert Path(checkpoint).is_relative_to(Path(package).parent)
    assert run("interp", "--version") == f"interp {version}\n"
    assert version == interp.__version__


def test_everything_that_the_package_needs_is_there(run):
    assert run("python", "-m", "pip", "check") == "No broken requirements found.\n"


def test_the_demo_finds_what_it_finds_in_this_repository(run, place, tmp_path):
    printed = run("interp", "demo", "--csv")
    here, there = demo(tmp_path / "demo"), place / "empty" / "interp-demo"
    for file in (here.byte_classes, here.word_boundaries):
        expected, found = (tables.read_csv(str(path)) for path in (file, there / file.name))
        pd.testing.assert_frame_equal(found, expected, rtol=1e-4, atol=1e-4)
        assert (there / file.name).read_text("utf-8").partition("\n")[2] in printed
    areas = tables.read_csv(str(there / here.word_boundaries.name)).query("statistic == 'roc_auc'")
    assert areas["layer"].dropna().tolist() == list(range(6))
    page = (there / here.page.name).read_text("utf-8")
    assert page.startswith("<!DOCTYPE html>")
    assert page.count("<figure") == here.found.page.count("<figure")
