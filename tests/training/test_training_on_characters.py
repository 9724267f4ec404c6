import json

import pytest
import torch
from small_runs import config, small_recipe

from interp import load
from interp.errors import InputError, RecipeError
from interp.model.loss import document_losses
from interp.training import train
from interp.training.recipe import Optimization

TEXT = "To be, or not to be: that is the question. Né à 上海. " * 40


@pytest.fixture(autouse=True)
def _own_cache(monkeypatch, tmp_path):
    monkeypatch.setenv("INTERP_CACHE", str(tmp_path / "cache"))


def recipe(tmp_path, text=TEXT, **settings):
    path = tmp_path / "text.txt"
    path.write_text(text, "utf-8")
    of_characters = {"tokenizer": "characters", "held_out_fraction": 0, "held_out_last": 0.1}
    return small_recipe(path, **of_characters | settings)


def test_the_checkpoint_holds_the_characters_and_knows_what_was_held_out(tmp_path):
    result = train(recipe(tmp_path), tmp_path / "run")
    checkpoint = load(tmp_path / "run")
    assert "".join(sorted(set(TEXT))) == config(tmp_path / "run")["tokenizer"]["characters"]
    assert checkpoint.model.config.d_vocab == len(set(TEXT))

    content = TEXT.encode()
    held_out = checkpoint.split.held_out_part(content)
    assert content.endswith(held_out[:])
    assert checkpoint.is_held_out(content) is None
    (found,) = document_losses(
        checkpoint.model,
        [held_out],
        n_ctx=32,
        device=torch.device("cpu"),
        tokenizer=checkpoint.tokenizer,
    )
    measured = result.held_out["text"]
    assert measured.n_bytes == found.n_bytes == len(held_out) - len(held_out[:].decode()[0])
    assert measured.nats_per_byte == pytest.approx(found.total_nats / found.n_bytes, abs=1e-5)

    # every id of the first windows, which overlap in none: fewer tokens than bytes
    counts = config(tmp_path / "run")["token_counts"]
    assert sum(counts) == 12 * 4 * 32
    assert sum(counts) < config(tmp_path / "run")["n_bytes_seen"] < 1.2 * sum(counts)


def test_nothing_of_the_end_is_trained_on(tmp_path):
    text = "ab" * 300 + "\n" + "a" * 80
    train(recipe(tmp_path, text, keeping__held_out_bytes=9999), tmp_path / "run")
    corpus = config(tmp_path / "run")["corpora"]["text"]
    assert corpus["n_bytes"] == int(0.9 * len(text))


def test_a_character_that_only_the_end_has_is_named(tmp_path):
    with pytest.raises(InputError, match="held-out text of corpus text: no token for 'Z'"):
        train(recipe(tmp_path, TEXT + "Z"), tmp_path / "run")
    assert not (tmp_path / "run" / "config.json").exists()


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"held_out_last": 1.0}, "held_out_last must be 0 to below 1"),
        ({"held_out_fraction": 0.1}, "held_out_last excludes"),
        ({"held_out_last": 0.0}, "needs held_out text"),
        ({"tokenizer": "words"}, "tokenizer"),
    ],
)
def test_what_cannot_be_is_refused(tmp_path, settings, said):
    with pytest.raises(RecipeError, match=said):
        recipe(tmp_path, **settings)


def test_bytes_can_have_their_end_held_out_too(tmp_path):
    result = train(recipe(tmp_path, tokenizer="bytes"), tmp_path / "run")
    content = TEXT.encode()
    held_out = load(tmp_path / "run").split.held_out_part(content)
    assert result.held_out["text"].n_bytes == len(held_out)
    assert json.loads((tmp_path / "run" / "config.json").read_text())["split"]["last"] == 0.1


def test_a_cosine_ends_at_its_final_fraction():
    rates = Optimization(steps=100, warmup_steps=10, learning_rate=1.0, final_fraction=0.1)
    assert rates.learning_rate_at(9) == rates.learning_rate_at(10) == 1.0
    assert rates.learning_rate_at(55) == pytest.approx(0.55)
    assert rates.learning_rate_at(99) == pytest.approx(0.1, abs=1e-3)


def test_an_end_in_which_nothing_is_predicted_is_refused(tmp_path):
    with pytest.raises(InputError, match="no held-out text to predict"):
        train(recipe(tmp_path, held_out_last=1e-9), tmp_path / "run")


@pytest.mark.parametrize("setting", [{"scaling": "ntk:2"}, {"trained_spans": [5.0]}])
def test_a_model_is_stretched_when_it_is_loaded_and_not_in_training(tmp_path, setting):
    with pytest.raises(RecipeError, match="is for trained models"):
        recipe(tmp_path, model__position={"encoding": "rope"} | setting)


@pytest.mark.parametrize("scope", ["shared", "per_layer"])
def test_layers_without_positions_go_with_increments_of_every_head(tmp_path, scope):
    position = {"per_head": True, "unrotated_every": 2, "scope": scope, "d_hidden": 8}
    train(recipe(tmp_path, model__position=position), tmp_path / "run")
    spans = config(tmp_path / "run")["position_span"]
    assert [len(of_layer) for of_layer in spans] == [2, 2]
    assert spans[1] == [0.0, 0.0]
