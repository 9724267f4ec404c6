import numpy as np
import pytest
import torch
from sklearn.linear_model import Ridge
from sklearn.metrics import roc_auc_score
from tiny import N_CTX, TinyCheckpoint, tiny_model

from interp.corpus.documents import Document
from interp.errors import InputError, OutputError
from interp.extraction.hooks import reading
from interp.extraction.increment_table import IncrementTable
from interp.extraction.probe import ridge_probe
from interp.extraction.ridge import PENALTY
from interp.segmentation import Gaps
from interp.text import encode
from interp.tokenizer import CharacterTokenizer

N_DOCUMENTS = 24


def texts(n_documents=N_DOCUMENTS, n_bytes=27, seed=0):
    """Documents of random letters, each shorter than a window."""
    generator = np.random.default_rng(seed)
    lengths = generator.integers(n_bytes - 8, n_bytes, n_documents)
    return [bytes(generator.integers(97, 123, length).astype(np.uint8)) for length in lengths]


def is_early_letter(content):
    """A label that the byte after the gap decides: it can be read from the embedding."""
    return np.frombuffer(content, np.uint8)[1:] < ord("m")


def judged(contents, label=is_early_letter, clusters=None):
    """Gaps between all bytes, labelled by a function of the content."""

    def read():
        for number, content in enumerate(contents):
            cluster = None if clusters is None else clusters[number]
            labels = label(content)
            tokens = np.arange(2, len(content) + 1)
            gaps = Gaps(tokens, labels, len(content), left_out={}, cluster=cluster)
            yield Document(f"text-{number}.txt", "", content), gaps

    return read


def values_of(table):
    return [document.values for document in table.read_documents("probe")]


def areas(table, contents, label):
    """ROC-AUC of each column over all gaps."""
    scores = np.concatenate([values[2:] for values in values_of(table)])
    labels = np.concatenate([label(content) for content in contents])
    return [roc_auc_score(labels, scores[:, column]) for column in range(scores.shape[1])]


def streams_of(checkpoint, content):
    """What enters each layer at every token, read without the extraction."""
    names = [f"blocks.{layer}.hook_resid_pre" for layer in range(2)]
    with torch.no_grad(), reading(checkpoint.model, names) as activations:
        checkpoint.model(torch.from_numpy(encode(content))[None])
    return [activations[name][0].double().numpy() for name in names]


def test_scores_are_those_of_scikit_learn_on_the_same_folds(checkpoint, tmp_path):
    contents = texts()
    labels = [is_early_letter(content).astype(float) for content in contents]
    table = ridge_probe(checkpoint, judged(contents), tmp_path / "probe", part_tokens=64)
    found = values_of(table)
    assert table.columns("probe") == ["L0", "L1"]
    streams = [streams_of(checkpoint, content) for content in contents]
    for fold in range(10):
        others = [d for d in range(N_DOCUMENTS) if d % 10 != fold]
        for layer in range(2):
            x = np.concatenate([streams[d][layer][2:] for d in others])
            alpha = PENALTY * x.var(axis=0).mean() * len(x)
            ridge = Ridge(alpha=alpha, solver="cholesky")
            ridge.fit(x, np.concatenate([labels[d] for d in others]))
            for d in range(fold, N_DOCUMENTS, 10):
                expected = ridge.predict(streams[d][layer])
                assert found[d][:, layer] == pytest.approx(expected, abs=1e-4)


def test_what_is_there_linearly_is_found(checkpoint, tmp_path):
    contents = texts(60)
    table = ridge_probe(checkpoint, judged(contents), tmp_path / "probe")
    embedded, after_a_layer = areas(table, contents, is_early_letter)
    assert embedded > 0.999
    assert after_a_layer > 0.75  # the random weights of layer 0 have added much that says nothing


def test_where_there_is_nothing_to_find_it_finds_nothing(checkpoint, tmp_path):
    contents = texts(200)
    coins = {content: np.random.default_rng(n).random(len(content) - 1) < 0.5
             for n, content in enumerate(contents)}  # fmt: skip
    table = ridge_probe(checkpoint, judged(contents, coins.__getitem__), tmp_path / "probe")
    assert areas(table, contents, coins.__getitem__) == pytest.approx([0.5, 0.5], abs=0.06)


