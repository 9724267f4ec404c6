import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from saved_checkpoint import save_tiny

from interp.cli import main


@dataclass(frozen=True)
class Finished:
    status: int
    out: str
    err: str


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(save_tiny(tmp_path_factory.mktemp("checkpoints") / "tiny"))


@pytest.fixture(scope="session")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(autouse=True)
def _own_cache(monkeypatch: pytest.MonkeyPatch, cache: Path, tmp_path: Path) -> None:
    monkeypatch.setenv("INTERP_CACHE", str(cache))
    monkeypatch.setenv("COLUMNS", "80")
    # what is said must not depend on how fast the machine is
    monkeypatch.setattr("interp.cli.output.LOG_SECONDS", math.inf)
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def interp(capfd: pytest.CaptureFixture[str]) -> Callable[..., Finished]:
    def run(*arguments: str) -> Finished:
        capfd.readouterr()
        with pytest.raises(SystemExit) as stopped:
            main(arguments)
        captured = capfd.readouterr()
        status = stopped.value.code
        return Finished(status if isinstance(status, int) else 0, captured.out, captured.err)

    return run
