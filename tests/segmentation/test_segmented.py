import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from interp.errors import InputError
from interp.segmentation.references import find_reference


@pytest.fixture
def segmented(tmp_path):
    def make(text, language="zh", encoding="utf-8"):
        path = tmp_path / "gold.txt"
        path.write_bytes(text.encode(encoding))
        return find_reference(language, f"segmented:{path}")

    return make


def boundaries(reference, *texts):
    read = reference.read([text.encode() for text in texts])
    return [
        (content.decode(), gaps.tokens.tolist(), gaps.is_boundary.tolist())
        for content, gaps in read
    ]


def test_words_are_those_between_spaces(segmented):
    reference = segmented("他 来到 了 北京 。\n今天 很 好\n")
    assert boundaries(reference, "他来到了北京。今天很好") == [
        (
            "他来到了北京。今天很好",
            [4, 7, 10, 13, 16, 25, 28, 31],
            [True, False, True, True, False, False, True, True],
        )
    ]
    assert reference.reference == "gold"


def test_the_texts_of_the_input_follow_each_other(segmented):
    reference = segmented("他 来到 了 今天 很\u3000好")
    found = boundaries(reference, "他来到", "", "了\r\n今天很", "好")
    assert [judged for _, _, judged in found] == [[True, False], [], [False, True], []]


def test_the_same_text_twice_has_its_own_words_each_time(segmented):
    reference = segmented("下雨 天 留 客\n下雨天 留客\n")
    (_, _, first), (_, _, second) = boundaries(reference, "下雨天留客\n", "下雨天留客\n")
    assert first == [False, True, True, True]
    assert second == [False, False, True, False]


def test_lines_may_be_broken_elsewhere_and_as_windows_does(segmented):
    plain, other = "他 来到\n了 今天 很 好", "\ufeff他\r\n来到 了\t今天\r\n很  好\r\n"
    texts = ("他来到了", "今天很好")
    assert boundaries(segmented(plain), *texts) == boundaries(segmented(other), *texts)


def test_english_is_read_without_its_spaces(segmented):
    ((content, tokens, judged),) = boundaries(segmented("I can not go", "en"), "I cannot go")
    assert content == "Icannotgo"
    assert tokens == list(range(2, 10))
    assert judged == [True, False, False, True, False, False, True, False]


def test_thai_vowels_and_emoji_have_no_gap_inside(segmented):
    text = "กำ👨‍👩‍👧นั้น"
    reference = segmented("กำ 👨‍👩‍👧 นั้น กา", "th")
    ((_, tokens, judged),) = boundaries(reference, text + "กา")
    starts = [len((text[: text.index("นั้น")] + end).encode()) + 1 for end in ("นั้", "นั้น", "นั้นก")]
    assert tokens == starts
    assert judged == [False, True, False]


@pytest.mark.parametrize(
    ("texts", "says"),
    [
        (["他来了"], "line 1, character 4 is '到', where text 1 of the input has '了' at byte 6"),
        (
            ["他来到", "了x"],
            "line 2, character 1 is '很', where text 2 of the input has 'x' at byte 3",
        ),
        (["他来到了"], "line 2, character 1 is '很', where the input ends"),
        (["他来到了很", "好吗"], "it ends, where text 2 of the input has '吗' at byte 3"),
    ],
)
def test_words_of_another_text_are_refused_with_the_place_on_both_sides(segmented, texts, says):
    with pytest.raises(InputError) as refused:
        boundaries(segmented("他 来到 了\n很 好"), *texts)
    assert str(refused.value).endswith(says)
    assert refused.value.hint


def test_an_invalid_byte_of_the_input_is_shown_by_its_value(segmented):
    with pytest.raises(InputError, match="has '<E4>' at byte 3"):
        list(segmented("他 来到").read(["他".encode() + b"\xe4"]))


@pytest.mark.parametrize(
    ("text", "encoding", "says"),
    [
        ("他 来到", "gb18030", r"is not UTF-8 \(line 1, byte 0xCB at offset 0\)"),
        ("\ufeffok\n他 来到", "utf-16-le", "is not UTF-8"),
        (" \n", "utf-8", "is empty"),
        ("他来到了", "utf-8", "every one of its 3 gaps .* is inside a word"),
        ("他来到了\n今天很好", "utf-8", "is inside a word"),
        ("人工\n智能\n是", "utf-8", "is inside a word"),  # looks the same, and may be words
        ("他 来 到", "utf-8", "every one of its 2 gaps .* ends a word"),
        ("plain English", "utf-8", "no gap between two Chinese characters"),
    ],
)
def test_a_file_that_can_tell_nothing_is_refused(segmented, text, encoding, says):
    with pytest.raises(InputError, match=says) as refused:
        segmented(text, encoding=encoding)
    assert "a word" not in says or "spaces within a line" in refused.value.hint


def test_a_file_that_is_not_there_is_refused():
    for name in ("missing.txt", "nul\0.txt", "."):
        with pytest.raises(InputError, match="cannot read the segmented text"):
            find_reference("zh", f"segmented:{name}")


@settings(max_examples=50, deadline=None)
@given(st.lists(st.text("下雨天留客。a\u0301", min_size=1), min_size=1), st.data())
def test_any_words_are_found_again_however_the_text_is_cut(tmp_path_factory, words, data):
    path = tmp_path_factory.mktemp("segmented") / "any.txt"
    path.write_text(" ".join(words) + " 一 二三", "utf-8")
    text = "".join(words) + "一二三"
    cut = data.draw(st.integers(0, len(text)))
    parts = [text[:cut].encode(), text[cut:].encode()]
    ends, n_bytes = set(), 0
    for word in words:
        n_bytes += len(word.encode())
        ends.add(n_bytes)
    offset = 0
    for content, gaps in find_reference("zh", f"segmented:{path}").read(parts):
        for token, is_boundary in zip(gaps.tokens - 1 + offset, gaps.is_boundary, strict=True):
            expected = token in ends or token == len(text.encode()) - 6
            assert is_boundary == expected
        offset += len(content)


def test_a_file_name_acts_on_no_terminal(tmp_path):
    path = tmp_path / "a\x1b[31mRED.txt"
    path.write_text("他 来到 了 北京 。", "utf-8")
    assert find_reference("zh", f"segmented:{path}").reference.isprintable()
