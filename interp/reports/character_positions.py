"""Characters on the positions that a model gives them: the numbers of the plot, not its drawing.

A character is a grapheme cluster. Its increment is the sum over its UTF-8 bytes, and it stands
at the running sum through its last byte. The separator is position 0; its own increment is not
counted.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Float, Int

from interp import text
from interp.errors import InputError


@dataclass(frozen=True, eq=False)
class PositionTrace:
    """The increments of one text in every row of a plot.

    Args:
        title: What the text is, in a few words; shown above the plot.
        content: The text's bytes, without a separator.
        increments: One row per layer (or head), one column per token of ``[256, *bytes]``;
            finite and not negative.
        row_names: A name for every row, such as ``L0`` or ``shared``.
        language: The text's language tag (BCP 47), which chooses the shapes of ideographs.
        note: What a reader must know about these numbers, such as windows; or "".

    Raises:
        InputError: The shapes do not fit, or an increment is negative or not finite.
    """

    title: str
    content: bytes
    increments: Float[np.ndarray, "row pos"]
    row_names: tuple[str, ...]
    language: str = ""
    note: str = ""

    def __post_init__(self) -> None:
        expected = (len(self.row_names), len(self.content) + 1)
        if np.shape(self.increments) != expected or not self.row_names:
            raise InputError(
                f"position plot of {self.title!r}: increments have shape "
                f"{np.shape(self.increments)}, expected {expected} (rows, bytes + separator)"
            )
        drawn = np.asarray(self.increments)[:, 1:]
        if not np.all(np.isfinite(drawn)) or np.any(drawn < 0):
            raise InputError(
                f"position plot of {self.title!r}: an increment is negative or not finite",
                "only increments can be summed to positions; draw other signals as a table",
            )

    @cached_property
    def spans(self) -> Int[np.ndarray, "character 2"]:
        """Where each character lies, as ``[start, end)`` in bytes."""
        return text.grapheme_spans(self.content)

    @cached_property
    def characters(self) -> tuple[bytes, ...]:
        """The bytes of each character."""
        return tuple(self.content[start:end] for start, end in self.spans)

    @cached_property
    def character_increments(self) -> Float[np.ndarray, "row character"]:
        """How far each character stands from the one before it, in positions."""
        return np.diff(self.character_positions, axis=1, prepend=0.0)

    @cached_property
    def character_positions(self) -> Float[np.ndarray, "row character"]:
        """Where each character stands: the running sum through its last byte."""
        return self.byte_positions[:, self.spans[:, 1]]

    @cached_property
    def byte_positions(self) -> Float[np.ndarray, "row pos"]:
        """The inclusive running sum of the increments in float64; 0 at the separator."""
        steps = np.array(self.increments, dtype=np.float64)
        steps[:, 0] = 0.0
        return np.cumsum(steps, axis=1)

    @cached_property
    def token_classes(self) -> Int[np.ndarray, " pos"]:
        """The class of every token, as an index into `interp.text.BYTE_CLASSES`."""
        return text.byte_classes(self.content).astype(np.int64)

    @cached_property
    def character_classes(self) -> Int[np.ndarray, " character"]:
        """The class of every character: that of its first byte, but CR LF is a newline."""
        is_line_end = np.array([each == b"\r\n" for each in self.characters], dtype=bool)
        starts, ends = self.spans.T
        return self.token_classes[np.where(is_line_end, ends, starts + 1)]


def traces_of(
    title: str,
    content: bytes,
    values: Float[np.ndarray, "pos column"],
    columns: Sequence[str],
    *,
    language: str = "",
    note: str = "",
) -> tuple[PositionTrace, ...]:
    """The plots of one text from the columns of a table of increments.

    One trace with a row per layer; for increments per head one trace per layer with a row per
    head, and the layer in its title.

    Args:
        title: What the text is.
        content: The text's bytes, without a separator.
        values: One row per token of ``[256, *bytes]``, one column per name in ``columns``.
        columns: ``L0``, ...; ``L0H0``, ...; ``shared``; or ``sharedH0``, ...
        language: The text's language tag.
        note: What a reader must know about these numbers.

    Returns:
        Traces in the order of the columns; at least one.
    """
    panels: dict[str, list[tuple[int, str]]] = {}
    for index, column in enumerate(columns):
        per_head = re.fullmatch(r"(L\d+|shared)(H\d+)", column)
        panel, row = per_head.groups() if per_head else ("", column)
        panels.setdefault(panel, []).append((index, row))
    increments = np.asarray(values).T
    return tuple(
        PositionTrace(
            title=f"{title} · {panel}" if panel else title,
            content=content,
            increments=increments[[index for index, _ in rows]],
            row_names=tuple(row for _, row in rows),
            language=language,
            note=note,
        )
        for panel, rows in panels.items()
    )
