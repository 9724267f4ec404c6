"""What holds for every segmenter of the registry; a new one is tested by its line there."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interp.errors import InputError
from interp.segmentation import SEGMENTERS, Segmenter, find_segmenter
from interp.text import code_point_spans

any_segmenter = pytest.mark.parametrize("language", SEGMENTERS)

_MADE: dict[str, Segmenter] = {}


def made(language: str) -> Segmenter:
    if language not in _MADE:
        try:
            _MADE[language] = find_segmenter(language)
        except InputError as error:
            pytest.skip(str(error.hint))
    return _MADE[language]


@any_segmenter
def test_it_says_who_it_is(language):
    segmenter = made(language)
    for words in (segmenter.reference, segmenter.details, segmenter.judged):
        assert words.strip() == words != ""
        assert words.isprintable()


@any_segmenter
@given(
    text=st.lists(
        st.sampled_from(["Two words. ", "两个词，", "言葉", "สองคำ", "d'or-é ", "e\u0301", "\n"])
        | st.text(max_size=3),
        max_size=8,
    ).map("".join),
    cut=st.integers(0, 3),
)
def test_gaps_of_any_bytes_lie_before_their_characters_in_order(language, text, cut):
    content = text.encode()[cut:]  # perhaps in the middle of a character
    gaps = made(language).gaps(content)
    starts = code_point_spans(content)[1:, 0]
    assert set((gaps.tokens - 1).tolist()) <= set(starts.tolist())
    assert (gaps.tokens[1:] > gaps.tokens[:-1]).all()
    assert len(gaps.is_boundary) == len(gaps.tokens)
    assert gaps.is_boundary.dtype == bool
    assert len(gaps.tokens) <= gaps.n_characters <= len(content)
    assert all(0 <= count <= gaps.n_characters for count in gaps.left_out.values())


@any_segmenter
def test_a_text_is_judged_alike_each_time(language):
    content = "Two words. 两个词。言葉。".encode()
    first = made(language).gaps(content)
    again = find_segmenter(language).gaps(content)
    assert first.tokens.tolist() == again.tokens.tolist()
    assert first.is_boundary.tolist() == again.is_boundary.tolist()
    assert first.left_out == again.left_out


def test_an_unknown_language_names_the_known_ones():
    with pytest.raises(InputError, match="'tlh'") as caught:
        find_segmenter("tlh")
    assert "zh" in str(caught.value.hint)


@any_segmenter
@pytest.mark.parametrize("text", ["\n" * 60_000, "。" * 20_000, "言\n" * 20_000])
def test_a_long_run_of_stops_or_line_ends_is_segmented(language, text):
    gaps = made(language).gaps(text.encode())
    assert len(gaps.tokens) <= gaps.n_characters
