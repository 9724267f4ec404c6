"""The public experiment's model, written plainly from its description, as an oracle.

It shares no line with the package: weights by that experiment's names, rotation of complex
numbers, attention in the textbook's way.
"""

import math

import torch
from torch import Tensor
from torch.nn import functional


def random_state(config: dict, seed: int = 3) -> dict[str, Tensor]:
    """Weights large enough that increments differ widely from byte to byte."""
    draw = torch.Generator().manual_seed(seed)
    c, m, h = config["dim"], config["intermediate_dim"], config["delta_hidden_dim"]
    n_out = config["n_heads"] if config["per_head_delta"] else 1

    def matrix(*shape: int) -> Tensor:
        return torch.randn(*shape, generator=draw) * 0.2

    def gain() -> Tensor:
        return 1 + torch.randn(c, generator=draw) * 0.1

    def delta(prefix: str) -> dict[str, Tensor]:
        return {
            f"{prefix}.fc1.weight": matrix(h, c) * 3,
            f"{prefix}.fc1.bias": matrix(h),
            f"{prefix}.fc2.weight": matrix(n_out, h) * 3,
            f"{prefix}.fc2.bias": matrix(n_out),
        }

    state = {"tok_emb.weight": matrix(config["vocab_size"], c), "final_norm.weight": gain()}
    for i in range(config["n_layers"]):
        state |= {f"layers.{i}.attn_norm.weight": gain(), f"layers.{i}.ffn_norm.weight": gain()}
        state |= {f"layers.{i}.attn.{w}.weight": matrix(c, c) for w in ("wq", "wk", "wv", "wo")}
        state |= {f"layers.{i}.ffn.{w}.weight": matrix(m, c) for w in ("w_gate", "w_up")}
        state[f"layers.{i}.ffn.w_down.weight"] = matrix(c, m)
    if config["pos_encoding"] == "selective_rope" and not config["per_layer_delta"]:
        state |= delta("delta_mlp")
    elif config["pos_encoding"] == "selective_rope":
        for i in range(config["n_layers"]):
            state |= delta(f"delta_mlps.{i}") | {f"delta_mlps.{i}.norm.weight": gain()}
    return state


def run(config: dict, state: dict[str, Tensor], ids: list[int]) -> tuple[Tensor, Tensor]:
    """Logits [token, vocab] and increments [layer, token, head]."""
    n, heads, d = len(ids), config["n_heads"], config["dim"] // config["n_heads"]
    embedding = state["tok_emb.weight"][torch.tensor(ids)]
    x, found = embedding, []
    for i in range(config["n_layers"]):
        if config["pos_encoding"] == "rope":
            delta = torch.ones(n, heads)
        elif config["per_layer_delta"]:
            read = _norm(x, state[f"delta_mlps.{i}.norm.weight"], torch.finfo(x.dtype).eps)
            delta = 10 / (1 + torch.exp(-_delta(state, f"delta_mlps.{i}", read)))
        else:
            delta = torch.log1p(torch.exp(_delta(state, "delta_mlp", embedding)))
        delta = delta.expand(n, heads)
        found.append(delta)
        layer = f"layers.{i}"
        h = _norm(x, state[f"{layer}.attn_norm.weight"], config["norm_eps"])
        q, k, v = (
            (h @ state[f"{layer}.attn.{w}.weight"].T).view(n, heads, d) for w in ("wq", "wk", "wv")
        )
        frequencies = config["rope_theta"] ** (-torch.arange(0, d, 2) / d)
        turn = torch.polar(torch.ones(()), delta.cumsum(0)[..., None] * frequencies)
        q, k = (
            torch.view_as_real(torch.view_as_complex(y.reshape(n, heads, -1, 2)) * turn).flatten(-2)
            for y in (q, k)
        )
        z = torch.zeros(n, heads, d)
        for t in range(n):
            for head in range(heads):
                scores = k[: t + 1, head] @ q[t, head] / math.sqrt(d)
                z[t, head] = scores.softmax(0) @ v[: t + 1, head]
        x = x + z.flatten(1) @ state[f"{layer}.attn.wo.weight"].T
        h = _norm(x, state[f"{layer}.ffn_norm.weight"], config["norm_eps"])
        gate, up = (h @ state[f"{layer}.ffn.{w}.weight"].T for w in ("w_gate", "w_up"))
        x = x + (functional.silu(gate) * up) @ state[f"{layer}.ffn.w_down.weight"].T
    x = _norm(x, state["final_norm.weight"], config["norm_eps"])
    return x @ state["tok_emb.weight"].T, torch.stack(found)


def _norm(x: Tensor, gain: Tensor, eps: float) -> Tensor:
    return x * (x.square().mean(-1, keepdim=True) + eps).rsqrt() * gain


def _delta(state: dict[str, Tensor], prefix: str, x: Tensor) -> Tensor:
    hidden = x @ state[f"{prefix}.fc1.weight"].T + state[f"{prefix}.fc1.bias"]
    hidden = hidden * (1 + torch.erf(hidden / math.sqrt(2))) / 2
    return hidden @ state[f"{prefix}.fc2.weight"].T + state[f"{prefix}.fc2.bias"]
