import json

import pytest
from saved_checkpoint import save_tiny

from interp import tables


@pytest.fixture(scope="module")
def per_head(tmp_path_factory):
    folder = tmp_path_factory.mktemp("checkpoints") / "per-head"
    return str(save_tiny(folder, per_head=True, n_heads=4, n_ctx=512))


@pytest.fixture
def text(tmp_path):
    for number in range(2):
        words = "The ferry leaves the harbour at noon. " * (8 + number)
        (tmp_path / f"{number}.txt").write_text(words, "utf-8")
    return [str(tmp_path / f"{number}.txt") for number in range(2)]


def test_every_head_and_every_correlation_fit_a_terminal(interp, per_head, text):
    done = interp("heads", "--ckpt", per_head, *text)
    assert (done.status, done.err) == (0, "")
    lines = done.out.splitlines()
    assert max(map(len, lines)) <= 80
    starts = [line.split()[0] for line in lines if line.strip()]
    assert all(f"L{layer}H{head}" in starts for layer in range(2) for head in range(4))
    assert any(line.startswith("all layers, ranked within them") for line in lines)
    assert "looks" in done.out
    assert "Over 138 tokens of 2 texts" in done.out  # 305 - 255 and 343 - 255


def test_json_is_the_analysis_table(interp, per_head, text):
    rows = json.loads(interp("heads", "--ckpt", per_head, "--json", *text).out)
    assert list(rows[0]) == list(tables.COLUMNS)
    assert {row["statistic"] for row in rows} >= {"mean", "spearman", "spearman_p"}


def test_what_extract_kept_is_measured_the_same(interp, per_head, text):
    signals = ("--signal", "increment", "--signal", "attention_distance")
    assert interp("extract", "--ckpt", per_head, *signals, "--out", "kept", *text).status == 0
    kept = interp("heads", "--increments", "kept", "--csv").out
    assert kept == interp("heads", "--ckpt", per_head, "--csv", *text).out


def test_a_folder_without_attention_is_refused_in_a_line(interp, per_head, text):
    assert interp("extract", "--ckpt", per_head, "--out", "kept", *text).status == 0
    done = interp("heads", "--increments", "kept")
    assert done.status == 1
    assert "has no signal 'attention_distance'" in done.err


def test_a_checkpoint_without_heads_of_their_own_is_refused_before_it_reads(interp, tiny):
    done = interp("heads", "--ckpt", tiny, "no-such-file.txt")
    assert done.status == 1
    assert "tiny has one increment per layer, not one for each head of each layer" in done.err
    assert "--ckpt" in done.err
    assert done.out == ""


def test_a_short_text_is_refused_in_a_line(interp, per_head, tmp_path):
    (tmp_path / "short.txt").write_text("Too short.", "utf-8")
    done = interp("heads", "--ckpt", per_head, "short.txt")
    assert done.status == 1
    assert "no token has 255 tokens of context before it" in done.err
    assert len(done.err.splitlines()) == 2
