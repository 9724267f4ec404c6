import contextlib
import importlib
import json
import os
import shutil
from pathlib import Path

import filelock
import numpy as np
import pytest
from safetensors.numpy import load_file
from two_corpora import recipe_of_two

from interp.checkpoints import load
from interp.checkpoints.save import write_tensors
from interp.errors import CheckpointError, InputError, OutputError
from interp.files import LOCK_FILE, locked
from interp.training import train
from interp.training.continuation import keep_finished, recorded_run
from interp.training.state import drop_states, saved_steps


class Killed(BaseException):
    pass


def killed_at(step: int):
    def progress(at) -> None:
        if at.step == step:
            raise Killed

    return progress


@pytest.fixture(scope="session")
def finished(tmp_path_factory):
    """The text's folder and that of a run of 6 steps, with the state of step 4."""
    text = tmp_path_factory.mktemp("text")
    out = text / "run"
    train(recipe_of_two(text), out)
    return text, out


@pytest.fixture
def copied(finished, tmp_path):
    text, out = finished
    return text, Path(shutil.copytree(out, tmp_path / "run"))


def weights(folder: Path) -> dict[str, np.ndarray]:
    return load_file(folder / "model.safetensors")


FOREIGN = {
    "a state folder of another kind": ["state/notes.txt"],
    "a state folder with other folders": ["state/alice/notes.txt", "state/000000/state.json"],
    "a state that was gone on with": ["state/000012/state.json"],
    "weights without a state": ["model.safetensors"],
    "weights and a state folder of another kind": ["model.safetensors", "state/mine/a"],
    "weights and an empty state": ["model.safetensors", "state/.000000.1/a"],
    "other files beside a state": ["state/000000/state.json", "thesis.tex"],
    "a hidden file": [".env"],
}


@pytest.mark.parametrize("files", FOREIGN.values(), ids=FOREIGN.keys())
def test_a_folder_of_something_else_is_refused_and_stays_as_it_is(files, tmp_path):
    out = tmp_path / "out"
    for name in files:
        (out / name).parent.mkdir(parents=True, exist_ok=True)
        (out / name).write_text("mine")
    with pytest.raises(OutputError, match="is no training run"):
        train(recipe_of_two(tmp_path), out)
    assert sorted(str(f.relative_to(out)) for f in out.rglob("*") if f.is_file()) == sorted(files)


BEGUN = {
    "nothing": [],
    "the lock of a process that was killed": [LOCK_FILE],
    "half a state": ["state/.000000.123/model.safetensors"],
    "the first state and half of the weights": [
        "state/000000/state.json",
        ".0123456789abcdef.interp-partial",
    ],
    "the first state and the weights": ["state/000000/state.json", "model.safetensors", LOCK_FILE],
}


@pytest.mark.parametrize("files", BEGUN.values(), ids=BEGUN.keys())
def test_a_run_that_was_killed_before_its_first_save_begins_anew(files, tmp_path):
    out = tmp_path / "out"
    out.mkdir()
    for name in files:
        (out / name).parent.mkdir(parents=True, exist_ok=True)
        (out / name).write_text("cut short")
    assert recorded_run(recipe_of_two(tmp_path), out) is None
    train(recipe_of_two(tmp_path, optimization__steps=3), out)
    assert load(out).config["step"] == 3
    assert not list(out.glob(".*"))


def test_dropping_states_leaves_everything_else(tmp_path):
    for name in ("000002", "000004", ".000006.77", "1234", "old", ".hidden"):
        (tmp_path / name).mkdir()
    (tmp_path / "notes.txt").write_text("mine")
    drop_states(tmp_path, {4})
    assert {f.name for f in tmp_path.iterdir()} == {
        "000004",
        "1234",
        "old",
        ".hidden",
        "notes.txt",
    }
    drop_states(tmp_path, set())
    assert saved_steps(tmp_path) == []
    assert (tmp_path / "notes.txt").read_text() == "mine"


def test_a_second_process_is_refused(copied):
    text, out = copied
    with (
        locked(out),
        pytest.raises(OutputError, match="another process is writing to it"),
    ):
        train(recipe_of_two(text, optimization__steps=8), out)
    assert not (out / LOCK_FILE).exists()
    train(recipe_of_two(text, optimization__steps=8), out)


def test_a_folder_is_locked_while_its_run_goes_on_and_not_after(tmp_path):
    out = tmp_path / "run"
    found = []

    def try_to_lock(_at) -> None:
        with pytest.raises(filelock.Timeout):
            filelock.FileLock(out / LOCK_FILE, timeout=0).acquire()
        found.append(True)

    train(recipe_of_two(tmp_path, optimization__steps=3), out, progress=try_to_lock)
    assert len(found) == 3
    assert not (out / LOCK_FILE).exists()


