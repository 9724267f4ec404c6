"""Bytes and what a reader sees in them: ids, code points, characters, classes, windows.

Bytes are the truth. A text need not be valid UTF-8: every byte that is not part of a valid
sequence is a code point, a character and a class of its own, and nothing is ever replaced.
"""

import re
from collections.abc import Iterator
from typing import Protocol, runtime_checkable

import numpy as np
import regex
from jaxtyping import Bool, Int, Int8

SEPARATOR = 256
"""The id of the document separator; it also stands before the first byte of a text."""

D_VOCAB = 257
"""256 byte values and the separator."""

BYTE_ORDER_MARK = b"\xef\xbb\xbf"

BYTE_CLASSES = (
    "lowercase, word-initial",
    "lowercase, word-internal",
    "uppercase",
    "digit",
    "space",
    "newline",
    ". ! ?",
    ", ; : -",
    "other ASCII",
    "lead E4-E9",
    "lead, other",
    "continuation after E4-E9",
    "continuation, other",
    "invalid byte",
    "separator",
)
"""Classes of bytes in running text, in the order in which they are shown."""

ASCII_CLASSES = BYTE_CLASSES[: BYTE_CLASSES.index("lead E4-E9")]
"""Those of them that characters of one byte have."""

VOCABULARY_CLASSES = (
    "lowercase",
    "uppercase",
    "digit",
    "space",
    "newline",
    ". ! ?",
    ", ; : -",
    "other ASCII",
    "lead E4-E9",
    "lead, other",
    "continuation",
    "invalid byte",
    "separator",
)
"""Classes of byte values alone, without their neighbours."""


@runtime_checkable
class Content(Protocol):
    """Bytes, or a file read where it lies: anything that has a length and slices to bytes."""

    def __len__(self) -> int: ...

    def __getitem__(self, key: slice, /) -> bytes: ...


def drop_byte_order_mark(content: bytes) -> tuple[bytes, int]:
    """``content`` without one leading UTF-8 byte order mark, and how many bytes were dropped."""
    if content.startswith(BYTE_ORDER_MARK):
        return content[len(BYTE_ORDER_MARK) :], len(BYTE_ORDER_MARK)
    return content, 0


def encode(content: bytes) -> Int[np.ndarray, " pos"]:
    """The ids of a text: the separator, then one id per byte (token index = byte offset + 1)."""
    ids = np.empty(len(content) + 1, dtype=np.int64)
    ids[0] = SEPARATOR
    ids[1:] = np.frombuffer(content, dtype=np.uint8)
    return ids


def decode(content: bytes) -> str:
    """``content`` as a string in which every invalid byte is one code point U+DC80-U+DCFF.

    The string has one code point per row of `code_point_spans`, and encodes back to the same
    bytes with the error handler ``surrogateescape``.
    """
    return content.decode("utf-8", "surrogateescape")


def code_point_spans(content: bytes) -> Int[np.ndarray, "code_point 2"]:
    """Where each code point lies, as ``[start, end)`` in bytes; an invalid byte is its own.

    Returns:
        Spans that cover ``content`` without a hole, in order.
    """
    return _spans(encoded_lengths(code_points_of(decode(content))))


def grapheme_spans(content: bytes) -> Int[np.ndarray, "character 2"]:
    r"""Where each character lies, as ``[start, end)`` in bytes.

    A character is what a reader counts: an extended grapheme cluster (``\X``), so that an
    emoji family or a letter with its accents is one.

    Returns:
        Spans that cover ``content`` without a hole, in order.
    """
    text = decode(content)
    first_code_points = [match.start() for match in regex.finditer(r"\X", text)]
    lengths = encoded_lengths(code_points_of(text))
    return _spans(np.add.reduceat(lengths, first_code_points) if text else lengths)


def n_invalid_bytes(content: Content) -> int:
    """How many bytes of a text are not part of a valid UTF-8 sequence, counted block by block."""
    n_invalid = 0
    for block in byte_blocks(content):
        try:
            block.decode("utf-8")
        except UnicodeDecodeError:
            n_invalid += sum("\udc80" <= code_point <= "\udcff" for code_point in decode(block))
    return n_invalid


def display(character: bytes) -> str:
    """What a page or a terminal shows for ``character``: nothing that acts, nothing unseen.

    Control characters become their pictures (``␀``, ``␛``), invalid bytes their value as
    ``<E4>``, bidirectional and other format characters that stand alone their code point as
    ``<U+202E>``. A joiner inside an emoji stays. A space stays a space.
    """
    shown = decode(character)
    if len(shown) > 1:
        return "".join(_display_one(c) if _is_control(c) else c for c in shown)
    return _display_one(shown)


