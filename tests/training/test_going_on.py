import json
import math
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file
from small_runs import Stop, config, metrics, refusal, small_recipe, stop_at, weights, write_text

from interp.checkpoints import load
from interp.errors import CheckpointError, OutputError
from interp.training import train
from interp.training.learner import Learner


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


def test_a_signal_in_the_middle_of_a_step_gives_that_step_up(
    recipe, undisturbed, tmp_path, monkeypatch
):
    real, drawn = Learner.windows, []

    def windows(self, first, count):
        drawn.append(first)
        if len(drawn) == 13:  # of 2 for each step: the first half of the seventh
            os.kill(os.getpid(), signal.SIGINT)
        return real(self, first, count)

    with monkeypatch.context() as patched:
        patched.setattr(Learner, "windows", windows)
        stopped = train(recipe, tmp_path / "run")
    assert (stopped.step, stopped.is_interrupted) == (6, True)
    assert drawn[12:] == [24, 24]  # the seventh step's, and again to see that the weights are sound
    train(recipe, tmp_path / "run")
    assert weights(tmp_path / "run") == weights(undisturbed)


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


@pytest.fixture(scope="module")
def stopped(text, tmp_path_factory) -> Path:
    """A run that was stopped at step 6; not to be changed."""
    out = tmp_path_factory.mktemp("runs") / "stopped"
    recipe = small_recipe(text, keeping__keep_steps=[5])
    train(recipe, out, progress=stop_at(6, lambda: os.kill(os.getpid(), signal.SIGTERM)))
    return out


def rewrite(name: str, change):
    """A damage: every tensor of the file becomes what ``change`` makes of it."""

    def damage(state: Path) -> None:
        tensors = load_file(state / name)
        save_file({key: change(tensor) for key, tensor in tensors.items()}, state / name)

    return damage


def say(**facts):
    """A damage: state.json says something else."""

    def damage(state: Path) -> None:
        said = json.loads((state / "state.json").read_text())
        (state / "state.json").write_text(json.dumps(said | facts))

    return damage


def be_pipe(state: Path) -> None:
    (state / "state.json").unlink()
    os.mkfifo(state / "state.json")


DAMAGES = {
    "short": lambda state: (state / "optimizer.safetensors").write_bytes(b"short"),
    "other facts": lambda state: (state / "state.json").write_bytes(b"[]"),
    "deep facts": lambda state: (state / "state.json").write_bytes(b"[" * 100_000),
    "a pipe": be_pipe,
    "one moment for all": rewrite("optimizer.safetensors", lambda _: torch.ones(1)),
    "whole moments": rewrite("optimizer.safetensors", lambda tensor: tensor.to(torch.int64)),
    "one weight for all": rewrite("model.safetensors", lambda _: torch.ones(1)),
    "whole weights": rewrite("model.safetensors", lambda tensor: tensor.to(torch.int64)),
    "infinite weights": rewrite("model.safetensors", lambda tensor: tensor / 0),
    "infinite step": say(step=math.inf),
    "another step": say(step=7),
    "no number": say(step=True),
    "negative counts": say(token_counts=[-1] * 257),
    "few counts": say(token_counts=[1]),
    "no time": say(seconds=math.nan),
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES.keys())
def test_a_damaged_state_is_one_line(damage, recipe, stopped, tmp_path):
    out = Path(shutil.copytree(stopped, tmp_path / "run"))
    damage(out / "state" / "000006")
    assert "000006: it is damaged (" in refusal(CheckpointError, recipe, out)
    assert weights(out) == weights(stopped)
    load(out)


def test_metrics_that_are_no_metrics_are_dropped(recipe, stopped, tmp_path):
    out = Path(shutil.copytree(stopped, tmp_path / "run"))
    (out / "metrics.jsonl").write_text("[" * 100_000)
    train(recipe, out)
    assert [line["step"] for line in metrics(out)] == list(range(7, 13))


def with_loss(**changed):
    return lambda config: config["held_out_loss"]["text"].update(changed)


DAMAGED_CONFIGS = {
    "null loss": with_loss(nats_per_byte=None),
    "no finite loss": with_loss(nats_per_byte=math.nan),
    "text as a loss": with_loss(nats_per_byte="x"),
    "text as a count": with_loss(n_bytes="x"),
    "a loss without its count": lambda config: config["held_out_loss"]["text"].pop("n_bytes"),
    "no architecture": lambda config: config.pop("architecture"),
    "no position": lambda config: config["architecture"].pop("position"),
    "no versions": lambda config: config.pop("versions"),
    "null tokenizer": lambda config: config.update(tokenizer=None),
    "text as bytes seen": lambda config: config.update(n_bytes_seen="x"),
}


@pytest.mark.parametrize("damage", DAMAGED_CONFIGS.values(), ids=DAMAGED_CONFIGS.keys())
def test_a_damaged_config_of_a_finished_run_is_one_line(damage, recipe, undisturbed, tmp_path):
    out = Path(shutil.copytree(undisturbed, tmp_path / "run"))
    damaged = config(out)
    damage(damaged)
    (out / "config.json").write_text(json.dumps(damaged))
    assert "config.json is damaged" in refusal(OutputError, recipe, out)


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
