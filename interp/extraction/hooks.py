"""Reading hook points during one forward pass that ends where nothing more is needed."""

import difflib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from torch import Tensor
from transformer_lens import HookedRootModule

from interp.errors import InputError


@contextmanager
def reading(
    model: HookedRootModule,
    names: Sequence[str],
    *,
    stop: bool = True,
    take: Callable[[str, Tensor], Any] = lambda _name, activation: activation,
) -> Iterator[dict[str, Any]]:
    """What the hook points ``names`` see in one forward pass, made inside the ``with`` block.

    The pass ends, by an exception that never leaves the block, as soon as every name has been
    read, so that the layers behind the last one cost nothing. Whatever happens inside, the
    hooks are gone afterwards; hooks that someone else added stay, and what they change is read
    as changed.

    Args:
        model: The raw module, not a compiled one.
        names: Names of hook points, such as ``blocks.3.attn.hook_increment``.
        stop: Whether to end the pass at the last name; False where the logits are needed too.
        take: What to keep of an activation, given its hook point's name; at once, so that what
            is not kept is free before the pass goes on. By default the tensor itself, not copied.

    Yields:
        What was taken, by name; filled by the pass.

    Raises:
        InputError: The model has no hook point of that name, or the pass does not come to it.

    Example:
        >>> with reading(model, ["blocks.0.hook_resid_pre"]) as activations:  # doctest: +SKIP
        ...     model(ids)
        >>> activations["blocks.0.hook_resid_pre"].shape  # doctest: +SKIP
        torch.Size([1, 512, 256])
    """
    require_hook_points(model, names)
    taken: dict[str, Any] = {}
    missing = set(names)
    all_read = _AllRead()

    def read(activation: Tensor, hook: object) -> None:
        name = str(hook.name)  # type: ignore[attr-defined]
        taken[name] = take(name, activation)
        missing.discard(name)
        if stop and not missing:
            raise all_read

    try:
        with model.hooks(fwd_hooks=[(name, read) for name in dict.fromkeys(names)]):
            yield taken
    except _AllRead as error:
        if error is not all_read:  # it belongs to a block around this one
            raise
        error.__traceback__ = None  # else the frames in it keep the pass's tensors alive
    if missing:
        raise InputError(f"the forward pass never came to {', '.join(sorted(missing))}")


def require_hook_points(model: HookedRootModule, names: Iterable[str]) -> None:
    """Make sure that ``model`` has hook points of these names.

    Raises:
        InputError: It lacks one; the hint has those whose names are close.
    """
    for name in names:
        if name not in model.hook_dict:
            near = difflib.get_close_matches(name, model.hook_dict, n=3, cutoff=0.3)
            raise InputError(
                f"the model has no hook point {name!r:.100}",
                f"close: {', '.join(near)}" if near else "list(model.hook_dict) has their names",
            )


class _AllRead(BaseException):
    """Ends a forward pass; no ``except Exception`` inside a model swallows it."""
