import pytest
from tiny import TinyCheckpoint, tiny_model


@pytest.fixture(scope="session")
def checkpoint() -> TinyCheckpoint:
    return TinyCheckpoint(tiny_model())
