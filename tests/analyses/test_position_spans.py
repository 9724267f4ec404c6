from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from interp.analyses.position_spans import RATIO, SPAN, position_spans
from interp.errors import InputError
from interp.extraction.increment_table import IncrementTable
from interp.tables import rows_of


class Table(IncrementTable):
    """An IncrementTable in memory, with windows given as lists."""

    def __init__(self, windows, n_rows=3, stride=4):
        super().__init__(Path(), {"checkpoint": "made", "window": 4, "stride": stride})
        made = {
            "values": np.concatenate(windows).astype(np.float32),
            "context": np.concatenate([np.arange(len(window)) for window in windows]),
            "n_rows": n_rows,  # of a batch
        }
        for name, value in made.items():
            object.__setattr__(self, name, value)  # it is frozen

    def columns(self, signal):
        assert signal == "increment"
        return ["L0"]

    def batches(self, signal):
        assert signal == "increment"
        for start in range(0, len(self.values), self.n_rows):
            rows = slice(start, start + self.n_rows)
            yield pa.RecordBatch.from_arrays(
                [pa.array(self.context[rows].astype(np.int32)), pa.array(self.values[rows])],
                names=["context", "L0"],
            )


WINDOWS = [[1, 1, 1, 1], [2, 2, 2, 2], [9, 9]]


@pytest.mark.parametrize("n_rows", [1, 3, 4, 100])
def test_spans_are_of_the_windows_that_are_long_enough(n_rows):
    rows = rows_of(position_spans(Table(WINDOWS, n_rows), [2, 4, 8], {"L0": 4.0}))
    spans = {row["group"]: row for row in rows if row["statistic"] == SPAN}
    assert spans[None]["value"] == 4.0
    assert spans["2 tokens"]["value"] == pytest.approx(np.quantile([2, 4, 18], 0.99))
    assert spans["4 tokens"]["value"] == pytest.approx(np.quantile([4, 8], 0.99))
    assert (spans["4 tokens"]["n"], spans["4 tokens"]["layer"]) == (2, 0)
    assert spans["8 tokens"]["value"] is None
    assert spans["8 tokens"]["note"] == "not defined: no window is as long"
    ratios = {row["group"]: row["value"] for row in rows if row["statistic"] == RATIO}
    assert ratios["4 tokens"] == pytest.approx(np.quantile([4, 8], 0.99) / 4)


def test_without_a_span_of_training_there_is_no_ratio():
    rows = rows_of(position_spans(Table(WINDOWS), [4], {}))
    (ratio,) = [row for row in rows if row["statistic"] == RATIO]
    assert ratio["value"] is None
    assert ratio["note"] == "not defined: training did not record a span"


def test_windows_that_overlap_are_refused():
    with pytest.raises(InputError, match="overlap"):
        position_spans(Table(WINDOWS, stride=2), [4], {})
