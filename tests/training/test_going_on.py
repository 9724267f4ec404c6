import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from small_runs import Stop, config, metrics, refusal, small_recipe, stop_at, weights, write_text

from interp.checkpoints import load
from interp.errors import InterpError, OutputError
from interp.training import train


@pytest.mark.parametrize("step", [1, 5, 9])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_saves_and_the_same_call_goes_on(recipe, undisturbed, tmp_path, step, number):
    out = tmp_path / "run"
    handlers = [signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM)]
    stopped = train(recipe, out, progress=stop_at(step, lambda: os.kill(os.getpid(), number)))
    assert [signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM)] == handlers
    assert stopped.is_interrupted
    assert (stopped.step, stopped.held_out) == (step, {})
    assert config(out)["step"] == step
    load(out)

    done = train(recipe, out)
    assert not done.is_interrupted
    assert weights(out) == weights(undisturbed)
    assert weights(out / "steps" / "000005") == weights(undisturbed / "steps" / "000005")
    assert [line["step"] for line in metrics(out)] == list(range(1, 13))
    assert [line["loss_nats"] for line in metrics(out)] == [
        line["loss_nats"] for line in metrics(undisturbed)
    ]


def test_what_breaks_off_a_run_costs_the_time_since_the_last_save(recipe, undisturbed, tmp_path):
    out = tmp_path / "run"
    with pytest.raises(Stop):
        train(recipe, out, progress=stop_at(7))
    assert config(out)["step"] == 0
    train(recipe, out)
    assert weights(out) == weights(undisturbed)
    assert [line["step"] for line in metrics(out)] == list(range(1, 13))


@pytest.mark.usefixtures("saves_always")
def test_a_run_that_is_stopped_and_saved_all_the_time_is_the_same(recipe, undisturbed, tmp_path):
    out = tmp_path / "run"
    for step in (1, 2, 6, 11, 12):
        with pytest.raises(Stop):
            train(recipe, out, progress=stop_at(step))
    train(recipe, out)
    assert weights(out) == weights(undisturbed)
    assert [line["step"] for line in metrics(out)] == list(range(1, 13))


def test_a_kill_at_any_file_operation_costs_no_checkpoint(text, tmp_path):
    numbers = [0, 2, 7, 16, 32, 55, 80, 110]  # of about 130
    program = Path(__file__).with_name("run_and_be_killed.py")
    done = subprocess.run(
        [sys.executable, str(program), str(text), str(tmp_path), *map(str, numbers)],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path), "OMP_NUM_THREADS": "1"},
        capture_output=True,
        check=True,
        text=True,
    )
    first, *statuses = map(int, done.stdout.split())
    assert first == 0
    assert not any(statuses[1::2]), done.stderr  # every run could be gone on with
    assert sum(status == -9 for status in statuses[::2]) == len(numbers)
    for number in numbers:
        out = tmp_path / f"killed-{number}"
        assert weights(out) == weights(tmp_path / "undisturbed")
        assert [line["step"] for line in metrics(out)] == list(range(1, 7))
        load(out)
        load(out / "steps" / "000003")
        names = {entry.name for entry in out.iterdir()}
        assert names == {
            *{"README.md", "config.json", "model.safetensors", "metrics.jsonl"},
            *{"state", "steps"},
        }
        assert [entry.name for entry in (out / "state").iterdir()] == ["000004"]


def test_a_finished_run_is_left_as_it_is(tmp_path):
    own = write_text(tmp_path / "own.jsonl")
    recipe = small_recipe(own)
    first = train(recipe, tmp_path / "run")
    before = {f: f.stat().st_mtime_ns for f in (tmp_path / "run").rglob("*")}
    own.unlink()  # nothing is read again
    assert train(recipe, tmp_path / "run") == first
    assert {f: f.stat().st_mtime_ns for f in (tmp_path / "run").rglob("*")} == before


def test_another_licence_is_said_and_trains_nothing_again(text, tmp_path):
    first = train(small_recipe(text), tmp_path / "run")
    before = weights(tmp_path / "run")
    again = train(small_recipe(text, licence="Weights: CC0."), tmp_path / "run")
    assert again == first
    assert weights(tmp_path / "run") == before
    assert config(tmp_path / "run")["recipe"]["licence"] == "Weights: CC0."
    assert "Weights: CC0." in (tmp_path / "run" / "README.md").read_text("utf-8")
    assert not (tmp_path / "run" / "steps").exists()


def test_a_stopped_run_goes_on_where_it_was_under_another_licence(text, tmp_path):
    stop = stop_at(10, lambda: os.kill(os.getpid(), signal.SIGINT))
    assert train(small_recipe(text), tmp_path / "run", progress=stop).step == 10
    steps = []
    train(
        small_recipe(text, licence="Weights: CC0."),
        tmp_path / "run",
        progress=lambda at: steps.append(at.step),
    )
    assert steps == [11, 12]


