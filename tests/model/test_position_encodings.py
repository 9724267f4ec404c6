import math

import pytest
import torch
from small_models import INCREMENTS, POSITIONS, fresh, some_ids, spread

from interp.model import IncrementsConfig, RopeConfig
from interp.model.rotary import DeltaMLP

any_increments = pytest.mark.parametrize("position", INCREMENTS.values(), ids=INCREMENTS.keys())
any_position = pytest.mark.parametrize("position", POSITIONS.values(), ids=POSITIONS.keys())


def increments_of(model, ids, what="hook_increment"):
    names = [f"blocks.{i}.attn.{what}" for i in range(model.config.n_layers)]
    _, cache = model.run_with_cache(ids, names_filter=names, return_cache_object=False)
    return torch.stack([cache[name] for name in names])


@any_increments
def test_at_the_start_every_increment_is_one(position):
    increments = increments_of(fresh(position), some_ids())
    assert increments.dtype == torch.float32
    assert (increments - 1).abs().max() < 1e-6


@any_increments
def test_at_the_start_the_logits_are_those_of_plain_rotary_positions(position):
    plain, ids = fresh(RopeConfig()), some_ids(300)
    assert torch.allclose(fresh(position)(ids), plain(ids), atol=1e-4)


def test_increments_differ_by_layer_and_head_where_the_model_says_so():
    ids = some_ids()
    shapes = {name: increments_of(spread(p), ids).shape for name, p in INCREMENTS.items()}
    assert shapes == {
        "shared": (2, 2, 40, 1),
        "shared per head": (2, 2, 40, 2),
        "per_layer": (2, 2, 40, 1),
        "per_layer per head": (2, 2, 40, 2),
    }
    assert not torch.allclose(*increments_of(spread(INCREMENTS["per_layer"]), ids))
    by_head = increments_of(spread(INCREMENTS["per_layer per head"]), ids)
    assert not torch.allclose(by_head[..., 0], by_head[..., 1])


def test_shared_increments_are_hooked_in_every_block():
    model, ids = spread(INCREMENTS["shared"]), some_ids()
    first, second = increments_of(model, ids)
    assert torch.equal(first, second)
    changed = model.run_with_hooks(
        ids,
        fwd_hooks=[("blocks.1.attn.hook_increment", lambda x, hook: x * 2)],  # noqa: ARG005
    )
    assert not torch.allclose(changed, model(ids), atol=1e-3)


def test_plain_rotary_positions_have_the_hooks_with_ones():
    model, ids = fresh(RopeConfig()), some_ids()
    assert torch.equal(increments_of(model, ids), torch.ones(2, 2, 40, 1))
    positions = increments_of(model, ids, "hook_position")
    assert torch.equal(positions[0, 0, :, 0], torch.arange(1.0, 41.0))


@any_position
def test_a_position_is_the_sum_of_the_increments_up_to_and_with_its_token(position):
    model, ids = spread(position), some_ids()
    sums = increments_of(model, ids).cumsum(dim=2)
    assert torch.equal(increments_of(model, ids, "hook_position"), sums)


@any_increments
def test_increments_lie_within_their_bounds(position):
    increments = increments_of(spread(position), some_ids())
    assert increments.min() > 0
    assert increments.max() < (position.max_increment or math.inf)
    assert increments.std() > 1e-3


@any_increments
def test_an_increment_is_its_activation_of_what_comes_before_it(position):
    model, ids = spread(position), some_ids()
    pre = increments_of(model, ids, "hook_increment_pre")
    expected = 10 * torch.sigmoid(pre) if position.max_increment else (1 + pre.exp()).log()
    assert torch.allclose(increments_of(model, ids), expected, atol=1e-5)


