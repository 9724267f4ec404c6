import hashlib
import json
import os
from collections.abc import Iterable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from interp.corpus.documents import Document
from interp.corpus.packed import pack
from interp.corpus.packed import packed as packed_already
from interp.corpus.split import Split, document_hash
from interp.corpus.windows import n_windows_in, training_windows
from interp.errors import InputError, OutputError

FOLDER = "corpora-2"


@pytest.fixture(autouse=True)
def cache(monkeypatch, tmp_path):
    monkeypatch.setenv("INTERP_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def packed(contents: Iterable[bytes], *, split: Split | None = None, fingerprint: str = "f"):
    documents = [Document("text", str(n), content) for n, content in enumerate(contents)]
    return pack(lambda: documents, fingerprint=fingerprint, split=split or Split(), name="text")


def holding_out(*contents: bytes) -> Split:
    return Split(hashes=frozenset(map(document_hash, contents)))


def stream_of(n_tokens: int) -> np.ndarray:
    return np.arange(n_tokens, dtype=np.uint16)


def test_a_document_hash_is_the_start_of_its_sha256():
    content = "字".encode()
    expected = int(hashlib.sha256(content).hexdigest()[:16], 16)
    assert document_hash(content) == expected


def test_a_large_document_is_hashed_in_pieces():
    content = bytes(range(256)) * 10_000
    expected = int(hashlib.sha256(content).hexdigest()[:16], 16)
    assert document_hash(content) == expected


@given(st.binary(), st.floats(0, 0.99))
def test_a_document_is_held_out_by_its_hash_alone(content, fraction):
    expected = document_hash(content) / 2**64 < fraction
    assert Split(fraction=fraction).is_held_out(content) == expected


def test_about_the_fraction_is_held_out():
    split = Split(fraction=0.2)
    n_held_out = sum(split.is_held_out(str(number).encode()) for number in range(4000))
    assert n_held_out == pytest.approx(800, abs=100)


def test_a_larger_fraction_holds_out_the_same_documents_and_more():
    contents = [str(number).encode() for number in range(300)]
    small = {c for c in contents if Split(fraction=0.1).is_held_out(c)}
    large = {c for c in contents if Split(fraction=0.3).is_held_out(c)}
    assert small < large


def test_documents_that_were_given_are_held_out():
    split = holding_out(b"one", b"two")
    assert split.is_held_out(b"two")
    assert not split.is_held_out(b"three")


@pytest.mark.parametrize("fraction", [-0.1, 1.0, float("nan")])
def test_a_fraction_that_leaves_nothing_is_refused(fraction):
    with pytest.raises(ValueError, match="fraction"):
        Split(fraction=fraction)


def test_each_document_stands_after_its_separator():
    corpus = packed([b"ab", b"", "字".encode()])
    assert corpus.tokens.tolist() == [256, 97, 98, 256, 0xE5, 0xAD, 0x97]
    assert (corpus.n_documents, corpus.n_bytes) == (2, 5)


@settings(max_examples=25)
@given(st.lists(st.binary(max_size=30), max_size=6).filter(any))
def test_sizes_are_those_of_the_stream(tmp_path_factory, contents):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("INTERP_CACHE", str(tmp_path_factory.mktemp("cache")))
        corpus = packed(contents)
    assert corpus.n_bytes + corpus.n_documents == len(corpus.tokens)


def test_a_document_longer_than_a_piece_is_packed_whole():
    content = bytes(np.random.default_rng(0).integers(0, 256, (1 << 20) + 5, dtype=np.uint8))
    corpus = packed([content, b"next"])
    assert bytes(corpus.tokens[1 : len(content) + 1].astype(np.uint8)) == content
    assert corpus.tokens[len(content) + 1] == 256


def test_the_same_corpus_comes_from_the_cache():
    first = packed([b"one", b"two"])
    reads = []
    again = pack(lambda: reads.append(1) or [], fingerprint="f", split=Split(), name="text")
    assert not reads
    assert again.fingerprint == first.fingerprint
    assert again.tokens.tolist() == first.tokens.tolist()


def test_the_fingerprint_that_cards_record_stays_the_same_in_later_versions():
    known = b'["f", {"kind": "bytes", "separator": 256}, [0.0, 0.0, []]]'
    assert packed([b"one"]).fingerprint == hashlib.sha256(known).hexdigest()


@pytest.mark.parametrize("changed", [{"fingerprint": "g"}, {"split": Split(fraction=1e-9)}])
def test_other_text_or_another_split_makes_a_new_entry(changed, cache):
    first = packed([b"one"])
    second = packed([b"two"], **changed)
    assert first.fingerprint != second.fingerprint
    assert second.tokens.tolist() == [256, *b"two"]
    assert len(list((cache / FOLDER).iterdir())) == 2


def test_the_stream_cannot_be_written_to():
    corpus = packed([b"one"])
    with pytest.raises(ValueError, match="read-only"):
        corpus.tokens[0] = 0


def test_held_out_documents_are_never_in_the_stream():
    contents = [f"<{number}>".encode() for number in range(200)]
    split = Split(fraction=0.3, hashes=frozenset({document_hash(contents[0])}))
    in_stream = bytes(packed(contents, split=split).tokens[1:].astype(np.uint8)).split(b"\x00")
    assert {c for c in contents if not split.is_held_out(c)} == set(in_stream)
    assert contents[0] not in in_stream


@pytest.mark.parametrize("contents", [[], [b""], [b"held out"]])
def test_a_corpus_with_nothing_to_train_on_is_refused(contents, cache):
    with pytest.raises(InputError, match="text"):
        packed(contents, split=holding_out(b"held out"))
    assert list((cache / FOLDER).iterdir()) == []


def test_a_cache_that_cannot_be_written_is_one_line(cache):
    cache.write_text("in the way")
    with pytest.raises(OutputError, match=r"cannot write to .*cache") as caught:
        packed([b"one"])
    assert len(str(caught.value).splitlines()) == 1
    assert "INTERP_CACHE" in (caught.value.hint or "")


def test_a_corpus_that_cannot_be_read_leaves_nothing_behind(cache):
    def documents():
        yield Document("text", "0", b"one")
        raise InputError("row 1 is damaged")

    with pytest.raises(InputError, match="row 1"):
        pack(documents, fingerprint="f", split=Split(), name="text")
    assert list((cache / FOLDER).iterdir()) == []


def test_a_corpus_that_another_process_packed_first_is_taken(cache):
    def documents():
        packed([b"one"])
        yield Document("text", "0", b"one")

    corpus = pack(documents, fingerprint="f", split=Split(), name="text")
    assert corpus.tokens.tolist() == [256, *b"one"]
    assert [f.name for f in (cache / FOLDER).iterdir()] == [corpus.fingerprint]
    facts = json.loads((cache / FOLDER / corpus.fingerprint / "corpus.json").read_text())
    assert facts["n_bytes"] == 3


DAMAGES = {
    "the stream is cut short": lambda entry: cut(entry / "tokens.uint16"),
    "the stream is gone": lambda entry: (entry / "tokens.uint16").unlink(),
    "the stream is empty": lambda entry: (entry / "tokens.uint16").write_bytes(b""),
    "the facts are cut short": lambda entry: cut(entry / "corpus.json"),
    "the facts are of another kind": lambda entry: (entry / "corpus.json").write_text("[]"),
    "the facts lie too deep": lambda entry: (entry / "corpus.json").write_text("[" * 100_000),
    "tokens are no tokens": lambda entry: overwrite(entry / "tokens.uint16"),
    "the facts are gone": lambda entry: (entry / "corpus.json").unlink(),
}


def overwrite(file) -> None:
    file.write_bytes(b"\xff" * file.stat().st_size)


def cut(file) -> None:
    file.write_bytes(file.read_bytes()[:-2])


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES.keys())
def test_a_damaged_entry_is_packed_again(damage, cache):
    key = packed([b"one", b"two"]).fingerprint
    damage(cache / FOLDER / key)
    assert packed_already(key) is None
    again = packed([b"one", b"two"])
    assert again.tokens.tolist() == [256, *b"one", 256, *b"two"]
    assert [f.name for f in (cache / FOLDER).iterdir()] == [key]


