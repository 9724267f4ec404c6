import importlib
import json
import math
import os
import signal
import subprocess
import sys
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from safetensors.torch import load_file
from small_runs import small_recipe, write_text

from interp.checkpoints import load
from interp.corpus.split import document_hash
from interp.errors import InputError, InterpError, OutputError, RecipeError, TrainingError
from interp.model.loss import document_losses
from interp.training import train
from interp.training.held_out import held_out_losses
from interp.training.text import read_text

LOOP = importlib.import_module("interp.training.train")


@pytest.fixture(scope="module")
def text(tmp_path_factory) -> Path:
    return write_text(tmp_path_factory.mktemp("text") / "rows.jsonl")


@pytest.fixture(scope="module")
def undisturbed(text, tmp_path_factory) -> Path:
    """A finished run, never interrupted; not to be changed."""
    out = tmp_path_factory.mktemp("runs") / "undisturbed"
    train(small_recipe(text, keeping__keep_steps=[5]), out)
    return out


@pytest.fixture
def recipe(text):
    return small_recipe(text, keeping__keep_steps=[5])


@pytest.fixture
def saves_always(monkeypatch):
    """A clock on which the time to save has always come."""
    ticks = count(step=100_000.0)
    monkeypatch.setattr(LOOP, "time", SimpleNamespace(monotonic=lambda: next(ticks)))


def weights(out: Path) -> bytes:
    return (out / "model.safetensors").read_bytes()


def config(out: Path) -> dict[str, Any]:
    return json.loads((out / "config.json").read_text("utf-8"))


def metrics(out: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (out / "metrics.jsonl").read_text("utf-8").splitlines()]


def refusal(error: type[InterpError], *arguments: Any, **settings: Any) -> str:
    with pytest.raises(error) as caught:
        train(*arguments, **settings)
    assert len(str(caught.value).splitlines()) == 1
    return str(caught.value)


class Stop(Exception):
    """What a test throws into a run."""


def stop_at(step: int, action=None):
    def progress(at):
        if at.step == step:
            if action is None:
                raise Stop
            action()

    return progress


def test_training_lowers_the_loss(text, tmp_path):
    recipe = small_recipe(
        text,
        optimization__steps=80,
        optimization__batch_size=8,
        optimization__micro_batch_size=8,
        optimization__learning_rate=1e-2,
        keeping__held_out_every=1000,
    )
    result = train(recipe, tmp_path / "run")
    assert metrics(tmp_path / "run")[0]["loss_nats"] == pytest.approx(math.log(257), abs=0.1)
    assert not result.is_interrupted
    assert result.held_out["text"].nats_per_byte < 3.0
    loss = result.held_out["text"]
    assert loss.bits_per_byte == pytest.approx(loss.nats_per_byte / math.log(2))


def test_the_checkpoint_says_what_was_done(recipe, undisturbed):
    said = config(undisturbed)
    assert (said["step"], said["n_steps"], said["name"]) == (12, 12, "small")
    assert type(recipe).from_dict(said["recipe"]) == recipe
    assert said["n_bytes_seen"] == 12 * 4 * 32
    assert sum(said["token_counts"]) > 0
    assert said["held_out_loss"]["text"]["n_documents"] > 5
    assert 0 < said["corpora"]["text"]["passes"] < 1
    assert [len(layer) for layer in said["position_span"]] == [1, 1]
    assert 10 < said["position_span"][0][0] < 100
    assert said["versions"]["torch"] == torch.__version__
    assert not (undisturbed / "state").exists()
    load(undisturbed)


def test_the_loss_said_is_that_of_the_model_stored(recipe, undisturbed):
    checkpoint = load(undisturbed)
    contents = list(read_text(recipe).held_out["text"]())
    losses = list(document_losses(checkpoint.model, contents, n_ctx=32, device=torch.device("cpu")))
    expected = sum(loss.total_nats for loss in losses) / sum(map(len, contents))
    said = checkpoint.config["held_out_loss"]["text"]
    assert said["nats_per_byte"] == pytest.approx(expected, abs=1e-5)
    assert said["n_bytes"] == sum(map(len, contents))
    assert said["n_documents"] == len(contents)