@pytest.mark.parametrize(
    ("settings", "key"),
    [
        ({"seed": 1}, "seed"),
        ({"model__d_mlp": 64}, "model.d_mlp"),
        ({"optimization__learning_rate": 1e-3}, "optimization.learning_rate"),
        ({"optimization__steps": 20, "optimization__warmup_steps": 13}, "warmup_steps"),
        ({"optimization__schedule": "cosine"}, "schedule"),
        ({"keeping__keep_steps": []}, "keeping.keep_steps"),
        ({"name": "other"}, "name"),
    ],
)
def test_a_run_of_another_recipe_is_refused_by_the_key(text, undisturbed, settings, key):
    before = weights(undisturbed)
    changed = small_recipe(text, **({"keeping__keep_steps": [5]} | settings))
    assert key in refusal(OutputError, changed, undisturbed)
    assert weights(undisturbed) == before


def test_a_folder_with_something_else_is_refused(recipe, tmp_path):
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "thesis.tex").write_text("years of work")
    assert "no training run" in refusal(OutputError, recipe, tmp_path / "full")
    (tmp_path / "file").write_text("in the way")
    refusal(OutputError, recipe, tmp_path / "file")
    refusal(OutputError, recipe, tmp_path / "file" / "below")
    assert [f.name for f in (tmp_path / "full").iterdir()] == ["thesis.tex"]


@pytest.mark.parametrize("content", [b"", b"[]", b'{"recipe": 5}', b'{"recipe": {}}', b"\xff"])
def test_a_config_of_something_else_is_refused(recipe, tmp_path, content):
    (tmp_path / "config.json").write_bytes(content)
    refusal(OutputError, recipe, tmp_path)
    assert (tmp_path / "config.json").read_bytes() == content


def test_a_checkpoint_without_its_state_is_not_trained_over(recipe, tmp_path):
    out = tmp_path / "run"
    train(recipe, out, progress=stop_at(6, lambda: os.kill(os.getpid(), signal.SIGTERM)))
    before = weights(out)
    for file in sorted((out / "state").rglob("*"), reverse=True):
        file.rmdir() if file.is_dir() else file.unlink()
    assert "state" in refusal(OutputError, recipe, out)
    assert weights(out) == before


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("optimizer.safetensors", b"short"),
        ("state.json", b"[]"),
        ("state.json", b'{"step": 1e999, "seconds": 1}'),
        ("state.json", b"[" * 100_000),
    ],
)
def test_a_damaged_state_is_one_line(recipe, tmp_path, name, content):
    out = tmp_path / "run"
    train(recipe, out, progress=stop_at(6, lambda: os.kill(os.getpid(), signal.SIGTERM)))
    (out / "state" / "000006" / name).write_bytes(content)
    assert "damaged" in refusal(InterpError, recipe, out)
    load(out)


def test_text_that_has_changed_since_is_refused(tmp_path):
    own = write_text(tmp_path / "own.jsonl")
    recipe, out = small_recipe(own), tmp_path / "run"
    train(recipe, out, progress=stop_at(6, lambda: os.kill(os.getpid(), signal.SIGTERM)))
    before = weights(out)
    write_text(own, seed=1)
    assert "changed" in refusal(OutputError, recipe, out)
    assert weights(out) == before


@pytest.mark.parametrize("is_finished", [True, False])
def test_a_run_with_more_steps_is_that_of_a_fresh_longer_one(text, tmp_path, is_finished):
    short = small_recipe(text, keeping__keep_state=True)
    long = small_recipe(text, keeping__keep_state=True, optimization__steps=18)
    train(long, tmp_path / "fresh")
    stop = None if is_finished else stop_at(10, lambda: os.kill(os.getpid(), signal.SIGTERM))
    out = tmp_path / "continued"
    assert train(short, out, progress=stop).is_interrupted != is_finished
    done = train(long, out)
    assert (done.step, done.n_steps) == (18, 18)
    assert weights(out) == weights(tmp_path / "fresh")
    assert [line["step"] for line in metrics(out)] == list(range(1, 19))
    assert config(out)["recipe"]["optimization"]["steps"] == 18
    # and once more, from the state before the second decay
    longer = small_recipe(text, keeping__keep_state=True, optimization__steps=20)
    assert train(longer, out).step == 20


def test_more_steps_need_a_state_from_before_the_decay(text, tmp_path):
    out = tmp_path / "run"
    train(small_recipe(text), out)
    before = weights(out)
    longer = small_recipe(text, optimization__steps=18)
    assert "before the decay" in refusal(OutputError, longer, out)
    assert weights(out) == before


def test_a_cosine_run_is_the_same_when_it_is_interrupted(text, tmp_path):
    recipe = small_recipe(text, optimization__schedule="cosine", optimization__decay_steps=0)
    train(recipe, tmp_path / "whole")
    out = tmp_path / "parts"
    train(recipe, out, progress=stop_at(7, lambda: os.kill(os.getpid(), signal.SIGTERM)))
    train(recipe, out)
    assert weights(out) == weights(tmp_path / "whole")
