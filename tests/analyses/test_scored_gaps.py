"""Gaps and their scores: where they are read, and what is around them."""

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import roc_auc_score

from interp.analyses.baselines import with_baselines
from interp.analyses.boundary_tests import boundary_tests, column_named, paired_areas
from interp.analyses.character_counts import shipped_counts
from interp.analyses.count_characters import count_characters
from interp.analyses.scored_gaps import CHARACTER, LAST_BYTE_BEFORE, LEAD_BYTE, ScoreColumn, gather
from interp.analyses.word_boundaries import area_table
from interp.corpus.documents import Document
from interp.errors import InputError, UsageError
from interp.segmentation.references import SegmenterReference, find_reference
from interp.segmentation.treebank import Sentence, Treebank
from interp.segmentation.treebank_reference import TreebankReference
from interp.tables import score_name

TEXT = "北京很大,人口多。".encode()


@pytest.fixture
def of_bytes(table_of):
    """A table whose value at each byte is the byte's offset, and 1000 for the separator."""
    return lambda *texts: table_of(list(texts), lambda _, c: [1000, *range(len(c))])


def test_a_gap_is_scored_at_the_lead_byte_over_the_character_and_at_the_byte_before(of_bytes):
    places = (LEAD_BYTE, CHARACTER, LAST_BYTE_BEFORE)
    table = of_bytes(TEXT)
    gaps = gather(find_reference("zh"), [(table, ["increment"])], scored_at=places)["all"]
    assert [(column.scored_at, column.seen) for column in gaps.columns] == [
        (LEAD_BYTE, "lead byte"),
        (CHARACTER, "character"),
        (LAST_BYTE_BEFORE, "before"),
    ]
    # between 北 and 京: byte 3 begins 京, bytes 3 to 5 are 京, byte 2 ends 北
    assert gaps.scores[0].tolist() == [3, 3 + 4 + 5, 2]
    # between 口 and 多, after the comma: 北京很大 is 12 bytes, the comma 1, 人口 6
    assert gaps.scores[-1].tolist() == [19, 19 + 20 + 21, 18]


def test_a_prediction_has_seen_nothing_of_its_byte(of_bytes):
    table = of_bytes(TEXT)
    table.manifest["signals"]["increment"]["sees"] = "before"
    places = (LEAD_BYTE, CHARACTER, LAST_BYTE_BEFORE)
    gaps = gather(find_reference("zh"), [(table, ["increment"])], scored_at=places)["all"]
    assert [column.seen for column in gaps.columns] == ["before", "character", "before"]


def test_characters_and_runs_around_gaps(of_bytes):
    gaps = gather(find_reference("zh"), [(of_bytes(TEXT, "中文。".encode()), ["increment"])])["all"]
    before = [gaps.characters[index] for index in gaps.previous]
    after = [gaps.characters[index] for index in gaps.following]
    assert list(zip(before, after, strict=True)) == [
        ("北", "京"),
        ("京", "很"),
        ("很", "大"),
        ("人", "口"),
        ("口", "多"),
        ("中", "文"),
    ]
    assert gaps.runs.tolist() == [0, 0, 0, 1, 1, 2]
    assert gaps.documents.tolist() == [0, 0, 0, 0, 0, 1]


def test_tables_of_another_text_are_refused(of_bytes):
    two, one = of_bytes(TEXT, TEXT), of_bytes(TEXT)
    reference = find_reference("zh")
    with pytest.raises(InputError, match="more documents"):
        gather(reference, [(one, ["increment"])], contents=lambda: [TEXT, TEXT])
    with pytest.raises(InputError, match="not the text"):
        gather(reference, [(two, ["increment"])], contents=lambda: [TEXT, "中文。".encode()])


def test_several_tables_score_the_same_gaps(of_bytes):
    first, second = of_bytes(TEXT), of_bytes(TEXT)
    second.manifest["checkpoint"] = "other"
    gaps = gather(find_reference("zh"), [(first, ["increment"]), (second, ["increment"])])["all"]
    assert [column.checkpoint for column in gaps.columns] == ["tiny", "other"]
    assert np.array_equal(gaps.scores[:, 0], gaps.scores[:, 1])


class Clustered:
    """Digits; every text belongs to the cluster that its first digit names."""

    reference, details, judged = "by hand", "none", "two digits"

    def gaps(self, content):
        from interp.segmentation import Gaps

        tokens = np.arange(2, len(content) + 1)
        odd = np.array([value % 2 == 1 for value in content[1:]], dtype=bool)
        return Gaps(tokens, odd, len(content), {}, cluster=content[:1].decode())


def test_gaps_of_one_cluster_count_as_one_document(of_bytes):
    table = of_bytes(b"123", b"156", b"278")
    gaps = gather(SegmenterReference(Clustered()), [(table, ["increment"])])["all"]
    assert gaps.documents.tolist() == [0, 0, 0, 0, 2, 2]
    assert gaps.n_documents == 2


def test_blocks_of_sentences_are_not_called_documents(of_bytes):
    sentences = [Sentence("s", "", "abcd", ((0, 1), (1, 4)))] * 40 + [
        Sentence("s", "", "dcba", ((0, 2), (2, 4)))
    ]
    reference = TreebankReference(Treebank("people", "0", tuple(sentences)), "de")
    table = of_bytes(*(content for content, _ in reference.read(())))
    gaps = gather(reference, [(table, ["increment"])])["all"]
    column = gaps.columns[0]
    areas = area_table(with_baselines(gaps))
    found = pd.concat(
        [
            areas,
            boundary_tests(gaps, n_shifts=9),
            paired_areas(gaps, [(column, column)], against=""),
        ]
    )
    assert (areas.query("statistic == 'base_rate'")["n_documents"] == 5).all()
    methods, notes = found["method"].dropna(), found["note"].dropna()
    assert not methods.str.contains("document").any()
    assert not notes.str.contains("documents").any()
    assert "jackknife over ten-sentence blocks, t(4)" in set(methods)
    assert methods.str.contains("best F1 on 3 other ten-sentence blocks").any()
    assert "unreliable: fewer than 20 ten-sentence blocks" in set(notes)


