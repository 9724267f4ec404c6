from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import spearmanr

from interp.analyses.heads import (
    DISTANCE,
    INCREMENT,
    MIN_CONTEXT,
    P_VALUE,
    SIGNALS,
    UNIFORM,
    WITHIN_LAYERS,
    head_distances,
    head_sums,
)
from interp.errors import InputError
from interp.extraction.increment_table import DocumentSignal, IncrementTable
from interp.tables import rows_of

RNG = np.random.default_rng(8)
FAR = MIN_CONTEXT


@dataclass(frozen=True)
class TwoSignals(IncrementTable):
    """A table of both signals from arrays: of each signal ``[pos, column]`` of every document."""

    arrays: Mapping[str, list[np.ndarray]]

    @property
    def documents(self):
        return pd.DataFrame({"n_bytes": [len(each) - 1 for each in self.arrays[INCREMENT]]})

    def read_documents(self, signal=INCREMENT):
        for doc, values in enumerate(self.arrays[signal]):
            context = np.arange(len(values), dtype=np.int32)
            content = b"x" * (len(values) - 1)
            yield DocumentSignal(
                doc, "text", "", content, np.asarray(values, dtype=np.float32), context
            )


def table_of_heads(columns, increments, distances):
    signals = {signal: {"columns": list(columns)} for signal in SIGNALS}
    arrays = {INCREMENT: increments, DISTANCE: distances}
    return TwoSignals(Path("in memory"), {"checkpoint": "tiny", "signals": signals}, arrays)


def rho(x, y):
    found: Any = spearmanr(x, y)
    return float(found.statistic)


def names(n_layers, n_heads):
    return [f"L{layer}H{head}" for layer in range(n_layers) for head in range(n_heads)]


def constant(columns, increments, distances, sizes=(300, 280)):
    """Documents in which every head has the same increment and distance everywhere."""
    filled = [[np.tile(values, (size, 1)) for size in sizes] for values in (increments, distances)]
    return table_of_heads(columns, *filled)


def found_in(*tables, group=None):
    return rows_of(head_distances([head_sums(table) for table in tables], group=group))


def one(rows, statistic, **about):
    (row,) = [
        row
        for row in rows
        if row["statistic"] == statistic and all(row[key] == about[key] for key in about)
    ]
    return row


def test_means_by_hand_over_the_entries_with_context_alone():
    early = np.full((FAR, 1), 1e6)
    increments = np.vstack([early, [[1.0], [2.0], [6.0]]])
    distances = np.vstack([early, [[10.0], [20.0], [60.0]]])
    rows = found_in(table_of_heads(["L0H0"], [increments, early], [distances, early]))
    assert one(rows, "mean", signal=INCREMENT)["value"] == 3
    assert one(rows, "mean", signal=DISTANCE)["value"] == 30
    uniform = one(rows, "mean", signal=UNIFORM)
    assert uniform["value"] == (FAR + 1) / 2  # the middle one of three contexts, halved
    assert (uniform["n"], uniform["n_documents"]) == (3, 1)


def test_intervals_are_clustered_by_document():
    values = [RNG.normal(size=(FAR + n, 1)) for n in (20, 30, 40)]
    row = one(found_in(table_of_heads(["L0H0"], values, values)), "mean", signal=INCREMENT)
    assert row["low"] < row["value"] < row["high"]
    assert "over documents" in row["method"]
    assert (row["n"], row["n_documents"]) == (90, 3)


def test_the_correlation_of_a_layer_is_that_of_scipy():
    increments, distances = RNG.normal(size=(2, 16))
    rows = found_in(constant(names(2, 8), increments, distances))
    for layer in range(2):
        heads = slice(8 * layer, 8 * layer + 8)
        wanted = rho(increments[heads], distances[heads])
        assert one(rows, "spearman", layer=layer)["value"] == pytest.approx(wanted)
    over_all = one(rows, "spearman", layer=None)
    assert over_all["value"] == pytest.approx(rho(increments, distances))
    assert (over_all["n"], over_all["signal"], over_all["reference"]) == (16, INCREMENT, DISTANCE)


def test_the_p_value_of_three_heads_by_hand():
    rows = found_in(constant(names(1, 3), [1, 2, 3], [30, 20, 10]))
    assert one(rows, "spearman", layer=0)["value"] == pytest.approx(-1)
    # of the six orders of three heads this one and its reverse are as far from none
    assert one(rows, "spearman" + P_VALUE, layer=0)["value"] == pytest.approx(2 / 6)


