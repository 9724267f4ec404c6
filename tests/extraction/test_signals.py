"""Signals against values made by hand from everything that a pass shows."""

import weakref

import numpy as np
import pytest
import torch
from tiny import N_CTX, TinyCheckpoint, documents, tiny_model, tiny_rope

from interp.errors import InputError
from interp.extraction.extract import extract
from interp.extraction.reader import SignalReader
from interp.extraction.signal import Signal
from interp.text import encode

TEXT = "Some words, 一些词。".encode()
assert len(TEXT) < N_CTX


@pytest.fixture(scope="module")
def cache(checkpoint):
    with torch.no_grad():
        logits, cache = checkpoint.model.run_with_cache(torch.from_numpy(encode(TEXT))[None])
    return {"logits": logits[0].double(), **{name: each[0] for name, each in cache.items()}}


def table_of(checkpoint, folder, *signals, **settings):
    return extract(checkpoint, documents(TEXT), folder / "t", signals=signals, **settings)


def values_of(checkpoint, folder, signal) -> np.ndarray:
    (document,) = table_of(checkpoint, folder, signal).read_documents(signal)
    return document.values


def test_entropy_is_that_of_the_prediction_of_the_token(checkpoint, cache, tmp_path):
    values = values_of(checkpoint, tmp_path, "entropy")
    assert np.isnan(values[0]).all()
    for t in range(1, len(TEXT) + 1):
        p = cache["logits"][t - 1].softmax(-1).numpy()
        assert values[t, 0] == pytest.approx(-(p * np.log(p)).sum(), abs=1e-5)


def test_a_signal_whose_name_acts_on_a_terminal_is_refused(checkpoint, tmp_path):
    own = Signal(name="red\x1b[31m", units="", sees="token", columns=lambda _config: ("value",))
    with pytest.raises(InputError, match=r"x1b\[31m.* can't be printed") as caught:
        table_of(checkpoint, tmp_path, own)
    assert str(caught.value).isprintable()


def test_attention_distance_is_how_far_back_a_query_looks_on_average(checkpoint, cache, tmp_path):
    values = values_of(checkpoint, tmp_path, "attention_distance")
    assert values.shape == (len(TEXT) + 1, 4)
    assert (values[0] == 0).all()
    for column, (layer, head) in enumerate([(0, 0), (0, 1), (1, 0), (1, 1)]):
        pattern = cache[f"blocks.{layer}.attn.hook_pattern"][head]
        for t in range(len(TEXT) + 1):
            expected = sum(pattern[t, key].item() * (t - key) for key in range(t))
            assert values[t, column] == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize(
    ("signal", "columns", "by_hand"),
    [
        ("blocks.1.hook_resid_post:norm", ["L1"], lambda x: x.norm(dim=-1, keepdim=True)),
        ("blocks.1.mlp.hook_post:mean", ["L1"], lambda x: x.mean(-1, keepdim=True)),
        ("blocks.1.mlp.hook_post:max", ["L1"], lambda x: x.max(-1, keepdim=True)[0]),
        ("blocks.1.attn.hook_z:norm", ["L1H0", "L1H1"], lambda x: x.norm(dim=-1)),
        ("blocks.0.attn.hook_position:value", ["L0"], lambda x: x),
        ("blocks.0.ln1.hook_scale:value", ["L0"], lambda x: x),
        (
            "blocks.1.attn.hook_pattern:entropy",
            ["L1H0", "L1H1"],
            lambda x: torch.distributions.Categorical(probs=x).entropy().T,
        ),
        ("hook_embed:norm", ["value"], lambda x: x.norm(dim=-1, keepdim=True)),
    ],
)
def test_a_hook_point_with_a_reduction_is_a_signal(
    checkpoint, cache, tmp_path, signal, columns, by_hand
):
    table = table_of(checkpoint, tmp_path, signal)
    assert table.columns(signal) == columns
    (document,) = table.read_documents(signal)
    expected = by_hand(cache[signal.rpartition(":")[0]].float()).numpy()
    np.testing.assert_allclose(document.values, expected, rtol=1e-4, atol=1e-5)


def test_a_star_stands_for_every_layer_in_order(checkpoint, cache, tmp_path):
    signal = "blocks.*.hook_resid_post:norm"
    table = table_of(checkpoint, tmp_path, signal)
    assert table.columns(signal) == ["L0", "L1"]
    (document,) = table.read_documents(signal)
    for layer in (0, 1):
        expected = cache[f"blocks.{layer}.hook_resid_post"].norm(dim=-1)
        np.testing.assert_allclose(document.values[:, layer], expected, rtol=1e-5)


def test_increments_per_head_have_a_column_per_head_by_any_name(tmp_path):
    signal = "blocks.*.attn.hook_increment:value"
    table = table_of(TinyCheckpoint(tiny_model(per_head=True)), tmp_path, "increment", signal)
    assert table.columns(signal) == table.columns() == ["L0H0", "L0H1", "L1H0", "L1H1"]
    (document,), (again,) = table.read_documents(signal), table.read_documents()
    np.testing.assert_allclose(document.values, again.values, atol=1e-6)


