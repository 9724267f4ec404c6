"""Extraction of per-layer increments against TransformerLens by hand and the bare forward pass."""

from collections.abc import Iterator
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import torch

from benchmarks.figures import Figure, median_seconds
from benchmarks.floor import increment_flops, product_rate
from benchmarks.opponents import bare_forward, names_filter, run_with_cache
from interp.analyses.word_boundaries import word_boundary_auc
from interp.checkpoints import Checkpoint
from interp.corpus.documents import Document
from interp.corpus.sources import TextInput
from interp.extraction.batches import Part, cut_into_parts
from interp.extraction.extract import extract
from interp.extraction.increment_table import IncrementTable
from interp.extraction.reader import default_batch_tokens

N_BYTES = 16_000
ROUNDS = 5
FASTER = {"float32": 2.0, "bfloat16": 4.0}


def figures(checkpoint: Checkpoint) -> Iterator[Figure]:
    """Every figure about extraction; both sides read the same windows of one long text."""
    sample = b"\n".join(bytes(document.content) for document in TextInput().documents())
    documents = [Document(source="sample", id="", content=sample[:N_BYTES])]
    part = _part(checkpoint, documents)
    for dtype in ("float32", "bfloat16"):
        yield from _speed(checkpoint, documents, part, dtype)
    yield from _agreement(checkpoint)


def _speed(
    checkpoint: Checkpoint, documents: list[Document], part: Part, dtype: str
) -> Iterator[Figure]:
    model = checkpoint.model.eval()
    config = model.config
    windows = [
        part.tokens[first : first + length].astype(np.int64)
        for first, length in zip(part.first, part.length, strict=True)
    ]
    n_old = part.n_old.tolist()
    batches = [
        batch.ids() for batch in part.batches(default_batch_tokens(torch.device("cpu"), dtype))
    ]
    with TemporaryDirectory() as folder:
        runs = count()

        def ours() -> IncrementTable:
            out = Path(folder) / str(next(runs))
            return extract(checkpoint, lambda: documents, out, dtype=dtype)

        with torch.autocast("cpu", torch.bfloat16, enabled=dtype == "bfloat16"):
            by_hand, filtered = (
                lambda: run_with_cache.increments(model, windows, n_old),
                lambda: names_filter.increments(model, windows, n_old),
            )
            sides = (
                ours,
                by_hand,
                filtered,
                lambda: bare_forward.run(model, batches, config.n_layers - 1),
            )
            own, cache, names, bare = median_seconds(sides, rounds=ROUNDS)
            difference = np.abs(_values(ours()) - by_hand()).max()
    n_tokens = sum(map(len, windows))
    yield Figure(
        f"extraction, {dtype}: x run_with_cache",
        cache / own,
        at_least=FASTER[dtype],
        remark=f"{n_tokens / own:,.0f} window tokens/s against {n_tokens / cache:,.0f}",
    )
    yield Figure(f"extraction, {dtype}: x run_with_cache(names_filter)", names / own)
    yield Figure(f"extraction, {dtype}: x bare forward pass", bare / own, at_least=0.95)
    rate = product_rate(getattr(torch, dtype), config)
    yield Figure(
        f"extraction, {dtype}: share of the matrix-product rate",
        increment_flops(config, part.length.tolist()) / own / rate,
        at_least=0.45,
        remark=f"of {rate / 1e9:,.0f} GFLOP/s",
    )
    if dtype == "float32":
        yield Figure(
            "extraction, float32: largest difference of an increment", difference, at_most=1e-4
        )


def _agreement(checkpoint: Checkpoint) -> Iterator[Figure]:
    """How much bfloat16 changes the areas under the ROC curve, on the whole Chinese sample."""
    areas = []
    with TemporaryDirectory() as folder:
        for dtype in ("float32", "bfloat16"):
            table = extract(
                checkpoint,
                lambda: (d for d in TextInput().documents() if "zh" in d.source),
                Path(folder) / dtype,
                dtype=dtype,
            )
            found = word_boundary_auc(table, reference="zh")
            rows = found.query("statistic == 'roc_auc' and signal == 'increment'")
            areas.append(rows["value"].to_numpy(dtype=float))
    yield Figure(
        "extraction, bfloat16: largest change of a layer's AUC",
        float(np.abs(areas[0] - areas[1]).max()),
        at_most=0.003,
    )


def _part(checkpoint: Checkpoint, documents: list[Document]) -> Part:
    n_ctx = checkpoint.model.config.n_ctx
    parts = cut_into_parts(documents, n_ctx=n_ctx, stride=n_ctx // 2, part_tokens=1 << 40)
    return Part.read(next(iter(parts)))


def _values(table: IncrementTable) -> np.ndarray:
    return np.concatenate([document.values for document in table.read_documents()])
