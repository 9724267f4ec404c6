import hanzidentifier
import pytest

from interp.analyses.script import MIXED, SIMPLIFIED, TRADITIONAL, UNDECIDED, script_of


@pytest.mark.parametrize(
    ("text", "script"),
    [
        ("计算机科学与汉语", SIMPLIFIED),
        ("計算機科學與漢語", TRADITIONAL),
        ("人工", UNDECIDED),
        ("English, 123.", UNDECIDED),
        ("", UNDECIDED),
        ("计算机與漢語", MIXED),
        ("\udce4\udcb8 计", SIMPLIFIED),
    ],
)
def test_characters_of_one_script_alone_decide(text, script):
    assert script_of(text) == script


def test_a_tenth_of_the_other_script_is_a_quotation_and_more_is_mixed():
    assert script_of("计" * 9 + "漢") == SIMPLIFIED
    assert script_of("计" * 8 + "漢") == MIXED
    assert script_of("漢" * 9 + "计" + "人" * 100) == TRADITIONAL


@pytest.mark.parametrize("text", ["天气预报说明天有雨", "天氣預報說明天有雨"])
def test_text_of_one_script_is_what_the_library_says_of_the_whole(text):
    names = {hanzidentifier.SIMPLIFIED: SIMPLIFIED, hanzidentifier.TRADITIONAL: TRADITIONAL}
    assert script_of(text) == names[hanzidentifier.identify(text)]