def test_held_out_documents_are_never_trained_on(recipe, undisturbed):
    read = read_text(recipe)
    packed = bytes(read.packed["text"].tokens.astype("uint8"))
    held_out = list(read.held_out["text"]())
    assert held_out
    assert not any(content in packed for content in held_out)
    checkpoint = load(undisturbed)
    assert all(checkpoint.is_held_out(content) for content in held_out)


def test_text_given_as_held_out_is_kept_out_of_every_corpus(text, tmp_path):
    first = json.loads(text.read_text("utf-8").splitlines()[0])["text"]
    (tmp_path / "kept.jsonl").write_text(json.dumps({"text": first}), "utf-8")
    corpora = {
        "one": {"train": [str(text)], "held_out": [str(tmp_path / "kept.jsonl")]},
        "two": {"train": [str(text)]},
    }
    read = read_text(small_recipe(text, corpora=corpora))
    assert document_hash(first.encode()) in read.split.hashes
    for corpus in read.packed.values():
        assert first.encode() not in bytes(corpus.tokens.astype("uint8"))
    assert list(read.held_out["one"]()) == [first.encode()]


def test_metrics_have_every_step_once(undisturbed):
    lines = metrics(undisturbed)
    assert [line["step"] for line in lines] == list(range(1, 13))
    measured = [line["step"] for line in lines if "held_out_nats" in line]
    assert measured == [5, 10, 12]
    assert lines[0]["learning_rate"] == pytest.approx(1.5e-3)


def test_the_steps_asked_for_are_kept(undisturbed):
    checkpoint = load(undisturbed / "steps" / "000005")
    assert checkpoint.config["step"] == 5
    assert checkpoint.config["held_out_loss"]["text"]["n_bytes"] > 0
    assert weights(undisturbed / "steps" / "000005") != weights(undisturbed)


def test_accumulated_gradients_are_those_of_the_whole_batch(text, tmp_path):
    for name, micro in (("parts", 1), ("whole", 4)):
        recipe = small_recipe(text, optimization__micro_batch_size=micro, autocast="float32")
        train(recipe, tmp_path / name)
    parts, whole = (load(tmp_path / name).model for name in ("parts", "whole"))
    for one, other in zip(parts.parameters(), whole.parameters(), strict=True):
        assert torch.allclose(one, other, atol=2e-4)


def test_progress_is_told_after_every_step(recipe, tmp_path):
    told = []
    train(recipe, tmp_path / "run", progress=told.append)
    assert [at.step for at in told] == list(range(1, 13))
    assert all(at.n_steps == 12 and at.bytes_per_second > 0 for at in told)
    assert told[-1].seconds_left == 0
    assert told[-1].held_out_nats["text"] > 0


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


@pytest.mark.parametrize("rate", [1e30, 1e5])
@pytest.mark.usefixtures("saves_always")
def test_a_loss_that_is_not_finite_stops_and_keeps_the_last_good_checkpoint(text, tmp_path, rate):
    recipe = small_recipe(
        text,
        optimization__learning_rate=rate,
        optimization__warmup_steps=0,
        optimization__steps=40,
        autocast="float32",
    )
    out = tmp_path / "run"
    message = refusal(TrainingError, recipe, out)
    assert str(out) in message
    checkpoint = load(out)
    assert torch.isfinite(checkpoint.model(torch.tensor([[256, 97, 98]]))).all()
    assert all(math.isfinite(line["loss_nats"]) for line in metrics(out))


def test_a_held_out_loss_that_is_not_finite_stops_too(recipe, tmp_path, monkeypatch):
    from interp.model import Transformer

    real = Transformer.forward

    def forward(self, ids, stop_at_layer=None):
        logits = real(self, ids, stop_at_layer)
        return logits if torch.is_grad_enabled() else logits * float("nan")

    monkeypatch.setattr(Transformer, "forward", forward)
    assert "held-out" in refusal(TrainingError, recipe, tmp_path / "run")
    monkeypatch.undo()
    assert config(tmp_path / "run")["step"] == 0
    load(tmp_path / "run")


