"""Do heads that step further attend nearer? Mean increment against attention distance."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Float, Int

from interp.analyses.statistics import Estimate, clustered_mean, spearman
from interp.errors import InputError
from interp.extraction.increment_table import IncrementTable, layer_and_head
from interp.tables import analysis_table, joined_notes

INCREMENT, DISTANCE = "increment", "attention_distance"
SIGNALS = (INCREMENT, DISTANCE)
"""What is read of every head: positions, and tokens."""

UNIFORM = "uniform_attention"
"""The signal of the row that says how far attention looks back that weighs all tokens alike."""

MIN_CONTEXT = 255
"""Tokens that stand before an entry that counts, so that a head has somewhere to look."""

WITHIN_LAYERS = "spearman_within_layers"
"""The statistic of the correlation that pools the heads after ranking them within their layer."""

FEWEST_HEADS = 3
"""Heads below which a correlation is not defined: two are always in order, or against it."""

P_VALUE = "_p"
"""What the statistic of a correlation's p value ends with."""


@dataclass(frozen=True)
class HeadSums:
    """Sums over the entries of each document that have `MIN_CONTEXT` tokens of context.

    Attributes:
        checkpoint: The model's name.
        heads: Layer and head of each column.
        counts: Entries that count.
        increments: Sums of the increments, in positions.
        distances: Sums of the attention distances, in tokens.
        uniform: Sums of what the distance would be if all tokens weighed the same.
        n_left_out: Entries that do not count since some head's value is undefined.
    """

    checkpoint: str
    heads: tuple[tuple[int, int], ...]
    counts: Int[np.ndarray, " document"]
    increments: Float[np.ndarray, "document head"]
    distances: Float[np.ndarray, "document head"]
    uniform: Float[np.ndarray, " document"]
    n_left_out: int


def require_own_increments(checkpoint: str, columns: Sequence[str]) -> tuple[tuple[int, int], ...]:
    """Layer and head of each column, where every head of every layer has its own increments.

    Args:
        checkpoint: The model's name.
        columns: Those of its increments.

    Raises:
        InputError: Heads share theirs, so that there is nothing to compare.
    """
    found = [layer_and_head(column) for column in columns]
    heads = tuple((layer, head) for layer, head in found if None not in (layer, head))
    if len(heads) < len(columns):
        shared = "head of all layers" if "H" in columns[0] else "layer"
        whose = f"one increment per {shared}" if len(columns) > 1 else "one increment for all heads"
        raise InputError(
            f"heads: {checkpoint} has {whose}, not one for each head of each layer",
            "Give a per-head checkpoint with --ckpt; train makes one with "
            "--set model.position.per_head=true.",
        )
    return heads  # type: ignore[return-value]


def head_sums(
    table: IncrementTable, *, progress: Callable[[int, int], None] | None = None
) -> HeadSums:
    """What `head_distances` needs of a text: sums per document and head.

    Memory: the longest document of the table, and two numbers per document and head.

    Args:
        table: Increments and attention distances of each token, from one extraction.
        progress: Called after each document with the bytes done and those of the whole table.

    Raises:
        InputError: The table lacks a signal, or its heads have no increments of their own.
    """
    columns = table.columns(INCREMENT)
    heads = require_own_increments(table.manifest["checkpoint"], columns)
    if table.columns(DISTANCE) != columns:
        raise InputError(f"{table.folder}: increments and attention distances of different heads")
    counts, increments, distances, uniform = [], [], [], []
    n_left_out, n_bytes = 0, 0
    n_bytes_in_all = int(np.sum(table.documents["n_bytes"].to_numpy()))
    both = (table.read_documents(signal) for signal in SIGNALS)
    for of_increments, of_distances in zip(*both, strict=True):
        is_far = of_increments.context >= MIN_CONTEXT
        steps, ways = (
            each.values[is_far].astype(np.float64) for each in (of_increments, of_distances)
        )
        is_defined = ~np.isnan(steps + ways).any(axis=1)
        counts.append(int(is_defined.sum()))
        increments.append(steps[is_defined].sum(axis=0))
        distances.append(ways[is_defined].sum(axis=0))
        uniform.append(of_increments.context[is_far][is_defined].sum() / 2)
        n_left_out += int((~is_defined).sum())
        n_bytes += len(of_increments.content)
        if progress:
            progress(n_bytes, n_bytes_in_all)
    return HeadSums(
        checkpoint=table.manifest["checkpoint"],
        heads=heads,
        counts=np.array(counts, dtype=np.int64),
        increments=np.reshape(increments, (-1, len(heads))),
        distances=np.reshape(distances, (-1, len(heads))),
        uniform=np.array(uniform, dtype=np.float64),
        n_left_out=n_left_out,
    )


