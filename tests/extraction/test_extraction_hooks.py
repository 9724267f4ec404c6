import pytest
import torch
from tiny import tiny_model

from interp.errors import InputError
from interp.extraction.hooks import reading

IDS = torch.tensor([[256, 72, 101, 108]])
L0, L1 = (f"blocks.{layer}.attn.hook_increment" for layer in (0, 1))


def has_hooks(model) -> bool:
    return any(p._forward_hooks or p.fwd_hooks for p in model.hook_dict.values())


def test_reads_what_run_with_cache_reads_and_ends_the_pass_there():
    model = tiny_model()
    _, cache = model.run_with_cache(IDS)
    reached = []
    model.blocks[1].mlp.register_forward_hook(lambda *_: reached.append(1))
    with reading(model, [L1, L0]) as activations:
        model(IDS)
        reached.append("after the pass")
    assert reached == []
    for name in (L0, L1):
        torch.testing.assert_close(activations[name], cache[name], rtol=0, atol=0)
    assert not has_hooks(model)


def test_without_stop_the_pass_gives_its_logits():
    model = tiny_model()
    with reading(model, [L0], stop=False) as activations:
        logits = model(IDS)
    torch.testing.assert_close(logits, model(IDS))
    assert set(activations) == {L0}


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, MemoryError])
def test_hooks_go_when_the_pass_fails(error):
    model = tiny_model()

    def fail(_activation, hook):  # noqa: ARG001
        raise error

    with pytest.raises(error), model.hooks([(L0, fail)]), reading(model, [L1]):
        model(IDS)
    assert not has_hooks(model)


def test_hooks_of_others_stay_and_their_changes_are_read():
    model = tiny_model()
    with model.hooks([(L0, lambda activation, hook: activation + 1)]):  # noqa: ARG005
        with reading(model, [L0]) as changed:
            model(IDS)
        assert has_hooks(model)
    with reading(model, [L0]) as plain:
        model(IDS)
    torch.testing.assert_close(changed[L0], plain[L0] + 1)


def test_a_block_within_a_block_ends_its_own_pass_alone():
    model = tiny_model()
    with reading(model, [L1]) as outer:
        with reading(model, [L0]) as inner:
            model(IDS)
        model(IDS)
    assert set(inner) == {L0}
    assert set(outer) == {L1}


def test_an_unknown_hook_point_is_named_with_those_that_are_close():
    with (
        pytest.raises(InputError, match=r"no hook point 'blocks.0.hook_increment'") as caught,
        reading(tiny_model(), ["blocks.0.hook_increment"]),
    ):
        pass
    assert "blocks.0.attn.hook_increment" in caught.value.hint


def test_a_hook_point_that_the_pass_does_not_reach_is_named():
    model = tiny_model()
    with (
        pytest.raises(InputError, match="never came to ln_final"),
        reading(model, ["ln_final.hook_normalized"]),
    ):
        model(IDS, stop_at_layer=1)
