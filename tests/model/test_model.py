import copy

import pytest
import torch
from small_models import INCREMENTS, POSITIONS, fresh, some_ids, spread
from torch._dynamo.testing import CompileCounter
from transformer_lens import ActivationCache

from interp.model import IncrementsConfig, ModelConfig, RopeConfig, Transformer
from interp.model.attention import causal_attention, causal_scores
from interp.model.score_bias import DistanceBias

any_position = pytest.mark.parametrize("position", POSITIONS.values(), ids=POSITIONS.keys())


can_be_compiled = pytest.mark.skipif(
    hasattr(Transformer.forward, "__wrapped__"), reason="shapes are checked, which is not compiled"
)


def n_parameters(**settings) -> int:
    with torch.device("meta"):
        model = Transformer(ModelConfig(**settings), seed=None)
    return sum(parameter.numel() for parameter in model.parameters())


def test_the_default_model_has_six_point_four_million_parameters():
    assert n_parameters() == 6_461_190
    assert n_parameters(position=RopeConfig()) == 6_360_576


def test_initial_weights_do_not_depend_on_what_was_drawn_before():
    first = fresh(IncrementsConfig(d_hidden=8))
    torch.rand(7)
    again = fresh(IncrementsConfig(d_hidden=8))
    for one, other in zip(first.parameters(), again.parameters(), strict=True):
        assert torch.equal(one, other)


def test_weights_are_drawn_with_a_deviation_of_0_02():
    model = fresh(RopeConfig(), d_model=64, d_mlp=256)
    for name, matrix in model.matrices():
        assert matrix.std().item() == pytest.approx(0.02, rel=0.05), name


@any_position
def test_a_prediction_never_sees_what_comes_after_it(position):
    model, ids = spread(position), some_ids()
    changed = ids.clone()
    changed[:, 20:] = (changed[:, 20:] + 1) % 256
    before, after = model(ids), model(changed)
    assert torch.equal(before[:, :20], after[:, :20])
    assert not torch.equal(before[:, 20:], after[:, 20:])


@any_position
def test_filling_up_on_the_right_changes_nothing_before_it(position):
    model, ids = spread(position), some_ids(batch=1)
    filled = torch.cat([ids, torch.full((1, 150), 256)], dim=1)
    assert torch.allclose(model(ids), model(filled)[:, : ids.shape[1]], atol=1e-5)


@any_position
def test_a_row_does_not_depend_on_the_others(position):
    model, ids = spread(position), some_ids(batch=3)
    assert torch.allclose(model(ids)[1], model(ids[1:2])[0], atol=1e-5)


@pytest.mark.parametrize("n_pos", [1, 5, 127, 128, 129, 300])
def test_attention_by_blocks_equals_the_softmax_of_all_scores(n_pos):
    generator = torch.Generator().manual_seed(n_pos)
    q, k, v = torch.randn(3, 2, 2, n_pos, 8, generator=generator).unbind()
    gathered = causal_attention(q, k, v)
    explicit = causal_scores(q, k).softmax(-1) @ v
    fused = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
    assert torch.allclose(gathered, explicit, atol=1e-5)
    assert torch.allclose(gathered, fused, atol=1e-5)


def test_a_score_bias_is_added_to_every_block():
    generator = torch.Generator().manual_seed(0)
    q, k, v = torch.randn(3, 1, 2, 200, 8, generator=generator).unbind()
    bias = DistanceBias(torch.randn(2, 50, generator=generator))
    explicit = causal_scores(q, k, bias).softmax(-1) @ v
    assert torch.allclose(causal_attention(q, k, v, bias), explicit, atol=1e-5)


@any_position
def test_looking_at_pattern_and_scores_does_not_change_the_logits(position):
    model, ids = spread(position), some_ids(200)
    seen = []
    hooks = [
        (f"blocks.{i}.attn.{name}", lambda x, hook: seen.append((hook.name, x.shape)))
        for i in range(2)
        for name in ("hook_pattern", "hook_attn_scores")
    ]
    assert torch.allclose(model(ids), model.run_with_hooks(ids, fwd_hooks=hooks), atol=1e-4)
    assert len(seen) == 4
    assert {shape for _, shape in seen} == {(2, 2, 200, 200)}


