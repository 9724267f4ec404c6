"""What holds for every signal of the registry; a new one is tested by its line there."""

import numpy as np
import pytest
from tiny import N_CTX, TinyCheckpoint, documents, tiny_model

from interp.extraction.extract import extract
from interp.extraction.manifest import COLUMN
from interp.extraction.signals import SIGNALS

TEXT = ("Two words. 两个词。" * 6).encode()

any_signal = pytest.mark.parametrize("name", SIGNALS)


@pytest.fixture(scope="module")
def checkpoint() -> TinyCheckpoint:
    return TinyCheckpoint(tiny_model())


def values(checkpoint, content: bytes, folder, *names: str) -> dict[str, np.ndarray]:
    table = extract(checkpoint, documents(content), folder, signals=names)
    return {name: next(iter(table.read_documents(name))).values for name in names}


@any_signal
def test_it_has_a_name_and_columns_that_a_table_can_keep(checkpoint, name):
    signal = SIGNALS[name]
    assert signal.name == name
    assert signal.units
    columns = signal.columns(checkpoint.model.config)
    assert [column for column in columns if not COLUMN.fullmatch(column)] == []
    assert len(set(columns)) == len(columns) > 0


@any_signal
def test_every_byte_has_a_value(checkpoint, tmp_path, name):
    found = values(checkpoint, TEXT, tmp_path / "table", name)[name]
    assert found.shape == (len(TEXT) + 1, len(SIGNALS[name].columns(checkpoint.model.config)))
    assert np.isfinite(found[1:]).all()


@any_signal
def test_it_is_the_same_among_all_signals_as_alone(checkpoint, tmp_path, name):
    alone = values(checkpoint, TEXT, tmp_path / "alone", name)[name]
    together = values(checkpoint, TEXT, tmp_path / "all", *SIGNALS)[name]
    np.testing.assert_allclose(together, alone, rtol=1e-5, atol=1e-5)


@any_signal
def test_it_has_seen_what_it_says_and_nothing_that_comes_later(checkpoint, tmp_path, name):
    content = TEXT[: N_CTX - 4]  # one window
    before = values(checkpoint, content + b"abc", tmp_path / "before", name)[name]
    after = values(checkpoint, content + b"xyz", tmp_path / "after", name)[name]
    first_changed = len(content) + 1
    np.testing.assert_allclose(before[:first_changed], after[:first_changed], rtol=1e-5, atol=1e-5)
    has_seen = not np.allclose(before[first_changed], after[first_changed], rtol=1e-5, atol=1e-5)
    assert has_seen == (SIGNALS[name].sees == "token")
