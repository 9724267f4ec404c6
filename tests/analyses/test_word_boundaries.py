import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import roc_auc_score

from interp.analyses.baselines import with_baselines
from interp.analyses.scored_gaps import ALL_DOCUMENTS, gather
from interp.analyses.statistics import clustered_auc
from interp.analyses.word_boundaries import area_table, areas_by_group, word_boundary_auc
from interp.errors import InputError
from interp.segmentation import SEGMENTERS, Gaps
from interp.segmentation.references import find_reference

SENTENCES = [
    "人工智能是计算机科学的一个分支。",
    "他来到了网易杭研大厦。",
    "北京是中国的首都，人口很多。",
]


def only(table: pd.DataFrame, statistic: str, **where) -> pd.Series:
    chosen = table[table["statistic"] == statistic]
    for column, value in where.items():
        chosen = chosen[chosen[column] == value]
    assert len(chosen) == 1
    return chosen.iloc[0]


class EverySecondGap:
    """Gaps before every ASCII digit but the first; odd digits start a word."""

    reference = "by hand 1.0"
    details = "no settings"
    judged = "two digits"

    def gaps(self, content: bytes) -> Gaps:
        tokens = np.arange(2, len(content) + 1)
        judgements = np.array([value % 2 == 1 for value in content[1:]], dtype=bool)
        return Gaps(tokens, judgements, len(content), {"first digit": min(1, len(content))})


@pytest.fixture
def by_hand(monkeypatch):
    monkeypatch.setitem(SEGMENTERS, "zh", EverySecondGap)


@pytest.mark.usefixtures("by_hand")
def test_the_score_is_the_value_at_the_next_characters_first_byte(table_of):
    # values are the digits themselves: odd 1, 3 against even 2, 4: only 3 > 2 of four pairs
    table = word_boundary_auc(table_of([b"9124", b"93"], lambda _, c: [0, *(v - 48 for v in c)]))
    auc = only(table, "roc_auc", signal="increment")
    assert (auc["value"], auc["n"], auc["n_documents"], auc["layer"]) == (0.25, 4, 2, 0)
    assert (auc["reference"], auc["scored_at"]) == ("by hand 1.0", "lead byte")
    assert (auc["checkpoint"], auc["seen"]) == ("tiny", "lead byte")
    assert only(table, "tied_share", signal="increment")["value"] == 0.0
    base_rate = only(table, "base_rate")
    assert (base_rate["value"], base_rate["n"]) == (0.5, 4)
    assert "no settings" in base_rate["note"]
    left_out = only(table, "left_out")
    assert (left_out["value"], left_out["n"], left_out["group"]) == (2, 6, "first digit")


@pytest.mark.usefixtures("by_hand")
def test_the_interval_of_the_base_rate_is_one_of_shares(table_of):
    table = word_boundary_auc(table_of([b"9222", b"9222", b"9221"], lambda _, c: [0, *c]))
    base_rate = only(table, "base_rate")
    assert base_rate["value"] == pytest.approx(1 / 9)
    assert (base_rate["low"], base_rate["high"] <= 1) == (0.0, True)


def test_texts_with_kana_or_hangul_beside_what_is_judged_are_counted(table_of):
    texts = [
        "東京都に住む".encode(),
        "한국은 大韓民國이다".encode(),
        "中国人民".encode(),
        "かな".encode(),
    ]
    table = word_boundary_auc(table_of(texts, lambda _, c: np.ones(len(c) + 1)))
    other = only(table, "other_script")
    assert (other["value"], other["n_documents"], other["group"]) == (2, 3, "kana or Hangul")
    chinese = word_boundary_auc(table_of(texts[2:], lambda _, c: np.ones(len(c) + 1)))
    assert "other_script" not in set(chinese["statistic"])


@pytest.mark.usefixtures("by_hand")
def test_areas_below_half_are_not_flipped(table_of):
    texts = [b"0" + bytes(np.random.default_rng(d).integers(48, 58, 30).tolist()) for d in range(3)]
    up = table_of(texts, lambda _, c: [0, *(v % 2 + v / 1000 for v in c)])
    down = table_of(texts, lambda _, c: [0, *(-(v % 2) - v / 1000 for v in c)])
    assert only(word_boundary_auc(up), "roc_auc", signal="increment")["value"] == 1.0
    assert only(word_boundary_auc(down), "roc_auc", signal="increment")["value"] == 0.0


def lead_byte_ceilings(gaps_of, lead_bytes, labels, documents):
    """The areas of the two scores that know the lead byte alone."""
    gaps = with_baselines(gaps_of(labels, documents, lead_bytes=lead_bytes))
    found = {
        column.group: clustered_auc(labels, gaps.scores[:, index], documents)
        for index, column in enumerate(gaps.columns)
        if column.signal == "lead_byte_ceiling"
    }
    return found["cross-fitted"], found["in sample"]


