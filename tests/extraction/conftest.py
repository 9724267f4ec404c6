import pytest
from small_table import NAMES, TEXTS, extract
from tiny import TinyCheckpoint, documents, tiny_model

from interp.extraction.increment_table import IncrementTable


@pytest.fixture(scope="session")
def checkpoint() -> TinyCheckpoint:
    return TinyCheckpoint(tiny_model())


@pytest.fixture
def table(checkpoint, tmp_path) -> IncrementTable:
    return extract(checkpoint, documents(*TEXTS), tmp_path / "table", signals=NAMES)