@pytest.mark.parametrize("in_clusters", [False, True])
def test_labels_of_a_document_and_its_cluster_do_not_reach_its_scores(
    checkpoint, tmp_path, in_clusters
):
    contents = texts()
    clusters = [f"c{number // 2}" for number in range(N_DOCUMENTS)] if in_clusters else None
    changed = {contents[6], contents[7]} if in_clusters else {contents[6]}

    def other_label(content):
        return is_early_letter(content) ^ (content in changed)

    tables = [
        ridge_probe(checkpoint, judged(contents, label, clusters), tmp_path / name)
        for name, label in (("a", is_early_letter), ("b", other_label))
    ]
    first, second = map(values_of, tables)
    is_same = [np.array_equal(a, b) for a, b in zip(first, second, strict=True)]
    # a fold is every tenth document, or every tenth cluster of two
    fold = {6, 7} if in_clusters else {6, 16}
    assert {d for d, same in enumerate(is_same) if same} == fold


def test_long_documents_without_gaps_and_windows_that_overlap_are_scored_once_each(
    checkpoint, tmp_path
):
    contents = [*texts(8, 90), b"", b"Hello, no gaps in here: it is all Latin letters, and long."]

    def label(content):
        return is_early_letter(content)

    def read():
        for number, (document, gaps) in enumerate(judged(contents[:8], label)()):
            yield document, gaps
            if number == 3:
                nothing = Gaps(np.empty(0, np.int64), np.empty(0, bool), 0, left_out={})
                for content in contents[8:]:
                    yield Document("other.txt", "", content), nothing

    tables = [
        ridge_probe(checkpoint, read, tmp_path / str(n), part_tokens=n, batch_tokens=n)
        for n in (40, 100_000)
    ]
    small, large = map(values_of, tables)
    assert [len(values) for values in small] == [
        len(document.content) + 1 for document, _ in read()
    ]
    assert max(map(len, small)) > 2 * N_CTX
    for a, b in zip(small, large, strict=True):
        assert np.isfinite(a).all()
        assert a == pytest.approx(b, abs=1e-4)


def test_an_interrupted_probe_goes_on_and_a_complete_one_is_left_as_it_is(checkpoint, tmp_path):
    contents, out = texts(), tmp_path / "probe"
    whole = values_of(ridge_probe(checkpoint, judged(contents), tmp_path / "whole", part_tokens=64))

    n_bytes = sum(map(len, contents))

    class Stopped(Exception):
        pass

    def stop(n_done, n_all):
        assert n_done <= n_all == 2 * n_bytes
        if n_done > 1.5 * n_bytes:
            raise Stopped

    with pytest.raises(Stopped):
        ridge_probe(checkpoint, judged(contents), out, part_tokens=64, progress=stop)
    with pytest.raises(InputError, match="not complete"):
        IncrementTable.open(out)
    part = out / "probe" / "part-00000.parquet"
    written = part.stat().st_mtime_ns
    table = ridge_probe(checkpoint, judged(contents), out, part_tokens=64)
    assert part.stat().st_mtime_ns == written
    for a, b in zip(values_of(table), whole, strict=True):
        assert a == pytest.approx(b, abs=1e-5)

    def never(_done, _all):
        raise AssertionError("a complete table needs no pass")

    ridge_probe(checkpoint, judged(contents), out, part_tokens=64, progress=never)
    other = judged(contents, lambda content: ~is_early_letter(content))
    with pytest.raises(OutputError, match="signals"):
        ridge_probe(checkpoint, other, out, part_tokens=64)


def test_a_stream_that_never_changes_gives_equal_scores(tmp_path):
    model = tiny_model()
    with torch.no_grad():
        model.embed.W_E.zero_()
    contents = texts()
    table = ridge_probe(TinyCheckpoint(model), judged(contents), tmp_path / "probe")
    for values in values_of(table):
        assert np.isfinite(values).all()
        assert np.ptp(values[1:, 0]) == 0


@pytest.mark.parametrize(
    ("contents", "label", "words"),
    [
        (texts(1, 200), is_early_letter, "one document only"),
        (texts(2, 20), is_early_letter, "gaps to learn 32 weights from"),
        (texts(), lambda content: np.ones(len(content) - 1, bool), "one class only"),
        ([b"a", b"b"], is_early_letter, "no gap"),
        ([], is_early_letter, "no gap"),
    ],
)
def test_what_cannot_be_learned_is_one_line_and_nothing_is_written(
    checkpoint, tmp_path, contents, label, words
):
    with pytest.raises(InputError, match=words):
        ridge_probe(checkpoint, judged(contents, label), tmp_path / "probe")
    assert not (tmp_path / "probe").exists()


def test_a_model_of_characters_has_no_probe(tmp_path):
    tokenizer = CharacterTokenizer.of(texts())
    with pytest.raises(InputError, match="probe: it is for models of bytes"):
        ridge_probe(
            TinyCheckpoint(tiny_model(), tokenizer=tokenizer), judged(texts()), tmp_path / "t"
        )
