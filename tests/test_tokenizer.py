import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from interp import tokenizer as tokenizers
from interp.corpus.split import Split, Stretch, document_hash
from interp.errors import InputError
from interp.text import byte_blocks, encode, window_spans
from interp.tokenizer import BYTES, CharacterTokenizer, tokenizer_from

TEXT = "A cat, 一只猫, née 🐱.\n"


def of(text: str) -> CharacterTokenizer:
    return CharacterTokenizer.of([text.encode()])


def whole(tokenized):
    return tokenized.ids(0, len(tokenized)).tolist(), tokenized.offsets(0, len(tokenized)).tolist()


def test_the_ids_of_bytes_are_a_separator_and_the_bytes():
    content = TEXT.encode()
    text = BYTES.read(content)
    assert whole(text) == (encode(content).tolist(), list(range(-1, len(content))))
    assert text.ids(3, 5).tolist() == list(content[2:4])
    assert list(text.spans(n_ctx=16, stride=8)) == list(window_spans(content, n_ctx=16, stride=8))
    assert BYTES.n_tokens(content) == len(text) == len(content) + 1


def test_the_ids_of_characters_are_places_in_the_sorted_vocabulary():
    letters = sorted(set(TEXT))
    text = of(TEXT).read(TEXT.encode())
    ids, offsets = whole(text)
    assert ids == [letters.index(c) for c in TEXT]
    assert offsets == [len(TEXT[:i].encode()) for i in range(len(TEXT))]
    assert of(TEXT).n_tokens(TEXT.encode()) == len(TEXT)
    assert of(TEXT).d_vocab == len(letters)


@given(st.text(alphabet="aé一🐱\n", max_size=60), st.integers(4, 9))
def test_a_long_text_is_read_in_blocks_as_if_at_once(text, block_bytes):
    content = (text + "aé一🐱\n").encode()
    blocks = list(byte_blocks(content, max(8, block_bytes)))
    assert b"".join(blocks) == content
    for block in blocks:
        block.decode("utf-8")


def test_a_text_that_does_not_stay_in_memory_gives_the_same(monkeypatch):
    content = (TEXT * 50).encode()
    at_once = whole(of(TEXT).read(content))
    monkeypatch.setattr(tokenizers, "_IN_MEMORY_BYTES", 100)
    mapped = of(TEXT).read(content)
    assert isinstance(mapped.tokens.base, np.memmap | np.ndarray)
    assert whole(mapped) == at_once


@pytest.mark.parametrize("n_tokens", [1, 15, 16, 17, 32, 40])
def test_windows_of_characters_are_consecutive_and_end_with_the_text(n_tokens):
    text = of("ab").read(b"a" * n_tokens)
    spans = list(text.spans(n_ctx=16, stride=16))
    assert [start for start, _ in spans] == list(range(0, n_tokens, 16))
    assert spans[-1][1] == n_tokens
    assert [token for start, end in spans for token in range(start, end)] == list(range(n_tokens))


def test_nothing_is_read_of_no_text():
    text = of("ab").read(b"")
    assert (len(text), list(text.spans(n_ctx=16, stride=16))) == (0, [])


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("a ñ".encode(), "no token for 'ñ', which stands at byte 2 of the text"),
        ("一 b\x1b".encode(), "no token for '一', which stands at byte 0"),
        (b"ab\xffb", "no token for '<FF>', which stands at byte 2"),
        (b"a\x1b", "no token for '␛'"),
    ],
)
def test_a_character_without_a_token_is_named_with_its_place(content, said):
    for act in (of("ab ").n_tokens, of("ab ").read):
        with pytest.raises(InputError, match=said):
            act(content)


def test_a_vocabulary_is_made_of_utf_8_only():
    with pytest.raises(InputError, match="not UTF-8"):
        CharacterTokenizer.of([b"ab\xff"])
    with pytest.raises(InputError, match="1 to 65536 characters, not 0"):
        CharacterTokenizer.of([b""])


def test_a_tokenizer_is_the_same_when_it_is_read_back():
    for made in (BYTES, of(TEXT)):
        assert tokenizer_from(made.to_dict()) == made


@pytest.mark.parametrize(
    "values",
    [
        {},
        {"kind": "bytes", "separator": 0},
        {"kind": "characters"},
        {"kind": "characters", "characters": ""},
        {"kind": "characters", "characters": "ba"},
        {"kind": "characters", "characters": "aa"},
        {"kind": "characters", "characters": ["a"]},
        {"kind": "characters", "characters": "ab", "more": 1},
        {"kind": "characters", "characters": "a\udc80"},
        {"kind": ["characters"], "characters": "ab"},
    ],
)
def test_what_is_no_tokenizer_is_refused(values):
    with pytest.raises(ValueError, match="tokenizer"):
        tokenizer_from(values)


def test_the_end_of_a_text_is_held_out_and_known_again():
    content = TEXT.encode() * 10
    ends = Split(last=0.1).end_of(content)
    split = Split(last=0.1, hashes=frozenset({document_hash(ends)}))
    kept = split.training_part(content)
    assert kept[:] + ends[:] == content
    assert len(ends) == pytest.approx(0.1 * len(content), abs=4)
    ends[:].decode("utf-8")  # no code point is cut
    assert split.held_out_part(content)[:] == ends[:]
    assert split.is_held_out(ends[:])  # also as a file of its own
    assert split.held_out_part(content + b"!") is None
    assert split.training_part(ends[:])[:] == b""


def test_the_cut_of_ascii_is_that_of_a_slice():
    content = b"abcdefghij" * 7 + b"xyz"
    assert Split(last=0.1).training_part(content)[:] == content[: int(0.9 * len(content))]


def test_without_ends_the_whole_text_is_trained_on():
    content = TEXT.encode()
    assert Split().training_part(content) is content
    assert Split().held_out_part(content) is None
    assert Split(hashes=frozenset({document_hash(content)})).held_out_part(content) is content


@given(st.binary(max_size=20), st.integers(0, 20), st.integers(0, 20), st.integers(-5, 25))
def test_a_stretch_slices_as_bytes_do(content, start, end, stop):
    start, end = sorted((min(start, len(content)), min(end, len(content))))
    part = Stretch(content, start, end)
    assert (len(part), part[:], part[1:stop]) == (
        end - start,
        content[start:end],
        content[start:end][1:stop],
    )