def head_distances(sums: Iterable[HeadSums], *, group: str | None = None) -> pd.DataFrame:
    """Mean increment and attention distance of every head, and how the two go together.

    Attention distance counts tokens, not positions: a head with larger increments turns its
    queries and keys further per token, and whether it then attends nearer in tokens is what is
    asked. Layers differ in both, so a correlation over the heads of all layers mixes differences
    between layers with those between heads; ranked within layers it does not.

    Args:
        sums: Of texts read by one model; several are one text here.
        group: What the rows say of the text, such as its language.

    Returns:
        An analysis table: ``mean`` of both signals per layer and head, over the same entries,
        clustered by document, and that of `UNIFORM`, half the context; ``spearman`` of a head's
        two means within each layer, and over all heads (layer null), and `WITHIN_LAYERS` pooled
        after ranking within layers; with each its two-sided p value (`P_VALUE`)
        by permutation.

    Raises:
        InputError: No entry has enough context.
    """
    together = _together(list(sums))
    n = int(together.counts.sum())
    if n == 0:
        raise InputError(
            f"heads: no token has {MIN_CONTEXT} tokens of context before it"
            + (" and a value in every head" if together.n_left_out else ""),
            f"Give texts of at least {MIN_CONTEXT + 1} bytes, and a model with a window of at "
            f"least {MIN_CONTEXT + 1} tokens.",
        )
    note = f"{together.n_left_out} undefined entries left out" if together.n_left_out else None
    common = {"checkpoint": together.checkpoint, "group": group}
    means: dict[str, list[Estimate]] = {}
    rows: list[dict[str, Any]] = []
    for signal, of_signal in zip(SIGNALS, (together.increments, together.distances), strict=True):
        means[signal] = [clustered_mean(column, together.counts) for column in of_signal.T]
        for (layer, head), mean in zip(together.heads, means[signal], strict=True):
            about = {"signal": signal, "statistic": "mean", "layer": layer, "head": head}
            rows.append(common | about | _noted(mean, note))
    uniform = clustered_mean(together.uniform, together.counts)
    rows.append(common | {"signal": UNIFORM, "statistic": "mean"} | _noted(uniform, note))
    about = common | {"signal": INCREMENT, "reference": DISTANCE}
    values = ([mean.value for mean in means[signal]] for signal in SIGNALS)
    rows += [about | row for row in _correlations(together.heads, *values)]
    return analysis_table(rows)


def _together(sums: Sequence[HeadSums]) -> HeadSums:
    """The sums of several texts as those of one.

    Raises:
        ValueError: They are of different models, or there are none.
    """
    if len({(each.checkpoint, each.heads) for each in sums}) != 1:
        raise ValueError("heads: sums of one model are needed, and of at least one text")
    return HeadSums(
        checkpoint=sums[0].checkpoint,
        heads=sums[0].heads,
        counts=np.concatenate([each.counts for each in sums]),
        increments=np.concatenate([each.increments for each in sums]),
        distances=np.concatenate([each.distances for each in sums]),
        uniform=np.concatenate([each.uniform for each in sums]),
        n_left_out=sum(each.n_left_out for each in sums),
    )


def _noted(mean: Estimate, note: str | None) -> dict[str, Any]:
    row = mean.as_row()
    return row | {"note": joined_notes(row["note"], note)}


def _correlations(
    heads: Sequence[tuple[int, int]],
    increments: Sequence[float | None],
    distances: Sequence[float | None],
) -> Iterator[dict[str, Any]]:
    """Rows of the correlation within each layer, pooled after ranking within them, and over all."""
    layers = np.array([layer for layer, _ in heads])
    x, y = (np.array(values, dtype=np.float64) for values in (increments, distances))
    for layer in np.unique(layers):
        of_layer = layers == layer
        yield from _rows_of(x[of_layer], y[of_layer], layers[of_layer], "spearman", int(layer))
    yield from _rows_of(x, y, layers, WITHIN_LAYERS)
    yield from _rows_of(x, y, np.zeros_like(layers), "spearman")


def _rows_of(
    x: Float[np.ndarray, " head"],
    y: Float[np.ndarray, " head"],
    groups: Int[np.ndarray, " head"],
    statistic: str,
    layer: int | None = None,
) -> Iterator[dict[str, Any]]:
    if len(x) < FEWEST_HEADS:
        undefined = Estimate(None, n=len(x), note="not defined: fewer than three heads")
        rho = p_value = undefined
    else:
        found = spearman(x, y, groups)
        rho, p_value = found.rho, found.p_value
    yield {"layer": layer, "statistic": statistic} | rho.as_row()
    yield {"layer": layer, "statistic": f"{statistic}{P_VALUE}"} | p_value.as_row()
