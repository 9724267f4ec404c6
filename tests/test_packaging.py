"""What an installation brings: pinned dependencies, and every file the package reads."""

import re
import tomllib
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import pytest
from hatchling.builders.sdist import SdistBuilder
from hatchling.builders.wheel import WheelBuilder
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import interp

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
REQUIREMENTS = [*PROJECT["dependencies"], *PROJECT["optional-dependencies"]["dev"]]
PIN = re.compile(r"(?P<name>[a-z0-9]+(-[a-z0-9]+)*)==(?P<version>[a-z0-9.]+)")
CHECKPOINT = "checkpoints/en-zh-per-layer"


def pin_lines() -> list[str]:
    lines = (ROOT / "constraints.txt").read_text("utf-8").splitlines()
    return [line for line in lines if not line.startswith("#")]


def pins() -> dict[str, str]:
    return dict(line.split("==") for line in pin_lines())


def files_of(builder) -> set[str]:
    return {file.distribution_path for file in builder.recurse_included_files()}


def test_constraints_are_exact_public_versions_in_order():
    lines = pin_lines()
    assert [line for line in lines if not PIN.fullmatch(line)] == []
    assert lines == sorted(set(lines))
    assert "interp" not in pins()


@pytest.mark.parametrize("text", REQUIREMENTS)
def test_every_dependency_has_a_pin_within_its_range(text):
    requirement = Requirement(text)
    assert requirement.specifier.contains(pins()[canonicalize_name(requirement.name)])


def test_dependencies_of_dependencies_are_pinned_too():
    pinned, to_visit, visited = pins(), [Requirement(text) for text in REQUIREMENTS], set()
    while to_visit:
        requirement = to_visit.pop()
        name = canonicalize_name(requirement.name)
        if name in visited:
            continue
        visited.add(name)
        try:
            installed = distribution(name)
        except PackageNotFoundError:
            continue  # for another platform or an optional part
        if installed.version.partition("+")[0] != pinned.get(name):
            pytest.skip(f"installed is {name} {installed.version}, not what constraints.txt pins")
        for line in installed.requires or ():
            needed = Requirement(line)
            is_left_to_torch = name == "torch" and "==" in str(needed.specifier)
            applies = needed.marker is None or needed.marker.evaluate({"extra": ""})
            if applies and not is_left_to_torch:
                to_visit.append(needed)
    assert visited <= set(pinned)


def test_wheel_has_every_file_of_the_package():
    beside_code = {
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "interp").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    files = files_of(WheelBuilder(str(ROOT)))
    assert beside_code <= files
    for name in ("corpus/sample/zh.jsonl", "training/recipes/reference.toml", "reports/assets"):
        assert any(file.startswith(f"interp/{name}") for file in files)
    assert not any(file.startswith(("tests", "checkpoints")) for file in files)


@pytest.mark.parametrize(
    ("builder", "inside"),
    [(WheelBuilder, "interp/_checkpoints/en-zh-per-layer"), (SdistBuilder, CHECKPOINT)],
)
def test_the_checkpoint_travels_without_what_training_keeps_beside_it(builder, inside, tmp_path):
    for name in ("pyproject.toml", "interp/__init__.py", ".gitignore"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes((ROOT / name).read_bytes())
    kept = {"config.json", "model.safetensors", "README.md"}
    for name in (*kept, "metrics.jsonl", "state/optimizer.safetensors", "steps/000500/config.json"):
        path = tmp_path / CHECKPOINT / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    files = {file for file in files_of(builder(str(tmp_path))) if CHECKPOINT[12:] in file}
    assert files == {f"{inside}/{name}" for name in kept}


def test_version_of_the_package_is_the_one_installed():
    assert WheelBuilder(str(ROOT)).metadata.version == interp.__version__