@pytest.mark.parametrize("key", ["../../secret", "", "f" * 64])
def test_what_the_cache_does_not_keep_is_not_found(key):
    assert packed_already(key) is None


def test_what_a_kill_left_in_the_cache_goes_after_a_day(cache):
    packed([b"one"])
    for name in ("old", "young"):
        (cache / FOLDER / f".packing-{name}").mkdir()
        (cache / FOLDER / f".packing-{name}" / "tokens.uint16").write_bytes(b"12")
    for path in (
        (cache / FOLDER / ".packing-old"),
        *(cache / FOLDER).glob(".packing-old/*"),
    ):
        os.utime(path, (0, 0))
    packed([b"two"], fingerprint="g")
    left = {f.name for f in (cache / FOLDER).glob(".packing-*")}
    assert left == {".packing-young"}


def test_an_order_is_kept_for_each_of_many_corpora(monkeypatch):
    made = []
    real = np.random.default_rng
    monkeypatch.setattr(np.random, "default_rng", lambda seed: made.append(seed) or real(seed))
    streams = [stream_of(81)] * 40
    for step in range(5):
        windows_of(streams, step * 40, 40, seed=12345)
    assert len(made) == 40


def windows_of(streams, first, count, *, n_ctx=8, seed=0):
    return training_windows(streams, n_ctx=n_ctx, seed=seed, first=first, count=count)


