"""Extraction: signals of a text, from one forward pass per window, into an IncrementTable."""

import hashlib
import json
import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from tempfile import SpooledTemporaryFile
from typing import IO, Any

import torch

from interp.checkpoints import Checkpoint
from interp.checkpoints.save import versions
from interp.corpus.documents import Document
from interp.errors import InputError, UsageError
from interp.extraction.batches import Part
from interp.extraction.hooks import require_hook_points
from interp.extraction.increment_table import (
    DOCUMENTS,
    IncrementTable,
    is_whole,
    vocabulary_path,
)
from interp.extraction.interventions import Intervention
from interp.extraction.reader import (
    SignalReader,
    default_batch_tokens,
    evaluating,
    rows_of,
)
from interp.extraction.shards import WHOLE, Shard
from interp.extraction.signal import Signal, TokenColumns
from interp.extraction.signals import find_signals
from interp.extraction.survey import survey, unchanged
from interp.extraction.table_writer import (
    PartSignals,
    Progress,
    ReadPart,
    begin,
    complete_table,
    finish,
    refuse_difference,
    remove_half_written,
    started,
    write_parts,
    write_vocabulary,
    written,
)
from interp.files import locked
from interp.model import Transformer
from interp.model.config import MOST_CTX
from interp.tokenizer import BYTES

PART_TOKENS = 1 << 18
"""Tokens of a part: at 10 kB/s an interruption costs at most half a minute."""

_MOST_PART_VALUES = 1 << 24  # 64 MiB: a model with many heads gets shorter parts
_DOCUMENT_ROWS_IN_MEMORY = 1 << 25  # bytes of documents.parquet, before a temporary file is used


def extract(
    checkpoint: Checkpoint,
    documents: Callable[[], Iterable[Document]],
    out: str | Path,
    *,
    signals: Sequence[str | Signal] = ("increment",),
    dtype: str = "float32",
    window: int | None = None,
    stride: int | None = None,
    shard: Shard = WHOLE,
    intervention: Intervention | None = None,
    batch_tokens: int | None = None,
    part_tokens: int = PART_TOKENS,
    progress: Progress | None = None,
) -> IncrementTable:
    """Read signals of every token of ``documents`` and keep them in the folder ``out``.

    A text is read in windows of ``window`` tokens; each token takes its value from the window in
    which it has the longest left context. One forward pass serves all signals and ends at
    the last hook point that is needed; what the token alone decides (shared increments, those
    of layer 0) is looked up, and where that is all, no pass is made. With an intervention nothing
    is looked up, and ``increment`` is what the model was made to use, layer by layer also where
    increments are shared. Memory does not grow with the text.

    A folder in which the same extraction was begun is gone on with: finished parts stay. A
    complete one is left as it is. While it works, the folder is this process's alone.

    Args:
        checkpoint: The model; it reads where it is (``interp.load(..., device="cuda")``).
        documents: Gives the documents anew at each call; they are read twice.
        out: The folder of the table.
        signals: Names from `interp.extraction.signals.SIGNALS`, names ``HOOK:REDUCTION`` (see
            `interp.extraction.reductions`), or signals of your own; a table knows them by their
            names.
        dtype: ``float32``, or ``bfloat16`` for autocast: increments are float32 all the same.
        window: Tokens of a window, 8 or more; None for the model's n_ctx. Memory is that of one
            window at least.
        stride: Tokens from window to window, 8 to ``window``; None for half of it.
        shard: Which documents to read; they keep their numbers in the corpus. See
            `interp.extraction.merge`.
        intervention: What is done to the increments in the passes; None for nothing.
        batch_tokens: The most tokens of a batch; None for what suits the device. Where attention
            patterns are read, it can be fewer.
        part_tokens: Tokens of a part, which is what an interruption can cost; fewer where the
            model has many columns.
        progress: Called after each batch.

    Returns:
        The complete table.

    Raises:
        InputError: Unknown signal or hook point, no text, no document in the shard, text that
            changed meanwhile, a window longer than the model has positions, or an intervention
            that it has no place for.
        OutputError: ``out`` holds something else, another process writes to it, or it cannot be
            written.
        UsageError: A dtype, window or stride that cannot be.
    """
    found = find_signals(signals)
    if shard != WHOLE and checkpoint.tokenizer != BYTES:
        raise UsageError(
            f"extraction: the tokens of {checkpoint.name} are characters, and only shards of bytes "
            "can be merged",
            "Leave the shard out.",
        )
    if dtype not in ("float32", "bfloat16"):
        raise UsageError(f"extraction: dtype must be float32 or bfloat16, not {dtype!r}")
    model, folder = checkpoint.model, Path(out)
    place, window = model.W_E.device, checked_window(model, window)
    if intervention is not None:
        intervention.layers_of(model.config)  # or the one line that it cannot act
        _require_classes(intervention, checkpoint)
        found = tuple(signal.hooked or signal for signal in found)
    looked_up = {signal.name: signal.token_columns(model) for signal in found}
    for signal in found:
        require_hook_points(model, signal.hooks(model.config))
    wanted = {
        **_wanted(checkpoint, found, looked_up, dtype, window, stride, part_tokens),
        "shard": [shard.index, shard.count],
        "intervention": None if intervention is None else intervention.about(),
    }
    with locked(folder):
        there = started(folder)
        if there is not None:
            refuse_difference(folder, there, wanted)
        with SpooledTemporaryFile(max_size=_DOCUMENT_ROWS_IN_MEMORY) as rows:
            corpus = survey(documents(), checkpoint.is_held_out, rows, checkpoint.tokenizer, shard)
            about = {
                "corpus_fingerprint": corpus.fingerprint,
                "n_documents": corpus.n_documents,
                "n_bytes": corpus.n_bytes,
                "n_tokens": corpus.n_tokens,
            }
            if there is not None:
                refuse_difference(folder, there, about)
            remove_half_written(folder)
            if table := complete_table(folder, there):
                return table
            manifest = begin(folder, there, {**wanted, "device": str(place), **about})
            _write_beside_parts(folder, rows, looked_up, checkpoint)
        tokens = batch_tokens or default_batch_tokens(place, dtype)
        with (
            evaluating(model),
            torch.no_grad(),  # in inference mode autocast converts the weights anew at each use
            torch.autocast(place.type, torch.bfloat16, enabled=dtype == "bfloat16"),
        ):
            reader = SignalReader(model, found, looked_up, place, tokens, intervention)
            again = shard.of(unchanged(documents(), corpus))
            n_parts = write_parts(folder, manifest, again, _part_reader(reader), progress)
        return finish(folder, manifest, n_parts)


