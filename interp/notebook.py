"""Increments of one text for people in Python: numbers, a table, and a drawing of itself."""

from dataclasses import dataclass, field

import numpy as np
import pandas as pd
import torch
from jaxtyping import Float, Float32, Int

from interp import text as texts
from interp.checkpoints import Checkpoint
from interp.corpus.documents import Document
from interp.corpus.sources import LITERAL_SOURCE
from interp.errors import InputError
from interp.extraction.batches import Part, cut_into_parts
from interp.extraction.extract import PART_TOKENS, checked_stride
from interp.extraction.reader import SignalReader, default_batch_tokens, evaluating
from interp.extraction.signals import find_signals, increment_columns
from interp.model import Transformer
from interp.reports.character_positions import PositionTrace
from interp.reports.position_plot import standalone
from interp.studies.plots import document_title, text_traces
from interp.tokenizer import BYTES

_SIGNAL = "increment"


@dataclass(frozen=True, eq=False)
class Increments:
    """How far apart a model puts the bytes of one text.

    Entry t is about token t of ``[separator, *bytes]``: the distance between it and the token
    before it. A notebook shows the character-position plot.

    Attributes:
        content: The text's bytes.
        columns: What the rows of ``increments`` are: ``L0``, ...; ``shared``; ``L0H0``, ...
        increments: One row per layer (or head), one column per token.
        window: Tokens of the model's window.
        stride: Tokens between two windows in which a longer text was read.
    """

    content: bytes
    columns: tuple[str, ...]
    increments: Float32[np.ndarray, "layer pos"]
    window: int
    stride: int
    spans: Int[np.ndarray, "character 2"] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "spans", texts.grapheme_spans(self.content))

    @property
    def characters(self) -> tuple[str, ...]:
        """The characters of the text; ``spans`` says where each lies in bytes.

        A character is a grapheme cluster; a byte that is no valid UTF-8 is shown as its hex.
        """
        return tuple(texts.display(self.content[start:end]) for start, end in self.spans)

    @property
    def positions(self) -> Float[np.ndarray, "layer pos"]:
        """Where each token stands: the inclusive running sum, 0 at the separator; float64."""
        return PositionTrace("", self.content, self.increments, self.columns).byte_positions

    def to_pandas(self) -> pd.DataFrame:
        """One row per token.

        Returns:
            ``offset`` (-1 for the separator), ``byte`` (null for it), ``character`` (that the
            byte belongs to), ``class``, and the increments, one column per layer.
        """
        owners = np.repeat(np.arange(len(self.spans)), np.diff(self.spans, axis=1)[:, 0])
        characters = np.array(["", *self.characters], dtype=object)
        classes = np.array(texts.BYTE_CLASSES, dtype=object)[texts.byte_classes(self.content)]
        return pd.DataFrame(
            {
                "offset": np.arange(-1, len(self.content)),
                "byte": pd.array([pd.NA, *self.content], dtype="Int16"),
                "character": characters[np.concatenate([[0], owners + 1])],
                "class": classes,
                **dict(zip(self.columns, self.increments, strict=True)),
            }
        )

    def __repr__(self) -> str:
        n = len(self.spans)
        return (
            f"Increments of {n:,} character{'' if n == 1 else 's'} "
            f"({len(self.content):,} bytes), rows {', '.join(self.columns)}"
        )

    def _repr_html_(self) -> str:
        """The character-position plot; self-contained, also several on one page.

        Of a long text its beginning is drawn, as much of it as on a page of ``interp report``.
        """
        traces = text_traces(
            document_title(LITERAL_SOURCE, ""),
            self.content,
            self.increments.T,
            self.columns,
            window=self.window,
            stride=self.stride,
        )
        return "\n".join(standalone(trace) for trace in traces)


def increments(
    model: Checkpoint | Transformer, text: str | bytes | bytearray | memoryview
) -> Increments:
    """How far apart ``model`` puts the bytes of ``text``.

    A text that is longer than the model's window is read in windows that overlap by half, each
    byte in the one where it has the longer left context.

    Args:
        model: What `interp.load` gives, or a model itself.
        text: The text itself; a string is encoded as UTF-8. It must not be empty.

    Raises:
        InputError: The text is none, or empty; the model has no increments, or its tokens are
            characters and the text has one of several bytes, or one that is no token.
    """
    transformer = model.model if isinstance(model, Checkpoint) else model
    tokenizer = model.tokenizer if isinstance(model, Checkpoint) else BYTES
    if transformer.config.d_vocab != tokenizer.d_vocab:
        raise InputError(
            "increments: the tokens of this model are no bytes",
            "Give what interp.load gives: it knows the characters.",
        )
    if not isinstance(text, str | bytes | bytearray | memoryview):  # bytes() takes a number too
        raise InputError(
            f"increments: the text must be a string or bytes, not {type(text).__name__}",
            "Of a file, give what its read_bytes() gives.",
        )
    content = _encoded(text) if isinstance(text, str) else bytes(text)
    if not content:
        raise InputError("increments: the text is empty", "Give at least one character.")
    if tokenizer != BYTES and not content.isascii():
        raise InputError(
            "increments: the tokens of this model are characters, and some of the text are of "
            "several bytes",
            "Read it with interp extract, which keeps a row per character.",
        )
    window = transformer.config.n_ctx
    stride = checked_stride(None, window)
    found = find_signals([_SIGNAL])
    columns = increment_columns(transformer.config)
    device = transformer.W_E.device
    looked_up = {signal.name: signal.token_columns(transformer) for signal in found}
    reader = SignalReader(
        transformer, found, looked_up, device, default_batch_tokens(device, "float32")
    )
    parts = cut_into_parts(
        [Document(LITERAL_SOURCE, "", content)],
        n_ctx=window,
        stride=stride,
        part_tokens=PART_TOKENS,
        tokenizer=tokenizer,
    )
    with evaluating(transformer), torch.inference_mode():
        read = [reader.read(Part.read(pieces))[_SIGNAL] for pieces in parts]
    values = np.stack([np.concatenate([part[name] for part in read]) for name in columns])
    if tokenizer != BYTES:  # as if an undefined separator stood before the text
        values = np.concatenate([np.full((len(values), 1), np.nan, np.float32), values], axis=1)
    return Increments(content, columns, values, window, stride)


def _encoded(text: str) -> bytes:
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:  # half of a surrogate pair: its three bytes, as from JSON
        return text.encode("utf-8", "surrogatepass")
