import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_gaps import clustered_gaps
from scipy.special import stdtrit
from sklearn.metrics import f1_score, precision_score, recall_score

from interp.analyses.statistics import clustered_mean, every_gap_scores, threshold_scores
from interp.analyses.statistics.thresholds import THRESHOLD_SCORES

# four documents: the first and the third choose the threshold, the others measure it
CHOOSING = [(1, 3.0), (0, 1.0)]


def gaps_of(*measured):
    """Labels, scores, documents and runs of two measured documents, two that choose."""
    parts = [CHOOSING, measured[0], CHOOSING, measured[1]]
    labels = np.array([bool(label) for part in parts for label, _ in part])
    scores = np.array([score for part in parts for _, score in part])
    documents = np.repeat(np.arange(4), [len(part) for part in parts])
    return labels, scores, documents, documents


def words_of(is_boundary, runs):
    """Words as (run, first gap, last gap) by going through the gaps."""
    words = []
    for run in np.unique(runs):
        begin = 0
        own = is_boundary[runs == run]
        for gap, ends in enumerate([*own, True]):
            if ends:
                words.append((run, begin, gap))
                begin = gap + 1
    return set(words)


def test_scores_by_hand():
    # called: score >= 3. Document 1: | a | b c | with the reference a | b | c; document 3 right
    gaps = gaps_of([(1, 5.0), (1, 0.0)], [(0, 1.0), (1, 3.0)])
    found = threshold_scores(*gaps)
    assert tuple(found) == THRESHOLD_SCORES
    assert {name: estimate.value for name, estimate in found.items()} == pytest.approx(
        {
            "precision": 1.0,
            "recall": 2 / 3,
            "f1": 0.8,
            # found: a, and both words of document 3; called 2 + 2, of the reference 3 + 2
            "word_f1": 2 * 3 / (4 + 5),
            # hits 2/3, over-segmentation 2/3 - 1 = -1/3: r1 = sqrt(2)/3, r2 = 0
            "r_value": 1 - np.sqrt(2) / 6,
        }
    )
    assert [estimate.n for estimate in found.values()] == [4, 4, 4, 5, 4]
    assert {estimate.n_documents for estimate in found.values()} == {2}
    assert found["f1"].method.startswith("score >= 3, best F1 on 2 other documents")


def test_r_value_of_too_many_and_of_the_right_boundaries():
    # everything called, half of it wrong: hits 1, over-segmentation 1, r1 = 1, r2 = 1/sqrt(2)
    gaps = gaps_of([(1, 5.0), (0, 5.0)], [(1, 5.0), (0, 5.0)])
    assert every_gap_scores(gaps[0], gaps[2], gaps[3])["r_value"].value == pytest.approx(
        1 - (1 + 1 / np.sqrt(2)) / 2
    )
    perfect = threshold_scores(*gaps_of([(1, 5.0), (0, 0.0)], [(1, 5.0), (0, 0.0)]))
    assert {estimate.value for estimate in perfect.values()} == {1.0}


def test_the_threshold_is_the_best_one_of_the_documents_that_choose():
    rng = np.random.default_rng(0)
    labels, scores, documents = clustered_gaps(rng, 20)
    scores = scores.round(1)
    chooses = documents % 2 == 0
    best = max(
        np.unique(scores[chooses]), key=lambda t: f1_score(labels[chooses], scores[chooses] >= t)
    )
    found = threshold_scores(labels, scores, documents, documents)
    truth, called = labels[~chooses], scores[~chooses] >= best
    assert found["f1"].method.startswith(f"score >= {best:.6g},")
    for name, score in (("precision", precision_score), ("recall", recall_score), ("f1", f1_score)):
        assert found[name].value == pytest.approx(score(truth, called), abs=1e-12)


def test_intervals_leave_one_measured_document_out():
    rng = np.random.default_rng(1)
    labels, scores, documents = clustered_gaps(rng, 80)
    found = threshold_scores(labels, scores, documents, documents)["f1"]
    threshold = float(found.method.split()[2].rstrip(","))
    measured = np.arange(1, 80, 2)
    called = scores >= threshold
    left_out = []
    for document in measured:
        kept = (documents % 2 == 1) & (documents != document)
        left_out.append(f1_score(labels[kept], called[kept]))
    error = np.sqrt(39 / 40 * ((np.array(left_out) - np.mean(left_out)) ** 2).sum())
    assert found.high - found.value == pytest.approx(stdtrit(39, 0.975) * error, rel=1e-4)
    # recall is a share of the boundaries, and has the interval of one
    own = (documents % 2 == 1) & labels
    hits = np.bincount(documents[own], called[own], minlength=80)[measured]
    share = clustered_mean(hits, np.bincount(documents[own], minlength=80)[measured])
    recall = threshold_scores(labels, scores, documents, documents)["recall"]
    assert recall.value == pytest.approx(share.value)
    assert recall.high - recall.low == pytest.approx(share.high - share.low, rel=0.02)