def test_text_that_cannot_be_read_leaves_no_folder(tmp_path):
    recipe = recipe_of_two(tmp_path)
    (tmp_path / "zh.jsonl").unlink()
    with pytest.raises(InputError):
        train(recipe, tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_a_finished_run_that_is_given_more_steps_keeps_its_checkpoint(copied):
    text, out = copied
    before = {f.name: f.read_bytes() for f in out.iterdir() if f.is_file()}
    before.pop("metrics.jsonl")
    with contextlib.suppress(Killed):
        train(recipe_of_two(text, optimization__steps=9), out, progress=killed_at(5))
    kept = out / "steps" / "000006"
    assert {f.name: f.read_bytes() for f in kept.iterdir()} == before
    assert load(kept).config["is_done"] is True
    result = train(recipe_of_two(text, optimization__steps=9), out)
    assert result.step == 9
    assert {f.name: f.read_bytes() for f in kept.iterdir()} == before


def test_a_finished_checkpoint_is_kept_once_though_a_kill_left_the_next_weights(copied):
    _, out = copied
    keep_finished(out, 6)
    expected = weights(out)
    shutil.copy(out / "state" / "000004" / "model.safetensors", out / "model.safetensors")
    keep_finished(out, 6)
    kept = weights(out / "steps" / "000006")
    assert all((expected[name] == value).all() for name, value in kept.items())


def test_a_kill_as_a_finished_run_is_gone_on_with_leaves_no_false_end(copied, monkeypatch):
    text, out = copied
    expected = weights(out)

    def save_only_weights(folder, model, **_facts) -> None:
        write_tensors(folder / "model.safetensors", dict(model.named_parameters()))
        raise Killed

    with monkeypatch.context() as patched:
        patched.setattr(importlib.import_module("interp.training.train"), "save", save_only_weights)
        with pytest.raises(Killed):
            train(recipe_of_two(text, optimization__steps=9), out)
    found = weights(out)
    assert any((expected[name] != found[name]).any() for name in expected)
    train(recipe_of_two(text), out)  # is not taken for done
    assert all((expected[name] == value).all() for name, value in weights(out).items())


def test_more_steps_give_what_they_would_have_given_at_once(copied, tmp_path):
    text, out = copied
    train(recipe_of_two(text, optimization__steps=9), out)
    train(recipe_of_two(text, optimization__steps=9), tmp_path / "at once")
    expected, found = weights(tmp_path / "at once"), weights(out)
    assert all((expected[name] == found[name]).all() for name in expected)
    counts = [load(folder).config["token_counts"] for folder in (tmp_path / "at once", out)]
    assert counts[0] == counts[1]


def test_a_state_of_the_decay_that_is_taken_back_is_never_gone_on_from(tmp_path):
    # of 6 + 2 decay steps, stopped at 7; then 9 steps, whose decay begins at 7
    text, out = tmp_path, tmp_path / "run"
    with contextlib.suppress(Killed):
        train(recipe_of_two(text, optimization__steps=8), out, progress=killed_at(7))
    state = out / "state" / "000006"
    assert state.is_dir()
    stale = Path(shutil.copytree(state, out / "state" / "000007"))
    facts = json.loads((stale / "state.json").read_text())
    (stale / "state.json").write_text(json.dumps(facts | {"step": 7}))
    with contextlib.suppress(Killed):
        train(recipe_of_two(text, optimization__steps=9), out, progress=killed_at(7))
    train(recipe_of_two(text, optimization__steps=9), out)
    train(recipe_of_two(text, optimization__steps=9), tmp_path / "at once")
    expected, found = weights(tmp_path / "at once"), weights(out)
    assert all((expected[name] == found[name]).all() for name in expected)


def test_a_kill_after_the_last_save_leaves_no_state_behind(finished, tmp_path):
    text, _ = finished
    recipe = recipe_of_two(text, keeping__keep_state=False)
    train(recipe, tmp_path / "run")
    (tmp_path / "run" / "state" / "000006").mkdir(parents=True)
    assert train(recipe, tmp_path / "run").step == 6
    assert not (tmp_path / "run" / "state").exists()


def test_a_finished_run_whose_weights_are_gone_is_not_done(copied):
    text, out = copied
    expected = weights(out)
    (out / "model.safetensors").unlink()
    train(recipe_of_two(text), out)
    assert all((expected[name] == value).all() for name, value in weights(out).items())


def test_a_finished_run_whose_weights_are_damaged_is_not_called_finished(copied):
    text, out = copied
    (out / "model.safetensors").write_bytes(b"x")
    with pytest.raises(CheckpointError, match=r"model\.safetensors is damaged"):
        train(recipe_of_two(text), out)


@pytest.mark.parametrize("name", ["state", "steps", "steps/000006", "metrics.jsonl"])
def test_a_link_out_of_the_folder_is_refused_and_nothing_there_is_changed(name, copied, tmp_path):
    text, out = copied
    (out / "steps" / "000006").mkdir(parents=True)
    (out / name).rename(tmp_path / "other")
    (out / name).symlink_to(tmp_path / "other")
    before = sorted((f, f.stat().st_mtime_ns) for f in tmp_path.rglob("*"))
    with pytest.raises(OutputError, match=f"{name}: a link, which is not followed"):
        train(recipe_of_two(text, optimization__steps=9), out)
    assert sorted((f, f.stat().st_mtime_ns) for f in tmp_path.rglob("*")) == before


def test_metrics_that_are_a_pipe_are_refused(copied):
    text, out = copied
    (out / "metrics.jsonl").unlink()
    os.mkfifo(out / "metrics.jsonl")
    with pytest.raises(OutputError, match="no regular file"):
        train(recipe_of_two(text, optimization__steps=9), out)


def test_the_order_of_corpora_in_a_recipe_is_nothing(finished, tmp_path):
    text, out = finished
    recipe = recipe_of_two(text)
    swapped = recipe_of_two(text, corpora=dict(reversed(recipe.to_dict()["corpora"].items())))
    assert list(swapped.corpora) == ["zh", "en"]
    train(swapped, tmp_path / "run")
    assert all((weights(out)[n] == value).all() for n, value in weights(tmp_path / "run").items())


@pytest.mark.parametrize("has_earlier", [True, False])
def test_a_damaged_state_says_what_can_be_done(has_earlier, copied):
    text, out = copied
    if has_earlier:
        shutil.copytree(out / "state" / "000004", out / "state" / "000002")
    (out / "state" / "000004" / "state.json").write_text("{")
    with pytest.raises(CheckpointError, match="damaged") as caught:
        train(recipe_of_two(text, optimization__steps=8), out)
    expected = "to go on from step 2" if has_earlier else "Name another --out"
    assert expected in (caught.value.hint or "")