def test_a_window_has_one_token_more_as_the_last_target():
    windows = windows_of([stream_of(33)], 0, 4)
    assert windows.shape == (4, 9)
    assert windows.dtype == np.int64
    assert (np.diff(windows, axis=1) == 1).all()
    assert sorted(windows[:, 0].tolist()) == [0, 8, 16, 24]


@pytest.mark.parametrize(("n_tokens", "n_windows"), [(8, 0), (9, 1), (16, 1), (17, 2), (33, 4)])
def test_windows_in_a_stream_by_hand(n_tokens, n_windows):
    assert n_windows_in(stream_of(n_tokens), 8) == n_windows


@given(st.integers(0, 200), st.integers(1, 20), st.integers(0, 3))
def test_windows_are_a_pure_function_of_their_number(first, count, seed):
    streams = [stream_of(101), stream_of(60)]
    together = windows_of(streams, first, count, seed=seed)
    alone = [windows_of(streams, first + n, 1, seed=seed)[0] for n in range(count)]
    assert together.tolist() == [window.tolist() for window in alone]


@given(st.integers(9, 120), st.integers(0, 5))
def test_a_pass_gives_every_window_once(n_tokens, seed):
    stream = stream_of(n_tokens)
    n_windows = n_windows_in(stream, 8)
    for n_pass in range(2):
        starts = windows_of([stream], n_pass * n_windows, n_windows, seed=seed)[:, 0]
        assert sorted(starts.tolist()) == list(range(0, n_windows * 8, 8))


def test_every_pass_and_every_seed_has_its_own_order():
    stream = stream_of(801)
    orders = {
        tuple(windows_of([stream], n_pass * 100, 100, seed=seed)[:, 0].tolist())
        for n_pass in range(3)
        for seed in range(3)
    }
    assert len(orders) == 9


def test_ranks_share_the_steps_without_overlap():
    batch, n_ranks = 4, 2
    stream = stream_of(8 * 48 + 1)
    seen = [
        start
        for step in range(6)
        for rank in range(n_ranks)
        for start in windows_of([stream], (step * n_ranks + rank) * batch, batch)[:, 0].tolist()
    ]
    assert sorted(seen) == list(range(0, 8 * 48, 8))


def test_corpora_are_mixed_equally_whatever_their_sizes():
    small, large = stream_of(33), stream_of(2001) + np.uint16(10_000)
    windows = windows_of([small, large], 0, 100)
    from_large = windows[:, 0] >= 10_000
    assert from_large.sum() == 50
    # the small one is in its 13th pass: each of its 4 windows came 12 or 13 times
    _, counts = np.unique(windows[~from_large][:, 0], return_counts=True)
    assert sorted(counts.tolist()) == [12, 12, 13, 13]
    assert len(np.unique(windows[from_large][:, 0])) == 50


def test_two_corpora_of_one_size_are_shuffled_apart():
    stream = stream_of(801)
    starts = windows_of([stream, stream], 0, 200)[:, 0].reshape(100, 2)
    assert (starts[:, 0] != starts[:, 1]).any()
