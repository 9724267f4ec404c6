import pytest
import torch
from small_models import some_ids, spread

from interp.model.added_positions import sinusoidal_table
from interp.model.config import (
    AlibiConfig,
    LearnedAbsoluteConfig,
    RopeConfig,
    SinusoidalConfig,
)
from interp.model.position_tables import frequency_products, row_cosines
from interp.model.score_terms import TERMS, score_terms


@pytest.mark.parametrize("position", [SinusoidalConfig(), LearnedAbsoluteConfig()])
def test_the_four_terms_sum_to_the_scores_that_attention_takes(position):
    model, ids = spread(position), some_ids()
    _, cache = model.run_with_cache(ids, names_filter="blocks.0.attn.hook_attn_scores")
    scores = cache["blocks.0.attn.hook_attn_scores"]
    terms = score_terms(model, ids)
    assert terms.shape == (*scores.shape, len(TERMS))
    seen = scores.isfinite()
    assert torch.allclose(terms.sum(-1)[seen], scores[seen], atol=1e-4)
    assert all(terms[..., term].abs().max() > 0.01 for term in range(len(TERMS)))


def test_each_term_is_made_of_its_own_parts():
    model, ids = spread(SinusoidalConfig()), some_ids()
    terms = score_terms(model, ids)
    with torch.no_grad():  # the same sum by hand, for one query, key and head
        content = model.W_E[ids[1]]
        place = sinusoidal_table(ids.shape[1], 32, 10_000.0)
        scale = (content + place).pow(2).mean(-1).add(model.config.norm_eps).sqrt()
        gain, w_q, w_k = model.blocks[0].ln1.w, model.blocks[0].attn.W_Q, model.blocks[0].attn.W_K
        query = (content[9] / scale[9] * gain) @ w_q[1]
        key = (place[4] / scale[4] * gain) @ w_k[1]
    assert terms[1, 1, 9, 4, TERMS.index("content-position")].item() == pytest.approx(
        (query @ key / 16**0.5).item(), abs=1e-5
    )


def test_without_added_positions_there_is_content_alone():
    terms = score_terms(spread(AlibiConfig()), some_ids())
    assert terms[..., 0].abs().max() > 0
    assert terms[..., 1:].abs().max() == 0


def test_a_model_that_rotates_has_no_such_terms():
    with pytest.raises(ValueError, match="rope rotates"):
        score_terms(spread(RopeConfig()), some_ids())


def test_products_of_the_table_are_the_sums_of_those_of_its_frequencies():
    table = sinusoidal_table(40, 32, 10_000.0)
    products = table @ table.T
    by_distance = frequency_products(40, 32).sum(-1)
    for query in (0, 7, 39):
        for key in (0, 13, 39):
            assert products[query, key].item() == pytest.approx(
                by_distance[abs(query - key)].item(), abs=1e-3
            )
            assert row_cosines(table)[query, key].item() == pytest.approx(
                by_distance[abs(query - key)].item() / 16, abs=1e-4
            )


def test_one_frequency_takes_a_whole_turn_for_none():
    one = frequency_products(100, 32)[:, 0]  # one radian per token: 44 tokens are 7 turns
    assert one[44] > 0.999
    assert frequency_products(100, 32).mean(-1)[1:].max() < 0.97
