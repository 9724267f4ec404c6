import dataclasses

import numpy as np
import pytest
import torch
from tiny import N_CTX, TinyCheckpoint, documents, tiny_model, tiny_rope

from interp.analyses import position_sums
from interp.analyses.loss_by_position import (
    DIFFERENCE,
    MEAN,
    SMOOTHED,
    band_name,
    default_bands,
    loss_by_position,
    trained_length,
)
from interp.analyses.position_sums import SIGNAL
from interp.analyses.statistics import clustered_mean, paired_difference
from interp.errors import InputError
from interp.extraction import increment_table
from interp.extraction.extract import extract
from interp.model import ModelConfig, RopeConfig, Transformer
from interp.model.loss import document_losses
from interp.tables import rows_of
from interp.text import encode, window_spans
from interp.tokenizer import CharacterTokenizer

ENGLISH = b"A window is read as if the text began there, and then the next one is. " * 3
CHINESE = "窗口里的字一个接一个地读，读完再从头开始。".encode() * 4
SHORT = b"Too short."
CPU = torch.device("cpu")


@pytest.fixture(scope="module")
def tiny():
    return TinyCheckpoint(tiny_model())


@pytest.fixture
def table_at(tmp_path):
    def read(checkpoint, *contents, length, **settings):
        out = tmp_path / f"table-{len(list(tmp_path.iterdir()))}"
        return extract(
            checkpoint,
            documents(*contents),
            out,
            signals=[SIGNAL],
            window=length,
            stride=length,
            **settings,
        )

    return read


@torch.no_grad()
def by_hand(model, windows, length):
    """Sums and counts by input position; windows are ids with one more where the text goes on."""
    nats, counts = np.zeros(length), np.zeros(length, dtype=int)
    for ids in windows:
        for position, log_p in enumerate(model(torch.tensor([ids[:length]]))[0].log_softmax(-1)):
            if position + 1 < len(ids):
                nats[position] -= log_p[ids[position + 1]].item()
                counts[position] += 1
    return nats, counts


def windows_of(content, length):
    ids = encode(content).tolist()
    spans = window_spans(content, n_ctx=length, stride=length)
    return [ids[start : end + 1] for start, end in spans]


def rows_about(frame, statistic, **about):
    return [
        row
        for row in rows_of(frame)
        if row["statistic"] == statistic and all(row[key] == about[key] for key in about)
    ]


def values_by_position(frame, length, statistic=MEAN):
    rows = {row["group"]: row for row in rows_about(frame, statistic)}
    return [rows[f"position {position}"] for position in range(length)]


@pytest.mark.parametrize("length", [24, 2 * N_CTX])
def test_positions_are_those_of_windows_read_one_by_one(tiny, table_at, length):
    contents = (ENGLISH, CHINESE, SHORT)
    found = values_by_position(loss_by_position(table_at(tiny, *contents, length=length)), length)
    windows = [ids for content in contents for ids in windows_of(content, length)]
    assert {len(ids) - 1 for ids in windows} >= {length, length - 2}  # some would cut a character
    nats, counts = by_hand(tiny.model, windows, length)
    assert [row["n"] for row in found] == counts.tolist()
    assert [row["value"] for row in found] == pytest.approx((nats / counts).tolist(), abs=1e-5)


@pytest.mark.parametrize("content", [ENGLISH, CHINESE])
def test_the_mean_over_positions_is_the_loss(tiny, table_at, content):
    found = loss_by_position(table_at(tiny, content, length=N_CTX))
    (row,) = rows_about(found, MEAN, group=f"positions 0-{N_CTX - 1}")
    (loss,) = document_losses(tiny.model, [content], n_ctx=N_CTX, device=CPU)
    assert row["value"] == pytest.approx(loss.total_nats / loss.n_bytes, abs=1e-5)
    assert row["n"] == loss.n_bytes


