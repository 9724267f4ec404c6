import unicodedata
from functools import partial
from itertools import pairwise

import numpy as np
import pytest
import regex
from bad_inputs import N_INVALID_BYTES, TEXTS
from hypothesis import given
from hypothesis import strategies as st

from interp.text import (
    BYTE_CLASSES,
    D_VOCAB,
    SEPARATOR,
    VOCABULARY_CLASSES,
    byte_blocks,
    byte_classes,
    code_point_spans,
    decode,
    display,
    drop_byte_order_mark,
    encode,
    grapheme_spans,
    n_invalid_bytes,
    one_line,
    vocabulary_classes,
    window_spans,
)

# bytes of any kind, with enough valid UTF-8 of every length for the interesting cases
contents = st.one_of(
    st.binary(max_size=80),
    st.text(max_size=40).map(str.encode),
    st.lists(
        st.sampled_from(
            [
                b"a",
                b" ",
                "é".encode(),
                "字".encode(),
                "👩‍👧".encode(),
                b"\xe4",
                b"\x80",
                b"\xf0\x9f",
            ]
        ),
        max_size=30,
    ).map(b"".join),
    st.sampled_from(list(TEXTS.values())).map(lambda content: content[:300]),
)


def class_names(content: bytes) -> list[str]:
    return [BYTE_CLASSES[index] for index in byte_classes(content)]


@given(contents)
def test_ids_are_the_separator_and_the_bytes(content):
    ids = encode(content)
    assert ids[0] == SEPARATOR
    assert bytes(ids[1:].tolist()) == content
    assert ids.dtype == np.int64


@given(contents)
def test_decoding_loses_nothing(content):
    assert decode(content).encode("utf-8", "surrogateescape") == content


@given(contents)
def test_spans_cover_everything_in_order(content):
    for spans in (code_point_spans(content), grapheme_spans(content)):
        assert spans.shape == (len(spans), 2)
        edges = [0, *spans[:, 1].tolist()]
        assert edges[:-1] == spans[:, 0].tolist()
        assert edges[-1] == len(content)
        assert (spans[:, 1] > spans[:, 0]).all()


@given(contents)
def test_a_code_point_span_holds_one_code_point(content):
    text = decode(content)
    spans = code_point_spans(content).tolist()
    assert len(spans) == len(text)
    assert [decode(content[start:end]) for start, end in spans] == list(text)


@given(contents)
def test_characters_are_grapheme_clusters(content):
    clusters = regex.findall(r"\X", decode(content))
    spans = grapheme_spans(content).tolist()
    assert [decode(content[start:end]) for start, end in spans] == clusters


def test_an_emoji_family_and_an_accented_letter_are_one_character_each():
    content = "👩‍👩‍👧‍👦e\u0301字".encode()
    assert grapheme_spans(content).tolist() == [[0, 25], [25, 28], [28, 31]]


@pytest.mark.parametrize("name", TEXTS)
def test_invalid_bytes_are_counted(name):
    expected = N_INVALID_BYTES.get(name)
    if expected is None and name != "utf-16.txt":
        expected = 0
    if expected is not None:
        assert n_invalid_bytes(TEXTS[name]) == expected


def test_one_byte_order_mark_is_dropped():
    mark = b"\xef\xbb\xbf"
    assert drop_byte_order_mark(mark + b"a") == (b"a", 3)
    assert drop_byte_order_mark(mark + mark) == (mark, 3)
    assert drop_byte_order_mark(b"a" + mark) == (b"a" + mark, 0)


@given(
    st.lists(st.sampled_from([b"a", "é".encode(), "汉".encode(), "🎉".encode(), b"\x80", b"\xe4"]))
)
def test_invalid_bytes_are_counted_in_blocks_as_at_once(pieces):
    content = b"".join(pieces)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("interp.text.byte_blocks", partial(byte_blocks, block_bytes=8))
        n_escaped = sum("\udc80" <= c <= "\udcff" for c in decode(content))
        assert n_invalid_bytes(content) == n_escaped


def test_classes_of_a_text_by_hand():
    initial, internal = "lowercase, word-initial", "lowercase, word-internal"
    assert class_names(b"It is 7-up!\n\t") == [
        "separator",
        *["uppercase", internal, "space", initial, internal, "space"],
        *["digit", ", ; : -", initial, internal, ". ! ?", "newline", "other ASCII"],
    ]


def test_classes_of_bytes_beyond_ascii_by_hand():
    assert class_names("字éж👍".encode()) == [
        "separator",
        *["lead E4-E9", "continuation after E4-E9", "continuation after E4-E9"],
        *["lead, other", "continuation, other"],
        *["lead, other", "continuation, other"],
        *["lead, other", *["continuation, other"] * 3],
    ]


def test_invalid_bytes_have_a_class_of_their_own():
    assert class_names(b"a\xe4\xb8b\x80\xff") == [
        "separator",
        "lowercase, word-initial",
        *["invalid byte"] * 2,
        "lowercase, word-initial",
        *["invalid byte"] * 2,
    ]


@pytest.mark.parametrize(
    "before", ["é", "ß", "ế", "Ａ", "A", "z", "e\u0301", "o\u0302\u0323", "a\ufe0f"]
)
def test_a_letter_after_a_latin_letter_is_word_internal(before):
    assert "LATIN" in unicodedata.name(before[0])
    assert class_names((before + "a").encode())[-1] == "lowercase, word-internal"


