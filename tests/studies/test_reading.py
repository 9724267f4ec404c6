import json
import shutil

import filelock
import numpy as np
import pytest

from interp import checkpoints
from interp.corpus.sources import TextInput
from interp.corpus.split import document_hash
from interp.errors import InputError
from interp.extraction.increment_table import IncrementTable
from interp.extraction.interventions import Intervention
from interp.extraction.reader import SignalReader
from interp.studies.reading import Warnings, documents_of, increments_of

TEXT = TextInput(literal="Words, 词语。".encode())


def values_of(table: IncrementTable) -> np.ndarray:
    return next(iter(table.read_documents())).values


def test_a_second_study_of_a_text_runs_no_model(tiny, cache, monkeypatch):
    with increments_of(tiny, TEXT) as first:
        expected = values_of(first)
        assert first.folder.parent == cache / "increments"

    def fail(*_args, **_kwargs):
        raise AssertionError("the text was read again")

    monkeypatch.setattr(SignalReader, "read", fail)
    with increments_of(tiny, TEXT) as second:
        assert np.array_equal(values_of(second), expected)


@pytest.mark.usefixtures("cache")
def test_each_intervention_is_kept_apart(tiny):
    changes = [None, Intervention("scaled", factor=2.0), Intervention("scaled", factor=3.0)]
    found = []
    for change in changes:
        with increments_of(tiny, TEXT, signals=("surprisal",), intervention=change) as table:
            found.append(table.folder)
            assert table.manifest["intervention"] == (change and change.about())
    assert len(set(found)) == 3


@pytest.mark.usefixtures("cache")
def test_one_text_under_two_names_is_kept_twice(tiny, tmp_path):
    for name in ("one.txt", "two.txt"):
        (tmp_path / name).write_text("the same", "utf-8")
        with increments_of(tiny, TextInput(files=(str(tmp_path / name),))) as table:
            assert table.documents["source"].tolist() == [str(tmp_path / name)]


@pytest.mark.usefixtures("cache")
@pytest.mark.parametrize(
    ("key", "told"),
    [
        ("split", {"fraction": 0.0, "hashes": [f"{document_hash(TEXT.literal):016x}"]}),
        ("token_counts", [7] * 257),
    ],
)
def test_what_a_checkpoint_says_of_its_training_text_is_never_that_of_another(
    tiny, tmp_path, key, told
):
    folder = tmp_path / "told-otherwise"
    shutil.copytree(tiny.folder, folder)
    config = json.loads((folder / "config.json").read_text("utf-8"))
    (folder / "config.json").write_text(json.dumps(config | {key: told}), "utf-8")
    with increments_of(tiny, TEXT) as before:
        assert before.documents["held_out"].isna().all()
        assert before.vocabulary()["n_in_training"].isna().all()
    with increments_of(checkpoints.load(folder), TEXT) as after:
        assert after.folder != before.folder
        assert after.documents["held_out"].notna().all() == (key == "split")
        assert after.vocabulary()["n_in_training"].notna().all() == (key == "token_counts")


def test_a_cache_that_cannot_be_made_is_done_without(tiny, cache):
    cache.write_text("a file is in the way", "utf-8")
    with increments_of(tiny, TEXT) as table:
        assert table.folder.is_dir()
    assert not table.folder.exists()


def test_increments_that_another_process_is_making_are_made_apart(tiny, cache):
    with increments_of(tiny, TEXT) as table:
        folder = table.folder
    with (
        filelock.FileLock(folder.with_suffix(".lock"), is_singleton=False),
        increments_of(tiny, TEXT) as apart,
    ):
        assert not apart.folder.is_relative_to(cache)


@pytest.mark.usefixtures("cache")
def test_what_is_damaged_in_the_cache_is_made_again(tiny):
    with increments_of(tiny, TEXT) as table:
        folder, expected = table.folder, values_of(table)
    (folder / "manifest.json").write_text("{", "utf-8")
    with increments_of(tiny, TEXT) as table:
        assert np.array_equal(values_of(table), expected)


def test_each_warning_is_passed_on_once():
    heard = []
    warnings = Warnings(heard.append)
    for warning in ("one", "two", "one"):
        warnings(warning)
    assert heard == ["one", "two"]
    assert warnings.messages == ("one", "two")


def test_nothing_but_empty_text_is_an_error_without_warnings(tmp_path):
    (tmp_path / "empty.txt").touch()
    heard = []
    with pytest.raises(InputError, match="there is no text"):
        list(documents_of(TextInput(files=(str(tmp_path / "empty.txt"),)), heard.append))
    assert heard == []


def test_an_empty_text_before_another_is_warned_of(tmp_path):
    (tmp_path / "a.txt").touch()
    (tmp_path / "b.txt").write_text("text", "utf-8")
    heard = []
    files = (str(tmp_path / "a.txt"), str(tmp_path / "b.txt"))
    assert len(list(documents_of(TextInput(files=files), heard.append))) == 2
    assert heard == [f"{tmp_path}/a.txt is empty"]


@pytest.mark.usefixtures("cache")
def test_a_file_that_was_renamed_is_read_under_its_new_name(tiny, tmp_path):
    (tmp_path / "one.txt").write_text("the same", "utf-8")
    text = TextInput(corpora=(str(tmp_path / "*.txt"),))
    for name in ("one.txt", "two.txt"):
        for path in tmp_path.glob("*.txt"):
            path.rename(tmp_path / name)
        with increments_of(tiny, text) as table:
            assert table.documents["source"].tolist() == [str(tmp_path / name)]