def one_line(words: str) -> str:
    """``words`` on one line, in which nothing acts on a terminal or a page, as in `display`."""
    if words.isprintable():
        return words
    try:
        return display(words.encode("utf-8", "surrogateescape"))
    except UnicodeEncodeError:  # half of a surrogate pair, which no file name can hold
        return display(words.encode("utf-8", "surrogatepass"))


def counted(number: int, noun: str) -> str:
    """``1 row``, ``2,000 rows``."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def size_in_words(n_bytes: int) -> str:
    """``8.2 MB``; of less than 0.1 MB the bytes.

    >>> size_in_words(8_192_000), size_in_words(12_288)
    ('8.2 MB', '12,288 bytes')
    """
    return f"{n_bytes / 1e6:.1f} MB" if n_bytes >= 100_000 else counted(n_bytes, "byte")


def byte_classes(content: bytes) -> Int8[np.ndarray, " pos"]:
    """The class of every token of a text, as an index into `BYTE_CLASSES`.

    A lowercase letter is word-initial when no Latin letter stands directly before it; the
    combining marks of a letter belong to it.

    Returns:
        One entry per token; the first is the separator's.
    """
    values = np.frombuffer(content, dtype=np.uint8)
    code_points = code_points_of(decode(content))
    lengths = encoded_lengths(code_points)
    starts = np.cumsum(lengths) - lengths
    lead_of_byte = np.repeat(values[starts], lengths) if len(values) else values
    is_lead = np.zeros(len(values), dtype=bool)
    is_lead[starts] = True
    follows_latin = np.zeros(len(values), dtype=bool)
    follows_latin[starts[1:]] = _ends_latin_letter(code_points)[:-1]

    classes = _CLASS_OF_VALUE[values].copy()
    after_chinese_lead = (lead_of_byte >= 0xE4) & (lead_of_byte <= 0xE9)
    continuation = np.where(
        after_chinese_lead,
        BYTE_CLASSES.index("continuation after E4-E9"),
        BYTE_CLASSES.index("continuation, other"),
    )
    classes[~is_lead] = continuation[~is_lead]
    invalid_starts = starts[(code_points >= 0xDC80) & (code_points <= 0xDCFF)]
    classes[invalid_starts] = BYTE_CLASSES.index("invalid byte")
    initial, internal = 0, 1
    classes[(classes == initial) & follows_latin] = internal
    return np.concatenate([[BYTE_CLASSES.index("separator")], classes]).astype(np.int8)


def vocabulary_classes() -> Int8[np.ndarray, " d_vocab"]:
    """The class of every id by its value alone, as an index into `VOCABULARY_CLASSES`."""
    names = [_vocabulary_class(value) for value in range(SEPARATOR)] + ["separator"]
    return np.array([VOCABULARY_CLASSES.index(name) for name in names], dtype=np.int8)


def window_spans(content: Content, *, n_ctx: int, stride: int) -> Iterator[tuple[int, int]]:
    """The windows in which a text is read, as ``[start, end)`` in tokens of ``[256, *bytes]``.

    A window never cuts a code point: its start and its end move back, by at most three
    tokens, to the nearest one that is a code point's first byte. A token takes its value from
    the first window that holds it, where it has the longest left context. With a stride of
    ``n_ctx`` the windows are consecutive and do not overlap.

    Args:
        content: The text's bytes; only a few around each edge are looked at.
        n_ctx: The most tokens of a window; at least 8.
        stride: Tokens from one start to the next, before moving back; 8 to ``n_ctx``.

    Yields:
        Windows in order; the first starts at the separator, the last ends with the text.
    """
    if not 8 <= stride <= n_ctx:
        raise ValueError(f"windows: stride must be 8 to n_ctx = {n_ctx} tokens, not {stride}")
    n_tokens = len(content) + 1
    start = 0
    while True:
        end = align(content, start + n_ctx)
        yield start, end
        if end == n_tokens:
            return
        start = align(content, start + stride)


def byte_blocks(content: Content, block_bytes: int = 1 << 20) -> Iterator[bytes]:
    """A text in blocks of at most ``block_bytes`` bytes, so that no code point is cut."""
    for start, end in window_spans(content, n_ctx=block_bytes, stride=block_bytes):
        yield bytes(content[max(0, start - 1) : end - 1])


def _spans(lengths: Int[np.ndarray, " span"]) -> Int[np.ndarray, "span 2"]:
    ends = np.cumsum(lengths)
    return np.stack([ends - lengths, ends], axis=1).astype(np.int64)


def align(content: Content, token: int) -> int:
    """A token of ``[256, *content]``, or the nearest before it at which a code point starts."""
    if token > len(content):
        return len(content) + 1
    offset = token - 1
    around = content[max(0, offset - 3) : offset + 4]
    before = min(offset, 3)
    for back in range(before + 1):
        piece = around[before - back : before + 4]
        length = _sequence_length(piece)
        if length > back:
            return token - back
        if length:  # a whole sequence that ends before the token: the token starts anew
            return token
    return token


def _sequence_length(piece: bytes) -> int:
    """The length of the valid UTF-8 sequence at the start of ``piece``; 0 if there is none."""
    for length in (1, 2, 3, 4):
        try:
            piece[:length].decode("utf-8")
        except UnicodeDecodeError:
            continue
        return length
    return 0


def code_points_of(text: str) -> Int[np.ndarray, " code_point"]:
    """The code points of a string as numbers."""
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype="<u4").astype(np.int64)


def encoded_lengths(code_points: Int[np.ndarray, " code_point"]) -> Int[np.ndarray, " code_point"]:
    """Bytes of each code point; an escaped invalid byte (U+DC80-U+DCFF) has one."""
    lengths = 1 + np.searchsorted([0x80, 0x800, 0x10000], code_points, side="right")
    return np.where((code_points >= 0xDC80) & (code_points <= 0xDCFF), 1, lengths)


def _ends_latin_letter(
    code_points: Int[np.ndarray, " code_point"],
) -> Bool[np.ndarray, " code_point"]:
    """Which code points are a Latin letter, or a combining mark on one."""
    in_table = np.minimum(code_points, 0xFFFF)
    is_base = ~_MARKS[in_table]
    base = np.maximum.accumulate(np.where(is_base, np.arange(len(code_points)), 0))
    return _LATIN_LETTERS[in_table][base]


def _is_control(code_point: str) -> bool:
    return regex.match(r"[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]|\p{Bidi_Control}", code_point) is not None


def _display_one(code_point: str) -> str:
    value = ord(code_point) if code_point else 0x20
    if 0xDC80 <= value <= 0xDCFF:
        return f"<{value - 0xDC00:02X}>"
    if value < 0x20:
        return chr(0x2400 + value)
    if value == 0x7F:
        return "␡"
    if regex.match(r"\p{C}|\p{Zl}|\p{Zp}", code_point):
        return f"<U+{value:04X}>"
    return code_point


def _vocabulary_class(value: int) -> str:
    character = chr(value)
    if value < 0x80:
        if re.match("[a-z]", character):
            return "lowercase"
        if re.match("[A-Z]", character):
            return "uppercase"
        if re.match("[0-9]", character):
            return "digit"
        named = {" ": "space", "\n": "newline"}
        named |= dict.fromkeys(".!?", ". ! ?") | dict.fromkeys(",;:-", ", ; : -")
        return named.get(character, "other ASCII")
    if value < 0xC0:
        return "continuation"
    if 0xE4 <= value <= 0xE9:
        return "lead E4-E9"
    # 0xC0, 0xC1 and 0xF5-0xFF stand in no valid UTF-8
    return "lead, other" if 0xC2 <= value <= 0xF4 else "invalid byte"


def _running_class(value: int) -> int:
    name = _vocabulary_class(value)
    in_context = {"lowercase": "lowercase, word-initial", "continuation": "continuation, other"}
    return BYTE_CLASSES.index(in_context.get(name, name))


_CLASS_OF_VALUE = np.array([_running_class(value) for value in range(SEPARATOR)], dtype=np.int8)


def _of_plane_0(pattern: str) -> Bool[np.ndarray, " code_point"]:
    """Which of U+0000-U+FFFF a pattern matches; U+FFFF, which stands for all above, is neither."""
    is_matched = np.zeros(0x10000, dtype=bool)
    plane = "".join(map(chr, range(0x10000)))
    is_matched[[match.start() for match in regex.finditer(pattern, plane)]] = True
    return is_matched


_LATIN_LETTERS = _of_plane_0(r"\p{Latin}")
_MARKS = _of_plane_0(r"\p{M}")
