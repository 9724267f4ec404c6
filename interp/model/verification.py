"""What a position encoding promises, as numbers: each property measured on a small model.

The model has random weights, large enough that every one of them counts. Scores and what
attention gathers are those of layer 0, which reads nothing but the tokens and what the encoding
adds to them.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn import functional
from transformer_lens.hook_points import HookPoint

from interp.errors import InputError
from interp.model.attention import causal_scores, unmasked_scores
from interp.model.config import SCALINGS, ModelConfig
from interp.model.position_encoding import NoPositions, PositionEncoding
from interp.model.rotary import Rope
from interp.model.score_bias import ScoreBias
from interp.model.stretching import stretched_config
from interp.model.transformer import Transformer

SIZES = {"d_model": 64, "n_heads": 4, "n_layers": 2, "d_mlp": 96, "n_ctx": 64}
"""The small model's, with untied embeddings and PyTorch's initial weights."""

ROUNDING, NOTICEABLE, VANISHING = 1e-3, 1e-2, 1e-6
"""At most this is rounding in float32, at least this an effect, below this no gradient."""

SHIFT, DISTANCE, EVERY = 100.25, 5, 8
"""Positions are shifted by so much; pairs of tokens stand so far apart, one every so many."""


@dataclass(frozen=True)
class Check:
    """One property of an encoding, as a number.

    Attributes:
        name: A few words.
        what: What the number is.
        value: The number; None where the property is not defined.
        at_least: What it must not be below; None for no such bound.
        at_most: What it must not be above; None for no such bound.
        note: Why it is not defined, or has no bound; or which of several it is of.
    """

    name: str
    what: str
    value: float | None
    at_least: float | None = None
    at_most: float | None = None
    note: str | None = None

    @property
    def holds(self) -> bool | None:
        """Whether the number keeps its bounds; None where it has none, or is not defined."""
        if self.value is None or (self.at_least is None and self.at_most is None):
            return None
        is_enough = self.at_least is None or self.value >= self.at_least
        return is_enough and (self.at_most is None or self.value <= self.at_most)


@dataclass(frozen=True)
class Attended:
    """Layer 0 as attention has it: rotated queries and keys, values, and the scores' bias."""

    q: Float[Tensor, "batch head pos d_head"]
    k: Float[Tensor, "batch head pos d_head"]
    v: Float[Tensor, "batch head pos d_head"]
    bias: ScoreBias | None

    @property
    def scores(self) -> Float[Tensor, "batch head query key"]:
        """Scores under the causal mask."""
        return causal_scores(self.q, self.k, self.bias)

    def deviation(self) -> float:
        """The standard deviation of the scores."""
        scores = self.scores
        return scores[scores.isfinite()].std().item()


def verify(config: ModelConfig, *, seed: int = 0) -> tuple[Check, ...]:
    """Every property of the position encoding of ``config``, one after the other.

    Args:
        config: A model; `small_config` gives one.
        seed: Of its weights and tokens.
    """
    model, ids = small_model(config, seed), _some_ids(config, seed)
    return (
        permutation_without_mask(model, ids),
        permutation_with_mask(model, ids),
        distance_in_tokens(model, ids),
        distance_in_positions(model, ids),
        lengths(model, ids),
        gradient(model, ids),
        *(short_contexts(model, ids, f"{kind}:2") for kind in SCALINGS),
        longest_window(model, ids),
    )


def small_config(encoding: str, settings: dict[str, object] | None = None) -> ModelConfig:
    """A small model with an encoding of the registry.

    Raises:
        ValueError: There is no such encoding, or a setting of it is wrong.
    """
    position = {**(settings or {}), "encoding": encoding}
    return ModelConfig.from_dict(
        {**SIZES, "is_tied": False, "initialization": "torch", "position": position}
    )


def small_model(config: ModelConfig, seed: int) -> Transformer:
    """A model in which every weight counts; also those that start at 0."""
    model = Transformer(config, seed=seed)
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn(parameter.shape, generator=generator), alpha=0.1)
    return model.requires_grad_(False)


def permutation_without_mask(model: Transformer, ids: Int[Tensor, "batch pos"]) -> Check:
    """Attention that is told no places gives the same to tokens in another order."""
    value = _violation(model, ids, unmasked_scores)
    what = (
        "largest change of what attention gathers when the tokens change places, over its root "
        "mean square, without a mask"
    )
    if isinstance(model.position, NoPositions):
        return Check("order without mask", what, value, at_most=ROUNDING)
    return Check("order without mask", what, value, at_least=NOTICEABLE)


