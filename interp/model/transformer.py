"""The transformer: a TransformerLens `HookedRootModule` whose increments can be hooked.

Weights (``C`` = d_model, ``H`` = d_hidden of the DeltaMLP, ``O`` = 1 or n_heads):

| name | shape | what |
|---|---|---|
| ``embed.W_E`` | [d_vocab, C] | token embedding, and its transpose the unembedding |
| ``unembed.weight`` | [d_vocab, C] | the unembedding, where it is not tied |
| ``blocks.I.ln1.w``, ``blocks.I.ln2.w`` | [C] | gains before attention and MLP |
| ``blocks.I.attn.W_QKV`` | [3 C, C] | queries, keys, values of all heads, one after the other |
| ``blocks.I.attn.W_out`` | [C, C] | output of attention, heads one after the other |
| ``blocks.I.mlp.W_gate_in`` | [2 d_mlp, C] | gate, then input of SwiGLU |
| ``blocks.I.mlp.W_proj`` | [C, d_mlp] | output of SwiGLU |
| ``ln_final.w`` | [C] | gain before the unembedding |
| ``position.shared.fc1.{weight,bias}`` | [H, C], [H] | shared increments |
| ``position.shared.fc2.{weight,bias}`` | [O, H], [O] | |
| ``position.layers.I.0.w`` | [C] | per-layer increments: gain of their RMSNorm |
| ``position.layers.I.1.fc1.{weight,bias}`` | [H, C], [H] | |
| ``position.layers.I.1.fc2.{weight,bias}`` | [O, H], [O] | |
| ``position.W_pos`` | [n_ctx, C] | learned absolute positions |
| ``position.b_distance`` | [n_layers, n_heads, distances] | relative biases |
| ``position.[recency.]layers.I.{weight,bias}`` | [n_heads, C], [n_heads] | forget gates |

Matrices are stored ``[out, in]`` and applied as ``x @ W.T``; ``W_E``, ``W_U``, ``attn.W_Q``,
``mlp.W_out`` and the like give them in TransformerLens's shapes.
"""

from collections.abc import Iterator
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn import functional
from transformer_lens import ActivationCache, HookedRootModule
from transformer_lens.hook_points import HookPoint

from interp.errors import InputError
from interp.model.attention import Attention, is_hooked
from interp.model.config import ModelConfig
from interp.model.norm import HookedRMSNorm
from interp.model.position_encoding import PositionEncoding
from interp.model.position_encodings import make_encoding
from interp.model.rotary import Rope