def test_a_delimiter_is_no_word(of_bytes):
    table = of_bytes(*[b"the cat sat"] * 4)
    gaps = gather(find_reference("en"), [(table, ["increment"])])["all"]
    right = ScoreColumn("right")
    found = boundary_tests(gaps.scored_also([right], [gaps.is_boundary]), n_shifts=9)
    words = found.query("statistic == 'word_f1'").set_index("signal")
    assert words["n"].tolist() == [2 * 3] * 3  # two of the texts are measured
    assert words["value"]["right"] == 1.0
    assert words["value"]["every_gap"] == 0.0


def test_baselines_say_what_they_have_seen(of_bytes):
    gaps = gather(find_reference("zh"), [(of_bytes(TEXT, TEXT), ["increment"])])["all"]
    scored = with_baselines(gaps, shipped_counts("zh"))
    seen = {column.name: column.seen for column in scored.columns}
    assert seen == {
        "increment L0": "lead byte",
        "lead byte, cross-fitted": "lead byte",
        "lead byte, in sample": "lead byte",
        "character and lead byte": "lead byte",
        "-PMI": "character",
        "left branching entropy": "character",
        "right branching entropy": "before",
    }
    pmi = scored.scores[:, scored.columns.index(column_named(scored, "-PMI"))]
    # 北京 and 人口 are words; 京 and 很 meet by chance
    assert pmi[0] < pmi[1]
    assert pmi[3] < pmi[1]


def test_a_delimiter_is_no_unknown_character(of_bytes):
    counts = count_characters([Document("text.txt", "", b"at at at to")])
    gaps = gather(find_reference("en"), [(of_bytes(b"at to", b"at at"), ["increment"])])["all"]
    areas = area_table(with_baselines(gaps, counts)).query("statistic == 'roc_auc'")
    by_signal = areas.set_index("signal")
    # -log(3.5 * 12 / (4.5 * 4.5)) where a word ends, -log(3.5 * 12 / (3.5 * 4.5)) inside
    assert by_signal["value"]["negative_pmi"] == 1.0
    assert pd.isna(by_signal["value"]["left_entropy"])
    assert by_signal["note"]["left_entropy"] == "not defined: 2 of 6 scores are undefined"


def test_tests_of_a_signal_that_knows_and_one_that_does_not(gaps_of):
    draw = np.random.default_rng(0)
    documents = np.repeat(np.arange(30), 40)
    labels = draw.random(1200) < 0.5
    knows, noise = ScoreColumn("knows", 0), ScoreColumn("noise", 0)
    scores = {knows: labels + draw.normal(size=1200), noise: draw.normal(size=1200)}
    gaps = gaps_of(labels, documents, scores=scores)
    found = boundary_tests(gaps, n_shifts=199)
    value = {
        (row.statistic, row.signal): row.value
        for row in found.itertuples()
        if row.signal is not None
    }
    assert value["p", "knows"] == pytest.approx(1 / 200)
    assert value["p", "noise"] > 0.05
    assert value["average_precision", "knows"] > value["average_precision", "noise"]
    assert value["f1", "knows"] > value["f1", "every_gap"]
    null = found.query("statistic == 'null_roc_auc' and signal == 'knows'").iloc[0]
    assert null["low"] < 0.5 < null["high"]

    difference = paired_areas(gaps, [(knows, noise)], against="noise").iloc[0]
    areas = [roc_auc_score(labels, each) for each in scores.values()]
    assert difference["value"] == pytest.approx(areas[0] - areas[1], abs=1e-6)
    assert difference["low"] > 0
    assert (difference["group"], difference["statistic"]) == ("against noise", "roc_auc_difference")


def test_holm_adjusts_over_the_columns_of_one_signal(gaps_of):
    draw = np.random.default_rng(1)
    documents, labels = np.repeat(np.arange(10), 20), draw.random(200) < 0.5
    scores = {ScoreColumn("a", layer): labels + draw.normal(size=200) for layer in range(3)}
    scores[ScoreColumn("b")] = labels + draw.normal(size=200)
    found = boundary_tests(gaps_of(labels, documents, scores=scores), n_shifts=99)
    adjusted = found.query("statistic == 'p_holm'")
    assert adjusted["value"].tolist() == pytest.approx([0.03, 0.03, 0.03, 0.01])
    assert adjusted["method"].iloc[0].endswith("Holm over 3")


def test_a_score_is_found_by_the_name_that_readers_know(gaps_of):
    columns = [ScoreColumn("increment", 2), ScoreColumn("surprisal"), ScoreColumn("increment", 3)]
    gaps = gaps_of([True, False], [0, 1], scores={each: [0.0, 1.0] for each in columns})
    assert column_named(gaps, "increment L3") == columns[2]
    with pytest.raises(UsageError, match="no score called 'L3'") as caught:
        column_named(gaps, "L3")
    assert "increment L2; surprisal; increment L3" in str(caught.value.hint)


def test_names_of_scores():
    assert score_name("increment", 3, 1) == "increment L3H1"
    assert score_name("increment") == "increment shared"
    assert score_name("entropy") == "entropy"
    assert score_name("blocks.*.hook_resid_post:norm", 0) == "blocks.*.hook_resid_post:norm L0"