def permutation_with_mask(model: Transformer, ids: Int[Tensor, "batch pos"]) -> Check:
    """The causal mask alone tells places apart."""
    value = _violation(model, ids, causal_scores)
    what = "the same under the causal mask"
    return Check("order under causal mask", what, value, at_least=NOTICEABLE)


def distance_in_tokens(model: Transformer, ids: Int[Tensor, "batch pos"]) -> Check:
    """The score of two tokens, so many tokens apart, wherever they stand among whatever others."""
    ids = ids.clone()
    places = torch.arange(0, ids.shape[1] - DISTANCE, EVERY)
    ids[:, places], ids[:, places + DISTANCE] = 1, 2
    seen = attended(model, ids)
    of_pairs = seen.scores[:, :, places + DISTANCE, places]
    value = (of_pairs.amax(-1) - of_pairs.amin(-1)).max().item() / seen.deviation()
    name = "distance in tokens"
    what = (
        f"spread of the score of one token and one {DISTANCE} tokens before it over places in "
        "the text, in standard deviations of all scores"
    )
    if model.position.by_distance_alone:
        return Check(name, what, value, at_most=ROUNDING)
    is_added = type(model.position).add_to_embedding is not PositionEncoding.add_to_embedding
    counts = "the place itself counts" if is_added else "the tokens in between count"
    return Check(name, what, value, note=f"only shown, since {counts}")


def distance_in_positions(model: Transformer, ids: Int[Tensor, "batch pos"]) -> Check:
    """Only differences of rotary positions matter: all may be shifted alike."""
    name, what = (
        "distance in positions",
        f"largest change of a score when all positions are shifted by {SHIFT}, in standard "
        "deviations of the scores",
    )
    if not isinstance(model.position, Rope):
        return Check(name, what, None, note="not defined: it has no rotary positions")
    seen, shifted = attended(model, ids), attended(model, ids, shift=SHIFT)
    return Check(name, what, _changes(shifted, seen).max().item(), at_most=ROUNDING)


def lengths(model: Transformer, ids: Int[Tensor, "batch pos"]) -> Check:
    """Rotation keeps the lengths of queries and keys, times the factor of a stretched model."""
    name, what = "lengths", "largest relative change of the length of a query or key by rotation"
    if not isinstance(model.position, Rope):
        return Check(name, what, None, note="not defined: it rotates nothing")
    _, factor = model.position.frequencies(0)
    names = [f"attn.hook_{each}" for each in ("q", "k", "rot_q", "rot_k")]
    q, k, rotated_q, rotated_k = (each.norm(dim=-1) for each in _activations(model, ids, names))
    changes = torch.stack((rotated_q / q, rotated_k / k)) / factor - 1
    return Check(name, what, changes.abs().max().item(), at_most=ROUNDING)


def gradient(model: Transformer, ids: Int[Tensor, "batch pos"]) -> Check:
    """The loss reaches every weight of the encoding itself."""
    name = "gradient"
    what = "smallest norm of the loss's gradient at a weight tensor of the encoding"
    model = _copy(model, model.config)
    named = dict(model.position.named_parameters())
    if not named:
        return Check(name, what, None, note="not defined: it has no weights of its own")
    with torch.enable_grad():
        loss = functional.cross_entropy(model(ids)[:, :-1].flatten(0, 1), ids[:, 1:].flatten())
        gradients = torch.autograd.grad(loss, list(named.values()), allow_unused=True)
    norms = {
        each: 0.0 if found is None else found.norm().item()
        for each, found in zip(named, gradients, strict=True)
    }
    least = min(norms, key=lambda each: norms[each])
    of_which = f"smallest of {len(norms)}, at position.{least}"
    return Check(name, what, norms[least], at_least=VANISHING, note=of_which)