def test_a_finished_run_is_left_as_it_is(tmp_path):
    own = write_text(tmp_path / "own.jsonl")
    recipe = small_recipe(own)
    first = train(recipe, tmp_path / "run")
    before = {f: f.stat().st_mtime_ns for f in (tmp_path / "run").rglob("*")}
    own.unlink()  # nothing is read again
    assert train(recipe, tmp_path / "run") == first
    assert {f: f.stat().st_mtime_ns for f in (tmp_path / "run").rglob("*")} == before


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


def test_a_damaged_state_is_one_line(recipe, tmp_path):
    out = tmp_path / "run"
    train(recipe, out, progress=stop_at(6, lambda: os.kill(os.getpid(), signal.SIGTERM)))
    (out / "state" / "000006" / "optimizer.safetensors").write_bytes(b"short")
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


@pytest.mark.parametrize(("most", "kept"), [(1.0, "bfloat16"), (0.0, "float32")])
def test_finished_weights_are_rounded_only_if_that_changes_little(
    text, tmp_path, monkeypatch, most, kept
):
    monkeypatch.setattr(LOOP, "_MOST_BFLOAT16_CHANGE_NATS", most)
    recipe, out = small_recipe(text, keeping__weights="bfloat16"), tmp_path / "run"
    train(recipe, out)
    assert config(out)["weights"] == kept
    types = {tensor.dtype for tensor in load_file(out / "model.safetensors").values()}
    assert types == {getattr(torch, kept)}
    # the loss is that of the weights that are stored
    contents = read_text(recipe).held_out["text"]()
    losses = held_out_losses(
        load(out).model,
        {"text": contents},
        n_ctx=32,
        device=torch.device("cpu"),
        batch_size=4,
    )
    said = config(out)["held_out_loss"]["text"]["nats_per_byte"]
    assert said == pytest.approx(losses["text"].nats_per_byte, abs=1e-6)


def test_text_that_does_not_suffice_is_refused_before_anything_is_written(text, tmp_path):
    out = tmp_path / "run"
    short = write_text(tmp_path / "short.jsonl", n_documents=3)
    refusal(InputError, small_recipe(tmp_path / "missing.jsonl"), out)
    assert "held-out" in refusal(InputError, small_recipe(text, held_out_fraction=1e-9), out)
    too_long = small_recipe(short, model__n_ctx=100_000, held_out_fraction=0.5)
    refusal(InputError, too_long, out)
    assert not out.exists()


@pytest.mark.parametrize(
    "sizes",
    [
        {"model__d_model": 10**7},
        {"model__d_model": 10**30},
        {"model__n_layers": 10**10},
        {"model__d_mlp": 10**15},
    ],
)
def test_a_model_that_no_machine_holds_is_refused_at_once(text, tmp_path, sizes):
    assert "GB" in refusal(RecipeError, small_recipe(text, **sizes), tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_a_batch_that_no_machine_holds_is_one_line(text, tmp_path, monkeypatch):
    recipe = small_recipe(text)

    def refuse(*_arguments, **_settings):
        raise MemoryError

    monkeypatch.setattr("interp.training.text.training_windows", refuse)
    assert "at a time" in refusal(TrainingError, recipe, tmp_path / "run")


def test_an_unknown_device_is_one_line(recipe, tmp_path):
    assert "nonsense" in refusal(InputError, recipe, tmp_path / "run", device="nonsense")
    assert not (tmp_path / "run").exists()


def test_a_cosine_run_is_the_same_when_it_is_interrupted(text, tmp_path):
    recipe = small_recipe(text, optimization__schedule="cosine", optimization__decay_steps=0)
    train(recipe, tmp_path / "whole")
    out = tmp_path / "parts"
    train(recipe, out, progress=stop_at(7, lambda: os.kill(os.getpid(), signal.SIGTERM)))
    train(recipe, out)
    assert weights(out) == weights(tmp_path / "whole")
