"""Every position encoding against numbers worked out by hand, and its published size."""

import math

import pytest
import torch
from small_models import fresh, some_ids, spread

from interp.model import ModelConfig, RopeConfig, Transformer
from interp.model.added_positions import sinusoidal_table
from interp.model.config import (
    AlibiConfig,
    ForgetGateConfig,
    LearnedAbsoluteConfig,
    NoPositionsConfig,
    RelativeBiasConfig,
    SinusoidalConfig,
)
from interp.model.score_bias import DistanceBias, RunningBias


def seen_in(model, ids, *names):
    """What hooks show, in the order in which they are named."""
    _, cache = model.run_with_cache(ids, names_filter=list(names), return_cache_object=False)
    return [cache[name] for name in names]


def scores_of(model, ids, layer=0):
    (scores,) = seen_in(model, ids, f"blocks.{layer}.attn.hook_attn_scores")
    return scores


def past(n_pos):
    return torch.ones(n_pos, n_pos, dtype=torch.bool).tril()


def test_the_sinusoidal_table_by_hand():
    # base 100 and 4 channels: the second pair turns at 100 ** (-2 / 4) = 0.1
    table = sinusoidal_table(4, 4, 100.0)
    assert table[0].tolist() == [0, 1, 0, 1]
    for place in (1, 3):
        angles = (place, 0.1 * place)
        expected = [wave(angle) for angle in angles for wave in (math.sin, math.cos)]
        assert table[place].tolist() == pytest.approx(expected, abs=1e-6)


def test_rows_of_the_sinusoidal_table_have_products_that_know_the_distance_alone():
    table = sinusoidal_table(100, 32, 10_000.0)
    products = table @ table.T
    assert torch.allclose(products.diagonal(), torch.full((100,), 16.0), atol=1e-4)
    for distance in (1, 7, 50):
        along = products.diagonal(distance)
        assert torch.allclose(along, along[:1], atol=1e-3)


def test_the_sinusoidal_table_is_added_to_the_embedding():
    model, ids = spread(SinusoidalConfig(base=50.0)), some_ids(70)
    embedding, entering = seen_in(model, ids, "hook_embed", "blocks.0.hook_resid_pre")
    expected = sinusoidal_table(70, 32, 50.0).expand(2, -1, -1)
    assert torch.allclose(entering - embedding, expected, atol=1e-5)


def test_learned_positions_are_added_one_row_per_place():
    model, ids = spread(LearnedAbsoluteConfig()), some_ids()
    embedding, entering = seen_in(model, ids, "hook_embed", "blocks.0.hook_resid_pre")
    assert model.position.W_pos.shape == (64, 32)
    assert torch.allclose((entering - embedding)[1], model.position.W_pos[:40], atol=1e-5)


def test_relative_biases_are_clipped_at_the_greatest_distance():
    model, ids = spread(RelativeBiasConfig(max_distance=3)), some_ids(8)
    biased = scores_of(model, ids)
    table = model.position.b_distance[0].clone()
    model.position.b_distance.zero_()
    added = biased - scores_of(model, ids)
    for head in range(2):
        for query in range(8):
            for key in range(query + 1):
                number = table[head, min(query - key, 3)]
                assert added[0, head, query, key].item() == pytest.approx(number.item(), abs=1e-4)


def test_a_block_of_a_distance_bias_by_hand():
    bias = DistanceBias(torch.tensor([[0.0, 1.0, 2.0]]))
    # queries 2 and 3 over keys 0 to 3; what comes after its query is masked
    block = bias.block(2, 4)[0, 0]
    assert block[0, :3].tolist() == [2, 1, 0]
    assert block[1].tolist() == [2, 2, 1, 0]


@pytest.mark.parametrize(
    ("n_heads", "slopes"),
    [
        (4, [1 / 4, 1 / 16, 1 / 64, 1 / 256]),
        (8, [1 / 2, 1 / 4, 1 / 8, 1 / 16, 1 / 32, 1 / 64, 1 / 128, 1 / 256]),
    ],
)
def test_alibi_slopes_by_hand(n_heads, slopes):
    assert fresh(AlibiConfig(), n_heads=n_heads).position.slopes().tolist() == slopes


def test_the_alibi_matrix_is_minus_slope_times_distance():
    model = fresh(AlibiConfig())
    bias = model.position.score_bias(1, torch.zeros(2, 5, 32))
    slopes = torch.tensor([1 / 16, 1 / 256])  # 2 ** (-8 / 2) and its square
    distance = torch.tensor(
        [[0, 0, 0, 0, 0], [1, 0, 0, 0, 0], [2, 1, 0, 0, 0], [3, 2, 1, 0, 0], [4, 3, 2, 1, 0]]
    )
    expected = (-slopes[:, None, None] * distance).masked_fill(~past(5), 0)
    assert torch.allclose(bias.block(0, 5)[0].masked_fill(~past(5), 0), expected)


