import json
import math
import os
from collections import Counter

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import regex
from bad_inputs import TEXTS
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import entropy

from interp.analyses import count_characters as counting
from interp.analyses.character_counts import CharacterCounts, shipped_counts
from interp.analyses.count_characters import count_characters
from interp.analyses.count_file import MOST_CODE_POINTS
from interp.corpus.documents import Document
from interp.errors import InputError, OutputError, UsageError
from interp.text import decode


def counts_of(*contents, **how):
    documents = (
        Document("text.txt", "", c if isinstance(c, bytes) else c.encode()) for c in contents
    )
    return count_characters(documents, **how)


def table_of(counts):
    """The counts by pair of letters, "" for no letter."""
    names = counts.letters
    ends = zip(counts.first, counts.second, strict=True)
    return {(names[a], names[b]): int(n) for (a, b), n in zip(ends, counts.count, strict=True)}


def counted_one_by_one(*contents):
    """An oracle: the same counts without numpy, blocks or buffers."""
    pairs = Counter()
    for content in contents:
        text = decode(content)
        clusters = [
            c if regex.match(r"\p{Alphabetic}", c) and len(c) <= MOST_CODE_POINTS else ""
            for c in regex.findall(r"\X", text)
        ]
        pairs.update(zip(["", *clusters], [*clusters, ""], strict=True))
    del pairs["", ""]
    return pairs


def scores(counts, text, name):
    previous, following = counts.indices(text[:-1]), counts.indices(text[1:])
    if name == "negative_pmi":
        return counts.negative_pmi(previous, following)
    return getattr(counts, name)(previous if name == "right_entropy" else following)


def test_pairs_and_what_is_no_letter_are_counted():
    counts = counts_of("国王，国王", "王国1")
    assert table_of(counts) == {
        ("", "国"): 2,
        ("国", "王"): 2,
        ("王", ""): 2,
        ("", "王"): 1,
        ("王", "国"): 1,
        ("国", ""): 1,
    }
    text = counts.text
    assert (text.n_documents, text.n_characters, text.sources) == (2, 8, ("text.txt",))


def test_a_letter_with_its_marks_is_one():
    counts = counts_of("e\u0301e", "ที่")
    assert set(counts.letters) == {"", "e\u0301", "e", "ที่"}
    assert table_of(counts)["e\u0301", "e"] == 1


@pytest.mark.parametrize("name", [name for name in TEXTS if TEXTS[name]])
def test_any_bytes_are_counted(name):
    assert table_of(counts_of(TEXTS[name])) == counted_one_by_one(TEXTS[name])


@settings(max_examples=40)
@given(st.lists(st.text("国王a é\u0301ิ๑\n\r🏳️\u200d🇨👍🏾", max_size=30).map(str.encode), min_size=1))
def test_blocks_and_buffers_of_any_size_count_the_same(contents):
    if not any(contents):
        contents.append(b"x")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(counting, "_BLOCK_BYTES", 8)
        patch.setattr(counting, "_BUFFERED", 3)
        assert table_of(counts_of(*contents)) == counted_one_by_one(*contents)


def test_negative_pmi_by_hand():
    # 9 neighbours, ends of text among them; a stands before b twice, a and b are there 3 times
    counts = counts_of("ab", "ab", "ba")
    (score,) = scores(counts, "ab", "negative_pmi")
    assert score == pytest.approx(-math.log((2 + 0.5) * 9 / ((3 + 0.5) * (3 + 0.5))))
    # b ends a text twice, and 3 texts begin: what is no letter stands 3 times before something
    for ending in (" ", "1", "\udcff"):
        (score,) = scores(counts, "b" + ending, "negative_pmi")
        assert score == pytest.approx(-math.log((2 + 0.5) * 9 / ((3 + 0.5) * (3 + 0.5))))
    (unseen,) = scores(counts, "bb", "negative_pmi")
    assert unseen == pytest.approx(-math.log(0.5 * 9 / (3.5 * 3.5)))


def test_entropies_are_those_of_scipy_over_letters_alone():
    counts = counts_of("国王国人国人，国", "王王")
    assert scores(counts, "国x", "right_entropy") == pytest.approx([entropy([1, 2])])
    assert scores(counts, "x王", "left_entropy") == pytest.approx([entropy([1, 1])])
    assert scores(counts, "人x", "right_entropy") == pytest.approx(
        [0.0]
    )  # always before 国 or "，"


def test_nothing_is_said_of_what_stands_before_no_letter():
    counts = counts_of("国王国人国人，国", "王王")
    assert np.isnan(scores(counts, "国，1", "left_entropy")).all()


def test_unknown_characters_have_a_score_and_say_nothing_wrong():
    counts = counts_of("国王国人")
    for name in ("negative_pmi", "right_entropy", "left_entropy"):
        assert np.isfinite(scores(counts, "国𠀀王𠀀𠀀", name)).all()
    # where both are known nothing is mixed up with an index of -1
    assert scores(counts, "𠀀王", "negative_pmi") == scores(counts, "𠀀人", "negative_pmi")


def test_dropping_rare_pairs_keeps_every_letters_own_count():
    text = "国王。国王。国人王人，人国"
    whole, small = counts_of(text), counts_of(text, min_count=2)
    assert small.n_pairs == 1
    assert table_of(small)["国", "王"] == table_of(whole)["国", "王"] == 2
    assert small.dropped_below == 2
    # seen as often as before, so only the pairs that are gone have another score
    assert scores(small, "国王", "negative_pmi") == scores(whole, "国王", "negative_pmi")
    # what was dropped was seen once each, as is assumed, so that the entropies are the same
    for name in ("right_entropy", "left_entropy"):
        assert scores(small, text, name) == pytest.approx(scores(whole, text, name), nan_ok=True)


