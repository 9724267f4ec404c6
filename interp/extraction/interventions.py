"""Interventions: what becomes of a model's predictions when its increments are others.

An intervention acts at ``blocks.I.attn.hook_increment``, before increments are summed to
positions, while a text is read; an extraction with one is a table like any other.
"""

import hashlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from interp.errors import InputError, UsageError
from interp.extraction.batches import Batch
from interp.extraction.hooks import reading
from interp.extraction.increment_table import IncrementTable, layer_and_head
from interp.extraction.signals import increment_columns
from interp.model import ModelConfig, Transformer
from interp.text import vocabulary_classes

KINDS = ("one", "mean", "shuffled", "shuffled-within-class", "layer", "scaled", "byte-table")
_SIGNAL = "increment"
_SETTING = {"mean": "values", "byte-table": "values", "layer": "source", "scaled": "factor"}
_SHUFFLES = ("shuffled", "shuffled-within-class")


@dataclass(frozen=True, eq=False)
class Intervention:
    """What is put in the place of the increments of some layers.

    A shuffle moves the increments of a window among its tokens, the separator included, heads
    together and in every layer alike. So an increment can stand before the token that it was
    made of: a prediction may then have seen, by way of positions, what comes later.

    Where increments are shared, every layer can be changed alone all the same.

    Attributes:
        kind: ``one``: 1, as in RoPE. ``mean``: the layer's mean. ``shuffled``: those of the
            window in random order. ``shuffled-within-class``: the same among the tokens of one
            class of `interp.text.VOCABULARY_CLASSES`. ``layer``: those that another layer has
            over the same window where nothing is changed. ``scaled``: times a factor.
            ``byte-table``: the mean of the token in the layer.
        layers: Where it acts; None for all layers.
        factor: Of ``scaled``.
        source: The other layer, of ``layer``.
        values: Of ``mean`` what `mean_increments` gives, of ``byte-table`` `byte_increments`.
        seed: Of the shuffles, which also depend on document and window, and on nothing else.

    Raises:
        UsageError: An unknown kind, or settings that do not belong to it.
    """

    kind: str
    layers: tuple[int, ...] | None = None
    factor: float | None = None
    source: int | None = None
    values: Float[np.ndarray, "layer_or_1 *d_vocab head_or_1"] | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise UsageError(
                f"intervention: no kind {self.kind!r:.40}", f"known: {', '.join(KINDS)}"
            )
        for name in ("factor", "source", "values"):
            needed = _SETTING.get(self.kind) == name
            if (getattr(self, name) is not None) != needed:
                what = "needs" if needed else "has no"
                raise UsageError(f"intervention: {self.kind} {what} {name}")
        if self.factor is not None and not np.isfinite(self.factor):
            raise UsageError(f"intervention: factor must be finite, not {self.factor}")
        if self.values is not None and not np.isfinite(self.values).all():
            raise UsageError("intervention: a value is not finite")
        if self.seed < 0:
            raise UsageError(f"intervention: seed must be 0 or more, not {self.seed}")
        if self.layers is not None and not self.layers:
            raise UsageError("intervention: no layer is given", "None stands for all layers")

    def about(self) -> dict[str, Any]:
        """All that decides what it does, as plain values; arrays by their SHA-256."""
        values = self.values
        return {
            "kind": self.kind,
            "layers": None if self.layers is None else sorted(set(self.layers)),
            "factor": self.factor,
            "source": self.source,
            "seed": self.seed if self.kind in _SHUFFLES else None,
            "values": None if values is None else _fingerprint(values),
        }

    def layers_of(self, config: ModelConfig) -> list[int]:
        """The layers of a model in which it acts, once it is sure that it can.

        Raises:
            InputError: The model has no increments, no such layer, or other columns.
        """
        is_shared = layer_and_head(increment_columns(config)[0])[0] is None
        layers = range(config.n_layers) if self.layers is None else sorted(set(self.layers))
        for layer in (*layers, *([] if self.source is None else [self.source])):
            if not 0 <= layer < config.n_layers:
                raise InputError(
                    f"intervention: the model has no layer {layer}",
                    f"It has layers 0 to {config.n_layers - 1}.",
                )
        if self.values is not None:
            n_layers = 1 if is_shared else config.n_layers
            by_token = (config.d_vocab,) if self.kind == "byte-table" else ()
            fitting = (n_layers, *by_token, config.n_increment_columns)
            if self.values.shape != fitting:
                raise InputError(
                    f"intervention: {self.kind} has values of shape {list(self.values.shape)}; "
                    f"the model's increments need {list(fitting)}",
                    "Make them from a table of increments of the same checkpoint.",
                )
        return list(layers)


def mean_increments(table: IncrementTable) -> Float[np.ndarray, "layer_or_1 head_or_1"]:
    """The mean increment of each layer over all tokens of a table, separators included.

    Returns:
        A row per layer, or one that serves all layers; a column, or one per head.

    Raises:
        InputError: The table has no increments, or those of an intervention.
    """
    sums, counts = _sums_by_token(table)
    return sums.sum(1) / counts.sum()


