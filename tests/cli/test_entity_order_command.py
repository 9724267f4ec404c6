import json

import pytest

from interp import tables


@pytest.fixture(autouse=True)
def _few_controls(monkeypatch):
    from interp.studies import entity_order

    monkeypatch.setattr(entity_order, "ORDINARY_PAIRS", entity_order.ORDINARY_PAIRS[::20])


@pytest.fixture
def own(tmp_path):
    (tmp_path / "own.txt").write_text("New York\nTel,Aviv\nRed Cross\nBig Ben\n", "utf-8")
    return "own.txt"


def test_every_comparison_is_shown_with_what_it_can_show(interp, tiny, own):
    done = interp("entity-order", "--ckpt", tiny, "--entities", own)
    assert (done.status, done.err) == (0, "")
    assert max(map(len, done.out.splitlines())) <= 80
    assert "Real against reversed order: at the inner space" in done.out
    assert done.out.count("Can show: ") == 6
    assert done.out.count("exactly 0") >= 3
    assert "entities found a partner" in done.out


def test_json_and_csv_are_one_analysis_table(interp, tiny, own, tmp_path):
    rows = json.loads(interp("entity-order", "--ckpt", tiny, "--entities", own, "--json").out)
    assert list(rows[0]) == list(tables.COLUMNS)
    statistics = {row["statistic"] for row in rows}
    assert statistics >= {"median_difference", "wilcoxon_p_holm", "distance"}
    done = interp("entity-order", "--ckpt", tiny, "--entities", own, "--csv")
    (tmp_path / "table.csv").write_text(done.out, "utf-8")
    assert len(tables.read_csv(str(tmp_path / "table.csv"))) == len(rows)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"New York City\n", "own.txt, line 1: New York City is not two words"),
        (b"New York\n\x1b[31m\n", "own.txt, line 2: ␛[31m is not two words"),
        (b"N\x07w York\n", "own.txt, line 1: N␇w York is not two words"),
        (b"New Y\xffrk\n", "own.txt: not UTF-8 at byte 5"),
        (b"# none\n\n", "there is no pair in own.txt"),
        (b"New York\nnew Delhi\n", "no other first word for 'New York'"),
        (b"PK\x03\x04 zip", "own.txt"),
    ],
)
def test_what_are_no_pairs_is_one_clear_line(interp, tiny, tmp_path, content, reason):
    (tmp_path / "own.txt").write_bytes(content)
    done = interp("entity-order", "--ckpt", tiny, "--entities", "own.txt")
    assert (done.status, done.out) == (1, "")
    assert reason in done.err
    assert len(done.err.splitlines()) <= 2


def test_a_file_that_is_not_there_is_named(interp, tiny):
    done = interp("entity-order", "--ckpt", tiny, "--entities", "nowhere.csv")
    assert done.status == 1
    assert "nowhere.csv" in done.err
