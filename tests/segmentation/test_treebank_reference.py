from itertools import pairwise
from pathlib import Path

import pytest

from interp.errors import InputError
from interp.segmentation.references import find_reference
from interp.text import grapheme_spans


def judged(content, gaps):
    """The text with ``|`` at boundaries and ``.`` at the other gaps."""
    marks = dict(zip((gaps.tokens - 1).tolist(), gaps.is_boundary.tolist(), strict=True))
    shown = ""
    for start, end in grapheme_spans(content).tolist():
        shown += {None: "", True: "|", False: "."}[marks.get(start)] + content[start:end].decode()
    return shown


def read(path, language="zh"):
    return [
        (judged(content, gaps), gaps.cluster)
        for content, gaps in find_reference(language, f"ud:{path}").read(())
    ]


def test_a_sentence_is_read_after_the_two_before_it_and_judged_alone(treebank_file):
    path = treebank_file("他|来到|了|。", "今天|很|好", "我们|走|吧", "再见")
    assert [text for text, _ in read(path)] == [
        "他|来.到|了。",
        "他来到了。今.天|很|好",
        "他来到了。今天很好我.们|走|吧",
        "今天很好我们走吧再.见",
    ]


def test_what_stands_before_is_of_the_same_document(treebank_file):
    path = treebank_file(
        "# newdoc id = a", "一天|早上", "他|来", "# newdoc id = b", "我们|走", "再见|了"
    )
    assert read(path) == [
        ("一.天|早.上", "a"),
        ("一天早上他|来", "a"),
        ("我.们|走", "b"),
        ("我们走再.见|了", "b"),
    ]


def test_documents_without_a_name_are_documents_too(treebank_file):
    path = treebank_file("# newdoc", "一天|早上", "# newdoc", "他|来", "我们|走")
    assert [text for text, _ in read(path)] == ["一.天|早.上", "他|来", "他来我.们|走"]
    assert len({cluster for _, cluster in read(path)}) == 2


def test_without_documents_ten_neighbours_are_a_cluster(treebank_file):
    clusters = [cluster for _, cluster in read(treebank_file(*["他|来到"] * 21))]
    assert [len(list(filter(lambda each: each == name, clusters))) for name in clusters[::10]] == [
        10,
        10,
        1,
    ]
    assert clusters == sorted(clusters)


def test_the_same_sentence_twice_is_judged_twice(treebank_file):
    path = treebank_file("# newdoc", "下雨|天|留|客", "# newdoc", "下雨天|留客")
    assert [text for text, _ in read(path)] == ["下.雨|天|留|客", "下.雨.天|留.客"]


def test_a_sentence_with_a_space_after_it_keeps_it_in_thai_and_not_in_chinese(treebank_file):
    thai = treebank_file("ฉัน|กิน|ข้าว ", "เธอ|นอน")
    assert [text for text, _ in read(thai, "th")] == [
        "ฉั.น|กิ.น|ข้.า.ว",
        "ฉันกินข้าว เ.ธ.อ|น.อ.น",
    ]
    assert read(treebank_file("他|来了 ", "我|走"))[1][0] == "他来了我|走"


def test_english_is_read_without_its_spaces(treebank_file):
    path = treebank_file("The |cat|, |I |can|not |see ", "Go |on|.")
    assert [text for text, _ in read(path, "en")] == [
        "T.h.e|c.a.t,I|c.a.n|n.o.t|s.e.e",
        "Thecat,IcannotseeG.o|o.n.",
    ]


def test_gaps_lie_between_characters_as_a_reader_counts_them(treebank_file):
    # a word cannot end inside a letter with its accent; what is divided so is not judged
    path = treebank_file("e\u0301te\u0301 |a|👪|ne|\u0301 |la")
    ((text, _),) = read(path, "en")
    assert text == "e\u0301.t.e\u0301|a👪ne\u0301l.a"
    ((_, gaps),) = find_reference("en", f"ud:{path}").read(())
    assert gaps.left_out == {"a word ends inside it": 1}
    assert (gaps.n_characters, len(gaps.tokens)) == (8, 4)


def test_byte_order_mark_and_carriage_returns_change_nothing(treebank_file, tmp_path):
    path = treebank_file("# newdoc id = a", "他|来到|了 |。", "今天|很|好")
    windows = tmp_path / "windows.conllu"
    windows.write_bytes(b"\xef\xbb\xbf" + Path(path).read_bytes().replace(b"\n", b"\r\n"))
    assert read(windows) == read(path)


@pytest.mark.parametrize(
    ("sentence", "language", "says"),
    [
        ("他|来|了", "zh", "every one of its 2 gaps between two Chinese characters ends a word"),
        ("下雨天", "zh", "every one of its 2 gaps between two Chinese characters is inside a word"),
        ("他|来到|了", "th", "has no gap between two Thai characters"),
    ],
)
def test_a_treebank_that_can_tell_nothing_is_refused(treebank_file, sentence, language, says):
    with pytest.raises(InputError, match=says) as refused:
        find_reference(language, f"ud:{treebank_file(sentence)}")
    assert refused.value.hint


def test_the_input_is_not_looked_at_and_reading_can_be_done_again(treebank_file):
    reference = find_reference("zh", f"ud:{treebank_file('他|来到|了')}")
    first, again = list(reference.read([b"ignored"])), list(reference.read(iter(())))
    assert [content for content, _ in first] == [content for content, _ in again]
    assert reference.reference == "small"
    assert "SHA-256" in reference.details


def test_every_gap_of_the_sentence_and_no_other_is_judged(treebank_file):
    lines = ["他|来到|了", "今天|很|好", "我们|走|吧"]
    path = treebank_file(*lines)
    for line, (content, gaps) in zip(
        lines, find_reference("zh", f"ud:{path}").read(()), strict=True
    ):
        length = len(line.replace("|", "").encode())
        inside = range(len(content) - length + 3, len(content), 3)
        assert (gaps.tokens - 1).tolist() == list(inside)
        assert all(b - a == 3 for a, b in pairwise(gaps.tokens.tolist()))
