"""Attention by blocks equals the softmax of all scores, whatever is added to them."""

import pytest
import torch

from interp.model.attention import biased_attention, causal_attention, causal_scores
from interp.model.score_bias import DistanceBias, RunningBias

N_POS, N_HEADS = 150, 2


def some(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def falling(*shape):
    return -some(*shape, seed=1).abs().cumsum(dim=1)


BIASES = {
    "a number per distance": DistanceBias(some(N_HEADS, 33)),
    "more distances than tokens": DistanceBias(some(N_HEADS, 400)),
    "one running sum for all windows": RunningBias(falling(1, N_POS, N_HEADS)),
    "a running sum for each window": RunningBias(falling(3, N_POS, N_HEADS)),
}
any_bias = pytest.mark.parametrize("bias", BIASES.values(), ids=BIASES.keys())


@pytest.fixture
def qkv():
    return some(3, 3, N_HEADS, N_POS, 8).unbind()


@any_bias
def test_on_a_cpu(bias, qkv):
    q, k, v = qkv
    explicit = causal_scores(q, k, bias).softmax(-1) @ v
    assert torch.allclose(causal_attention(q, k, v, bias), explicit, atol=1e-5)
    q = q.requires_grad_()  # in training blocks have another size
    assert torch.allclose(causal_attention(q, k, v, bias), explicit, atol=1e-5)


@any_bias
@pytest.mark.parametrize("n_queries", [1, 64, 75, 150, 512])
def test_as_on_an_accelerator(bias, qkv, n_queries):
    q, k, v = qkv
    explicit = causal_scores(q, k, bias).softmax(-1) @ v
    gathered = biased_attention(q, k, v, bias, n_queries=n_queries)
    assert torch.allclose(gathered, explicit, atol=1e-5)


@pytest.mark.parametrize("kind", [DistanceBias, RunningBias])
def test_its_gradients_are_those_of_all_scores(kind, qkv):
    numbers = some(N_HEADS, 33) if kind is DistanceBias else falling(3, N_POS, N_HEADS)

    def gradients(attend):
        leaves = [each.clone().requires_grad_() for each in (*qkv, numbers)]
        q, k, v, own = leaves
        gathered = attend(q, k, v, kind(own))
        return torch.autograd.grad(gathered.square().sum(), leaves)

    explicit = gradients(lambda q, k, v, bias: causal_scores(q, k, bias).softmax(-1) @ v)
    by_blocks = gradients(lambda q, k, v, bias: biased_attention(q, k, v, bias, n_queries=64))
    for one, other in zip(explicit, by_blocks, strict=True):
        assert torch.allclose(one, other, atol=1e-3, rtol=1e-3)


def test_a_training_step_keeps_no_table_of_all_pairs(qkv):
    n_kept = 0

    def count(kept):
        nonlocal n_kept
        n_kept = max(n_kept, kept.numel())
        return kept

    q, k, v = (each.clone().requires_grad_() for each in qkv)
    with torch.autograd.graph.saved_tensors_hooks(count, lambda kept: kept):
        gathered = biased_attention(q, k, v, BIASES["a running sum for each window"], n_queries=50)
    assert n_kept <= q.numel()
    gathered.sum().backward()
    assert q.grad is not None


@any_bias
def test_rounded_queries_are_given_back_in_their_type(bias, qkv):
    q, k, v = (each.bfloat16() for each in qkv)
    gathered = biased_attention(q, k, v, bias, n_queries=64)
    assert gathered.dtype == torch.bfloat16
    explicit = causal_scores(q, k, bias).softmax(-1) @ v.float()
    assert torch.allclose(gathered.float(), explicit, atol=0.05)
