"""Both sides of a benchmark do the same work, or its ratio means nothing."""

import numpy as np
import pytest
import torch

from benchmarks.family import plainly
from benchmarks.figures import Figure, median_seconds
from benchmarks.floor import increment_flops, training_flops
from benchmarks.opponents import names_filter, run_with_cache, sklearn_auc
from interp.analyses.statistics import clustered_auc
from interp.corpus.documents import Document
from interp.extraction.batches import Part, cut_into_parts
from interp.extraction.reader import SignalReader
from interp.extraction.signals import find_signals
from interp.model import IncrementsConfig, ModelConfig, RopeConfig, Transformer
from interp.model.config import AlibiConfig

SIZES = {"d_model": 32, "n_heads": 2, "n_layers": 2, "d_mlp": 64, "n_ctx": 16}


def test_increments_by_hand_are_those_of_the_extraction():
    model = Transformer(ModelConfig(**SIZES, position=IncrementsConfig()))
    with torch.no_grad():
        for parameter in model.position.parameters():
            parameter.normal_(0, 0.3)
    document = Document(source="", id="", content=b"How far apart? " * 5)
    part = Part.read(next(cut_into_parts([document], n_ctx=16, stride=8, part_tokens=1000)))
    windows = [
        part.tokens[first : first + length].astype(np.int64)
        for first, length in zip(part.first, part.length, strict=True)
    ]
    signals = find_signals(["increment"])
    looked_up = {"increment": signals[0].token_columns(model)}
    with torch.no_grad():
        reader = SignalReader(model, signals, looked_up, torch.device("cpu"), 64)
        ours = np.stack(list(reader.read(part)["increment"].values()), axis=-1)

    for by_hand in (run_with_cache, names_filter):
        theirs = by_hand.increments(model, windows, part.n_old.tolist())
        np.testing.assert_allclose(ours, theirs, atol=1e-5)


@pytest.mark.parametrize(
    "config",
    [
        ModelConfig(**SIZES, position=RopeConfig()),
        ModelConfig(**SIZES, position=RopeConfig(), is_tied=False, norm_eps=1e-6),
        ModelConfig(**SIZES, position=AlibiConfig(), is_tied=False, norm_eps=1e-6),
    ],
)
def test_the_plain_network_is_the_model(config):
    model, plain = Transformer(config), plainly(config)
    with torch.no_grad():
        plain.embed.weight.copy_(model.W_E)
        plain.unembed.weight.copy_(model.W_U.T)
        for theirs, ours in zip(plain.blocks, model.blocks, strict=True):
            theirs.qkv.weight.copy_(ours.attn.W_QKV)
            theirs.out.weight.copy_(ours.attn.W_out)
            theirs.gate.weight.copy_(ours.mlp.W_gate_in[: SIZES["d_mlp"]])
            theirs.up.weight.copy_(ours.mlp.W_gate_in[SIZES["d_mlp"] :])
            theirs.down.weight.copy_(ours.mlp.W_proj)
    ids = torch.randint(0, 256, (2, 16), generator=torch.Generator().manual_seed(0))

    torch.testing.assert_close(plain(ids), model(ids), atol=1e-5, rtol=1e-4)


def test_scikit_learns_area_is_ours():
    generator = np.random.default_rng(0)
    labels, scores = generator.random(1000) < 0.3, generator.normal(size=1000).round(1)

    ours = clustered_auc(labels, scores, np.arange(1000) // 10).value
    assert abs(ours - sklearn_auc.area(labels, scores)) < 1e-12


def test_operations_of_one_window_counted_by_hand():
    config = ModelConfig(
        d_model=4, n_heads=1, n_layers=2, d_mlp=8, n_ctx=8, position=IncrementsConfig(d_hidden=2)
    )
    weights = 4 * 4 * 4 + 3 * 4 * 8
    pairs = 1 + 2 + 3

    # one block and one DeltaMLP of [4 -> 2 -> 1], three tokens
    by_hand = 3 * 2 * (weights + 2 * 4 + 2 * 1) + 4 * 4 * pairs
    assert increment_flops(config, [3]) == by_hand
    forward = 8 * (2 * 2 * weights + 2 * 4 * config.d_vocab) + 2 * 4 * 4 * 36
    assert training_flops(config, batch_size=2) == 3 * 2 * forward


def test_a_figure_says_whether_its_target_is_met():
    assert Figure("f", 2.0, at_least=2.0).verdict == "ok"
    assert Figure("f", 1.9, at_least=2.0).verdict == "short"
    assert Figure("f", 1.2, at_most=1.1).verdict == "short"
    assert Figure("f", 1.2).verdict == ""


def test_sides_take_turns_and_the_first_round_is_not_counted():
    calls = []
    median_seconds((lambda: calls.append("a"), lambda: calls.append("b")), rounds=2)
    assert calls == ["a", "b"] * 3
