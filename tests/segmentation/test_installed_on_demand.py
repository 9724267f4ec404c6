"""Segmenters of the extras ``ja`` and ``th``."""

import numpy as np
import pytest

from interp.segmentation import find_segmenter


def boundaries(gaps):
    return (gaps.tokens[gaps.is_boundary] - 1).tolist()


@pytest.fixture(scope="module")
def japanese():
    pytest.importorskip("sudachipy")
    pytest.importorskip("sudachidict_small")
    return find_segmenter("ja")


@pytest.fixture(scope="module")
def thai():
    pytest.importorskip("budoux")
    return find_segmenter("th")


def test_japanese_words_are_short_units(japanese):
    text = "今日は東京でパンを食べました。"
    assert japanese.words(text)[:5] == ["今日", "は", "東京", "で", "パン"]
    assert japanese.words(text)[5:] == ["を", "食べ", "まし", "た", "。"]
    gaps = japanese.gaps(text.encode())
    assert boundaries(gaps) == [6, 9, 15, 18, 24, 27, 33, 39]
    assert len(gaps.tokens) == len(text) - 2  # none before 。


def test_a_japanese_line_that_sudachi_would_refuse_is_read_in_pieces(japanese):
    text = "人工知能" * 5000
    gaps = japanese.gaps(text.encode())
    assert len(gaps.tokens) == len(text) - 1
    assert np.mean(gaps.is_boundary) == pytest.approx(0.5, abs=0.01)


def test_kana_marks_are_part_of_their_character_and_other_scripts_are_not_judged(japanese):
    gaps = japanese.gaps("か\u3099く12abc 서울 ラーメン".encode())
    assert gaps.n_characters == 2 + 4
    assert len(gaps.tokens) == 1 + 3


def test_thai_words_by_hand(thai):
    text = "วันนี้อากาศดี"  # วัน นี้ อากาศ ดี
    assert thai.words(text) == ["วัน", "นี้", "อากาศ", "ดี"]
    gaps = thai.gaps(text.encode())
    assert boundaries(gaps) == [9, 18, 33]
    # วั น นี้ อ า ก า ศ ดี
    assert gaps.n_characters == 9
    assert len(gaps.tokens) == 8


@pytest.mark.parametrize("language", ["japanese", "thai"])
def test_no_character_is_lost(request, language):
    segmenter = request.getfixturevalue(language)
    for text in (
        "",
        "\n",
        "a\x00b",
        "東京\r\nไทย 1",
        "。。\n\n。",
        "e\u0301👨‍👩‍👧",
        "\u0e33\u3099",
    ):
        assert "".join(segmenter.words(text)) == text
    assert len("".join(segmenter.words("東\udce4京"))) == 3