def test_a_pattern_sums_to_one_over_the_past():
    model, ids = spread(RopeConfig()), some_ids()
    _, cache = model.run_with_cache(ids)
    pattern = cache["pattern", 1]
    assert torch.allclose(pattern.sum(-1), torch.ones(2, 2, 40), atol=1e-5)
    assert pattern.triu(1).abs().max() == 0


@any_position
def test_the_cache_takes_the_output_apart(position):
    model, ids = spread(position), some_ids()
    logits, cache = model.run_with_cache(ids)
    assert isinstance(cache, ActivationCache)
    final = cache["resid_post", 1]
    assert torch.allclose(cache.accumulated_resid(layer=-1)[-1], final)
    parts = cache.decompose_resid(layer=-1)
    assert torch.allclose(parts.sum(0), final, atol=1e-4)

    heads = cache.stack_head_results(layer=-1)
    attention = cache["attn_out", 0] + cache["attn_out", 1]
    assert torch.allclose(heads.sum(0), attention, atol=1e-4)

    tokens = torch.full(ids.shape, ord("a"))
    attributed = cache.logit_attrs(parts, tokens=tokens)
    assert torch.allclose(attributed.sum(0), logits[..., ord("a")], atol=1e-3)


def test_names_are_those_of_transformer_lens():
    names = fresh(RopeConfig()).hook_dict
    wanted = ["hook_embed", "ln_final.hook_scale", "ln_final.hook_normalized"]
    wanted += [
        f"blocks.1.{name}"
        for name in (
            *["hook_resid_pre", "hook_resid_mid", "hook_resid_post", "hook_attn_out"],
            *["hook_mlp_out", "ln1.hook_scale", "ln2.hook_normalized", "attn.hook_q"],
            *["attn.hook_k", "attn.hook_v", "attn.hook_z", "attn.hook_rot_q", "attn.hook_rot_k"],
            *["attn.hook_attn_scores", "attn.hook_pattern", "mlp.hook_pre", "mlp.hook_post"],
            *["attn.hook_increment_pre", "attn.hook_increment", "attn.hook_position"],
        )
    ]
    assert set(wanted) <= set(names)


@pytest.mark.parametrize("wanted", ["blocks.9.hook_resid_pre", ["hook_embed", "nonsense"]])
def test_an_unknown_hook_is_refused(wanted):
    with pytest.raises(ValueError, match=r"no hook '(blocks\.9|nonsense)"):
        fresh(RopeConfig()).run_with_cache(some_ids(), names_filter=wanted)


def test_only_what_is_asked_for_is_kept():
    model, ids = fresh(RopeConfig()), some_ids()
    _, by_name = model.run_with_cache(ids, names_filter="blocks.0.hook_resid_pre")
    assert list(by_name.keys()) == ["blocks.0.hook_resid_pre"]
    _, by_rule = model.run_with_cache(ids, names_filter=lambda name: name.endswith("hook_z"))
    assert len(by_rule) == 2
    _, plain = model.run_with_cache(ids, names_filter=["hook_embed"], return_cache_object=False)
    assert type(plain) is dict


def test_no_hook_is_left_behind_when_a_hook_fails():
    model = fresh(RopeConfig())

    def fail(_x, hook):
        raise RuntimeError(hook.name)

    with pytest.raises(RuntimeError, match="hook_embed"):
        model.run_with_hooks(some_ids(), fwd_hooks=[("hook_embed", fail)])
    assert not any(point.fwd_hooks for point in model.hook_dict.values())


@pytest.mark.parametrize("layer", [0, 1, 2])
def test_a_pass_that_stops_gives_what_enters_the_layer(layer):
    model, ids = spread(INCREMENTS["per_layer"]), some_ids()
    _, cache = model.run_with_cache(ids)
    entering = cache["resid_pre", layer] if layer < 2 else cache["resid_post", 1]
    assert torch.equal(model(ids, stop_at_layer=layer), entering)


def test_a_pass_that_stops_runs_no_later_layer():
    model = fresh(RopeConfig())
    _, cache = model.run_with_cache(some_ids(), stop_at_layer=1)
    assert not any(name.startswith(("blocks.1.", "ln_final")) for name in cache)


@can_be_compiled
def test_without_hooks_the_model_is_one_compiled_graph():
    model, ids = spread(INCREMENTS["per_layer"]), some_ids()
    counter = CompileCounter()
    compiled = torch.compile(model, backend=counter, fullgraph=True)
    assert torch.allclose(compiled(ids), model(ids), atol=1e-5)
    compiled(ids + 0)
    assert counter.frame_count == 1