def test_ceilings_by_hand(gaps_of):
    # documents 0 and 1; bytes a and b. P(boundary | a) is 2/3, P(boundary | b) is 1/3 in sample.
    lead_bytes = np.frombuffer(b"aabbab", dtype=np.uint8)
    labels = np.array([True, True, False, True, False, False])
    documents = np.array([0, 0, 0, 1, 1, 1])
    cross_fitted, in_sample = lead_byte_ceilings(gaps_of, lead_bytes, labels, documents)
    # in sample: boundaries 2/3 2/3 1/3 against 1/3 2/3 1/3: (2 x 2.5 + 1) / 9
    assert in_sample.value == pytest.approx(6 / 9)
    # out of fold: document 0 from 1: a 0, b 1/2; document 1 from 0: b 0, a 1
    # boundaries 0 0 0 against 1/2, 1, 0: three ties of nine pairs
    assert cross_fitted.value == pytest.approx(1.5 / 9)
    assert (cross_fitted.n, cross_fitted.n_documents) == (6, 2)


def test_a_lead_byte_unseen_in_other_documents_gets_their_base_rate(gaps_of):
    lead_bytes = np.frombuffer(b"aabxb", dtype=np.uint8)
    labels = np.array([True, False, False, True, False])
    documents = np.array([0, 0, 0, 1, 1])
    cross_fitted, _ = lead_byte_ceilings(gaps_of, lead_bytes, labels, documents)
    # document 0 from 1: a 1/2 (base rate), b 0; document 1 from 0: x 1/3 (base rate), b 0
    assert cross_fitted.value == pytest.approx(
        roc_auc_score(labels, [1 / 2, 1 / 2, 0, 1 / 3, 0]), abs=1e-12
    )


def test_cross_fitting_uses_ten_folds_of_whole_documents(gaps_of):
    rng = np.random.default_rng(0)
    documents = np.repeat(np.arange(25), 40)
    lead_bytes = rng.integers(0xE4, 0xEA, 1000).astype(np.uint8)
    labels = rng.random(1000) < 0.2 + 0.1 * (lead_bytes - 0xE4)
    cross_fitted, in_sample = lead_byte_ceilings(gaps_of, lead_bytes, labels, documents)
    scores = np.empty(1000)
    for fold in range(10):
        held_out = documents % 10 == fold
        rates = pd.Series(labels[~held_out]).groupby(lead_bytes[~held_out]).mean()
        scores[held_out] = rates.loc[lead_bytes[held_out]]
    assert cross_fitted.value == pytest.approx(roc_auc_score(labels, scores), abs=1e-12)
    assert cross_fitted.value < in_sample.value


def test_no_function_of_the_lead_byte_beats_the_in_sample_ceiling(gaps_of):
    rng = np.random.default_rng(1)
    documents = np.repeat(np.arange(5), 60)
    lead_bytes = rng.integers(0xE4, 0xEA, 300).astype(np.uint8)
    labels = rng.random(300) < 0.4
    _, in_sample = lead_byte_ceilings(gaps_of, lead_bytes, labels, documents)
    for _ in range(50):
        assert roc_auc_score(labels, rng.random(256)[lead_bytes]) <= in_sample.value + 1e-12


def test_cross_fitted_ceiling_of_one_document_is_undefined(gaps_of):
    lead_bytes = np.frombuffer(b"abab", dtype=np.uint8)
    labels = np.array([True, False, True, True])
    gaps = gaps_of(labels, np.zeros(4, dtype=int), lead_bytes=lead_bytes)
    table = area_table(with_baselines(gaps))
    of_ceiling = {"signal": "lead_byte_ceiling"}
    cross_fitted = only(table, "roc_auc", group="cross-fitted", **of_ceiling)
    assert pd.isna(cross_fitted["value"])
    assert cross_fitted["note"] == "not defined: one document only"
    assert only(table, "roc_auc", group="in sample", **of_ceiling)["value"] > 0.5


def test_chinese_text_against_jieba(table_of):
    texts = [sentence.encode() for sentence in SENTENCES] * 7
    rng = np.random.default_rng(2)
    columns = ("L0", "L1")
    table = word_boundary_auc(
        table_of(texts, lambda _, c: rng.random((len(c) + 1, 2)), columns=columns)
    )
    assert table["reference"].str.fullmatch(r"jieba \d+\.\d+\.\d+").all()
    areas = table[(table["statistic"] == "roc_auc") & (table["signal"] == "increment")]
    assert areas["layer"].tolist() == [0, 1]
    assert (areas["n"] == 7 * (14 + 9 + 7 + 3)).all()
    assert (areas["n_documents"] == 21).all()
    assert areas["value"].between(0.3, 0.7).all()
    assert (areas["low"] < areas["value"]).all()
    ceiling = only(table, "roc_auc", signal="lead_byte_ceiling", group="in sample")
    assert ceiling["value"] >= 0.5
    assert pd.isna(ceiling["layer"])
    assert "dictionary SHA-256" in only(table, "base_rate")["note"]


