"""Stretched frequencies against numbers by hand and against transformers' own functions."""

import math

import pytest
import torch
from small_models import INCREMENTS, fresh, some_ids, spread
from transformers import LlamaConfig
from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS

from interp.model import ModelConfig, RopeConfig
from interp.model.config import AlibiConfig
from interp.model.rotation import rotation_frequencies
from interp.model.stretching import stretched, stretched_config

D_HEAD, BASE, LENGTH = 64, 10_000.0, 4096


def ours(scaling, *, d_head=D_HEAD, base=BASE, span=float(LENGTH)):
    plain = rotation_frequencies(d_head, base)
    return stretched(plain, RopeConfig(base=base, scaling=scaling), span=span)


def theirs(kind, *, length=LENGTH, seq_len=None, **settings):
    """The frequencies and the attention factor that transformers gives."""
    config = LlamaConfig(
        hidden_size=D_HEAD,
        num_attention_heads=1,
        head_dim=D_HEAD,
        max_position_embeddings=length,
        rope_parameters={"rope_type": kind, "rope_theta": BASE, **settings},
    )
    return ROPE_INIT_FUNCTIONS[kind](config, device=torch.device("cpu"), seq_len=seq_len)


def mixed(kept, factor):
    plain = rotation_frequencies(D_HEAD, BASE)
    return plain * (kept + (1 - kept) / factor)


def test_frequencies_by_hand():
    # two pairs, at 1 and 100 ** (-1 / 2) = 0.1 radians per unit
    def two(scaling, span=64.0):
        frequencies, factor = ours(scaling, d_head=4, base=100.0, span=span)
        return [*frequencies.tolist(), factor]

    assert two(None) == pytest.approx([1, 0.1, 1])
    assert two("pi:4") == pytest.approx([0.25, 0.025, 1])
    # base 100 x 2 ** (4 / 2) = 400, whose root is 20
    assert two("ntk:2") == pytest.approx([1, 0.05, 1])
    # 16.5 and 1.65 turns: (16.5 - 1) / 31 = 1 / 2 is kept, and 0.65 / 31 = 0.02097
    expected = [0.5 + 0.25, 0.1 * (0.02097 + 0.97903 / 2), 1 + 0.1 * math.log(2)]
    assert two("yarn:2", span=2 * math.pi * 16.5) == pytest.approx(expected, rel=1e-4)


def test_one_pair_of_channels_is_the_fastest_one():
    assert ours("ntk:2", d_head=2)[0].tolist() == [1.0]


@pytest.mark.parametrize("kind", ["pi", "ntk", "yarn"])
def test_a_factor_of_one_changes_nothing(kind):
    frequencies, factor = ours(f"{kind}:1")
    assert torch.allclose(frequencies, rotation_frequencies(D_HEAD, BASE))
    assert factor == 1


def test_interpolation_is_the_linear_scaling_of_transformers():
    frequencies, factor = theirs("linear", factor=2.0)
    assert torch.allclose(ours("pi:2")[0], frequencies)
    assert factor == ours("pi:2")[1]


def test_the_ntk_base_is_the_dynamic_one_of_transformers_at_the_stretched_length():
    # "dynamic" changes the base with the length being read; with its own factor at 1 that is
    # base x (length / trained length) ** (d / (d - 2)), which ours has fixed at the factor
    frequencies, _ = theirs("dynamic", factor=1.0, seq_len=3 * LENGTH)
    assert torch.allclose(ours("ntk:3")[0], frequencies, rtol=1e-5)
    # the slowest pair is interpolated, the fastest as it was
    plain = rotation_frequencies(D_HEAD, BASE)
    assert ours("ntk:3")[0][-1].item() == pytest.approx(plain[-1].item() / 3, rel=1e-5)
    assert ours("ntk:3")[0][0] == plain[0]