@can_be_compiled
@pytest.mark.parametrize("in_place", [False, True])
def test_a_hook_added_after_compilation_is_honoured(in_place):
    model, ids = spread(INCREMENTS["per_layer"]), some_ids()
    plain = copy.deepcopy(model)(ids)
    if in_place:
        model.compile(backend="eager")
        compiled = model
    else:
        compiled = torch.compile(model, backend="eager")
    assert torch.allclose(compiled(ids), plain, atol=1e-5)

    model.add_hook("blocks.0.attn.hook_increment", lambda x, hook: torch.zeros_like(x))  # noqa: ARG005
    hooked = compiled(ids)
    assert not torch.allclose(hooked, plain, atol=1e-3)
    model.reset_hooks()
    assert torch.allclose(compiled(ids), plain, atol=1e-5)

    _, cache = compiled.run_with_cache(ids)
    assert cache["blocks.1.attn.hook_position"].shape == (2, 40, 1)


def test_weights_have_transformer_lens_shapes_as_attributes():
    model = spread(RopeConfig())
    attention = model.blocks[0].attn
    assert model.W_E.shape == (257, 32)
    assert model.W_U.shape == (32, 257)
    assert attention.W_Q.shape == attention.W_K.shape == attention.W_V.shape == (2, 32, 16)
    assert attention.W_O.shape == (2, 16, 32)
    _, cache = model.run_with_cache(some_ids())
    read = cache["blocks.0.ln1.hook_normalized"] * model.blocks[0].ln1.w
    for name, weight in [("q", attention.W_Q), ("k", attention.W_K), ("v", attention.W_V)]:
        expected = torch.einsum("bpm,hmd->bphd", read, weight)
        assert torch.allclose(cache[name, 0], expected, atol=1e-4)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"d_model": 30, "n_heads": 4}, "multiple of 2 x n_heads"),
        ({"n_layers": 0}, "n_layers"),
        ({"n_ctx": 4}, "n_ctx"),
        ({"norm_eps": 0.0}, "norm_eps"),
        ({"d_model": 2.5}, "d_model"),
        ({"d_model": True}, "d_model"),
        ({"norm_eps": float("nan")}, "norm_eps"),
        ({"norm_eps": float("inf")}, "norm_eps"),
        ({"norm_eps": 10**400}, "norm_eps"),
        ({"d_modle": 32}, "d_modle"),
        ({"position": "rope"}, "position"),
        ({"position": {"encoding": "nope"}}, "nope"),
        ({"position": {"encoding": "rope", "scope": "shared"}}, "position.scope"),
        ({"position": {"scope": "both"}}, "both"),
        ({"position": {"layout": "other"}}, "position.layout"),
        ({"position": {"max_increment": 1.0}}, "max_increment"),
        ({"position": {"base": float("inf")}}, "position.base"),
        ({"position": {"d_hidden": 0}}, "d_hidden"),
    ],
)
def test_an_impossible_config_names_what_is_wrong(settings, words):
    with pytest.raises(ValueError, match=words) as caught:
        ModelConfig.from_dict(settings)
    assert len(str(caught.value).splitlines()) == 1


@any_position
def test_a_config_survives_the_way_through_plain_values(position):
    config = ModelConfig(**{"n_layers": 3, "position": position})
    assert ModelConfig.from_dict(config.to_dict()) == config


def test_mlp_weights_have_transformer_lens_shapes_as_attributes():
    model = spread(RopeConfig())
    mlp = model.blocks[1].mlp
    assert mlp.W_in.shape == mlp.W_gate.shape == (32, 48)
    assert mlp.W_out.shape == (48, 32)
    _, cache = model.run_with_cache(some_ids())
    read = cache["blocks.1.ln2.hook_normalized"] * model.blocks[1].ln2.w
    assert torch.allclose(cache["blocks.1.mlp.hook_pre"], read @ mlp.W_gate, atol=1e-4)
    assert torch.allclose(cache["mlp_out", 1], cache["post", 1, "mlp"] @ mlp.W_out, atol=1e-4)
    neurons = cache.stack_neuron_results(layer=-1)
    both = cache["mlp_out", 0] + cache["mlp_out", 1]
    assert torch.allclose(neurons.sum(0), both, atol=1e-3)
