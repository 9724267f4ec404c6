from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from made_scored_gaps import gaps_of

from interp.analyses.scored_gaps import ScoredGaps
from interp.extraction.increment_table import DocumentSignal, IncrementTable
from interp.tokenizer import BYTES


@dataclass(frozen=True)
class TableInMemory(IncrementTable):
    """What the analyses use of an IncrementTable, from arrays."""

    contents: list[bytes]
    values: list[np.ndarray]
    token_table: pd.DataFrame | None

    @property
    def documents(self) -> pd.DataFrame:
        return pd.DataFrame({"n_bytes": [len(content) for content in self.contents]})

    def vocabulary(self, signal: str = "increment") -> pd.DataFrame | None:
        assert signal in self.signals
        return self.token_table

    def read_documents(self, signal: str = "increment") -> Iterator[DocumentSignal]:
        assert signal in self.signals
        for doc, (content, values) in enumerate(zip(self.contents, self.values, strict=True)):
            assert len(values) == len(content) + 1
            context = np.arange(len(values), dtype=np.int32)
            yield DocumentSignal(doc, "text.txt", str(doc), content, values, context)


@pytest.fixture(autouse=True, scope="session")
def cache_folder_of_the_tests(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("INTERP_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture
def table_of() -> Callable[..., TableInMemory]:
    """Make a table of texts; ``values`` gives one number per token and column."""

    def make(
        texts: list[bytes],
        values: Callable[[int, bytes], np.ndarray],
        columns: tuple[str, ...] = ("L0",),
        vocabulary: pd.DataFrame | None = None,
        bound: float | None = None,
        intervention: dict | None = None,
    ) -> TableInMemory:
        arrays = [
            np.asarray(values(doc, content), dtype=np.float32).reshape(-1, len(columns))
            for doc, content in enumerate(texts)
        ]
        about = {"columns": list(columns), "sees": "token", "bound": bound}
        manifest = {
            "checkpoint": "tiny",
            "signals": {"increment": about},
            "intervention": intervention,
            "tokenizer": BYTES.to_dict(),
        }
        return TableInMemory(Path("in memory"), manifest, texts, arrays, vocabulary)

    return make


@pytest.fixture(name="gaps_of")
def _gaps_of() -> Callable[..., ScoredGaps]:
    return gaps_of
