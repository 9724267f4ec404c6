import shutil
from pathlib import Path

import pytest
from saved_checkpoint import save_tiny


@pytest.fixture(scope="session")
def whole(tmp_path_factory) -> Path:
    return save_tiny(tmp_path_factory.mktemp("checkpoints") / "whole")


@pytest.fixture
def folder(whole, tmp_path) -> Path:
    """A copy that a test may damage."""
    return Path(shutil.copytree(whole, tmp_path / "copy"))