@pytest.mark.parametrize(
    ("signal", "message", "hint"),
    [
        ("blocks.0.hook_resid_post:nrom", "no reduction 'nrom'", "known for that: norm, mean"),
        ("blocks.0.hook_resid_post:", "no reduction ''", "norm"),
        ("blocks.0.hook_resid_post:distance", "which shows one vector per token", "norm"),
        ("blocks.0.attn.hook_pattern:norm", "one pattern of every head", "distance, entropy"),
        ("blocks.0.attn.hook_attn_scores:mean", "per query and key", "none; hook_pattern"),
        ("blocks.0.hook_resid_pots:norm", "no hook point", "blocks.0.hook_resid_post"),
        ("blocks.7.hook_resid_post:norm", "no hook point 'blocks.7.", "blocks.1.hook_resid_post"),
        ("blocks.*.ln_final:norm", "no hook point", "close: "),
        ("\x1b[31m\n:norm", r"no hook point '\\x1b\[31m\\n'", "hook_dict"),
        (":", "no reduction ''", "norm"),
    ],
)
def test_a_signal_that_cannot_be_is_one_line_with_what_could_be(
    checkpoint, tmp_path, signal, message, hint
):
    with pytest.raises(InputError, match=message) as caught:
        table_of(checkpoint, tmp_path, signal)
    assert "\n" not in str(caught.value)
    assert hint in caught.value.hint
    assert not (tmp_path / "t").exists()


def test_a_hook_point_that_only_other_models_have_is_refused(tmp_path):
    with pytest.raises(InputError, match=r"no hook point 'position\.hook_x'"):
        table_of(TinyCheckpoint(tiny_rope()), tmp_path, "position.hook_x:norm")


def own(reduce, columns=("value",)) -> Signal:
    hook = "blocks.0.hook_resid_post"
    return Signal("own", "-", "token", lambda _config: columns, lambda _config: {hook: reduce})


@pytest.mark.parametrize(
    ("signal", "message"),
    [
        (own(lambda x: x.norm(dim=-1)), r"gives the shape \[1, 25\], not \[1, 25, column\]"),
        (own(lambda x: x[:, :1]), r"gives the shape \[1, 1, 32\]"),
        (own(lambda x: x[..., :3]), "names 1 columns to be read, but its hooks give 3"),
        (own(lambda x: x[..., :1].abs() / 0), "a value of column value would be infinite"),
    ],
)
def test_a_reduction_with_another_shape_or_infinite_values_is_named(
    checkpoint, tmp_path, signal, message
):
    with pytest.raises(InputError, match=message):
        table_of(checkpoint, tmp_path, signal)


@pytest.mark.parametrize("sees", ["before", "nothing"])
def test_what_a_hook_point_shows_has_seen_its_token(sees):
    with pytest.raises((ValueError, TypeError)):
        Signal("own", "-", sees, lambda _config: ("value",))


def test_patterns_of_two_layers_are_never_kept_together(checkpoint, tmp_path):
    kept = []

    def look(pattern):
        assert [each for each in kept if each() is not None] == []
        kept.append(weakref.ref(pattern))
        return pattern.sum(-1).transpose(1, 2)

    signal = Signal(
        name="own",
        units="-",
        sees="token",
        columns=lambda _config: ("L0H0", "L0H1", "L1H0", "L1H1"),
        hooks=lambda _config: {f"blocks.{layer}.attn.hook_pattern": look for layer in (0, 1)},
    )
    table_of(checkpoint, tmp_path, signal, "attention_distance", "surprisal")
    assert len(kept) == 2


def test_batches_are_smaller_where_attention_patterns_are_read(checkpoint, tmp_path, monkeypatch):
    monkeypatch.setattr("interp.extraction.reader._MOST_SCORES", 2 * N_CTX * 40)
    sizes, read = [], SignalReader._read_batch
    monkeypatch.setattr(
        SignalReader,
        "_read_batch",
        lambda self, part, batch, by_pass: (
            sizes.append(batch.ids().size) or read(self, part, batch, by_pass)
        ),
    )
    for number, signal in enumerate(("attention_distance", "surprisal")):
        extract(checkpoint, documents(TEXT * 20), tmp_path / str(number), signals=[signal])
    assert max(sizes[:-1]) <= 40 < sizes[-1]


def constant(name, value):
    """A signal of one's own that has one value at every token."""
    return Signal(
        name=name,
        units="none",
        sees="token",
        columns=lambda _config: ("value",),
        of_logits=lambda logits, _next: torch.full_like(logits[..., :1], value),
    )


def test_signals_that_would_lie_in_one_folder_are_refused(checkpoint, tmp_path):
    with pytest.raises(InputError, match="'KL' and 'JS' would be written to one folder, '__'"):
        table_of(checkpoint, tmp_path, constant("KL", 1.0), constant("JS", 2.0))
    with pytest.raises(InputError, match="two signals are called 'kl'"):
        table_of(checkpoint, tmp_path, constant("kl", 1.0), constant("kl", 2.0))
    assert not (tmp_path / "t").exists()
