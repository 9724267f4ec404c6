import math

import pytest
import torch
from small_models import some_ids, spread

from interp.model import RopeConfig
from interp.model.rotation import rotate, rotation_frequencies

LAYOUTS = ("half", "interleaved")
any_layout = pytest.mark.parametrize("layout", LAYOUTS)
D_HEAD = 16
# channel i of the half layout is channel INTERLEAVED[i] of the interleaved one
INTERLEAVED = [*range(0, D_HEAD, 2), *range(1, D_HEAD, 2)]


def turned(vectors, position, layout):
    angles = position.unsqueeze(-1) * rotation_frequencies(D_HEAD, 10_000.0)
    return rotate(vectors, angles.cos(), angles.sin(), layout)


def some_vectors(n_pos=6, seed=0):
    return torch.randn(1, n_pos, 2, D_HEAD, generator=torch.Generator().manual_seed(seed))


def positions(*values):
    return torch.tensor(values).view(1, -1, 1)


def test_frequencies_by_hand():
    # pair 0 turns at 1 radian per unit, pair 1 at 100 ** (-2 / 4) = 0.1
    assert torch.allclose(rotation_frequencies(4, 100.0), torch.tensor([1.0, 0.1]))


@any_layout
def test_a_quarter_turn_by_hand(layout):
    vectors = torch.tensor([1.0, 2.0]).view(1, 1, 1, 2)
    angle = torch.tensor(math.pi / 2).view(1, 1, 1, 1)
    rotated = rotate(vectors, angle.cos(), angle.sin(), layout)
    assert torch.allclose(rotated.flatten(), torch.tensor([-2.0, 1.0]), atol=1e-6)


def test_the_two_layouts_are_one_rotation_of_permuted_channels():
    vectors, position = some_vectors(), positions(0.0, 0.9, 1.5, 7.25, 11.0, 100.5)
    interleaved = torch.empty_like(vectors)
    interleaved[..., INTERLEAVED] = vectors
    half = turned(vectors, position, "half")
    other = turned(interleaved, position, "interleaved")
    assert torch.allclose(other[..., INTERLEAVED], half, atol=1e-6)
    # which is another rotation of the channels as they stand
    assert not torch.allclose(turned(vectors, position, "interleaved"), half, atol=1e-2)


def test_a_model_with_permuted_query_and_key_weights_gives_the_same_in_the_other_layout():
    half = spread(RopeConfig(layout="half"))
    other = spread(RopeConfig(layout="interleaved"))
    for block in other.blocks:
        queries, keys, values = block.attn.W_QKV.clone().chunk(3)
        for part in (queries, keys):
            by_head = part.view(2, D_HEAD, -1)
            by_head[:, INTERLEAVED] = by_head.clone()
        block.attn.W_QKV.copy_(torch.cat([queries, keys, values]))
    ids = some_ids()
    assert torch.allclose(half(ids), other(ids), atol=1e-4)


@any_layout
def test_lengths_are_kept(layout):
    vectors = some_vectors()
    rotated = turned(vectors, positions(0.0, 0.3, 1.0, 50.0, 999.5, 4096.0), layout)
    assert torch.allclose(rotated.norm(dim=-1), vectors.norm(dim=-1), rtol=1e-5)


@any_layout
def test_scores_depend_on_the_distance_alone(layout):
    query, key = some_vectors(1, seed=1), some_vectors(1, seed=2)

    def score(at, distance):
        turned_query = turned(query, positions(at + distance), layout)
        return (turned_query * turned(key, positions(at), layout)).sum(-1)

    for distance in (0.0, 1.0, 3.75):
        assert torch.allclose(score(0.0, distance), score(240.5, distance), atol=1e-4)
    assert not torch.allclose(score(0.0, 1.0), score(0.0, 2.0), atol=1e-2)


@any_layout
def test_a_bfloat16_vector_is_turned_in_float32(layout):
    vectors, position = some_vectors(), positions(*[4000.0 + i for i in range(6)])
    rotated = turned(vectors.bfloat16(), position, layout)
    assert rotated.dtype == torch.bfloat16
    exact = turned(vectors.bfloat16().float(), position, layout)
    assert torch.equal(rotated, exact.bfloat16())


def test_heads_may_have_positions_of_their_own():
    vectors = some_vectors(1)
    own = torch.tensor([2.0, 5.0]).view(1, 1, 2)
    rotated = turned(vectors, own, "half")
    for head in range(2):
        alone = turned(vectors[:, :, head : head + 1], own[..., head : head + 1], "half")
        assert torch.allclose(rotated[:, :, head : head + 1], alone)
