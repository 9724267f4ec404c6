import logging
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from interp.errors import InterpError
from interp.segmentation import Gaps
from interp.segmentation.chinese import LEFT_OUT, OTHER_SCRIPT, ChineseSegmenter
from interp.text import code_point_spans, decode


@pytest.fixture(scope="module")
def segmenter(tmp_path_factory) -> ChineseSegmenter:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("INTERP_CACHE", str(tmp_path_factory.mktemp("cache")))
        return ChineseSegmenter()


def test_gaps_by_hand(segmenter):
    # 北京 | 是 | 中国 | 的 | 首都: gaps after 北 京 是 中 国 的 首
    gaps = segmenter.gaps("北京是中国的首都".encode())
    assert segmenter.words("北京是中国的首都") == ["北京", "是", "中国", "的", "首都"]
    assert gaps.tokens.tolist() == [4, 7, 10, 13, 16, 19, 22]
    assert gaps.is_boundary.tolist() == [False, True, True, False, True, True, False]
    assert (gaps.n_characters, gaps.left_out) == (8, {LEFT_OUT: 0})


def test_only_neighbouring_ideographs_have_a_gap(segmenter):
    gaps = segmenter.gaps("中 国，人A民\n的é了".encode())
    assert gaps.tokens.tolist() == []
    assert gaps.n_characters == 6


def test_tokens_are_lead_bytes_after_characters_of_any_length(segmenter):
    content = "é👪中国".encode()
    assert segmenter.gaps(content).tokens.tolist() == [len("é👪中".encode()) + 1]


def test_unknown_words_are_found_by_the_hidden_markov_model(segmenter):
    assert "杭研" in segmenter.words("他来到了网易杭研大厦")


def test_a_very_long_run_is_cut_and_nothing_else_is(segmenter):
    run = "他来到了网易杭研大厦" * 500
    pieces = [run, run, run[:5]]
    assert segmenter.words("".join(pieces)) == [w for each in pieces for w in segmenter.words(each)]
    assert "T恤" in segmenter.words(f"{run}T恤，{run}")


@pytest.mark.parametrize("character", ["々", "〇", "𠮷", "鿖", "㐀", "\uf900"])
def test_other_ideographs_are_left_out_and_counted(segmenter, character):
    gaps = segmenter.gaps(f"中{character}国中国".encode())
    assert (gaps.n_characters, gaps.left_out) == (5, {LEFT_OUT: 1})
    assert len(gaps.tokens) == 2


@pytest.mark.parametrize("mark", ["\ufe00", "\U000e0100", "\u0301"])
def test_an_ideograph_with_a_mark_is_one_character_that_jieba_does_not_know(segmenter, mark):
    gaps = segmenter.gaps(f"人中{mark}国人".encode())
    assert (gaps.n_characters, gaps.left_out) == (4, {LEFT_OUT: 1})
    assert gaps.tokens.tolist() == [len(f"人中{mark}国".encode()) + 1]


def test_the_range_of_ideographs_includes_its_ends(segmenter):
    assert len(segmenter.gaps("\u4e00\u9fd5".encode()).tokens) == 1
    assert len(segmenter.gaps("\u4e00\u9fd6".encode()).tokens) == 0


def test_invalid_bytes_separate_their_neighbours_and_stay(segmenter):
    content = "中国".encode() + b"\xe4\xb8" + "人民".encode() + b"\xed\xa0\x80"
    gaps = segmenter.gaps(content)
    assert gaps.tokens.tolist() == [4, 12]
    assert gaps.n_characters == 4


@pytest.mark.parametrize(
    ("text", "other"),
    [
        ("東京都に住む", OTHER_SCRIPT),
        ("東京タワー", OTHER_SCRIPT),
        ("大韓民國은", OTHER_SCRIPT),
        ("中国人民", None),
        ("中国·人民 ABC", None),
        ("かなだけ", None),  # nothing is judged there
        ("字とkana", None),
    ],
)
def test_a_script_of_another_language_beside_the_gaps_is_named(segmenter, text, other):
    assert segmenter.gaps(text.encode()).other_script == other


def test_text_without_chinese_has_no_gaps(segmenter):
    for content in (b"", b"plain English", b"\xff\xfe"):
        gaps = segmenter.gaps(content)
        assert len(gaps.tokens) == len(gaps.is_boundary) == 0
        assert gaps.n_characters == 0


