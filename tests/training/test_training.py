import importlib
import json
import math

import pytest
import torch
from safetensors.torch import load_file
from small_runs import config, metrics, refusal, small_recipe, weights, write_text

from interp.checkpoints import load
from interp.corpus.split import document_hash
from interp.errors import InputError, RecipeError, TrainingError
from interp.model.loss import document_losses
from interp.tokenizer import BYTES
from interp.training import recipe_from_dict, train
from interp.training.held_out import held_out_losses
from interp.training.text import read_text

LOOP = importlib.import_module("interp.training.train")


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
    assert recipe_from_dict(said["recipe"]) == recipe
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
        tokenizer=BYTES,
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
        {"model__d_model": 10**14},
        {"model__n_layers": 10**10},
        {"model__d_mlp": 10**15},
    ],
)
def test_a_model_that_no_machine_holds_is_refused_at_once(text, tmp_path, sizes):
    assert "weights" in refusal(RecipeError, small_recipe(text, **sizes), tmp_path / "run")
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