@pytest.mark.parametrize(
    "before", ["", " ", "字", "1", "-", "ж", "👍", "\u0301", "ж\u0301", "a1\u0301"]
)
def test_a_letter_after_anything_else_is_word_initial(before):
    assert class_names((before + "a").encode())[-1] == "lowercase, word-initial"


@given(contents)
def test_classes_in_text_agree_with_those_of_the_vocabulary(content):
    alone = vocabulary_classes()
    for value, name in zip(encode(content), class_names(content), strict=True):
        of_value = VOCABULARY_CLASSES[alone[value]]
        assert name.startswith(of_value) or name == "invalid byte"


@given(contents)
def test_invalid_bytes_are_those_that_are_counted(content):
    assert class_names(content).count("invalid byte") == n_invalid_bytes(content)


def test_the_vocabulary_is_classed_by_value_alone():
    names = [VOCABULARY_CLASSES[index] for index in vocabulary_classes()]
    assert len(names) == D_VOCAB
    counts = {name: names.count(name) for name in VOCABULARY_CLASSES}
    assert counts == {
        "lowercase": 26,
        "uppercase": 26,
        "digit": 10,
        "space": 1,
        "newline": 1,
        ". ! ?": 3,
        ", ; : -": 4,
        "other ASCII": 128 - 71,
        "lead E4-E9": 6,
        "lead, other": 0xF4 - 0xC2 + 1 - 6,
        "continuation": 64,
        "invalid byte": 13,
        "separator": 1,
    }
    assert names[0xE4] == names[0xE9] == "lead E4-E9"
    assert names[0xC1] == names[0xF5] == "invalid byte"


@given(contents, st.integers(8, 20), st.integers(8, 20))
def test_windows_cover_the_text_and_cut_no_code_point(content, n_ctx, stride):
    stride = min(stride, n_ctx)
    windows = list(window_spans(content, n_ctx=n_ctx, stride=stride))
    n_tokens = len(content) + 1
    starts_of_code_points = {0, 1, n_tokens, *(code_point_spans(content)[:, 0] + 1).tolist()}
    assert windows[0][0] == 0
    assert windows[-1][1] == n_tokens
    for (start, end), (next_start, next_end) in pairwise(windows):
        assert start < next_start <= end < next_end
        assert stride - 3 <= next_start - start <= stride + 3
    for start, end in windows:
        assert {start, end} <= starts_of_code_points
        assert end - start <= n_ctx + 3
        assert end == n_tokens or end - start >= n_ctx - 6


@given(contents, st.integers(8, 20))
def test_windows_with_a_stride_of_their_length_are_consecutive(content, n_ctx):
    windows = list(window_spans(content, n_ctx=n_ctx, stride=n_ctx))
    assert [end for _, end in windows[:-1]] == [start for start, _ in windows[1:]]
    assert all(end - start <= n_ctx for start, end in windows)


def test_windows_by_hand():
    # tokens: the separator, then three bytes of each character; an edge at 8 falls into the
    # third character, which begins at token 7
    content = "一二三四".encode()
    assert list(window_spans(content, n_ctx=8, stride=8)) == [(0, 7), (7, 13)]
    assert list(window_spans(b"x" * 20, n_ctx=12, stride=8)) == [(0, 12), (8, 20), (16, 21)]
    assert list(window_spans(b"", n_ctx=8, stride=8)) == [(0, 1)]
    assert list(window_spans(b"\x80" * 8, n_ctx=8, stride=8)) == [(0, 8), (8, 9)]


@pytest.mark.parametrize("stride", [7, 17])
def test_a_stride_that_leaves_gaps_is_refused(stride):
    with pytest.raises(ValueError, match="stride"):
        list(window_spans(b"text", n_ctx=16, stride=stride))


@pytest.mark.parametrize(
    ("character", "shown"),
    [
        (b"a", "a"),
        (b" ", " "),
        (b"\x00", "␀"),
        (b"\x1b", "␛"),
        (b"\n", "␊"),
        (b"\r\n", "␍␊"),
        (b"\x7f", "␡"),
        (b"\xe4", "<E4>"),
        ("\u202e".encode(), "<U+202E>"),
        ("\u200b".encode(), "<U+200B>"),
        ("\u2028".encode(), "<U+2028>"),
        ("\x85".encode(), "<U+0085>"),
        ("字".encode(), "字"),
        ("e\u0301".encode(), "e\u0301"),
        ("👩‍👧".encode(), "👩‍👧"),
        ("a\u2066".encode(), "a<U+2066>"),
    ],
)
def test_what_a_character_shows_as(character, shown):
    assert display(character) == shown


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        ("a name", "a name"),
        ("two\nlines\x1b[31m", "two␊lines␛[31m"),
        ("caf\udce9", "caf<E9>"),
        ("half \ud800", "half <ED><A0><80>"),
    ],
)
def test_words_from_outside_stand_on_one_line(words, shown):
    assert one_line(words) == shown


@given(contents)
def test_nothing_that_is_displayed_acts_or_hides(content):
    for start, end in grapheme_spans(content).tolist():
        shown = display(content[start:end])
        assert shown
        assert not regex.search(r"[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Bidi_Control}]", shown)
