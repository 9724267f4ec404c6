import pytest

from interp.errors import InputError, UsageError
from interp.segmentation import Reference
from interp.segmentation.references import LANGUAGES, find_reference, known_references

SENTENCE = "他来到了网易杭研大厦"


PLACE = len("他来到了网易杭".encode()) + 1  # between 杭 and 研, which are no word of the dictionary


@pytest.fixture(scope="module")
def jieba() -> Reference:
    return find_reference("zh")


def boundaries(reference, text=SENTENCE):
    ((content, gaps),) = reference.read([text.encode()])
    assert content == text.encode()
    return dict(zip(gaps.tokens.tolist(), gaps.is_boundary.tolist(), strict=True))


def test_every_language_has_a_reference(jieba):
    assert LANGUAGES == ("en", "ja", "th", "zh")
    for language in LANGUAGES:
        assert {"ud:FILE", "segmented:FILE"} < set(known_references(language))
    assert isinstance(jieba, Reference)
    assert known_references("zh")[0] == jieba.reference.split()[0] == "jieba"
    assert known_references("en")[0] == find_reference("en").reference == "delimiters"


def test_jieba_without_its_hidden_markov_model_finds_no_unknown_word(jieba):
    without = find_reference("zh", "jieba-without-hmm")
    assert not boundaries(jieba)[PLACE]
    assert boundaries(without)[PLACE]
    assert without.reference == f"{jieba.reference} without HMM"
    assert (jieba.details[:6], without.details[:7]) == ("HMM on", "HMM off")


def test_words_of_ones_own_are_words_here_and_nowhere_else(jieba, tmp_path):
    from jieba import finalseg

    words = tmp_path / "mine.txt"
    words.write_bytes("\ufeff网易大厦\r\n\r\n来到了 99999 v\n杭研 0\n".encode())
    text = "他来到了网易大厦。杭研"
    mine = find_reference("zh", f"jieba:{words}")
    ends = [token for token, is_end in boundaries(mine, text).items() if is_end]
    # 杭研 occurs 0 times, which says that it is no word
    assert ends == [4, len("他来到了".encode()) + 1, len("他来到了网易大厦。杭".encode()) + 1]
    assert mine.reference == f"{jieba.reference} with mine.txt"
    assert "user words SHA-256" in mine.details
    ends = [token for token, is_end in boundaries(jieba, text).items() if is_end]
    assert len("他来到了网易".encode()) + 1 in ends
    assert len("他来到了网易大厦。杭".encode()) + 1 not in ends
    assert "杭研" not in finalseg.Force_Split_Words


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("云计算 5 n\n他 来到 了\n".encode(), "line 2 is no word with its count, but '他 来到 了'"),
        ("云计算".encode("gb18030"), "is not UTF-8"),
        (b"\n", "is empty"),
    ],
)
def test_what_is_no_dictionary_is_refused(tmp_path, content, says):
    path = tmp_path / "mine.txt"
    path.write_bytes(content)
    with pytest.raises(InputError, match=says):
        find_reference("zh", f"jieba:{path}")


def test_english_without_its_spaces_has_boundaries_where_they_were():
    reference = find_reference("en", "spaces")
    ((content, gaps),) = reference.read([b"I  can go,\tor\nso am I"])
    assert content == b"Icango,or\nsoamI"
    # no gap at signs and line ends: I|c a n|g o , o r / s o|a m|I
    assert gaps.tokens.tolist() == [2, 3, 4, 5, 6, 9, 12, 13, 14, 15]
    assert [t for t, is_end in zip(gaps.tokens, gaps.is_boundary, strict=True) if is_end] == [
        2,
        5,
        13,
        15,
    ]


def test_a_space_that_keeps_broken_bytes_apart_stays():
    ((content, gaps),) = find_reference("en", "spaces").read([b"a b \xe4 \xb8\xad c\xff d"])
    assert content == b"ab\xe4 \xb8\xad cff d".replace(b"ff", b"\xff")
    assert gaps.tokens.tolist() == [2]


def test_a_mark_after_a_space_does_not_make_a_boundary_inside_a_letter():
    ((content, gaps),) = find_reference("en", "spaces").read(["a \u0301b".encode()])
    assert content == "a\u0301b".encode()
    assert (gaps.tokens.tolist(), gaps.left_out) == ([], {"a word ends inside it": 1})


@pytest.mark.parametrize(
    ("language", "spec"),
    [
        ("ja", "jieba"),
        ("zh", "spaces"),
        ("zh", "ud:"),
        ("en", "spaces:x"),
        ("zh", ""),
        ("th", "x:y"),
    ],
)
def test_what_a_language_does_not_have_is_refused_with_what_it_has(language, spec):
    with pytest.raises(UsageError, match="no such reference") as refused:
        find_reference(language, spec)
    assert "ud:FILE" in str(refused.value.hint)


def test_an_unknown_language_names_the_known_ones():
    with pytest.raises(InputError, match="'tlh'") as refused:
        find_reference("tlh")
    assert "zh" in str(refused.value.hint)


@pytest.mark.parametrize(
    ("language", "module"),
    [("ja", "sudachipy"), ("ja", "sudachidict_small"), ("th", "budoux")],
)
def test_what_is_not_installed_is_said_with_what_to_install(monkeypatch, language, module):
    import sys

    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(InputError, match=module) as refused:
        find_reference(language)
    assert f'pip install "interp[{language}]"' in str(refused.value.hint)


def test_an_endless_word_of_a_user_dictionary_is_refused(tmp_path):
    (tmp_path / "words.txt").write_text("云" * 101, "utf-8")
    with pytest.raises(InputError, match="101 characters, and the most is 100"):
        find_reference("zh", f"jieba:{tmp_path / 'words.txt'}")