def short_contexts(model: Transformer, ids: Int[Tensor, "batch pos"], scaling: str) -> Check:
    """How little a stretched model differs where it would not have to."""
    name, what = (
        f"short contexts ({scaling})",
        "largest change of a score within the first half of n_ctx when the model is stretched, "
        "in standard deviations of the scores",
    )
    try:
        config = stretched_config(model.config, scaling, spans=_spans(model, ids))
    except ValueError as error:
        return Check(name, what, None, note=f"not defined: {error}")
    short = ids[:, : model.config.n_ctx // 2]
    changes = _changes(attended(_copy(model, config), short), attended(model, short))
    typical = changes.square().mean().sqrt().item()
    note = f"only shown; the root mean square of the changes is {typical:.2g}"
    return Check(name, what, changes.max().item(), note=note)


def longest_window(model: Transformer, ids: Int[Tensor, "batch pos"]) -> Check:
    """Windows longer than n_ctx are read, or refused in one line where positions end."""
    most, n_ctx = model.position.most_positions, model.config.n_ctx
    promised = most or 2 * n_ctx
    wanted = [n_ctx, promised, *([] if most is None else [most + 1])]
    value, notes = 0, []
    for n_tokens in wanted:
        try:
            logits = model(ids.repeat(1, 1 + n_tokens // n_ctx)[:, :n_tokens])
        except InputError as refusal:
            notes.append(f"refused: {refusal}")
        except (RuntimeError, IndexError) as error:
            notes.append(f"{n_tokens} tokens: {type(error).__name__}")
        else:
            value = n_tokens if logits.isfinite().all() else value
    return Check(
        "longest window",
        f"tokens of the longest window read, of {' and '.join(map(str, wanted))}; n_ctx is {n_ctx}",
        float(value),
        at_least=float(promised),
        at_most=None if most is None else float(most),
        note="; ".join(notes) or None,
    )


def attended(
    model: Transformer, ids: Int[Tensor, "batch pos"], *, shift: float | None = None
) -> Attended:
    """Queries, keys, values and bias of layer 0.

    Args:
        model: A model.
        ids: Tokens.
        shift: Added to all rotary positions.
    """
    rotated = "rot_" if isinstance(model.position, Rope) else ""
    names = (f"attn.hook_{rotated}q", f"attn.hook_{rotated}k", "attn.hook_v", "ln1.hook_normalized")
    seen = _activations(model, ids, names, shift=shift)
    q, k, v = (each.transpose(1, 2) for each in seen[:3])
    gain = model.get_parameter("blocks.0.ln1.w")  # the hook stands before it
    return Attended(q, k, v, model.position.score_bias(0, seen[3] * gain))


def _activations(
    model: Transformer,
    ids: Int[Tensor, "batch pos"],
    names: Sequence[str],
    *,
    layer: int = 0,
    shift: float | None = None,
) -> list[Tensor]:
    """What a layer's hooks show, in order."""
    seen: dict[str, Tensor] = {}

    def keep(x: Tensor, hook: HookPoint) -> None:
        seen[str(hook.name)] = x

    def shifted(x: Tensor, hook: HookPoint) -> Tensor:  # noqa: ARG001
        return x + (shift or 0.0)

    names = [f"blocks.{layer}.{name}" for name in names]
    hooks: list[tuple[str | Callable, Callable]] = [(name, keep) for name in names]
    if shift is not None:
        hooks.append((f"blocks.{layer}.attn.hook_position", shifted))
    model.run_with_hooks(ids, stop_at_layer=layer + 1, fwd_hooks=hooks)
    return [seen[name] for name in names]


def _spans(model: Transformer, ids: Int[Tensor, "batch pos"]) -> list[float] | None:
    """The farthest position of each layer; a layer without positions has n_ctx."""
    if not isinstance(model.position, Rope):
        return None
    last = [
        _activations(model, ids, ["attn.hook_position"], layer=layer)[0][:, -1].max().item()
        for layer in range(model.config.n_layers)
    ]
    return [each or float(model.config.n_ctx) for each in last]


def _violation(
    model: Transformer,
    ids: Int[Tensor, "batch pos"],
    scores_of: Callable[[Tensor, Tensor, ScoreBias | None], Tensor],
) -> float:
    """How far attention is from giving the same to tokens in another order."""
    order = torch.randperm(ids.shape[1], generator=torch.Generator().manual_seed(0))
    gathered = [
        scores_of(seen.q, seen.k, seen.bias).softmax(-1) @ seen.v
        for seen in (attended(model, ids), attended(model, ids[:, order]))
    ]
    change = gathered[0][:, :, order] - gathered[1]
    return (change.abs().max() / gathered[0].square().mean().sqrt()).item()


def _changes(other: Attended, seen: Attended) -> Float[Tensor, " pair"]:
    """Of every score of the past, in standard deviations of the scores."""
    is_past = seen.scores.isfinite()
    return (other.scores - seen.scores)[is_past].abs() / seen.deviation()


def _copy(model: Transformer, config: ModelConfig) -> Transformer:
    """The same weights under another config, ready for gradients."""
    other = Transformer(config, seed=None)
    other.load_state_dict(model.state_dict())
    return other


def _some_ids(config: ModelConfig, seed: int) -> Int[Tensor, "batch pos"]:
    generator = torch.Generator().manual_seed(seed)
    return torch.randint(3, config.d_vocab, (2, config.n_ctx), generator=generator)
