import numpy as np
import pytest
import torch
from tiny import N_CTX, TinyCheckpoint, documents, tiny_model

from interp.errors import InputError, OutputError, UsageError
from interp.extraction.extract import extract
from interp.extraction.merge import merge
from interp.extraction.shards import Shard
from interp.model import ModelConfig, Transformer
from interp.model.config import LearnedAbsoluteConfig

TEXT = b"More words than any of the windows here can hold at once, and then a few of them. " * 3
LONG = 3 * N_CTX


def learned_positions(**settings):
    sizes = {"d_model": 16, "n_heads": 2, "n_layers": 1, "d_mlp": 24, "n_ctx": N_CTX}
    model = Transformer(ModelConfig(**sizes, position=LearnedAbsoluteConfig()))
    return TinyCheckpoint(model, **settings)


def values_of(table, signal="increment"):
    return np.concatenate([each.values for each in table.read_documents(signal)])


def test_a_window_may_be_longer_than_in_training(checkpoint, tmp_path):
    table = extract(checkpoint, documents(TEXT), tmp_path / "kept", window=LONG, stride=LONG)
    assert (table.manifest["window"], table.manifest["stride"]) == (LONG, LONG)
    (document,) = table.read_documents()
    assert document.context[:LONG].tolist() == list(range(LONG))
    ids = torch.tensor([[256, *TEXT[: LONG - 1]]])
    read = checkpoint.model.run_with_cache(ids)[1]["blocks.1.attn.hook_increment"]
    assert np.allclose(document.values[:LONG, 1], read[0, :, 0], atol=1e-5)


def test_half_of_the_window_is_the_stride_where_none_is_given(checkpoint, tmp_path):
    table = extract(checkpoint, documents(TEXT), tmp_path / "kept", window=20)
    assert table.manifest["stride"] == 10


@pytest.fixture
def listened():
    """A checkpoint, and the shapes of the batches that it was given."""
    shapes, model = [], tiny_model()
    forward = model._forward

    def listen(ids, *others):
        shapes.append(tuple(ids.shape))
        return forward(ids, *others)

    model._forward = listen
    return TinyCheckpoint(model), shapes


def test_one_window_at_least_is_a_batch_and_several_are_no_more_than_asked_for(listened, tmp_path):
    checkpoint, shapes = listened
    for window in (LONG, 16):
        shapes.clear()
        extract(
            checkpoint,
            documents(TEXT),
            tmp_path / str(window),
            signals=["surprisal"],
            window=window,
            stride=window,
            batch_tokens=64,
        )
        assert len(shapes) > 1
        assert all(n == 1 or n * length <= 64 for n, length in shapes)
        assert max(length for _, length in shapes) == window


def test_attention_patterns_of_long_windows_are_read_in_smaller_batches(
    listened, tmp_path, monkeypatch
):
    checkpoint, shapes = listened
    n_heads, most = checkpoint.model.config.n_heads, 2 * LONG * LONG
    monkeypatch.setattr("interp.extraction.reader._MOST_SCORES", most)
    signal = "blocks.*.attn.hook_pattern:distance"
    for window in (LONG, N_CTX):
        shapes.clear()
        extract(
            checkpoint, documents(TEXT), tmp_path / str(window), signals=[signal], window=window
        )
        assert max(n for n, _ in shapes) == (1 if window == LONG else 9)
        assert all(n_heads * n * length**2 <= most for n, length in shapes)


@pytest.mark.parametrize("window", [N_CTX + 1, LONG])
def test_a_learned_table_that_is_shorter_refuses_and_leaves_nothing_behind(tmp_path, window):
    out, checkpoint = tmp_path / "kept", learned_positions()
    with pytest.raises(InputError, match=f"{N_CTX} learned positions.* window of {window} tokens"):
        extract(checkpoint, documents(TEXT), out, signals=["surprisal"], window=window)
    assert not out.exists()
    table = extract(checkpoint, documents(TEXT), out, signals=["surprisal"], window=N_CTX)
    assert table.manifest["complete"]


@pytest.mark.parametrize("window", [7, 0, -1, 2**20 + 1])
def test_a_window_that_cannot_be_is_refused(checkpoint, tmp_path, window):
    with pytest.raises(UsageError, match="window must be 8 to"):
        extract(checkpoint, documents(TEXT), tmp_path / "kept", window=window)
    assert not (tmp_path / "kept").exists()


def test_another_window_is_another_extraction(checkpoint, tmp_path):
    extract(checkpoint, documents(TEXT), tmp_path / "kept", stride=16)
    with pytest.raises(OutputError, match=f"differs in window: {N_CTX} there, 48 wanted"):
        extract(checkpoint, documents(TEXT), tmp_path / "kept", window=48, stride=16)


def test_shards_are_joined_in_the_windows_in_which_they_were_read(checkpoint, tmp_path):
    texts = documents(TEXT, TEXT[5:], TEXT[9:])
    settings = {"signals": ["surprisal"], "window": 50, "stride": 50, "part_tokens": 120}
    whole = extract(checkpoint, texts, tmp_path / "whole", **settings)
    shards = [tmp_path / f"shard-{index}" for index in range(2)]
    for index, out in enumerate(shards):
        extract(checkpoint, texts, out, shard=Shard(index, 2), **settings)
    merged = merge(shards, tmp_path / "merged")
    assert merged.manifest["window"] == 50
    assert len(merged.parts("surprisal")) == len(whole.parts("surprisal")) > 1
    assert np.allclose(
        *(values_of(table, "surprisal") for table in (merged, whole)), atol=1e-5, equal_nan=True
    )