class Transformer(HookedRootModule):
    """A decoder-only, pre-norm transformer.

    The model may be compiled (``torch.compile(model)``): with no hook it is one graph, and a
    hook added later is honoured, because the hooked forward pass runs eagerly.

    Source: the model of "How Far Apart Does a Model Think Its Tokens Are?".
    """

    def __init__(self, config: ModelConfig, *, seed: int | None = 0) -> None:
        """Build the model with initial weights, and increments of exactly 1.

        Args:
            config: Its sizes and position encoding.
            seed: Of the initial weights, which do not depend on the global random state; None
                leaves the weights as they are, to be loaded.
        """
        super().__init__()
        self.config = config
        self.cfg = config  # TransformerLens's name for it
        self.embed = Embedding(config)
        self.hook_embed = HookPoint()
        self.position: PositionEncoding = make_encoding(config)
        self.blocks = nn.ModuleList(Block(config, i, self.position) for i in range(config.n_layers))
        self.ln_final = HookedRMSNorm(config.d_model, config.norm_eps)
        self.unembed: nn.Linear | None = None
        if not config.is_tied:
            self.unembed = nn.Linear(config.d_model, config.d_vocab, bias=False)
        self.setup()
        if seed is not None:
            self._initialise(seed)

    @property
    def W_E(self) -> Float[Tensor, "d_vocab d_model"]:
        """The token embedding."""
        return self.embed.W_E

    @property
    def n_parameters(self) -> int:
        """How many numbers training finds."""
        return sum(parameter.numel() for parameter in self.parameters())

    @property
    def W_U(self) -> Float[Tensor, "d_model d_vocab"]:
        """The unembedding: the embedding's transpose where they are tied."""
        return self._unembedding.T

    @property
    def _unembedding(self) -> Float[Tensor, "d_vocab d_model"]:
        return self.embed.W_E if self.unembed is None else self.unembed.weight

    def forward(
        self, ids: Int[Tensor, "batch pos"], stop_at_layer: int | None = None
    ) -> Float[Tensor, "batch pos d_out"]:
        """Logits of the next token, or the residual stream that enters a layer.

        Args:
            ids: Token ids; a text begins with the separator.
            stop_at_layer: Run the layers before this one and return the residual stream
                [batch, pos, d_model]; n_layers gives what leaves the last layer.

        Returns:
            Logits [batch, pos, d_vocab] in float32 or the autocast type.

        Raises:
            InputError: The window is longer than the position encoding has positions.
        """
        self.require_window(ids.shape[1])
        if any(is_hooked(point) for point in self.hook_dict.values()):
            return _eagerly(self, ids, stop_at_layer)  # type: ignore[call-arg]
        return self._forward(ids, stop_at_layer)

    def require_window(self, n_tokens: int) -> None:
        """Refuse windows that are longer than the position encoding has positions.

        Raises:
            InputError: They are.
        """
        most = self.position.most_positions
        if most is not None and n_tokens > most:
            raise InputError(
                f"the model has {most} learned positions: it cannot read a window of "
                f"{n_tokens} tokens",
                f"Read windows of {most} tokens, or take a model with another encoding.",
            )

    def _forward(self, ids: Tensor, stop_at_layer: int | None) -> Tensor:
        embedding = self.hook_embed(self.embed(ids))
        residual = self.position.add_to_embedding(embedding)
        for block in self.blocks[:stop_at_layer]:
            residual = block(residual, embedding=embedding, encoding=self.position)
        if stop_at_layer is not None:
            return residual
        return functional.linear(self.ln_final(residual), self._unembedding)

    def run_with_cache(  # type: ignore[override]
        self, *args: Any, return_cache_object: bool = True, **kwargs: Any
    ) -> tuple[Any, ActivationCache | dict[str, Tensor]]:
        """The output and every activation, as a TransformerLens `ActivationCache`.

        Args:
            *args: For `forward`.
            return_cache_object: Whether to wrap the activations; else a plain dictionary.
            **kwargs: TransformerLens's options (``names_filter``, ...), and `forward`'s.

        Raises:
            ValueError: ``names_filter`` names a hook that the model does not have.
        """
        wanted = kwargs.get("names_filter")
        names = () if callable(wanted) else (wanted,) if isinstance(wanted, str) else wanted or ()
        for name in names:
            if name not in self.hook_dict:
                raise ValueError(f"run_with_cache: the model has no hook {name!r}")
        output, cache = super().run_with_cache(*args, **kwargs)
        if not return_cache_object:
            return output, cache
        return output, ActivationCache(
            cache, self, has_batch_dim=not kwargs.get("remove_batch_dim")
        )

    def tokens_to_residual_directions(
        self, tokens: Int[Tensor, "*batch"]
    ) -> Float[Tensor, "*batch d_model"]:
        """The direction in the normalised residual stream that each token's logit reads.

        It has the final gain in it, so that `ActivationCache.logit_attrs` sums to the logit.
        """
        return self._unembedding[tokens] * self.ln_final.w

    @torch.no_grad()
    def token_increments(self) -> dict[str, Float[Tensor, "d_vocab head_or_1"]]:
        """What the token alone decides: every id's increment, without a forward pass.

        That is all layers' increments where they are shared or constant, and layer 0's where
        each layer has its own.

        Returns:
            ``increment`` and ``increment_pre``, float32; empty for an encoding that does not
            rotate.
        """
        if not isinstance(self.position, Rope):
            return {}
        ids = torch.arange(self.config.d_vocab, device=self.embed.W_E.device).unsqueeze(1)
        embedding = self.embed(ids)
        pre = self.position.increment_pre(
            0, embedding=embedding, residual=self.position.add_to_embedding(embedding)
        )
        increment = self.position.increment(0, pre)
        return {"increment": increment.squeeze(1), "increment_pre": pre.squeeze(1)}

    def matrices(self) -> Iterator[tuple[str, nn.Parameter]]:
        """The parameters that weight decay applies to."""
        return ((name, p) for name, p in self.named_parameters() if p.ndim >= 2)

    def _initialise(self, seed: int) -> None:
        generator = torch.Generator().manual_seed(seed)
        with torch.no_grad():
            # In order of name, so that models that differ in their increments start alike.
            for name, parameter in sorted(self.named_parameters(), key=_increments_last):
                if parameter.ndim >= 2:
                    _draw(name, parameter, self.config.initialization, generator)
                elif not name.endswith(".w"):  # gains start at 1
                    parameter.zero_()
            self.position.reset()


