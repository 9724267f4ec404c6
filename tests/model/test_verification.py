"""Every encoding of the registry keeps its promises, and one that breaks them is found out."""

import functools

import pytest
import torch

from interp.model.added_positions import LearnedAbsolute
from interp.model.biased_scores import Alibi
from interp.model.config import POSITION_CONFIGS
from interp.model.position_encoding import NoPositions
from interp.model.position_encodings import ENCODINGS
from interp.model.rotary import Increments, Rope
from interp.model.score_bias import RunningBias
from interp.model.verification import Check, attended, small_config, small_model, verify

SETTINGS = [
    *((encoding, {}) for encoding in POSITION_CONFIGS),
    ("rope", {"recency": "alibi", "layout": "interleaved"}),
    ("rope", {"recency": "forget-gate", "unrotated_every": 2}),
    ("rope", {"scaling": "yarn:2"}),
    ("increments", {"scope": "shared", "max_increment": "none"}),
    ("increments", {"per_head": True, "unrotated_every": 2}),
]


@functools.cache
def checks_of(encoding, **settings):
    return {check.name: check for check in verify(small_config(encoding, settings))}


def broken_in(encoding):
    return {check.name for check in verify(small_config(encoding)) if check.holds is False}


@pytest.mark.parametrize(("encoding", "settings"), SETTINGS)
def test_it_keeps_its_promises(encoding, settings):
    checks = checks_of(encoding, **settings)
    assert len(checks) == 10
    for check in checks.values():
        assert check.holds is not False, check
        if check.value is None:
            assert check.note.startswith("not defined: "), check
        elif check.holds is None:
            assert check.note.startswith("only shown"), check


def test_scores_are_those_of_the_model():
    for encoding in POSITION_CONFIGS:
        config = small_config(encoding)
        model = small_model(config, 0)
        ids = torch.randint(0, 257, (2, 30), generator=torch.Generator().manual_seed(1))
        name = "blocks.0.attn.hook_attn_scores"
        _, seen = model.run_with_cache(ids, names_filter=name, return_cache_object=False)
        assert torch.allclose(attended(model, ids).scores, seen[name], atol=1e-5), encoding


def test_only_without_positions_and_mask_does_order_not_count():
    values = {name: checks_of(name)["order without mask"].value for name in POSITION_CONFIGS}
    assert values.pop("none") < 1e-5
    assert min(values.values()) > 0.1
    assert checks_of("none")["order under causal mask"].value > 0.1


def test_distance_in_tokens_is_a_promise_of_some_and_shown_for_the_others():
    held = {name for name in POSITION_CONFIGS if checks_of(name)["distance in tokens"].holds}
    assert held == {"none", "relative-bias", "alibi", "rope"}
    for name in set(POSITION_CONFIGS) - held:
        shown = checks_of(name)["distance in tokens"]
        assert shown.value > 0.01
        assert shown.holds is None
    assert checks_of("rope", recency="forget-gate")["distance in tokens"].holds is None
    assert checks_of("rope", recency="alibi")["distance in tokens"].holds


def test_a_larger_base_changes_short_contexts_less_than_interpolation():
    for encoding in ("rope", "increments"):
        checks = checks_of(encoding)
        kinds = (f"short contexts ({kind}:2)" for kind in ("pi", "ntk", "yarn"))
        pi, ntk, yarn = (checks[kind].value for kind in kinds)
        assert 0.1 < ntk < pi
        assert yarn > 0.1


def test_the_gradient_is_that_of_the_increments_weights():
    gradient = checks_of("increments", scope="shared")["gradient"]
    assert gradient.value > 1e-3
    assert "smallest of 4, at position.shared." in gradient.note


def test_a_learned_table_refuses_what_it_has_no_positions_for():
    longest = checks_of("learned-absolute")["longest window"]
    assert longest.value == longest.at_most == 64
    assert "refused" in longest.note
    assert "cannot read a window of 65 tokens" in longest.note
    assert checks_of("rope")["longest window"].value == 128


class RotatesQueriesAlone(Rope):
    """By their absolute positions; keys stay as they are."""

    def rotate(self, layer, queries, keys, position):
        return super().rotate(layer, queries, keys, position)[0], keys


class Stretches(Rope):
    """Rotation that changes lengths."""

    def rotate(self, layer, queries, keys, position):
        return tuple(1.1 * each for each in super().rotate(layer, queries, keys, position))


class Detached(Increments):
    """Positions that no gradient reaches."""

    @torch.no_grad()
    def increment(self, layer, pre):
        return super().increment(layer, pre)


class Constant(Alibi):
    """A bias that tells nothing."""

    def score_bias(self, layer, normalized):
        return RunningBias(super().score_bias(layer, normalized).total * 0)


class Quadratic(Alibi):
    """A bias that depends on places, not on distances."""

    def score_bias(self, layer, normalized):
        return RunningBias(-super().score_bias(layer, normalized).total.square() / 64)


class Places(NoPositions):
    """Positions in an encoding that should have none."""

    def add_to_embedding(self, embedding):
        return embedding + torch.arange(embedding.shape[1])[:, None] / 10


class Unsaid(LearnedAbsolute):
    """A table that does not say where it ends."""

    def __init__(self, config, position):
        super().__init__(config, position)
        self.most_positions = None


@pytest.mark.parametrize(
    ("encoding", "broken", "found"),
    [
        ("rope", RotatesQueriesAlone, {"distance in tokens", "distance in positions"}),
        ("rope", Stretches, {"lengths"}),
        ("increments", Detached, {"gradient"}),
        ("alibi", Constant, {"order without mask"}),
        ("alibi", Quadratic, {"distance in tokens"}),
        ("none", Places, {"order without mask", "distance in tokens"}),
        ("learned-absolute", Unsaid, {"longest window"}),
    ],
)
def test_a_broken_encoding_is_found_out(monkeypatch, encoding, broken, found):
    monkeypatch.setitem(ENCODINGS, encoding, broken)
    assert broken_in(encoding) == found


@pytest.mark.parametrize(
    ("value", "at_least", "at_most", "holds"),
    [
        (1.0, None, None, None),
        (None, 1.0, None, None),
        (1.0, 1.0, None, True),
        (0.9, 1.0, None, False),
        (1.0, None, 1.0, True),
        (1.1, None, 1.0, False),
        (1.0, 1.0, 1.0, True),
        (1.1, 1.0, 1.0, False),
        (float("nan"), None, 1.0, False),
    ],
)
def test_a_number_is_held_against_its_bounds(value, at_least, at_most, holds):
    assert Check("", "", value, at_least=at_least, at_most=at_most).holds is holds


def test_an_unknown_encoding_or_setting_is_refused():
    with pytest.raises(ValueError, match="encoding must be one of"):
        small_config("compass")
    with pytest.raises(ValueError, match="unknown key"):
        small_config("rope", {"bend": 1})