def test_characters_are_tokens_of_their_own(table_at):
    content = "一二三四五，五四三二一。" * 9
    tokenizer = CharacterTokenizer("".join(sorted(set(content))))
    sizes = {"d_model": 16, "n_heads": 2, "n_layers": 1, "d_mlp": 24, "n_ctx": 16}
    model = Transformer(ModelConfig(**sizes, d_vocab=tokenizer.d_vocab, position=RopeConfig()))
    checkpoint = TinyCheckpoint(model, tokenizer=tokenizer)
    table = table_at(checkpoint, content.encode(), length=20)
    ids = [tokenizer.characters.index(character) for character in content]
    nats, counts = by_hand(model, [ids[at : at + 21] for at in range(0, len(ids), 20)], 20)
    found = values_by_position(loss_by_position(table), 20)
    assert [row["n"] for row in found] == counts.tolist()
    assert [row["value"] for row in found] == pytest.approx((nats / counts).tolist(), abs=1e-5)


def test_a_text_shorter_than_a_window_leaves_later_positions_undefined(tiny, table_at):
    found = values_by_position(loss_by_position(table_at(tiny, SHORT, length=40)), 40)
    assert all(row["n"] == 1 for row in found[: len(SHORT)])
    for row in found[len(SHORT) :]:
        assert (row["n"], row["value"], row["low"]) == (0, None, None)
        assert row["note"].startswith("not defined")
    bands = rows_about(loss_by_position(table_at(tiny, SHORT, length=80)), MEAN)
    assert [row["value"] is None for row in bands if row["group"] == "positions 32-63"] == [True]


def test_many_documents_are_clusters_and_few_are_cut_into_blocks(tiny, table_at):
    texts = [b"%d texts with a number each, %d" % (number, 7**number) for number in range(24)]
    frame = loss_by_position(table_at(tiny, *texts, length=16))
    (row,) = rows_about(frame, MEAN, group="positions 0-15")
    sums = [
        sum(each.total_nats for each in document_losses(tiny.model, [text], n_ctx=16, device=CPU))
        for text in texts
    ]
    expected = clustered_mean(np.array(sums), np.array([len(text) for text in texts]))
    assert [row[k] for k in ("value", "low", "high")] == pytest.approx(
        [expected.value, expected.low, expected.high], abs=1e-4
    )
    assert (row["n_documents"], row["note"]) == (24, None)
    assert "document" in row["method"]

    few = loss_by_position(table_at(tiny, ENGLISH * 6, CHINESE, length=16))
    for row in rows_about(few, MEAN):
        assert row["n_documents"] <= 2
        assert "block" in row["method"]
        assert "blocks of 2 consecutive windows" in row["note"]
        assert "not about other texts" in row["note"]


def test_blocks_are_consecutive_windows_of_one_document(tiny, table_at):
    contents, length = (ENGLISH * 6, CHINESE), 16
    table = table_at(tiny, *contents, length=length)
    (row,) = rows_about(loss_by_position(table), MEAN, group="positions 0-15")
    sums, counts = [], []
    for content in contents:
        windows = windows_of(content, length)
        for first in range(0, len(windows), 2):
            nats, n = by_hand(tiny.model, windows[first : first + 2], length)
            sums.append(nats.sum())
            counts.append(n.sum())
    expected = clustered_mean(np.array(sums), np.array(counts))
    assert [row[k] for k in ("value", "low", "high")] == pytest.approx(
        [expected.value, expected.low, expected.high], abs=1e-4
    )


def test_memory_is_bounded_and_where_batches_end_does_not_matter(tiny, table_at, monkeypatch):
    texts = [ENGLISH[number:] for number in range(3)]
    table = table_at(tiny, *texts, length=20, part_tokens=150)
    whole = loss_by_position(table)
    monkeypatch.setattr(position_sums, "_MOST_SUMS", 3 * 16)
    monkeypatch.setattr(increment_table, "ROW_GROUP", 33)
    assert max(batch.num_rows for batch in table.batches(SIGNAL)) <= 33
    heard = []
    again = loss_by_position(table, progress=lambda *done: heard.append(done))
    assert heard[-1][0] == heard[-1][1] > table.manifest["signals"][SIGNAL]["n_rows"]
    for name in ("group", "n", "n_documents", "note"):
        assert whole[name].equals(again[name])
    ends = ["value", "low", "high"]
    assert np.allclose(*(f[ends].to_numpy(float, na_value=-1) for f in (whole, again)))


