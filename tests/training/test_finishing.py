import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from two_corpora import recipe_of_two

from interp.checkpoints import load
from interp.corpus.sources import TextInput
from interp.extraction.extract import extract
from interp.training import train
from interp.training.text import read_text
from interp.training.train import _Run


@pytest.fixture(scope="module", params=["float32", "bfloat16"])
def run(request, tmp_path_factory):
    """The recipe and the folder of a run under bfloat16 autocast, by the type of its weights."""
    text = tmp_path_factory.mktemp("text")
    recipe = recipe_of_two(
        text,
        autocast="bfloat16",
        keeping__weights=request.param,
        optimization__learning_rate=0.01,
        keeping__held_out_bytes=60,
    )
    train(recipe, text / "run")
    return recipe, text / "run"


def test_the_held_out_loss_is_what_extraction_finds_in_the_stored_weights(run, tmp_path):
    recipe, out = run
    checkpoint = load(out)
    assert checkpoint.config["weights"] == recipe.keeping.weights
    for name, corpus in recipe.corpora.items():
        held_out = [
            d
            for d in TextInput(corpora=corpus.train).documents()
            if checkpoint.split.is_held_out(d.content)
        ]
        table = extract(
            checkpoint,
            lambda held_out=held_out: iter(held_out),
            tmp_path / name,
            signals=("surprisal",),
            stride=recipe.model.n_ctx,
        )
        nats = [d.values[1:, 0] for d in table.read_documents("surprisal")]
        loss = checkpoint.config["held_out_loss"][name]
        assert loss["n_documents"] == len(held_out)
        assert loss["n_bytes"] == sum(map(len, nats)) > 60  # more than the subset
        assert loss["nats_per_byte"] == pytest.approx(np.concatenate(nats).mean(), abs=1e-6)


@pytest.mark.parametrize(("change", "expected"), [(0.0009, "bfloat16"), (0.0011, "float32")])
def test_weights_are_rounded_only_where_that_hardly_changes_the_loss(
    change, expected, tmp_path, monkeypatch
):
    real = _Run.measure

    def measure(self, *arguments) -> None:
        real(self, *arguments)
        if all(p.to(torch.bfloat16).float().equal(p) for p in self.model.parameters()):
            self.held_out = {
                name: replace(loss, nats_per_byte=loss.nats_per_byte + change)
                for name, loss in self.exact.items()
            }
        else:
            self.exact = self.held_out

    monkeypatch.setattr(_Run, "measure", measure)
    train(recipe_of_two(tmp_path, keeping__weights="bfloat16"), tmp_path / "run")
    assert load(tmp_path / "run").config["weights"] == expected


def test_token_counts_are_of_the_windows_that_were_read(run):
    recipe, out = run
    config = json.loads((out / "config.json").read_text("utf-8"))
    n_windows = recipe.optimization.steps * recipe.optimization.batch_size
    windows = read_text(recipe).windows(0, n_windows)
    expected = np.bincount(windows[:, :-1].ravel(), minlength=257)
    assert config["token_counts"] == expected.tolist()
    assert sum(config["token_counts"]) == config["n_bytes_seen"]


def test_a_state_without_counts_is_counted_when_it_is_gone_on_from(tmp_path):
    recipe = recipe_of_two(tmp_path)
    train(recipe, tmp_path / "run")
    expected = load(tmp_path / "run").config["token_counts"]
    facts = tmp_path / "run" / "state" / "000004" / "state.json"
    assert sum(json.loads(facts.read_text())["token_counts"]) == 4 * 2 * 16
    facts.write_text(json.dumps({"step": 4, "seconds": 1.5}))
    (tmp_path / "run" / "model.safetensors").unlink()  # so that the run is not done
    train(recipe, tmp_path / "run")
    assert load(tmp_path / "run").config["token_counts"] == expected


def test_the_card_of_a_run_that_is_not_done_says_what_its_loss_is_of(tmp_path):
    train(recipe_of_two(tmp_path, keeping__keep_steps=[3]), tmp_path / "run")
    said = "over the first of the held-out documents alone"
    assert said in card(tmp_path / "run" / "steps" / "000003")
    assert said not in card(tmp_path / "run")


def card(folder: Path) -> str:
    return re.sub(r"\s+", " ", (folder / "README.md").read_text("utf-8"))