@pytest.mark.parametrize("texts", [[b"no Chinese here"], ["一字。".encode()[:3]], [b""], []])
def test_without_gaps_everything_is_null_with_the_reason(table_of, texts):
    table = word_boundary_auc(table_of(texts, lambda _, c: np.ones(len(c) + 1)))
    estimates = table[table["statistic"] != "left_out"]
    assert set(estimates["statistic"]) == {"roc_auc", "tied_share", "base_rate"}
    assert estimates["value"].isna().all()
    assert estimates["note"].str.contains("no gap between two Chinese characters").all()
    assert (estimates["n"] == 0).all()


@pytest.mark.usefixtures("by_hand")
@pytest.mark.parametrize("content", [b"9135", b"9246"])
def test_one_class_only_is_undefined(table_of, content):
    table = word_boundary_auc(table_of([content] * 2, lambda _, c: np.arange(len(c) + 1)))
    areas = table[table["statistic"] == "roc_auc"]
    assert areas["value"].isna().all()
    assert areas["note"].str.contains("one class only").all()
    assert only(table, "base_rate")["value"] == (1.0 if content == b"9135" else 0.0)


@pytest.mark.usefixtures("by_hand")
def test_undefined_scores_leave_the_area_undefined(table_of):
    table = word_boundary_auc(
        table_of([b"912", b"934"], lambda _, c: [np.nan, 0, np.nan, *[1.0] * (len(c) - 2)])
    )
    auc = only(table, "roc_auc", signal="increment")
    assert pd.isna(auc["value"])
    assert "2 of 4 scores are undefined" in auc["note"]


def test_an_unknown_language_names_the_known_ones(table_of):
    with pytest.raises(InputError, match="'tlh'") as caught:
        word_boundary_auc(table_of([b"a"], lambda *_: [1.0, 1.0]), reference="tlh")
    assert "zh" in str(caught.value.hint)


@pytest.mark.usefixtures("by_hand")
def test_progress_is_told_the_bytes_done_and_all_bytes(table_of):
    told = []
    table = table_of([b"912", b"9"], lambda _, c: np.ones(len(c) + 1))
    word_boundary_auc(table, progress=lambda *done: told.append(done))
    assert told == [(3, 4), (4, 4)]


def test_another_segmenter_is_one_line_in_the_registry(monkeypatch, table_of):
    made = []
    monkeypatch.setitem(SEGMENTERS, "zh", lambda: made.append("zh"))
    monkeypatch.setitem(SEGMENTERS, "xx", EverySecondGap)
    table = word_boundary_auc(table_of([b"12"], lambda *_: [1.0, 1.0, 2.0]), reference="xx")
    assert made == []
    assert only(table, "base_rate")["reference"] == "by hand 1.0"


def test_a_segmenter_of_ones_own_needs_no_registry(table_of):
    table = word_boundary_auc(table_of([b"9124"], lambda _, c: [0, *c]), reference=EverySecondGap())
    assert only(table, "base_rate")["reference"] == "by hand 1.0"
    empty = word_boundary_auc(table_of([b""], lambda *_: [0]), reference=EverySecondGap())
    assert "no gap between two digits" in only(empty, "base_rate")["note"]


@pytest.mark.usefixtures("by_hand")
def test_a_group_has_the_table_that_its_documents_would_have_alone(table_of):
    draw = np.random.default_rng(3)
    texts = [bytes([48 + d % 2, *draw.integers(48, 58, 40)]) for d in range(9)]

    def values(_, content):
        return np.stack([[0, *content], [0, *content[::-1]]], axis=1)

    columns = ("L0", "L1")
    gathered = gather(
        find_reference("zh"),
        [(table_of(texts, values, columns), ["increment"])],
        group_of=lambda content: f"starts with {content[:1].decode()}",
    )
    groups = areas_by_group(gathered)
    assert list(groups) == [ALL_DOCUMENTS, "starts with 0", "starts with 1"]
    alone = {ALL_DOCUMENTS: texts, "starts with 0": texts[::2], "starts with 1": texts[1::2]}
    for name, members in alone.items():
        pd.testing.assert_frame_equal(
            groups[name], word_boundary_auc(table_of(members, values, columns))
        )


@pytest.mark.usefixtures("by_hand")
def test_intervals_are_simultaneous_over_the_columns_where_that_is_asked_for(table_of):
    draw = np.random.default_rng(3)
    texts = [bytes(draw.integers(48, 58, 40).tolist()) for _ in range(9)]
    table = table_of(texts, lambda _, c: np.stack([[0, *c], [0, *c[::-1]]], axis=1), ("L0", "L1"))
    alone = only(word_boundary_auc(table), "roc_auc", layer=1)
    together = only(word_boundary_auc(table, is_simultaneous=True), "roc_auc", layer=1)
    assert together["low"] < alone["low"] < alone["high"] < together["high"]
    assert together["method"].endswith("simultaneous for 2")


def test_groups_of_no_text_are_all_documents_alone(table_of):
    table = table_of([], lambda _, _c: [])
    groups = areas_by_group(gather(find_reference("zh"), [(table, ["increment"])]))
    assert list(groups) == [ALL_DOCUMENTS]
