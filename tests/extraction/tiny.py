"""A tiny model with increments that differ, and what extraction asks of a checkpoint."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import torch

from interp.corpus.documents import Document
from interp.model import IncrementsConfig, ModelConfig, RopeConfig, Transformer
from interp.tokenizer import BYTES, Tokenizer

N_CTX = 32


@dataclass(frozen=True)
class TinyCheckpoint:
    model: Transformer
    name: str = "tiny"
    fingerprint: str = "0" * 64
    config: dict[str, Any] = field(default_factory=dict)
    tokenizer: Tokenizer = BYTES

    def is_held_out(self, content: bytes) -> bool | None:
        return None if len(content) == 0 else bytes(content[:1]) == b"H"


def tiny_model(**position: Any) -> Transformer:
    """Two layers; ``position`` are settings of its increments, by default per layer."""
    return _with_spread_weights(IncrementsConfig(d_hidden=8, **position))


def tiny_rope() -> Transformer:
    return _with_spread_weights(RopeConfig())


def _with_spread_weights(position: RopeConfig) -> Transformer:
    model = Transformer(
        ModelConfig(d_model=32, n_heads=2, n_layers=2, d_mlp=48, n_ctx=N_CTX, position=position)
    )
    generator = torch.Generator().manual_seed(5)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn(parameter.shape, generator=generator), alpha=0.25)
    return model.eval()


def documents(*contents: bytes) -> Callable[[], Iterator[Document]]:
    def read() -> Iterator[Document]:
        for number, content in enumerate(contents):
            yield Document(source=f"text-{number}.txt", id="", content=content)

    return read