def test_yarn_mixes_by_turns_and_transformers_by_the_logarithm_of_turns():
    """Both keep 32 turns and more and interpolate 1 and less; between them they differ.

    The paper's gamma is linear in the turns over the training length, and so is ours. The
    paper's code, and transformers after it, are linear in the number of the channel pair, which
    is linear in the logarithm of the turns.
    """
    turns = LENGTH * rotation_frequencies(D_HEAD, BASE) / (2 * math.pi)
    by_turns = ((turns - 1) / 31).clamp(0, 1)
    by_logarithm = (turns.log() / math.log(32)).clamp(0, 1)
    frequencies, factor = ours("yarn:4")
    assert torch.allclose(frequencies, mixed(by_turns, 4), rtol=1e-5)
    given = {"factor": 4.0, "original_max_position_embeddings": LENGTH}
    other, other_factor = theirs("yarn", **given, truncate=False)
    assert torch.allclose(other, mixed(by_logarithm, 4), rtol=1e-4)
    assert factor == pytest.approx(other_factor)

    is_between = (turns > 1) & (turns < 32)
    assert 5 < is_between.sum() < 20
    assert torch.allclose(frequencies[~is_between], other[~is_between], rtol=1e-4)
    assert (frequencies[is_between] < other[is_between]).all()


def test_over_short_training_lengths_transformers_keeps_the_fastest_pair_and_ours_does_not():
    # 64 tokens are 10.2 turns of the fastest pair: 9.19 / 31 of it is kept
    frequencies, _ = ours("yarn:2", span=64.0)
    kept = (64 / (2 * math.pi) - 1) / 31
    assert frequencies[0].item() == pytest.approx(kept + (1 - kept) / 2)
    other, _ = theirs("yarn", length=64, factor=2.0, original_max_position_embeddings=64)
    assert other[0].item() == 1


@pytest.mark.parametrize("scaling", ["pi:2", "ntk:2", "yarn:2"])
def test_a_stretched_model_turns_its_queries_by_the_stretched_frequencies(scaling):
    model = spread(RopeConfig(scaling=scaling, trained_spans=(32.0,)))
    ids, names = some_ids(), ("blocks.0.attn.hook_q", "blocks.0.attn.hook_rot_q")
    _, seen = model.run_with_cache(ids, names_filter=list(names), return_cache_object=False)
    q, rotated = (seen[name][0, 9, 0] for name in names)  # position 10
    frequencies, factor = ours(scaling, d_head=16, span=32.0)
    for pair in range(8):
        angle = 10 * frequencies[pair].item()
        x, y = q[pair].item(), q[pair + 8].item()
        turned = (x * math.cos(angle) - y * math.sin(angle)) * factor
        assert rotated[pair].item() == pytest.approx(turned, abs=1e-4)


def test_each_layer_is_stretched_by_the_span_that_it_saw():
    model = fresh(RopeConfig(scaling="yarn:2", trained_spans=(100.0, 1000.0)))
    for layer, span in enumerate((100.0, 1000.0)):
        expected, _ = ours("yarn:2", d_head=16, span=span)
        assert torch.equal(model.position.frequencies(layer)[0], expected)


def test_a_stretched_config_reads_longer_windows_and_is_else_the_same():
    config = fresh(INCREMENTS["per_layer"]).config
    longer = stretched_config(config, "yarn:1.55", spans=[70.5, 300.0])
    assert longer.n_ctx == 99  # 64 x 1.55 = 99.2
    assert longer.position.scaling == "yarn:1.55"
    assert longer.position.trained_spans == (70.5, 300.0)
    assert ModelConfig.from_dict(longer.to_dict()) == longer
    assert stretched_config(config, "pi:2").position.trained_spans == (64.0,)


def test_what_cannot_be_stretched_is_refused():
    with pytest.raises(ValueError, match="alibi has no rotary positions"):
        stretched_config(fresh(AlibiConfig()).config, "pi:2")
    stretched_already = stretched_config(fresh(RopeConfig()).config, "pi:2")
    with pytest.raises(ValueError, match="stretched already, by pi:2"):
        stretched_config(stretched_already, "pi:2")
    with pytest.raises(ValueError, match="must be one of pi:2, ntk:2, yarn:2"):
        stretched_config(fresh(RopeConfig()).config, "double")