@settings(max_examples=50)
@given(st.integers(0, 2**32 - 1))
def test_words_are_those_that_one_finds_by_going_through_the_gaps(seed):
    rng = np.random.default_rng(seed)
    documents = np.repeat(np.arange(4), rng.integers(2, 12, 4))
    labels, called = rng.random((2, len(documents))) < 0.5
    labels[np.diff(documents, prepend=-1) > 0], labels[-1] = True, False
    chooses = documents % 2 == 0
    called[chooses] = labels[chooses]  # so that the threshold is 1
    runs = np.cumsum(rng.random(len(documents)) < 0.3)
    found = threshold_scores(labels, called.astype(float), documents, runs)["word_f1"]
    own = (runs * 4 + documents)[~chooses]
    of_reference, of_signal = words_of(labels[~chooses], own), words_of(called[~chooses], own)
    n_found = len(of_reference & of_signal)
    assert found.value == pytest.approx(2 * n_found / (len(of_reference) + len(of_signal)))
    assert found.n == len(of_reference)


def called_gaps(rng, n_documents):
    """Gaps that are called boundaries more readily in some documents than in others."""
    documents = np.repeat(np.arange(n_documents), rng.integers(20, 80, n_documents))
    labels = rng.random(len(documents)) < 0.5
    miss, wrong = rng.uniform(0, 0.4, (2, n_documents))[:, documents]
    called = rng.random(len(documents)) < np.where(labels, 1 - miss, wrong)
    return labels, called.astype(float), documents, documents


@pytest.mark.parametrize("n_documents", [30, 100])
def test_intervals_cover_the_true_scores_about_95_times_of_100(n_documents):
    rng = np.random.default_rng(4)
    truth = threshold_scores(*called_gaps(rng, 8000))
    n_runs, n_covered = 100, dict.fromkeys(THRESHOLD_SCORES, 0)
    for _ in range(n_runs):
        for name, found in threshold_scores(*called_gaps(rng, n_documents)).items():
            n_covered[name] += found.low <= truth[name].value <= found.high
    assert min(n_covered.values()) >= 0.87 * n_runs


def test_scores_depend_on_the_order_alone_and_are_not_turned_round():
    labels, scores, documents = clustered_gaps(np.random.default_rng(2), 40)
    found = threshold_scores(labels, scores, documents, documents)
    stretched = threshold_scores(labels, np.exp(scores), documents, documents)
    turned = threshold_scores(labels, -scores, documents, documents)
    every = every_gap_scores(labels, documents, documents)
    for name in THRESHOLD_SCORES:
        assert stretched[name].value == found[name].value
        assert (stretched[name].low, stretched[name].high) == (found[name].low, found[name].high)
    assert turned["f1"].value == pytest.approx(every["f1"].value, abs=0.02)
    assert turned["f1"].value < found["f1"].value - 0.02


def test_every_gap_finds_all_and_is_right_as_often_as_the_base_rate():
    labels, _, documents = clustered_gaps(np.random.default_rng(3), 40)
    every = every_gap_scores(labels, documents, documents)
    base_rate = labels[documents % 2 == 1].mean()
    assert every["recall"].value == 1.0
    assert every["precision"].value == pytest.approx(base_rate, abs=1e-12)
    assert every["f1"].value == pytest.approx(2 * base_rate / (1 + base_rate), abs=1e-12)
    assert every["precision"].method.startswith("every gap called a boundary; jackknife")


@pytest.mark.parametrize(
    ("labels", "scores", "documents", "reason"),
    [
        ([], [], [], "no gaps"),
        ([1, 0], [1, np.nan], [0, 1], "1 of 2 scores are undefined"),
        ([1, 1], [1, 2], [0, 1], "every gap is a boundary"),
        ([1, 0], [1, 2], [0, 1], "needs 2 documents to choose the threshold, has 1"),
        ([1, 0, 1], [1, 2, 3], [0, 1, 2], "needs 2 documents to measure the threshold, has 1"),
        ([1, 0, 1, 0], [1, 2, 3, 4], [0, 1, 2, 3], "no boundary in the documents that measure"),
        ([0, 1, 0, 1], [1, 2, 3, 4], [0, 1, 2, 3], "no boundary in the documents that choose"),
    ],
)
def test_undefined_scores_are_null_with_their_reason(labels, scores, documents, reason):
    labels, documents = np.array(labels, dtype=bool), np.array(documents, dtype=np.int64)
    found = threshold_scores(labels, np.array(scores, dtype=float), documents, documents)
    for estimate in found.values():
        assert estimate.value is None
        assert reason in estimate.note


def test_a_precision_that_one_document_alone_defines_has_no_interval():
    found = threshold_scores(*gaps_of([(1, 5.0), (0, 5.0)], [(1, 0.0), (0, 0.0)]))["precision"]
    assert (found.value, found.low) == (0.5, None)
    assert found.note == "no interval: not defined without one of the documents"


def test_precision_is_undefined_where_nothing_is_called_a_boundary():
    found = threshold_scores(*gaps_of([(1, 0.0), (0, 0.0)], [(1, 0.0), (0, 0.0)]))
    assert found["precision"].value is None
    assert "no gap of the measured documents is called a boundary" in found["precision"].note
    assert (found["recall"].value, found["f1"].value) == (0.0, 0.0)
