"""What can stand in the place of increments, and the passes that read a text with it."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass

import pandas as pd

from interp.analyses.ablation import (
    CLASSES,
    SIGNAL,
    WHOLE_TEXT,
    Ablated,
    after_gaps,
    latin_words,
    loss_changes,
)
from interp.checkpoints import Checkpoint
from interp.corpus.sources import TextInput, ignore
from interp.errors import UsageError
from interp.extraction.increment_table import IncrementTable
from interp.extraction.interventions import Intervention, byte_increments, mean_increments
from interp.extraction.signals import increment_columns
from interp.model import IncrementsConfig
from interp.segmentation import find_segmenter
from interp.studies.reading import Progress, Warnings, increments_of
from interp.text import counted
from interp.tokenizer import BYTES

SIGNALS = ("increment", SIGNAL)
"""What the pass without a replacement reads: means are those of the increments in use."""

LIMIT_BYTES = 100_000
"""Of each corpus, where nobody says otherwise: the text is read again for every replacement."""


@dataclass(frozen=True)
class Replacement:
    """What stands in the place of the increments of a layer, or of all layers.

    Attributes:
        words: What it is, for a reader.
        short: The same as the head of a narrow column.
        keeps: What is left of the increments.
        make: The intervention, from the increments as they are, for one layer (None for all).
    """

    words: str
    short: str
    keeps: str
    make: Callable[[IncrementTable, int | None], Intervention]


REPLACEMENTS: Mapping[str, Replacement] = {
    "byte-table": Replacement(
        "the byte's mean",
        "byte",
        "what the byte alone tells",
        lambda table, layer: Intervention(
            "byte-table", _only(layer), values=byte_increments(table)
        ),
    ),
    "shuffled-within-class": Replacement(
        "shuffled in class",
        "in class",
        "all values, and the mean of every class of byte in a window",
        lambda _table, layer: Intervention("shuffled-within-class", _only(layer)),
    ),
    "shuffled": Replacement(
        "shuffled",
        "shuffled",
        "all values of a window",
        lambda _table, layer: Intervention("shuffled", _only(layer)),
    ),
    "mean": Replacement(
        "the layer's mean",
        "mean",
        "how far the layer reaches on average",
        lambda table, layer: Intervention("mean", _only(layer), values=mean_increments(table)),
    ),
    "one": Replacement(
        "1",
        "1",
        "nothing: plain rotary positions",
        lambda _table, layer: Intervention("one", _only(layer)),
    ),
    "layer": Replacement(
        "another layer's",
        "other's",
        "a pattern that the model made, in the wrong layer",
        lambda _table, layer: Intervention("layer", _only(layer), source=_other(layer)),
    ),
    "scaled-0.5": Replacement(
        "half",
        "half",
        "the whole pattern, at another scale",
        lambda _table, layer: Intervention("scaled", _only(layer), factor=0.5),
    ),
    "scaled-2": Replacement(
        "double",
        "double",
        "the whole pattern, at another scale",
        lambda _table, layer: Intervention("scaled", _only(layer), factor=2.0),
    ),
}
"""By name on the command line, in the order in which they are shown."""

SCALES = ("scaled-0.5", "scaled-2")
"""Those that change something in a model whose increments are all 1."""

Reading = Callable[[Intervention | None, Sequence[str]], AbstractContextManager[IncrementTable]]
"""Gives signals of a text, in windows that do not overlap, with an intervention or without."""


def replacements_for(checkpoint: Checkpoint, names: Sequence[str] | None = None) -> list[str]:
    """The replacements that can change something in a model; those of ``names``, if given.

    Increments that are all 1 can only be scaled; where all layers share theirs, or where there
    is but one layer, there are no others.

    Raises:
        InputError: The model has no increments.
        UsageError: An unknown name, or none that can change something.
    """
    for name in names or ():
        if name not in REPLACEMENTS:
            raise UsageError(
                f"ablation: no intervention called {name!r:.40}",
                f"Known: {', '.join(REPLACEMENTS)}.",
            )
    config = checkpoint.model.config
    increment_columns(config)  # or the one line that it has no increments
    is_learned = isinstance(config.position, IncrementsConfig)
    possible = list(REPLACEMENTS) if is_learned else list(SCALES)
    if getattr(config.position, "scope", None) != "per_layer" or config.n_layers < 2:
        possible = [name for name in possible if name != "layer"]
    if checkpoint.tokenizer != BYTES:
        possible = [name for name in possible if name != "shuffled-within-class"]
    chosen = [name for name in possible if names is None or name in names]
    if not chosen:
        raise UsageError(
            f"ablation: {', '.join(names or ())} would change nothing in this model",
            f"What can: {', '.join(possible)}.",
        )
    return chosen


def ablations(
    read: Reading,
    unchanged: IncrementTable,
    names: Sequence[str],
    layers: Sequence[int | None],
) -> Iterator[Ablated]:
    """The text read with every replacement in every layer, one pass at a time.

    Args:
        read: Reads the text.
        unchanged: What it gives for `SIGNALS` without an intervention.
        names: Keys of `REPLACEMENTS`.
        layers: Layers, each alone; None for all of them together.
    """
    for name in names:
        replacement = REPLACEMENTS[name]
        for layer in layers:
            with read(replacement.make(unchanged, layer), (SIGNAL,)) as table:
                yield Ablated(replacement.words, layer, table)


def ablate_text(
    checkpoint: Checkpoint,
    text_input: TextInput,
    names: Sequence[str],
    layers: Sequence[int | None],
    *,
    warn: Callable[[str], None] = ignore,
    remark: Callable[[str], None] = ignore,
    progress: Progress | None = None,
) -> pd.DataFrame:
    """What every replacement adds to the loss of a text: see `loss_changes`.

    By class of byte, at word starts in Latin script, and after the word ends of jieba.

    Args:
        checkpoint: The model.
        text_input: The text; it is read once for each pass, and passes are kept in the cache.
        names: Keys of `REPLACEMENTS`.
        layers: Layers, each alone; None for all of them together.
        warn: Called with one line for what is odd but can be read.
        remark: Called with how much work it is, once that is known.
        progress: Called as the work goes on, over all passes.
    """
    n_passes = 1 + len(names) * len(layers)
    warnings, passes = Warnings(warn), _Passes(n_passes, progress)

    def read(
        intervention: Intervention | None, signals: Sequence[str]
    ) -> AbstractContextManager[IncrementTable]:
        return increments_of(
            checkpoint,
            text_input,
            signals=signals,
            stride=checkpoint.model.config.n_ctx,
            intervention=intervention,
            warn=warnings,
            progress=passes.next(),
        )

    with read(None, SIGNALS) as unchanged:
        size = counted(unchanged.manifest["n_bytes"], "byte")
        remark(f"{n_passes:,} passes over {size}")
        groupings = (WHOLE_TEXT, CLASSES, latin_words(), after_gaps(find_segmenter("zh")))
        return loss_changes(unchanged, ablations(read, unchanged, names, layers), groupings)


class _Passes:
    """Progress over several passes of one text, as if it were one long text."""

    def __init__(self, n_passes: int, progress: Progress | None) -> None:
        self._n_passes, self._progress = n_passes, progress
        self._n_begun = 0

    def next(self) -> Progress:
        """What a pass is to call; the passes are one after the other."""
        n_before = self._n_begun
        self._n_begun += 1

        def on_pass(_name: str, n_done: int, n_all: int | None) -> None:
            if self._progress is not None and n_all is not None:
                n_so_far = n_before * n_all + n_done
                self._progress("ablations", n_so_far, self._n_passes * n_all)

        return on_pass


def _only(layer: int | None) -> tuple[int, ...] | None:
    return None if layer is None else (layer,)


def _other(layer: int | None) -> int:
    """The layer before, or for layer 0 the one after; for all layers together the first one."""
    return 0 if layer is None else layer - 1 if layer else 1