def test_too_many_pairs_are_pruned_as_they_come_and_that_is_recorded(monkeypatch):
    monkeypatch.setattr(counting, "_BUFFERED", 16)
    rare = "".join(chr(0x4E00 + n) for n in range(300))
    counts = counts_of("国王" * 40 + rare + "国王" * 40, most_pairs=64)
    whole = counts_of("国王" * 40 + rare + "国王" * 40)
    assert counts.n_pairs <= 64
    assert counts.dropped_below > 1
    frequent = table_of(counts)["国", "王"]
    assert 0 <= table_of(whole)["国", "王"] - frequent < counts.dropped_below
    n_whole, n_counted = (int(c.count.sum() + c.dropped_after.sum()) for c in (whole, counts))
    assert n_counted == n_whole


def test_a_file_gives_back_what_was_written(tmp_path):
    for min_count in (1, 2):
        counts = counts_of("国王，国王", "王国 the the", min_count=min_count, licence="CC0")
        counts.write(tmp_path / "counts.parquet")
        again = CharacterCounts.read(tmp_path / "counts.parquet")
        assert again.summary() == counts.summary()
        assert again.letters == counts.letters
        for name in ("first", "second", "count", "dropped_after", "dropped_before"):
            assert np.array_equal(getattr(again, name), getattr(counts, name))
    rows = pq.read_table(tmp_path / "counts.parquet").to_pylist()
    assert {"first": "国", "second": "王", "count": 2} in rows


def test_a_text_without_letters_has_counts_of_nothing(tmp_path):
    counts = counts_of("123")
    counts.write(tmp_path / "counts.parquet")
    again = CharacterCounts.read(tmp_path / "counts.parquet")
    assert again.n_pairs == 0
    for name in ("negative_pmi", "right_entropy", "left_entropy"):
        assert np.isfinite(scores(again, "国王", name)).all()


def test_no_text_and_impossible_settings_are_one_line(tmp_path):
    with pytest.raises(InputError, match="no text"):
        counts_of(b"")
    with pytest.raises(UsageError, match="once at least"):
        counts_of("国王", min_count=0)
    with pytest.raises(OutputError, match="cannot write"):
        counts_of("国王").write(tmp_path / "no-folder" / "counts.parquet")
    with pytest.raises(InputError, match="no such file"):
        CharacterCounts.read(tmp_path / "absent.parquet")
    with pytest.raises(UsageError, match="only of zh"):
        shipped_counts("xx")


def change(path, **columns):
    """Change columns of a file of counts, or its metadata under ``about``."""
    table = pq.read_table(path)
    about = {**json.loads(table.schema.metadata[b"interp"]), **columns.pop("about", {})}
    arrays = {name: table[name] for name in table.schema.names}
    for name, values in columns.items():
        kind = arrays[name].type if set(values) == {None} else None
        arrays[name] = pa.array(values, kind)
    pq.write_table(pa.table(arrays, metadata={"interp": json.dumps(about)}), path)


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ({"count": [-1, 1, 1, 1]}, "above 0"),
        ({"count": [2**62] * 4}, "too large"),
        ({"count": [1.5] * 4}, "whole numbers"),
        ({"first": ["国"] * 4, "second": ["王"] * 4}, "twice"),
        ({"first": [None] * 4, "second": [None] * 4}, "without letters"),
        ({"first": [None] * 4}, "add up"),
        ({"first": [1, 2, 3, 4]}, "strings"),
        ({"first": ["国" * 17] * 4}, "code points"),
        ({"about": {"format": "else"}}, "does not say"),
        ({"about": {"format_version": 99}}, "format version 99"),
        ({"about": {"text": None}}, "damaged"),
        ({"about": {"text": {"sources": 3}}}, "damaged"),
        ({"about": {"n_dropped_pairs": True}}, "no count"),
    ],
)
def test_a_file_that_cannot_be_counts_is_refused_in_one_line(tmp_path, columns, words):
    path = tmp_path / "counts.parquet"
    counts_of("国王国").write(path)
    change(path, **columns)
    with pytest.raises(InputError, match=words) as refused:
        CharacterCounts.read(path)
    assert "\n" not in str(refused.value)


def test_foreign_cut_and_far_too_large_files_are_refused(tmp_path, monkeypatch):
    path = tmp_path / "counts.parquet"
    for content in (b"", b"PAR1 not", b"text"):
        path.write_bytes(content)
        with pytest.raises(InputError, match="no character counts"):
            CharacterCounts.read(path)
    pq.write_table(pa.table({"text": ["another table"]}), path)
    with pytest.raises(InputError, match="does not say"):
        CharacterCounts.read(path)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InputError, match="no regular file"):
        CharacterCounts.read(tmp_path / "pipe")
    counts_of("国王国").write(path)
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(InputError):
        CharacterCounts.read(path)
    counts_of("国王国").write(path)
    monkeypatch.setattr("interp.analyses.count_file.MOST_ROWS", 3)
    with pytest.raises(InputError, match="too many"):
        CharacterCounts.read(path)


def test_the_shipped_counts_know_chinese_words_in_both_scripts():
    counts = shipped_counts("zh")
    assert counts.text.licence == "CC BY-SA 4.0"
    assert all(not source.startswith("/") for source in counts.text.sources)
    within = scores(counts, "经济", "negative_pmi"), scores(counts, "經濟", "negative_pmi")
    across = scores(counts, "的经", "negative_pmi"), scores(counts, "的經", "negative_pmi")
    assert max(within) < min(across)
    assert scores(counts, "的x", "right_entropy") > scores(counts, "蝴x", "right_entropy")