def training_fingerprint(checkpoint: Checkpoint) -> str:
    """SHA-256, in hex, of what a table takes from the record of the training text.

    That is which texts were held out, and how often each token was seen: two checkpoints with
    the same weights need not say the same of them.
    """
    about = [checkpoint.config.get(key) for key in ("split", "token_counts")]
    return hashlib.sha256(json.dumps(about, sort_keys=True).encode()).hexdigest()


def checked_window(model: Transformer, window: int | None) -> int:
    """Tokens of a window; the model's n_ctx where none is given.

    Raises:
        InputError: The model has fewer learned positions.
        UsageError: It is below 8, or no window could ever be as long.
    """
    if window is None:
        return model.config.n_ctx
    if not 8 <= window <= MOST_CTX:
        raise UsageError(f"extraction: window must be 8 to {MOST_CTX} tokens, not {window}")
    model.require_window(window)
    return window


def _require_classes(intervention: Intervention, checkpoint: Checkpoint) -> None:
    if intervention.kind == "shuffled-within-class" and checkpoint.tokenizer != BYTES:
        raise InputError(
            f"intervention: {intervention.kind} is for models of bytes; the tokens of "
            f"{checkpoint.name} are characters"
        )


def checked_stride(stride: int | None, window: int) -> int:
    """Tokens from window to window; half a window where none is given.

    Raises:
        UsageError: It is below 8 or above the window.
    """
    if stride is None:
        return max(8, window // 2)
    if not 8 <= stride <= window:
        raise UsageError(
            f"extraction: stride must be 8 to {window} tokens (the window), not {stride}"
        )
    return stride


def _wanted(
    checkpoint: Checkpoint,
    signals: tuple[Signal, ...],
    looked_up: Mapping[str, TokenColumns],
    dtype: str,
    window: int,
    stride: int | None,
    part_tokens: int,
) -> dict[str, Any]:
    """All of the manifest that is known before a text is read."""
    config = checkpoint.model.config
    position = config.position
    columns = {signal.name: signal.columns(config) for signal in signals}
    n_columns = sum(map(len, columns.values()))
    return {
        "checkpoint": checkpoint.name,
        "checkpoint_fingerprint": checkpoint.fingerprint,
        "training_fingerprint": training_fingerprint(checkpoint),
        "model": config.to_dict(),
        "tokenizer": checkpoint.tokenizer.to_dict(),
        "n_layers": config.n_layers,
        "n_heads": config.n_heads,
        "per_head": config.n_increment_columns > 1,
        "increment_scope": getattr(position, "scope", None),
        "max_increment": getattr(position, "max_increment", None),
        "window": window,
        "stride": checked_stride(stride, window),
        "dtype": dtype,
        "part_tokens": min(part_tokens, _MOST_PART_VALUES // n_columns),
        "signals": {
            signal.name: {
                "columns": columns[signal.name],
                "token_determined": list(looked_up[signal.name]),
                "units": signal.units,
                "sees": signal.sees,
                "describes_next": signal.describes_next,
                "bound": signal.bound(config),
                "fitted": signal.fitted,
            }
            for signal in signals
        },
        "versions": versions(),
    }


def _write_beside_parts(
    folder: Path,
    document_rows: IO[bytes],
    looked_up: Mapping[str, TokenColumns],
    checkpoint: Checkpoint,
) -> None:
    """Write what stands in the folder beside the parts, as far as it is not there."""
    if not is_whole(folder / DOCUMENTS):
        document_rows.seek(0)
        with written(folder / DOCUMENTS) as file:
            shutil.copyfileobj(document_rows, file)
    for signal, columns in looked_up.items():
        path = vocabulary_path(folder, signal)
        if columns and not is_whole(path):
            write_vocabulary(path, columns, checkpoint.config.get("token_counts"))


def _part_reader(reader: SignalReader) -> ReadPart:
    """Gives the signals of a part, by reading it with the model."""

    def read_part(part: Part, on_tokens: Callable[[int], None]) -> PartSignals:
        columns = reader.read(part, on_tokens)
        return {each.name: (rows_of(each, part), columns[each.name]) for each in reader.signals}

    return read_part
