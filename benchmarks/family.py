"""A step of the family recipe as `interp train-family` makes it, against plain code."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import torch
from torch import Tensor, nn

from benchmarks.figures import Figure, median_seconds
from benchmarks.opponents.plain_transformer import PlainTransformer
from interp.model import ModelConfig, Transformer
from interp.model.loss import surprisal_nats
from interp.training import Recipe, load_recipe
from interp.training.family import family_runs

RECIPE = "family-characters"
D_VOCAB = 65
"""Characters of the recipe's text."""

ROUNDS = 15


def figures() -> Iterator[Figure]:
    """One training step on windows of 64 tokens in float32: ours over the plain one."""
    for run in family_runs(load_recipe(RECIPE), Path(RECIPE), ["rope", "alibi"]):
        recipe = run.recipe
        sizes = replace(recipe.model, d_vocab=D_VOCAB)
        ours, plain = Transformer(sizes), plainly(sizes)
        sides = (
            _step(recipe, ours, torch.compile(ours) if recipe.compile else ours),
            _step(recipe, plain, plain),
        )
        seconds, plain_seconds = median_seconds(sides, rounds=ROUNDS)
        yield Figure(
            f"family: {run.member} step / plain eager step",
            seconds / plain_seconds,
            remark=f"{1e3 * seconds:.0f} ms, {'compiled' if recipe.compile else 'eager'}",
        )


def plainly(sizes: ModelConfig) -> PlainTransformer:
    """The same network, with RoPE or ALiBi."""
    return PlainTransformer(
        d_vocab=sizes.d_vocab,
        d_model=sizes.d_model,
        n_heads=sizes.n_heads,
        n_layers=sizes.n_layers,
        d_mlp=sizes.d_mlp,
        n_ctx=sizes.n_ctx,
        norm_eps=sizes.norm_eps,
        is_tied=sizes.is_tied,
        has_alibi=sizes.position.encoding == "alibi",
    )


def _step(
    recipe: Recipe, model: nn.Module, forward: Callable[[Tensor], Tensor]
) -> Callable[[], None]:
    """One optimizer step over random windows, as the trainer makes it."""
    chosen = recipe.optimization
    optimizer = torch.optim.AdamW(model.parameters(), lr=chosen.learning_rate, fused=True)
    windows = torch.randint(0, D_VOCAB, (chosen.batch_size, recipe.model.n_ctx + 1))

    def step() -> None:
        surprisal_nats(forward(windows[:, :-1]), windows[:, 1:]).mean().backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), chosen.clip_norm)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)

    return step
