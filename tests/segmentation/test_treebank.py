import hashlib
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interp.errors import InputError
from interp.segmentation.treebank import Sentence, read_treebank


def line(number, form, misc="_"):
    return "\t".join([str(number), form, *["_"] * 7, misc])


def conllu(*sentences):
    return "".join("\n".join(lines) + "\n\n" for lines in sentences)


@pytest.fixture
def treebank_of(tmp_path):
    def read(content, encoding="utf-8"):
        path = tmp_path / "zh_small.conllu"
        path.write_bytes(content.encode(encoding))
        return read_treebank(path)

    return read


TWO = conllu(
    [
        "# newdoc id = first",
        "# sent_id = s1",
        "# text = 他来 到了。",
        line(1, "他", "SpaceAfter=No"),
        line(2, "来"),
        line(3, "到了", "SpaceAfter=No"),
        line(4, "。"),
    ],
    ["# sent_id = s2", "# text = 好", line(1, "好")],
)


def test_sentences_have_their_words_names_and_documents(treebank_of, tmp_path):
    treebank = treebank_of(TWO)
    assert treebank.name == "zh_small"
    content = (tmp_path / "zh_small.conllu").read_bytes()
    assert treebank.sha256 == hashlib.sha256(content).hexdigest()
    first, second = treebank.sentences
    assert (first.sentence_id, first.document_id, first.text) == ("s1", "first", "他来 到了。")
    assert first.words == ("他", "来", "到了", "。")
    assert first.word_spans == ((0, 1), (1, 2), (3, 5), (5, 6))
    assert (second.sentence_id, second.document_id, second.words) == ("s2", "first", ("好",))


def test_a_multiword_token_is_one_word_and_an_empty_node_is_none(treebank_of):
    (sentence,) = treebank_of(
        conllu(
            [
                "# text = Vámonos al mar",
                line("1-2", "Vámonos"),
                line(1, "Vamos"),
                line(2, "nos"),
                line("2.1", "nothing"),
                line("3-4", "al"),
                line(3, "a"),
                line(4, "el"),
                line(5, "mar"),
            ]
        )
    ).sentences
    assert sentence.words == ("Vámonos", "al", "mar")
    assert (sentence.sentence_id, sentence.document_id) == ("", "")


def test_without_its_text_a_sentence_is_put_together_from_its_words(treebank_of):
    (sentence,) = treebank_of(
        conllu([line(1, "a", "SpaceAfter=No"), line(2, ","), line(3, "b")])
    ).sentences
    assert (sentence.text, sentence.words) == ("a, b", ("a", ",", "b"))


def test_a_byte_order_mark_is_no_part_of_the_first_line(treebank_of):
    assert treebank_of(TWO, "utf-8-sig").sentences == treebank_of(TWO).sentences


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("", "is empty"),
        ("# a comment\n\n", "has no sentence"),
        (conllu([line(1, "好")], ["# text = 好人", line(1, "坏")]), "'坏'.*'number 2'"),
        ("some words\n", "cannot read the treebank .*: sentence number 1: "),
        (conllu([line(1, "好")], ["1\t好\nsome words"]), "sentence number 2: Invalid line"),
        (conllu(["# sent_id = s9", "# text = 好人", line(1, "坏")]), "'坏'.*'s9'"),
        (conllu(["# sent_id = s9", "# text = 好人", line(1, "好")]), "words do not cover"),
        (conllu(["# text = 好"]), "words do not cover"),
        ("# global.columns = ID MISC\n1\t_\n\n", "it is no CoNLL-U"),
        (conllu([line(1, "好")], [line("_", "好")]), "sentence number 2: it is no CoNLL-U"),
    ],
)
def test_what_is_no_treebank_is_refused_in_one_line(treebank_of, content, says):
    with pytest.raises(InputError, match=says) as refused:
        treebank_of(content)
    assert "\n" not in str(refused.value)
    assert refused.value.hint


def test_a_file_in_another_encoding_or_none_at_all_is_refused(treebank_of, tmp_path):
    with pytest.raises(InputError, match=r"not UTF-8 \(line 3, byte 0xCB at offset 44\)"):
        treebank_of(TWO, "gb18030")
    with pytest.raises(InputError, match="no such file"):
        read_treebank(tmp_path / "missing.conllu")


def test_a_document_without_a_name_has_its_number_and_spaces_after_sentences_are_known(treebank_of):
    treebank = treebank_of(
        conllu(
            [line(1, "好")],
            ["# newdoc", line(1, "好", "SpaceAfter=No")],
            ["# newdoc id = last", line(1, "好")],
            ["# newdoc", line(1, "好")],
        )
    )
    assert [each.document_id for each in treebank.sentences] == ["", "1", "last", "3"]
    assert [each.has_space_after for each in treebank.sentences] == [True, False, True, True]


@given(st.lists(st.tuples(st.text("ab好。", min_size=1), st.booleans()), min_size=1))
def test_words_lie_in_their_text_in_order(tmp_path_factory, words):
    lines = [
        line(number, word, "_" if is_spaced else "SpaceAfter=No")
        for number, (word, is_spaced) in enumerate(words, 1)
    ]
    text = "".join(word + " " * is_spaced for word, is_spaced in words).rstrip()
    path = tmp_path_factory.mktemp("treebank") / "words.conllu"
    path.write_text(conllu([f"# text = {text}", *lines]), "utf-8")
    (sentence,) = read_treebank(path).sentences
    assert sentence.words == tuple(word for word, _ in words)
    assert sentence.text == text
    assert re.sub(" ", "", text) == "".join(sentence.words)


@pytest.mark.parametrize("spans", [((1, 2), (0, 1)), ((0, 3),), ((0, 1),), ((0, 2), (1, 2))])
def test_words_that_overlap_or_leave_text_out_are_no_sentence(spans):
    with pytest.raises(ValueError, match="do not cover"):
        Sentence("s", "", "ab", spans)