@settings(max_examples=100, deadline=None)
@given(
    st.lists(
        st.one_of(
            st.sampled_from(
                ["中国", "人民", "的", "鿖", "々", "A-1.5%", "\r\n", " ", "👪", "e\u0301"]
            ),
            st.text(max_size=4),
        ).map(str.encode)
        | st.binary(max_size=3),
        max_size=12,
    ).map(b"".join)
)
def test_no_character_is_lost_and_gaps_lie_between_ideographs(segmenter, content):
    assert "".join(segmenter.words(decode(content))) == decode(content)
    gaps = segmenter.gaps(content)
    starts = code_point_spans(content)[:, 0].tolist()
    assert (np.diff(gaps.tokens) > 0).all()
    for token in gaps.tokens.tolist():
        index = starts.index(token - 1)
        pair = decode(content)[index - 1 : index + 1]
        assert all("\u4e00" <= character <= "\u9fd5" for character in pair)


def test_the_reference_has_a_version_and_a_dictionary(segmenter):
    name, version = segmenter.reference.split(" ")
    assert name == "jieba"
    assert version[0].isdigit()
    assert len(segmenter.dictionary_sha256) == 64
    assert segmenter.dictionary_sha256 in segmenter.details


def test_lost_characters_are_an_error(segmenter, monkeypatch):
    def lossy(text: str, **_settings: bool) -> list[str]:
        return [text[1:]]

    monkeypatch.setattr(segmenter._tokenizer, "cut", lossy)
    with pytest.raises(InterpError, match="do not join"):
        segmenter.words("中国")


def test_words_that_others_add_or_delete_do_not_count(segmenter):
    import jieba
    from jieba import finalseg

    before = set(finalseg.Force_Split_Words)
    expected = segmenter.words("他来到了网易杭研大厦")
    try:
        finalseg.add_force_split("杭研")
        assert segmenter.words("他来到了网易杭研大厦") == expected
        assert "杭研" in finalseg.Force_Split_Words
    finally:
        finalseg.Force_Split_Words = before
    assert segmenter._tokenizer is not jieba.dt


def test_the_dictionary_is_kept_in_our_cache_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("INTERP_CACHE", str(tmp_path / "deep" / "cache"))
    first = ChineseSegmenter()
    (cached,) = (tmp_path / "deep" / "cache").iterdir()
    written = cached.stat().st_mtime_ns
    second = ChineseSegmenter()
    assert cached.stat().st_mtime_ns == written
    assert first.words("北京是中国的首都") == second.words("北京是中国的首都")
    cached.write_bytes(b"damaged")
    assert ChineseSegmenter().words("北京是中国的首都") == first.words("北京是中国的首都")


def test_a_cache_that_cannot_be_written_is_done_without(tmp_path, monkeypatch, capfd):
    in_the_way = tmp_path / "file"
    in_the_way.write_text("not a folder")
    monkeypatch.setenv("INTERP_CACHE", str(in_the_way))
    assert ChineseSegmenter().words("中国人民") == ["中国", "人民"]
    assert capfd.readouterr() == ("", "")


def test_a_fresh_process_prints_warns_and_logs_nothing(tmp_path):
    script = (
        "import logging, os, warnings\n"
        "import interp.segmentation.chinese as chinese\n"
        "assert chinese.ChineseSegmenter().words('中国人民') == ['中国', '人民']\n"
        "for name in ('jieba', 'jieba._compat'):\n"
        "    logger = logging.getLogger(name)\n"
        "    assert logger.handlers == [] and logger.level == logging.NOTSET\n"
        "    assert not logger.disabled\n"
        "assert os.listdir(os.environ['TMPDIR']) == []\n"
    )
    (tmp_path / "temporary").mkdir()
    environment = {
        "INTERP_CACHE": str(tmp_path / "cache"),
        "TMPDIR": str(tmp_path / "temporary"),
        "PYTHONPATH": str(Path(__file__).parents[2]),
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONPYCACHEPREFIX": str(tmp_path / "bytecode"),
    }
    command = [sys.executable, "-W", "error", "-c", script]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_the_log_of_a_process_that_uses_jieba_itself_stays_as_it_is(tmp_path, monkeypatch, capfd):
    logger, handler = logging.getLogger("jieba"), logging.StreamHandler()
    monkeypatch.setattr(logger, "handlers", [handler])
    monkeypatch.setattr(logger, "level", logging.DEBUG)
    monkeypatch.setenv("INTERP_CACHE", str(tmp_path))
    ChineseSegmenter()
    assert logger.handlers == [handler]
    assert not logger.disabled
    assert capfd.readouterr() == ("", "")


def test_gaps_need_one_judgement_each():
    # a TypeError where shapes are checked at run time
    with pytest.raises((ValueError, TypeError), match=r"judgements|is_boundary"):
        Gaps(np.array([1, 2]), np.array([True]), 3, {})