def test_differences_between_layers_do_not_count_within_them():
    # the layer with the larger increments looks further, its heads the other way round
    rows = found_in(constant(names(2, 3), [1, 2, 3, 11, 12, 13], [3, 2, 1, 13, 12, 11]))
    assert one(rows, WITHIN_LAYERS)["value"] == pytest.approx(-1)
    assert one(rows, WITHIN_LAYERS + P_VALUE)["value"] == pytest.approx(2 / 36)
    assert one(rows, "spearman", layer=None)["value"] > 0


def test_with_one_layer_nothing_changes_within_it():
    increments, distances = RNG.normal(size=(2, 5))
    rows = found_in(constant(names(1, 5), increments, distances))
    values = {row["value"] for row in rows if row["statistic"] in ("spearman", WITHIN_LAYERS)}
    assert max(values) == pytest.approx(min(values))


def test_equal_heads_share_their_rank():
    rows = found_in(constant(names(1, 4), [1, 1, 2, 3], [5, 5, 4, 4]))
    wanted = rho([1, 1, 2, 3], [5, 5, 4, 4])
    assert one(rows, "spearman", layer=0)["value"] == pytest.approx(wanted)


@pytest.mark.parametrize(
    ("n_heads", "increments", "why"),
    [(2, [1, 2], "fewer than three heads"), (4, [1, 1, 1, 1], "different values")],
)
def test_what_has_no_order_has_no_correlation_and_a_reason(n_heads, increments, why):
    rows = found_in(constant(names(1, n_heads), increments, range(n_heads)))
    for statistic in ("spearman", "spearman" + P_VALUE):
        row = one(rows, statistic, layer=0)
        assert row["value"] is None
        assert why in row["note"]


def test_a_head_without_a_mean_leaves_no_correlation():
    rows = found_in(constant(names(1, 3), [1, 2, np.inf], [1, 2, 3]))
    assert one(rows, "mean", signal=INCREMENT, head=2)["value"] is None
    assert one(rows, "spearman", layer=0)["value"] is None
    assert one(rows, "spearman", layer=0)["note"]


def test_undefined_entries_are_left_out_for_all_heads_and_counted():
    increments, distances = (np.ones((FAR + 4, 2)) for _ in range(2))
    increments[FAR, 0] = distances[FAR + 1, 1] = np.nan
    increments[FAR, 1] = distances[FAR + 1, 0] = 100
    rows = found_in(table_of_heads(names(1, 2), [increments], [distances]))
    means = [row for row in rows if row["statistic"] == "mean"]
    assert {row["n"] for row in means} == {2}
    assert {row["value"] for row in means if row["signal"] != UNIFORM} == {1}
    assert all("2 undefined entries left out" in row["note"] for row in means)


def test_several_texts_are_measured_as_one():
    arrays = [RNG.normal(size=(FAR + n, 6)) for n in (9, 5, 7)]
    apart = [table_of_heads(names(2, 3), arrays[:1], arrays[:1])]
    apart.append(table_of_heads(names(2, 3), arrays[1:], arrays[1:]))
    together = table_of_heads(names(2, 3), arrays, arrays)
    assert found_in(*apart, group="both") == found_in(together, group="both")


def test_texts_of_two_models_are_no_one_text():
    tables = [constant(names(1, n), range(n), range(n)) for n in (3, 4)]
    with pytest.raises(ValueError, match="one model"):
        head_distances([head_sums(table) for table in tables])


def test_a_text_without_enough_context_is_refused_in_a_line():
    table = constant(names(1, 3), [1, 2, 3], [1, 2, 3], sizes=(FAR, 8))
    with pytest.raises(InputError, match="no token has 255 tokens of context") as refused:
        head_distances([head_sums(table)])
    assert "256 bytes" in (refused.value.hint or "")


@pytest.mark.parametrize(
    ("columns", "says"),
    [
        (["L0", "L1"], "one increment per layer"),
        (["shared"], "one increment for all heads"),
        (["sharedH0", "sharedH1"], "one increment per head of all layers"),
    ],
)
def test_heads_without_increments_of_their_own_are_refused_in_a_line(columns, says):
    table = constant(columns, [1] * len(columns), [1] * len(columns))
    with pytest.raises(InputError, match=f"tiny has {says}, not one for each head of each layer"):
        head_sums(table)


def test_progress_ends_with_all_bytes():
    said = []
    head_sums(
        constant(names(1, 2), [1, 2], [1, 2], sizes=(300, 20)),
        progress=lambda n_done, n_all: said.append((n_done, n_all)),
    )
    assert said == [(299, 318), (318, 318)]
