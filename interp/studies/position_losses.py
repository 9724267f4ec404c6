"""The loss of models by input position, on one text: read, compared, and drawn on a page."""

from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass

import pandas as pd

from interp.analyses.loss_by_position import loss_by_position, trained_length
from interp.analyses.position_sums import SIGNAL
from interp.checkpoints import Checkpoint
from interp.corpus.sources import TextInput, ignore
from interp.errors import InputError
from interp.extraction.extract import checked_window
from interp.extraction.increment_table import IncrementTable
from interp.studies.reading import Progress, Warnings, increments_of, stage
from interp.tokenizer import BYTES


@dataclass(frozen=True)
class PositionLosses:
    """What was found, and of what.

    Attributes:
        table: Of `interp.analyses.loss_by_position.loss_by_position`.
        names: What the models are called, in order.
        checkpoints: The models.
        trained: Tokens of a training window of each.
        length: Tokens of a window.
        unit: Of the values.
        n_documents: Texts that were read.
        n_bytes: Bytes that were read.
        held_out: Of how many texts it is known that a model's training left them out, by model.
        is_held_out_part: Whether only what is known to be held out was read.
        warnings: What was odd about the text.
    """

    table: pd.DataFrame
    names: tuple[str, ...]
    checkpoints: tuple[Checkpoint, ...]
    trained: tuple[int, ...]
    length: int
    unit: str
    n_documents: int
    n_bytes: int
    held_out: tuple[int, ...]
    is_held_out_part: bool
    warnings: tuple[str, ...]

    def doubts(self) -> list[str]:
        """A line for the models that may have been trained on the text; none where none was."""
        of_names = [
            name
            for name, n_held_out in zip(self.names, self.held_out, strict=True)
            if n_held_out < self.n_documents and not self.is_held_out_part
        ]
        if not of_names:
            return []
        return [
            f"the text is not known to be held out from the training of {', '.join(of_names)}: of "
            "text that a model was trained on, the loss is too low"
        ]


def position_losses(
    checkpoints: Sequence[Checkpoint],
    text_input: TextInput,
    *,
    length: int | None = None,
    is_held_out: bool = False,
    warn: Callable[[str], None] = ignore,
    progress: Progress | None = None,
) -> PositionLosses:
    """The loss of every input position of windows of ``length`` tokens, for one or more models.

    Args:
        checkpoints: The models; others are compared with the first.
        text_input: The text; tables are kept in the cache.
        length: Tokens of a window; None for the longest n_ctx.
        is_held_out: Read only what all models are known to have held out.
        warn: Called with one line for what is odd but can be read.
        progress: Called as the work goes on, model by model.

    Raises:
        InputError: A model has fewer learned positions, or nothing is held out.
        UsageError: No window can have that length.
    """
    longest = max(each.model.config.n_ctx for each in checkpoints)
    window = longest if length is None else length
    names = _names(checkpoints)
    for name, checkpoint in zip(names, checkpoints, strict=True):
        try:
            checked_window(checkpoint.model, window)
        except InputError as error:
            raise InputError(f"{name}: {error}", error.hint) from None
    warnings = Warnings(warn)
    with ExitStack() as stack:
        tables = [
            stack.enter_context(
                increments_of(
                    checkpoint,
                    text_input,
                    signals=(SIGNAL,),
                    window=window,
                    stride=window,
                    held_out_of=checkpoints if is_held_out else (),
                    warn=warnings,
                    progress=_called(name, progress),
                )
            )
            for name, checkpoint in zip(names, checkpoints, strict=True)
        ]
        found = loss_by_position(*tables, names=names, progress=stage("positions", progress))
        return PositionLosses(
            table=found,
            names=names,
            checkpoints=tuple(checkpoints),
            trained=tuple(trained_length(each.model.config.to_dict()) for each in checkpoints),
            length=window,
            unit=_unit(tables),
            n_documents=len(tables[0].documents),
            n_bytes=tables[0].manifest["n_bytes"],
            held_out=tuple(sum(each.documents["held_out"].fillna(False)) for each in tables),
            is_held_out_part=is_held_out,
            warnings=warnings.messages,
        )


def _names(checkpoints: Sequence[Checkpoint]) -> tuple[str, ...]:
    """What the models are called; those of one name are numbered."""
    n_of, n_seen = Counter(each.name for each in checkpoints), Counter[str]()
    names = []
    for each in checkpoints:
        n_seen[each.name] += 1
        number = f" #{n_seen[each.name]}" if n_of[each.name] > 1 else ""
        names.append(f"{each.name}{number}")
    return tuple(names)


def _called(name: str, progress: Progress | None) -> Progress | None:
    if progress is None:
        return None
    return lambda _what, n_done, n_all: progress(name, n_done, n_all)


def _unit(tables: Sequence[IncrementTable]) -> str:
    kinds = {each.tokenizer == BYTES for each in tables}
    token = "token" if len(kinds) > 1 else "byte" if kinds == {True} else "character"
    return f"nats per {token}"
