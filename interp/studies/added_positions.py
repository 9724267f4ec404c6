"""Of models that add positions to the embedding: their score terms, and how alike positions are."""

from collections.abc import Iterator
from itertools import islice
from typing import Any

import numpy as np
import pandas as pd
import torch
from jaxtyping import Float
from torch import Tensor

from interp.analyses.score_terms import TermSums, score_term_rows, term_sums
from interp.analyses.seed_tables import seed_rows
from interp.analyses.statistics import Estimate
from interp.checkpoints import Checkpoint
from interp.errors import InputError
from interp.model.added_positions import LearnedAbsolute, Sinusoidal, sinusoidal_table
from interp.model.position_tables import frequency_products, row_cosines
from interp.model.score_terms import score_terms
from interp.studies.family import ADDED, Family
from interp.studies.reading import held_out_documents
from interp.studies.study_input import StudyInput
from interp.tables import analysis_table
from interp.training.family import run_name

N_WINDOWS = 128
"""Windows of held-out text over which score terms are taken."""

_BATCH = 16

ALL_FREQUENCIES = "all frequencies"


def score_term_table(given: StudyInput, family: Family, text: str) -> pd.DataFrame:
    """Sizes and shares of the four terms in layer 0: by seed, head and over seeds.

    Args:
        given: The checkpoints and the text.
        family: Which of them there are.
        text: A key of `interp.studies.study_input.TEXTS`; only what training left out is read.

    Returns:
        An analysis table: the rows of `interp.analyses.score_terms.score_term_rows` of every
        checkpoint, and means over seeds of those of all heads together; no row where no model
        adds positions.
    """
    rows: list[dict[str, Any]] = []
    for member in (each for each in ADDED if each in family.seeds):
        by_seed: dict[tuple[str, str], dict[int, float]] = {}
        for seed in family.seeds[member]:
            sums = _term_sums(given, given.checkpoint(family.name(member, seed)), text)
            for row in score_term_rows(sums):
                rows.append(row | {"checkpoint": run_name(member, seed)})
                if row["head"] is None and row["value"] is not None:
                    key = (row["statistic"], row["group"])
                    by_seed.setdefault(key, {})[seed] = row["value"]
        for (statistic, term), values in by_seed.items():
            about = {"signal": "attention_score", "layer": 0, "group": term}
            over_seeds = seed_rows(member, values, statistic, about)
            rows += [row for row in over_seeds if row["statistic"] != statistic]
    return analysis_table(rows)


def position_table(checkpoint: Checkpoint) -> Float[Tensor, "pos d_model"]:
    """The vectors that a model adds to the embedding, for the positions of its windows.

    Raises:
        ValueError: It adds none.
    """
    model, encoding = checkpoint.model, checkpoint.model.position
    if isinstance(encoding, LearnedAbsolute):
        return encoding.W_pos.detach().cpu()
    if not isinstance(encoding, Sinusoidal):
        raise ValueError(f"{checkpoint.name} adds no positions to the embedding")
    return sinusoidal_table(model.config.n_ctx, model.config.d_model, encoding.base)


def cosine_table(given: StudyInput, family: Family) -> pd.DataFrame:
    """The mean cosine of two positions at every distance, of every table that is added.

    Returns:
        An analysis table whose ``group`` is the distance. There is no interval: these are the
        weights and no sample.
    """
    rows = []
    for member in (each for each in ADDED if each in family.seeds):
        for seed in family.seeds[member]:
            cosines = row_cosines(position_table(given.checkpoint(family.name(member, seed))))
            for distance in range(len(cosines)):
                values = cosines.diagonal(distance)
                found = Estimate(float(values.mean()), n=len(values)).as_row()
                name = {"checkpoint": run_name(member, seed), "statistic": "mean_cosine"}
                rows.append(name | {"group": f"distance {distance}"} | found)
    return analysis_table(rows)


def frequency_table(d_model: int, base: float, n_distances: int) -> pd.DataFrame:
    """Dot products of two rows of the sinusoidal table by distance, over that of a row by itself.

    Returns:
        An analysis table: ``signal`` is one pair of channels alone or `ALL_FREQUENCIES`,
        ``group`` the distance.
    """
    products = frequency_products(n_distances, d_model, base)
    n_pairs = products.shape[1]
    chosen = sorted({0, n_pairs // 4, n_pairs - 1})
    columns = {f"pair {pair} alone": products[:, pair] for pair in chosen}
    columns[ALL_FREQUENCIES] = products.mean(-1)
    return analysis_table(
        {
            "signal": name,
            "statistic": "dot_product",
            "group": f"distance {distance}",
            "value": float(value),
        }
        for name, values in columns.items()
        for distance, value in enumerate(values)
    )


def _term_sums(given: StudyInput, checkpoint: Checkpoint, text: str) -> TermSums:
    total: TermSums | None = None
    report = given.stage(f"score terms of {checkpoint.name}")
    for n_done, windows in enumerate(_batches(_windows(given, checkpoint, text)), start=1):
        terms = score_terms(checkpoint.model, windows.to(checkpoint.model.W_E.device))
        found = term_sums(terms.cpu().numpy())
        total = found if total is None else total + found
        report(n_done * windows.numel(), None)
    if total is None:
        raise InputError(
            f"the held-out text has no window of {checkpoint.model.config.n_ctx} tokens, which "
            f"{checkpoint.name} was trained on",
            "Give a longer text.",
        )
    return total


def _windows(given: StudyInput, checkpoint: Checkpoint, text: str) -> Iterator[np.ndarray]:
    """The windows of the held-out text that are as long as those of training."""
    n_ctx = checkpoint.model.config.n_ctx
    for document in held_out_documents(given.documents(text), [checkpoint]):
        read = checkpoint.tokenizer.read(document.content)
        for start, end in read.spans(n_ctx=n_ctx, stride=n_ctx):
            if end - start == n_ctx:
                yield read.ids(start, end)


def _batches(windows: Iterator[np.ndarray]) -> Iterator[Tensor]:
    chosen = islice(windows, N_WINDOWS)
    while batch := list(islice(chosen, _BATCH)):
        yield torch.from_numpy(np.stack(batch)).long()