def byte_increments(table: IncrementTable) -> Float[np.ndarray, "layer_or_1 d_vocab head_or_1"]:
    """The mean increment of each token in each layer of a table, as `mean_increments` has them.

    A token that the table does not have gets the layer's mean; where the token decides its
    increment (shared increments, those of layer 0), it always gets that.

    Raises:
        InputError: The table has no increments, or those of an intervention.
    """
    sums, counts = _sums_by_token(table)
    means = sums.sum(1, keepdims=True) / counts.sum()
    n_each = counts[:, None]
    by_token = np.where(n_each > 0, sums / np.maximum(n_each, 1), means)
    vocabulary = table.vocabulary(_SIGNAL)
    if vocabulary is not None:
        for layer, head, name in _places(table):
            if name in vocabulary:
                by_token[layer, :, head] = vocabulary[name]
    return by_token


@contextmanager
def intervening(
    model: Transformer,
    intervention: Intervention | None,
    batch: Batch,
    ids: Int[Tensor, "batch pos"],
) -> Iterator[None]:
    """Forward passes over ``batch`` inside the block have the increments of ``intervention``.

    Args:
        model: The model.
        intervention: What is done; None for nothing.
        batch: The windows.
        ids: Those of ``batch``, where the model is.
    """
    if intervention is None:
        yield
        return
    change = _change(model, intervention, batch, ids)

    def act(increment: Tensor, hook: Any) -> Tensor:
        return change(increment, hook.layer())

    names = [_hook(layer) for layer in intervention.layers_of(model.config)]
    with model.hooks(fwd_hooks=[(name, act) for name in names]):
        yield


def _change(
    model: Transformer, intervention: Intervention, batch: Batch, ids: Tensor
) -> Callable[[Tensor, int], Tensor]:
    """What turns the increments of a layer, ``[batch, pos, head or 1]``, into others."""
    if intervention.kind == "one":
        return lambda increment, _layer: torch.ones_like(increment)
    if intervention.factor is not None:
        factor = intervention.factor
        return lambda increment, _layer: increment * factor
    if intervention.values is not None:
        values = torch.as_tensor(intervention.values, dtype=torch.float32, device=ids.device)
        values = values.expand(model.config.n_layers, *values.shape[1:])
        if intervention.kind == "byte-table":
            return lambda _increment, layer: values[layer][ids]
        return lambda increment, layer: values[layer].expand_as(increment)
    if intervention.source is not None:
        source = _hook(intervention.source)
        with reading(model, [source]) as unchanged:
            model(ids)
        return lambda _increment, _layer: unchanged[source]
    order = torch.from_numpy(_shuffled(intervention, batch)).to(ids.device).unsqueeze(-1)
    return lambda increment, _layer: increment.gather(1, order.expand_as(increment))


def _shuffled(intervention: Intervention, batch: Batch) -> Int[np.ndarray, "batch pos"]:
    """Which position of its window each position takes its increment from; padding keeps its."""
    ids, part = batch.ids(), batch.part
    classes = vocabulary_classes()[ids] if intervention.kind != "shuffled" else np.zeros_like(ids)
    order = np.tile(np.arange(ids.shape[1]), (len(ids), 1))
    for row, window in enumerate(batch.windows):
        length = int(part.length[window])
        where = [intervention.seed, int(part.doc[window]), int(part.start[window])]
        chance = np.random.default_rng(where).random(length)
        of_window = classes[row, :length]
        # class by class: positions in order, and the same positions in random order
        order[row, np.argsort(of_window, kind="stable")] = np.lexsort((chance, of_window))
    return order


def _hook(layer: int) -> str:
    return f"blocks.{layer}.attn.hook_increment"


def _places(table: IncrementTable) -> Iterator[tuple[int, int, str]]:
    """The layer (0 where one serves all), head (0 where there is one) and name of each column."""
    for name in table.columns(_SIGNAL):
        layer, head = layer_and_head(name)
        yield layer or 0, head or 0, name


def _sums_by_token(
    table: IncrementTable,
) -> tuple[Float[np.ndarray, "layer d_vocab head"], Int[np.ndarray, " d_vocab"]]:
    """Sums of the increments of each token, in float64, and how often the token is there."""
    if table.manifest.get("intervention") is not None:
        raise InputError(
            f"{table.folder}: its increments are those of an intervention",
            "give a table that was extracted without one",
        )
    places = list(_places(table))
    n_layers = 1 + max(layer for layer, _, _ in places)
    n_heads = 1 + max(head for _, head, _ in places)
    d_vocab = table.tokenizer.d_vocab
    sums = np.zeros((n_layers, d_vocab, n_heads))
    counts = np.zeros(d_vocab, dtype=np.int64)
    for batch in table.batches(_SIGNAL):
        tokens = batch.column("token").to_numpy()
        counts += np.bincount(tokens, minlength=d_vocab)
        for layer, head, name in places:
            values = batch.column(name).to_numpy(zero_copy_only=False)
            sums[layer, :, head] += np.bincount(tokens, values, minlength=d_vocab)
    return sums, counts


def _fingerprint(values: np.ndarray) -> str:
    """SHA-256, in hex, over shape and float64 values."""
    plain = np.ascontiguousarray(values, dtype="<f8")
    return hashlib.sha256(f"{plain.shape}".encode() + plain.tobytes()).hexdigest()
