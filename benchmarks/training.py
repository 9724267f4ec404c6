"""A training step with per-layer increments against one with RoPE, and RoPE against plain code."""

from collections.abc import Callable, Iterator

import torch
from torch import Tensor, nn

from benchmarks.figures import Figure, median_seconds
from benchmarks.floor import product_rate, training_flops
from benchmarks.opponents.plain_transformer import PlainTransformer
from interp.model import IncrementsConfig, ModelConfig, RopeConfig, Transformer
from interp.model.loss import surprisal_nats

BATCH_SIZE = 8
ROUNDS = 9


def figures() -> Iterator[Figure]:
    """Every figure about training, in bf16 autocast on windows of 512 tokens."""
    rope, per_layer = ModelConfig(position=RopeConfig()), ModelConfig(position=IncrementsConfig())
    with_rope, with_increments = Transformer(rope), Transformer(per_layer)
    sides = (
        _step(with_rope, torch.compile(with_rope)),
        _step(with_increments, torch.compile(with_increments)),
        _step(plain := PlainTransformer(), plain),
    )
    ours, increments, plainly = median_seconds(sides, rounds=ROUNDS)
    yield Figure(
        "training: per-layer step / RoPE step",
        increments / ours,
        at_most=1.10,
        remark=f"{BATCH_SIZE * rope.n_ctx / increments / 1e3:.1f} kB/s",
    )
    yield Figure(
        "training: RoPE step, x plain eager SDPA",
        plainly / ours,
        at_least=1.4,
        remark=f"{BATCH_SIZE * rope.n_ctx / ours / 1e3:.1f} kB/s",
    )
    yield Figure(
        "training: share of the matrix-product rate, RoPE",
        training_flops(rope, BATCH_SIZE) / ours / product_rate(torch.bfloat16, rope),
    )


def _step(model: nn.Module, forward: Callable[[Tensor], Tensor]) -> Callable[[], None]:
    """One optimizer step over random windows, as the trainer makes it."""
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, fused=True)
    windows = torch.randint(0, 256, (BATCH_SIZE, 513))

    def step() -> None:
        with torch.autocast("cpu", torch.bfloat16):
            logits = forward(windows[:, :-1])
        surprisal_nats(logits, windows[:, 1:]).mean().backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)

    return step
