import json

import pytest

TEXT = "他来到了北京。今天天气很好。\n"
WORDS = "他 来到 了 北京 。 今天 天气 很 好 。\n"


@pytest.fixture
def text(tmp_path):
    (tmp_path / "text.txt").write_text(TEXT, "utf-8")
    (tmp_path / "words.txt").write_text(WORDS, "utf-8")
    (tmp_path / "mine.txt").write_text("今天天气\n", "utf-8")
    return "text.txt"


def both(first, second):
    return ("reference-agreement", "--reference", first, "--reference", second)


def test_jieba_beside_the_words_that_people_marked(interp, text):
    done = interp(*both("jieba", "segmented:words.txt"), text)
    assert (done.status, done.err) == (0, "")
    assert max(map(len, done.out.splitlines())) <= 80
    assert "word ends of words" in done.out
    assert "Over 10 gaps between two Chinese characters" in done.out
    assert "no interval: one document only" in done.out


def test_json_is_the_analysis_table(interp, text):
    done = interp(*both("jieba:mine.txt", "segmented:words.txt"), "--json", text)
    rows = {row["statistic"]: row for row in json.loads(done.out)}
    # 他来到了北京 has 5 gaps, 今天天气很好 another 5; 今天天气 alone is one word too many
    assert rows["agreement"]["n"] == 10
    assert rows["agreement"]["value"] == pytest.approx(9 / 10)
    assert rows["precision"]["value"] == 1
    assert rows["recall"]["value"] == pytest.approx(5 / 6)


@pytest.mark.parametrize(
    ("arguments", "status", "says"),
    [
        (
            ("reference-agreement", "--reference", "jieba"),
            2,
            "two references are compared, and 1 given",
        ),
        (("reference-agreement",), 2, "and 0 given"),
        (both("segmented:text.txt", "jieba"), 1, "is inside a word"),
        (both("segmented:gone.txt", "jieba"), 1, "no such file"),
        (both("spaces", "jieba"), 2, "no such reference for the language 'zh'"),
        ((*both("jieba", "ud:x.conllu"), "text.txt"), 2, "brings its own text"),
    ],
)
def test_what_cannot_be_compared_is_refused_in_one_line(interp, text, arguments, status, says):
    assert text
    done = interp(*arguments)
    assert (done.status, done.out) == (status, "")
    assert says in done.err
    assert len(done.err.splitlines()) == 2 or says == "no such file"