def test_differences_are_paired_and_from_the_first(tiny, table_at):
    other = TinyCheckpoint(tiny_rope(), name="rope")
    tables = [table_at(each, ENGLISH, CHINESE, length=64) for each in (tiny, other)]
    frame = loss_by_position(*tables, bands=[(0, 9), (10, 63)])
    windows = [ids for content in (ENGLISH, CHINESE) for ids in windows_of(content, 64)]
    sums, counts = np.zeros((2, len(windows))), np.zeros(len(windows), dtype=int)
    for which, checkpoint in enumerate((tiny, other)):
        for place, ids in enumerate(windows):  # each is a block
            nats, n = by_hand(checkpoint.model, [ids], 64)
            sums[which, place], counts[place] = nats[10:].sum(), n[10:].sum()
    expected = paired_difference(sums[1], sums[0], counts)
    (row,) = rows_about(frame, DIFFERENCE, group=band_name((10, 63)))
    assert (row["checkpoint"], row["reference"]) == ("rope", "tiny")
    assert [row[k] for k in ("value", "low", "high")] == pytest.approx(
        [expected.value, expected.low, expected.high], abs=1e-4
    )
    means = {r["checkpoint"]: r["value"] for r in rows_about(frame, MEAN, group=row["group"])}
    assert row["value"] == pytest.approx(means["rope"] - means["tiny"], abs=1e-6)


def test_what_is_not_about_the_same_predictions_has_no_difference(tiny, table_at):
    one, other = (table_at(tiny, content, length=32) for content in (ENGLISH, CHINESE))
    rows = rows_about(loss_by_position(one, other, names=["one", "other"]), DIFFERENCE)
    assert [row["value"] for row in rows] == [None] * len(rows)
    assert "not about the same predictions" in rows[0]["note"]


def test_overlapping_windows_and_windows_of_two_lengths_are_refused(tiny, table_at, tmp_path):
    overlapping = extract(
        tiny, documents(ENGLISH), tmp_path / "kept", signals=[SIGNAL], window=32, stride=16
    )
    with pytest.raises(InputError, match="overlap"):
        loss_by_position(overlapping)
    one, other = (table_at(tiny, ENGLISH, length=length) for length in (16, 32))
    with pytest.raises(InputError, match="windows of 32 tokens, the first table in windows of 16"):
        loss_by_position(one, other)


def test_rows_that_cannot_be_are_one_line(tiny, table_at):
    table = table_at(tiny, ENGLISH, length=32)
    lying = dataclasses.replace(table, manifest=table.manifest | {"window": 16, "stride": 16})
    with pytest.raises(InputError, match="damaged"):
        loss_by_position(lying)


def test_smoothing_takes_neighbours_and_never_crosses_the_training_length(tiny, table_at):
    length = 3 * N_CTX
    frame = loss_by_position(table_at(tiny, ENGLISH, CHINESE * 3, length=length))
    means = values_by_position(frame, length)
    nats = np.array([row["n"] * (row["value"] or 0) for row in means])
    counts = np.array([row["n"] for row in means])
    smoothed = values_by_position(frame, length, SMOOTHED)
    for at, (low, high) in {
        0: (0, 0),
        7: (7, 7),
        N_CTX - 1: (N_CTX - 4, N_CTX - 1),
        N_CTX: (N_CTX, N_CTX + 4),
        80: (70, 90),
    }.items():
        assert smoothed[at]["method"] == f"mean over positions {low} to {high}"
        expected = nats[low : high + 1].sum() / counts[low : high + 1].sum()
        assert smoothed[at]["value"] == pytest.approx(expected)


@pytest.mark.parametrize(
    ("length", "trained", "ends"),
    [
        (256, 64, [63, 127, 255]),
        (64, 64, [63]),
        (20, 64, [19]),
        (512, 512, [63, 127, 255, 511]),
        (300, 100, [63, 99, 199, 299]),
        (64, 16, [15, 31, 63]),
        (10, 8, [7, 9]),
    ],
)
def test_bands_double_and_one_ends_where_training_did(length, trained, ends):
    bands = default_bands(length, trained)
    assert [last for _, last in bands] == ends
    assert [first for first, _ in bands] == [0, *(end + 1 for end in ends[:-1])]


@pytest.mark.parametrize(
    ("n_ctx", "scaling", "expected"),
    [(64, None, 64), (128, "ntk:2", 64), (150, "pi:1.5", 100), (83, "yarn:1.3", 64)],
)
def test_the_training_length_of_a_stretched_model_is_the_one_before(n_ctx, scaling, expected):
    assert trained_length({"n_ctx": n_ctx, "position": {"scaling": scaling}}) == expected