class Embedding(nn.Module):
    """The token embedding, which also unembeds."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.W_E = nn.Parameter(torch.empty(config.d_vocab, config.d_model))

    def forward(self, ids: Int[Tensor, "batch pos"]) -> Float[Tensor, "batch pos d_model"]:
        """One vector per token."""
        return functional.embedding(ids, self.W_E)


class Block(nn.Module):
    """Attention and SwiGLU, each added to the residual stream."""

    def __init__(self, config: ModelConfig, layer: int, encoding: PositionEncoding) -> None:
        super().__init__()
        self.ln1 = HookedRMSNorm(config.d_model, config.norm_eps)
        self.attn = Attention(config, layer, encoding)
        self.ln2 = HookedRMSNorm(config.d_model, config.norm_eps)
        self.mlp = SwiGLU(config)
        self.hook_resid_pre = HookPoint()
        self.hook_attn_out = HookPoint()
        self.hook_resid_mid = HookPoint()
        self.hook_mlp_out = HookPoint()
        self.hook_resid_post = HookPoint()

    def forward(
        self,
        residual: Float[Tensor, "batch pos d_model"],
        *,
        embedding: Float[Tensor, "batch pos d_model"],
        encoding: PositionEncoding,
    ) -> Float[Tensor, "batch pos d_model"]:
        """The residual stream that leaves the layer."""
        residual = self.hook_resid_pre(residual)
        attn_out = self.attn(
            self.ln1(residual), residual=residual, embedding=embedding, encoding=encoding
        )
        residual = self.hook_resid_mid(residual + self.hook_attn_out(attn_out))
        mlp_out = self.hook_mlp_out(self.mlp(self.ln2(residual)))
        return self.hook_resid_post(residual + mlp_out)


class SwiGLU(nn.Module):
    """silu(gate) x input, then out."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.W_gate_in = nn.Parameter(torch.empty(2 * config.d_mlp, config.d_model))
        self.W_proj = nn.Parameter(torch.empty(config.d_model, config.d_mlp))
        self.hook_pre = HookPoint()
        self.hook_pre_linear = HookPoint()
        self.hook_post = HookPoint()

    @property
    def W_gate(self) -> Float[Tensor, "d_model d_mlp"]:
        """Gate weights as TransformerLens has them."""
        return self.W_gate_in.chunk(2)[0].T

    @property
    def W_in(self) -> Float[Tensor, "d_model d_mlp"]:
        """Input weights as TransformerLens has them."""
        return self.W_gate_in.chunk(2)[1].T

    @property
    def W_out(self) -> Float[Tensor, "d_mlp d_model"]:
        """Output weights as TransformerLens has them."""
        return self.W_proj.T

    def forward(self, x: Float[Tensor, "batch pos d_model"]) -> Float[Tensor, "batch pos d_model"]:
        """What the MLP adds to the residual stream."""
        gate, linear = functional.linear(x, self.W_gate_in).chunk(2, dim=-1)
        post = functional.silu(self.hook_pre(gate)) * self.hook_pre_linear(linear)
        return functional.linear(self.hook_post(post), self.W_proj)


@torch.compiler.disable
def _eagerly(model: Transformer, ids: Tensor, stop_at_layer: int | None) -> Tensor:
    return model._forward(ids, stop_at_layer)


def _draw(name: str, parameter: Tensor, initialization: str, generator: torch.Generator) -> None:
    """Initial weights of a matrix: N(0, 0.02), or what PyTorch gives Embedding and Linear."""
    if initialization == "normal":
        parameter.normal_(0, 0.02, generator=generator)
    elif name in ("embed.W_E", "position.W_pos"):
        parameter.normal_(0, 1, generator=generator)
    else:
        bound = parameter.shape[-1] ** -0.5
        parameter.uniform_(-bound, bound, generator=generator)


def _increments_last(named: tuple[str, nn.Parameter]) -> tuple[bool, str]:
    return named[0].startswith("position."), named[0]
