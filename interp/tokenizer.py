"""How a text becomes tokens: its bytes after a separator, or its code points.

A tokenizer tells the ids of a text and where in its bytes each token begins. Bytes stay the
truth: offsets, lengths and losses are counted in them whatever the tokens are.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from tempfile import TemporaryFile
from typing import Any, Protocol, TypeVar, runtime_checkable

import numpy as np
from jaxtyping import Int32, Int64

from interp.errors import InputError
from interp.text import (
    D_VOCAB,
    SEPARATOR,
    Content,
    byte_blocks,
    code_points_of,
    decode,
    display,
    encoded_lengths,
    window_spans,
)

MOST_CHARACTERS = 1 << 16
"""A packed corpus keeps a token in two bytes."""

_IN_MEMORY_BYTES = 1 << 22
_Result = TypeVar("_Result")


@runtime_checkable
class TokenizedText(Protocol):
    """A text as tokens, of which any stretch can be read."""

    @property
    def content(self) -> Content:
        """Its bytes."""
        ...

    def __len__(self) -> int:
        """How many tokens it has."""
        ...

    def ids(self, start: int, end: int) -> Int32[np.ndarray, " pos"]:
        """Tokens ``[start, end)``."""
        ...

    def offsets(self, start: int, end: int) -> Int32[np.ndarray, " pos"]:
        """Where tokens ``[start, end)`` begin, in bytes; -1 for the separator before the text."""
        ...

    def spans(self, *, n_ctx: int, stride: int) -> Iterator[tuple[int, int]]:
        """The windows in which it is read, as `interp.text.window_spans`."""
        ...


@runtime_checkable
class Tokenizer(Protocol):
    """Makes tokens of a text."""

    @property
    def d_vocab(self) -> int:
        """How many ids there are."""
        ...

    def n_tokens(self, content: Content) -> int:
        """How many tokens a text has.

        Raises:
            InputError: It has a character for which there is no token.
        """
        ...

    def read(self, content: Content) -> TokenizedText:
        """A text as tokens.

        Raises:
            InputError: It has a character for which there is no token.
        """
        ...

    def to_dict(self) -> dict[str, Any]:
        """What a checkpoint says of it; `tokenizer_from` reads it back."""
        ...


@dataclass(frozen=True)
class ByteText:
    """A text as a separator and its bytes, read where they lie."""

    content: Content

    def __len__(self) -> int:
        """One token for each byte and the separator."""
        return len(self.content) + 1

    def ids(self, start: int, end: int) -> Int32[np.ndarray, " pos"]:
        """See `TokenizedText.ids`."""
        values = np.frombuffer(self.content[max(0, start - 1) : end - 1], dtype=np.uint8)
        tokens = np.empty(end - start, dtype=np.int32)
        tokens[len(tokens) - len(values) :] = values
        if start == 0:
            tokens[0] = SEPARATOR
        return tokens

    def offsets(self, start: int, end: int) -> Int32[np.ndarray, " pos"]:
        """See `TokenizedText.offsets`."""
        return np.arange(start - 1, end - 1, dtype=np.int32)

    def spans(self, *, n_ctx: int, stride: int) -> Iterator[tuple[int, int]]:
        """See `TokenizedText.spans`; no window cuts a code point."""
        return window_spans(self.content, n_ctx=n_ctx, stride=stride)


@dataclass(frozen=True)
class ByteTokenizer:
    """A token for each of 256 byte values, and a separator before every text."""

    d_vocab: int = D_VOCAB

    def n_tokens(self, content: Content) -> int:
        """See `Tokenizer.n_tokens`."""
        return len(content) + 1

    def read(self, content: Content) -> ByteText:
        """See `Tokenizer.read`."""
        return ByteText(content)

    def to_dict(self) -> dict[str, Any]:
        """See `Tokenizer.to_dict`."""
        return {"kind": "bytes", "separator": SEPARATOR}


BYTES = ByteTokenizer()


@dataclass(frozen=True)
class CharacterText:
    """A text as its code points, without a separator.

    Attributes:
        content: Its bytes.
        tokens: Of each code point its id and its offset; a memory map for a long text.
    """

    content: Content
    tokens: Int32[np.ndarray, "pos 2"]

    def __len__(self) -> int:
        """One token for each code point."""
        return len(self.tokens)

    def ids(self, start: int, end: int) -> Int32[np.ndarray, " pos"]:
        """See `TokenizedText.ids`."""
        return np.array(self.tokens[start:end, 0])

    def offsets(self, start: int, end: int) -> Int32[np.ndarray, " pos"]:
        """See `TokenizedText.offsets`."""
        return np.array(self.tokens[start:end, 1])

    def spans(self, *, n_ctx: int, stride: int) -> Iterator[tuple[int, int]]:
        """See `TokenizedText.spans`; every ``stride`` tokens, since none can be cut."""
        if not 8 <= stride <= n_ctx:
            raise ValueError(f"windows: stride must be 8 to n_ctx = {n_ctx} tokens, not {stride}")
        start = 0
        while start + n_ctx < len(self):
            yield start, start + n_ctx
            start += stride
        if len(self):
            yield start, len(self)


@dataclass(frozen=True)
class CharacterTokenizer:
    """A token for each code point of a training text.

    Attributes:
        characters: The code points, rising; an id is a place in them.
    """

    characters: str

    def __post_init__(self) -> None:
        """Refuse characters of which no vocabulary can be made."""
        if list(self.characters) != sorted(set(self.characters)):
            raise ValueError("the characters of a tokenizer must be distinct and in order")
        if any("\ud800" <= character <= "\udfff" for character in self.characters):
            raise ValueError("a tokenizer has no halves of surrogate pairs as characters")
        if not 1 <= len(self.characters) <= MOST_CHARACTERS:
            raise ValueError(
                f"a tokenizer must have 1 to {MOST_CHARACTERS} characters, "
                f"not {len(self.characters)}"
            )

    @classmethod
    def of(cls, contents: Iterable[Content]) -> "CharacterTokenizer":
        """The tokenizer of all characters of some texts.

        Raises:
            InputError: A text is not UTF-8, or they have too many characters or none.
        """
        found: set[str] = set()
        for content in contents:
            for block in byte_blocks(content):
                found |= set(decode(block))
        if any("\udc80" <= character <= "\udcff" for character in found):
            raise InputError(
                "characters as tokens: the text has bytes that are not UTF-8",
                'Convert it, or train on bytes (tokenizer = "bytes").',
            )
        try:
            return cls("".join(sorted(found)))
        except ValueError as error:
            raise InputError(f"characters as tokens: {error}") from error

    @property
    def d_vocab(self) -> int:
        """See `Tokenizer.d_vocab`."""
        return len(self.characters)

    def n_tokens(self, content: Content) -> int:
        """See `Tokenizer.n_tokens`."""
        return sum(len(piece) for piece in self._pieces(content))

    def read(self, content: Content) -> CharacterText:
        """See `Tokenizer.read`."""
        if len(content) <= _IN_MEMORY_BYTES:
            pieces = list(self._pieces(content))
            return CharacterText(content, np.concatenate([*pieces, np.empty((0, 2), np.int32)]))
        with TemporaryFile() as file:
            file.writelines(piece.tobytes() for piece in self._pieces(content))
            file.flush()
            return CharacterText(content, np.memmap(file, np.int32, "r").reshape(-1, 2))

    def to_dict(self) -> dict[str, Any]:
        """See `Tokenizer.to_dict`."""
        return {"kind": "characters", "characters": self.characters}

    @cached_property
    def _code_points(self) -> Int64[np.ndarray, " id"]:
        return np.array([ord(character) for character in self.characters])

    def _pieces(self, content: Content) -> Iterator[Int32[np.ndarray, "pos 2"]]:
        """Ids and offsets, block by block."""
        offset = 0
        for block in byte_blocks(content):
            text = decode(block)
            points = code_points_of(text)
            ids = np.searchsorted(self._code_points, points).clip(max=self.d_vocab - 1)
            lengths = encoded_lengths(points)
            is_known = self._code_points[ids] == points
            if not is_known.all():  # an invalid byte is never known
                at = int(is_known.argmin())
                shown = display(text[at].encode("utf-8", "surrogateescape"))
                place = offset + int(lengths[:at].sum())
                raise InputError(
                    f"no token for {shown!r}, which stands at byte {place} of the text: the "
                    f"model's tokens are the {self.d_vocab} characters of its training text",
                    "Take that character out, or read the text with a model of bytes.",
                )
            ends = offset + np.cumsum(lengths)
            yield np.stack([ids, ends - lengths], axis=1).astype(np.int32)
            offset += len(block)


def with_place(place: str, read: Callable[[Content], _Result], content: Content) -> _Result:
    """What ``read`` makes of a text; where it refuses it, the message begins with the place."""
    try:
        return read(content)
    except InputError as error:
        raise InputError(f"{place}: {error}", error.hint) from error


def tokenizer_from(values: dict[str, Any]) -> ByteTokenizer | CharacterTokenizer:
    """The tokenizer that a checkpoint names.

    Raises:
        ValueError: There is none such.
    """
    if values == BYTES.to_dict():
        return BYTES
    characters = values.get("characters")
    if values.keys() != {"kind", "characters"} or values["kind"] != "characters":
        raise ValueError(
            f"tokenizer must be bytes with the separator {SEPARATOR}, or characters, "
            f"not {str(values)[:100]}"
        )
    if not isinstance(characters, str):
        raise ValueError("tokenizer.characters must be a text")
    return CharacterTokenizer(characters)
