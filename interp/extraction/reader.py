"""Reading the values of a part: by look-up, and by forward passes where that is not enough."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from interp.errors import InputError
from interp.extraction.batches import Batch, Part, Rows
from interp.extraction.hooks import reading
from interp.extraction.interventions import Intervention, intervening
from interp.extraction.signal import Signal, TokenColumns
from interp.model import Transformer
from interp.model.attention import is_hooked

# Tokens of a batch. On two CPU cores a 256/8/6 model reads 512-byte windows fastest in batches
# of 8 (bfloat16) and 4 to 8 (float32), which stay in the cache; in batches of 32 bfloat16 takes
# 1.6 times as long.
_BATCH_TOKENS = {"cpu": {"float32": 2048, "bfloat16": 4096}}
_BATCH_TOKENS_OF_AN_ACCELERATOR = 65_536

_MOST_SCORES = 1 << 28  # of a batch, query by key and head: 1 GiB, one layer at a time


@dataclass(frozen=True)
class SignalReader:
    """Reads signals of a part of a corpus with a model.

    Attributes:
        model: The raw model, on ``device``.
        signals: What to read; one pass serves all.
        looked_up: The columns of each signal that the token alone decides.
        device: Where the model is.
        batch_tokens: The most tokens of a batch.
        intervention: What is done to the increments during the passes; None for nothing.
    """

    model: Transformer
    signals: tuple[Signal, ...]
    looked_up: Mapping[str, TokenColumns]
    device: torch.device
    batch_tokens: int
    intervention: Intervention | None = None

    def __post_init__(self) -> None:
        """Refuse a hooked model: look-ups would ignore its hooks, and the manifest them all."""
        hooked = [name for name, point in self.model.hook_dict.items() if is_hooked(point)]
        if hooked:
            raise InputError(
                f"extraction: the model has hooks ({', '.join(hooked[:3])}), so that its signals "
                "would not be the checkpoint's",
                "Call model.reset_hooks() first; to see what a hook does, use run_with_hooks.",
            )

    def read(
        self, part: Part, on_tokens: Callable[[int], None] = lambda _n_tokens: None
    ) -> dict[str, dict[str, np.ndarray]]:
        """The columns of every signal over the rows of ``part``; undefined entries are NaN.

        Args:
            part: The part.
            on_tokens: Called with the number of tokens done, batch by batch.

        Returns:
            Float32 columns by name, by signal's name; the rows are those of `rows_of`.
        """
        config = self.model.config
        columns: dict[str, dict[str, np.ndarray]] = {}
        by_pass: list[tuple[Signal, np.ndarray]] = []
        for signal in self.signals:
            rows, names = rows_of(signal, part), signal.columns(config)
            looked_up = self.looked_up[signal.name]
            assert tuple(looked_up) == names[: len(looked_up)], "looked-up columns come first"
            read = np.full((len(names) - len(looked_up), len(rows)), np.nan, dtype=np.float32)
            found = [by_token[rows.token] for by_token in looked_up.values()]
            columns[signal.name] = dict(zip(names, [*found, *read], strict=True))
            if len(read):
                by_pass.append((signal, read))
        if not by_pass:
            on_tokens(len(part.rows))
            return columns
        for batch in part.batches(self._tokens_at_a_time(part, [signal for signal, _ in by_pass])):
            self._read_batch(part, batch, by_pass)
            on_tokens(int((part.length - part.n_old)[batch.windows].sum()))
        return columns

    def _tokens_at_a_time(self, part: Part, signals: list[Signal]) -> int:
        """The most tokens of a batch: fewer where a pass has to keep attention scores."""
        config = self.model.config
        hooks = [name for signal in signals for name in signal.hooks(config)]
        if any(name.endswith((".hook_pattern", ".hook_attn_scores")) for name in hooks):
            longest = int(part.length.max())
            return min(self.batch_tokens, _MOST_SCORES // (config.n_heads * longest))
        return self.batch_tokens

    def _read_batch(
        self, part: Part, batch: Batch, by_pass: list[tuple[Signal, np.ndarray]]
    ) -> None:
        """One forward pass; each signal's values go to the rows that the batch gives."""
        documents, config = part.doc[batch.windows], self.model.config
        hooks = {
            signal.name: signal.hooks_of_documents(documents)
            if signal.hooks_of_documents
            else signal.hooks(config)
            for signal, _ in by_pass
        }
        reads_logits = any(signal.of_logits is not None for signal, _ in by_pass)
        ids = torch.from_numpy(batch.ids()).to(self.device)
        next_ids = torch.from_numpy(batch.next_ids()).to(self.device)

        def take(hook: str, activation: Tensor) -> dict[str, Tensor]:
            return {
                name: _checked(reductions[hook](activation), ids, name)
                for name, reductions in hooks.items()
                if hook in reductions
            }

        logits: Tensor | None = None
        names = [name for of_signal in hooks.values() for name in of_signal]
        with (
            intervening(self.model, self.intervention, batch, ids),
            reading(self.model, names, stop=not reads_logits, take=take) as taken,
        ):
            logits = self.model(ids)
        for signal, values in by_pass:
            read = [taken[hook][signal.name] for hook in hooks[signal.name]]
            if signal.of_logits is not None:
                assert logits is not None
                read.append(_checked(signal.of_logits(logits, next_ids), ids, signal.name))
            columns = torch.cat(read, dim=-1)
            if columns.shape[-1] != len(values):
                raise InputError(
                    f"extraction: signal {signal.name} names {len(values)} columns to be read, but "
                    f"its hooks give {columns.shape[-1]}"
                )
            mask, rows = batch.taken(rows_of(signal, part))
            values[:, rows] = columns.cpu().numpy()[mask].T


def _checked(reduced: Tensor, ids: Tensor, name: str) -> Tensor:
    """What a signal's reduction gave, as float32.

    Raises:
        InputError: It does not have the shape ``[batch, pos, column]``.
    """
    if reduced.ndim != 3 or reduced.shape[:2] != ids.shape:
        batch, n_pos = ids.shape
        raise InputError(
            f"extraction: signal {name}: a reduction gives the shape {list(reduced.shape)}, "
            f"not [{batch}, {n_pos}, column]"
        )
    return reduced.float()


def rows_of(signal: Signal, part: Part) -> Rows:
    """The rows of ``part`` for ``signal``."""
    return part.next_rows if signal.describes_next else part.rows


def default_batch_tokens(device: torch.device, dtype: str) -> int:
    """How many tokens a batch has where the user does not say."""
    return _BATCH_TOKENS.get(device.type, {}).get(dtype, _BATCH_TOKENS_OF_AN_ACCELERATOR)


@contextmanager
def evaluating(model: Transformer) -> Iterator[None]:
    """The model in evaluation mode for the block, then in the mode in which it was."""
    was_training = model.training
    try:
        model.eval()
        yield
    finally:
        model.train(was_training)