@any_increments
def test_increments_and_positions_stay_float32_under_autocast(position):
    model, ids = spread(position), some_ids()
    seen = {}

    def keep(x, hook):
        seen[hook.name] = x

    names = ["hook_increment_pre", "hook_increment", "hook_position"]
    hooks = [(f"blocks.{i}.attn.{name}", keep) for i in range(2) for name in names]
    with torch.autocast("cpu", torch.bfloat16):
        model.run_with_hooks(ids, fwd_hooks=hooks)
    assert len(seen) == 6
    assert {x.dtype for x in seen.values()} == {torch.float32}
    # rounded to bfloat16 anywhere, most of these would tie
    assert seen["blocks.1.attn.hook_increment"].unique().numel() > 70 or position.scope == "shared"
    exact = increments_of(model, ids)
    for layer in range(2):
        kept = seen[f"blocks.{layer}.attn.hook_increment"]
        assert torch.allclose(kept, exact[layer], atol=0.2)


@any_position
def test_steps_stay_exact_to_position_4096_under_autocast(position):
    model = fresh(position, n_layers=1)
    seen = {}
    ids = torch.full((1, 4096), 97)
    model.requires_grad_(False)
    with torch.autocast("cpu", torch.bfloat16):
        model.run_with_hooks(
            ids,
            stop_at_layer=1,
            fwd_hooks=[
                ("blocks.0.attn.hook_position", lambda x, hook: seen.update({hook.name: x}))
            ],
        )
    (positions,) = seen.values()
    steps = positions[0, 1:, 0] - positions[0, :-1, 0]
    assert (steps - 1).abs().max() < 1e-3
    assert positions[0, -1, 0].item() == pytest.approx(4096, abs=0.01)


@any_increments
def test_the_loss_reaches_the_weights_of_the_increments(position):
    model, ids = spread(position), some_ids()
    model.requires_grad_(True)
    model(ids).float().logsumexp(-1).sum().backward()
    gradients = {
        name: parameter.grad
        for name, parameter in model.named_parameters()
        if name.startswith("position.")
    }
    assert gradients
    for name, gradient in gradients.items():
        assert gradient is not None, name
        assert gradient.abs().max() > 0, name


@any_increments
def test_the_first_step_moves_the_increments_although_their_last_weight_is_zero(position):
    model, ids = fresh(position), some_ids()
    torch.nn.functional.cross_entropy(
        model(ids)[:, :-1].flatten(0, 1), ids[:, 1:].flatten()
    ).backward()
    last = [p for name, p in model.named_parameters() if name.endswith("fc2.weight")]
    assert all(p.grad is not None and p.grad.abs().max() > 0 for p in last)


@any_position
def test_what_the_token_alone_decides_is_what_the_hooks_give(position):
    model, ids = spread(position), some_ids()
    alone = model.token_increments()
    layers = [0] if getattr(position, "scope", "") == "per_layer" else [0, 1]
    for what in ("increment", "increment_pre"):
        assert alone[what].shape == (257, model.config.n_increment_columns)
        hooked = increments_of(model, ids, f"hook_{what}")
        for layer in layers:
            assert torch.allclose(hooked[layer], alone[what][ids], atol=1e-5)


def test_one_output_and_one_of_many_are_computed_alike():
    torch.manual_seed(0)
    one = DeltaMLP(16, 8, 1)
    many = DeltaMLP(16, 8, 3)
    with torch.no_grad():
        many.fc1.load_state_dict(one.fc1.state_dict())
        many.fc2.weight.copy_(one.fc2.weight.expand(3, -1))
        many.fc2.bias.copy_(one.fc2.bias.expand(3))
    x = torch.randn(2, 5, 16)
    assert torch.allclose(one(x).expand(-1, -1, 3), many(x), atol=1e-6)
    hidden = torch.nn.functional.gelu(one.fc1(x))
    assert torch.allclose(one(x), one.fc2(hidden), atol=1e-6)


@pytest.mark.parametrize("max_increment", [2.0, 10.0, None])
def test_any_bound_starts_at_one(max_increment):
    model = fresh(IncrementsConfig(d_hidden=4, max_increment=max_increment))
    assert torch.allclose(model.token_increments()["increment"], torch.ones(257, 1), atol=1e-6)
