from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from interp.analyses.scored_gaps import ScoreColumn, ScoredGaps
from interp.extraction.increment_table import DocumentSignal, IncrementTable


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
    ) -> TableInMemory:
        arrays = [
            np.asarray(values(doc, content), dtype=np.float32).reshape(-1, len(columns))
            for doc, content in enumerate(texts)
        ]
        about = {"columns": list(columns), "sees": "token"}
        manifest = {"checkpoint": "tiny", "signals": {"increment": about}}
        return TableInMemory(Path("in memory"), manifest, texts, arrays, vocabulary)

    return make


@pytest.fixture
def gaps_of() -> Callable[..., ScoredGaps]:
    """Make gaps with scores; what is not said of them is the same for all."""

    def make(
        labels: Sequence[bool],
        documents: Sequence[int],
        *,
        scores: Mapping[ScoreColumn, Sequence[float]] | None = None,
        lead_bytes: Sequence[int] | None = None,
    ) -> ScoredGaps:
        n = len(labels)
        given = scores or {}
        columns = np.array([*given.values()], dtype=np.float32).reshape(len(given), n).T
        return ScoredGaps(
            reference="by hand 1.0",
            details="no settings",
            judged="two digits",
            documents=np.asarray(documents, dtype=np.int32),
            runs=np.asarray(documents, dtype=np.int32),
            characters=("a",),
            previous=np.zeros(n, dtype=np.int32),
            following=np.zeros(n, dtype=np.int32),
            lead_bytes=np.zeros(n, np.uint8) if lead_bytes is None else np.asarray(lead_bytes),
            is_boundary=np.asarray(labels, dtype=bool),
            columns=tuple(given),
            scores=columns,
            n_characters=n + 1,
            left_out=Counter(),
            other_scripts=Counter(),
        )

    return make