def test_a_key_is_worth_the_product_of_the_gates_after_it():
    model, ids = spread(ForgetGateConfig()), some_ids(12)
    names = ("ln1.hook_normalized", "attn.hook_q", "attn.hook_k", "attn.hook_pattern")
    normalized, q, k, pattern = seen_in(model, ids, *(f"blocks.1.{name}" for name in names))
    gates = torch.sigmoid(model.position.layers[1](normalized * model.blocks[1].ln1.w))
    weights = torch.zeros(2, 2, 12, 12)
    for head in range(2):
        for query in range(12):
            for key in range(query + 1):
                product = gates[:, key + 1 : query + 1, head].prod(dim=-1)
                score = (q[:, query, head] * k[:, key, head]).sum(-1) / 4  # d_head is 16
                weights[:, head, query, key] = score.exp() * product
    assert torch.allclose(pattern, weights / weights.sum(-1, keepdim=True), atol=1e-5)


def test_a_forget_gate_starts_nearly_open():
    model, ids = fresh(ForgetGateConfig()), some_ids()
    bias = model.position.score_bias(0, torch.randn(2, 40, 32))
    cost = math.log(1 + math.exp(-4))  # -log sigmoid(4) = 0.018
    assert bias.block(0, 40)[0, 0, 10, 3].item() == pytest.approx(-7 * cost, abs=1e-4)
    assert model(ids).isfinite().all()


@pytest.mark.parametrize("recency", ["alibi", "forget-gate"])
def test_recency_is_added_to_the_rotated_scores(recency):
    model, ids = spread(RopeConfig(recency=recency)), some_ids(10)
    names = ("ln1.hook_normalized", "attn.hook_rot_q", "attn.hook_rot_k")
    normalized, q, k = seen_in(model, ids, *(f"blocks.0.{name}" for name in names))
    added = scores_of(model, ids) - torch.einsum("bqhd,bkhd->bhqk", q, k) / 4
    if recency == "alibi":
        fall = torch.tensor([1 / 16, 1 / 256]).expand(2, 10, 2)
    else:
        gates = model.position.recency.layers[0](normalized * model.blocks[0].ln1.w)
        fall = -torch.sigmoid(gates).log()
    for query, key in ((0, 0), (5, 4), (9, 2)):
        expected = -fall[:, key + 1 : query + 1].sum(dim=1)
        assert torch.allclose(added[:, :, query, key], expected, atol=1e-4)


def test_every_so_manieth_layer_has_no_positions():
    model, ids = spread(RopeConfig(unrotated_every=2), n_layers=4), some_ids()
    for layer in range(4):
        names = ("hook_q", "hook_rot_q", "hook_position", "hook_increment")
        q, rotated, position, increment = seen_in(
            model, ids, *(f"blocks.{layer}.attn.{name}" for name in names)
        )
        if layer in (1, 3):
            assert torch.equal(q, rotated)
            assert position.abs().max() == increment.abs().max() == 0
        else:
            assert not torch.allclose(q, rotated, atol=1e-2)
            assert position[0, :, 0].tolist() == list(range(1, 41))


def test_without_positions_the_order_before_the_last_token_changes_nothing():
    model, ids = spread(NoPositionsConfig(), n_layers=1), some_ids()
    swapped = ids.clone()
    swapped[:, [3, 20]] = ids[:, [20, 3]]
    assert torch.allclose(model(ids)[:, -1], model(swapped)[:, -1], atol=1e-4)
    rotary = spread(RopeConfig(), n_layers=1)
    assert not torch.allclose(rotary(ids)[:, -1], rotary(swapped)[:, -1], atol=1e-3)


@pytest.mark.parametrize(
    ("position", "n_parameters"),
    [
        (NoPositionsConfig(), 803_712),
        (SinusoidalConfig(), 803_712),
        (LearnedAbsoluteConfig(), 811_904),  # 64 x 128 more
        (RelativeBiasConfig(), 804_240),  # 33 distances x 4 heads x 4 layers = 528 more
        (AlibiConfig(), 803_712),
        (RopeConfig(), 803_712),
    ],
)
def test_the_published_models_have_the_published_numbers_of_parameters(position, n_parameters):
    config = ModelConfig(
        d_model=128,
        n_heads=4,
        n_layers=4,
        d_mlp=int(8 / 3 * 128),
        d_vocab=65,
        n_ctx=64,
        is_tied=False,
        position=position,
    )
    with torch.device("meta"):
        model = Transformer(config, seed=None)
    assert sum(parameter.numel() for parameter in model.parameters()) == n_parameters


def test_a_running_bias_is_the_sum_at_the_query_less_the_one_at_the_key():
    bias = RunningBias(torch.tensor([[[0.0], [-1.0], [-1.5]]]))
    assert bias.block(1, 3)[0, 0].tolist() == [[-1, 0, 0.5], [-1.5, -0.5, 0]]
