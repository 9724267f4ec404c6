"""Signals: any number per token (and layer, and head) that one forward pass can give.

A signal is one value of `interp.extraction.signal.Signal` and one line in `SIGNALS`; extraction,
storage and analyses then take it as they take the increment. What is made of a hook point by one
of `interp.extraction.reductions.REDUCTIONS` needs no line: it is asked for as ``HOOK:REDUCTION``.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import torch
from jaxtyping import Float, Int
from torch import Tensor

from interp.errors import InputError
from interp.extraction.manifest import folder_name
from interp.extraction.reductions import EXAMPLE, hook_signal
from interp.extraction.signal import Reduction, Signal, TokenColumns, layer_columns
from interp.model import ModelConfig, RopeConfig, Transformer
from interp.model.loss import surprisal_nats


def find_signals(asked: Sequence[str | Signal]) -> tuple[Signal, ...]:
    """The signals asked for, each once, in that order.

    Args:
        asked: Names in `SIGNALS`, names ``HOOK:REDUCTION`` as in `interp.extraction.reductions`,
            or signals of one's own.

    Raises:
        InputError: A name is unknown or can't be printed, or there is none, or two would lie in
            one folder.
    """
    known = f"known: {', '.join(SIGNALS)}, and HOOK:REDUCTION, such as {EXAMPLE}"
    if not asked:
        raise InputError("extraction: no signal asked for", known)
    found: dict[str, Signal] = {}
    for each in asked:
        if isinstance(each, Signal):
            if found.get(each.name, each) != each:
                raise InputError(f"extraction: two signals are called {each.name!r:.100}")
            if not each.name.isprintable():  # it would reach a terminal, from a manifest too
                raise InputError(f"extraction: the name {each.name!r:.100} can't be printed")
            found[each.name] = each
        elif each in SIGNALS:
            found[each] = SIGNALS[each]
        elif ":" in each:
            found[each] = hook_signal(each)
        else:
            raise InputError(f"extraction: no signal called {each!r:.100}", known)
    folders: dict[str, str] = {}
    for name in found:
        other = folders.setdefault(folder_name(name), name)
        if other != name:
            raise InputError(
                f"extraction: the signals {other!r:.100} and {name!r:.100} would be written to one "
                f"folder, {folder_name(name)!r:.100}",
                "Call one of them otherwise: small letters, digits and _ . - tell names apart.",
            )
    return tuple(found.values())


def increment_columns(config: ModelConfig) -> tuple[str, ...]:
    """Names of a model's increment columns: ``L0``, ... or ``shared``, with ``H0``, ... per head.

    Raises:
        InputError: The model's position encoding rotates nothing, so that nothing is increment.
    """
    if not isinstance(config.position, RopeConfig):
        raise InputError(
            f"extraction: position encoding {config.position.encoding!r} has no increments",
            "Only models with rotary positions have them; --signal surprisal is one of those that "
            "every model has.",
        )
    per_head = config.n_increment_columns > 1
    if _is_per_layer(config):
        return layer_columns(config, per_head=per_head)
    return tuple(f"sharedH{head}" for head in range(config.n_heads)) if per_head else ("shared",)


def _increment_signal(
    name: str, units: str, bound: Callable[[ModelConfig], float | None] = lambda _config: None
) -> Signal:
    """The signal at ``blocks.I.attn.hook_NAME``; what the token alone decides by look-up."""

    def deeper_hooks(config: ModelConfig) -> Mapping[str, Reduction]:
        hooks = list(hooked.hooks(config).items())
        return dict(hooks[1:] if _is_per_layer(config) else ())

    def token_columns(model: Transformer) -> TokenColumns:
        names = increment_columns(model.config)  # or the one line that there are none
        values = model.token_increments()[name].detach().float().cpu().numpy()
        return dict(zip(names, values.T, strict=False))

    hooked = replace(
        hook_signal(f"blocks.*.attn.hook_{name}:value"), name=name, units=units, bound=bound
    )
    return replace(
        hooked,
        columns=increment_columns,
        hooks=deeper_hooks,
        token_columns=token_columns,
        hooked=hooked,
    )


def _is_per_layer(config: ModelConfig) -> bool:
    return getattr(config.position, "scope", "shared") == "per_layer"


def _max_increment(config: ModelConfig) -> float | None:
    return getattr(config.position, "max_increment", None)


def _surprisal(
    logits: Float[Tensor, "batch pos d_vocab"], next_ids: Int[Tensor, "batch pos"]
) -> Float[Tensor, "batch pos 1"]:
    return surprisal_nats(logits, next_ids).unsqueeze(-1)


def _entropy(
    logits: Float[Tensor, "batch pos d_vocab"],
    next_ids: Int[Tensor, "batch pos"],  # noqa: ARG001
) -> Float[Tensor, "batch pos 1"]:
    return torch.special.entr(logits.float().softmax(-1)).sum(-1, keepdim=True)


SIGNALS: Mapping[str, Signal] = {
    signal.name: signal
    for signal in (
        _increment_signal("increment", "positions", bound=_max_increment),
        _increment_signal("increment_pre", "before softplus or sigmoid"),
        Signal(
            name="surprisal",
            units="nats",
            sees="token",
            columns=lambda _config: ("value",),
            of_logits=_surprisal,
        ),
        Signal(
            name="entropy",  # of the prediction of the token
            units="nats",
            sees="before",
            columns=lambda _config: ("value",),
            of_logits=_entropy,
        ),
        replace(hook_signal("blocks.*.attn.hook_pattern:distance"), name="attention_distance"),
    )
}
"""Every signal that has a name of its own, by that name."""
