import json
import shutil

import numpy as np
import pandas as pd
import pytest
from bad_inputs import write_bad_input
from safetensors.torch import load_file, save_file

from interp import tables

TEXTS = ("Two small cats sat here and slept.", "猫坐在这里睡觉。狗在叫。")


@pytest.fixture
def corpus(tmp_path):
    path = tmp_path / "texts.parquet"
    pd.DataFrame({"id": range(len(TEXTS)), "text": TEXTS}).to_parquet(path)
    return str(path)


def test_the_tables_fit_a_terminal_and_end_with_the_answer(interp, tiny, corpus):
    done = interp("ablate", "--ckpt", tiny, "--corpus", corpus)
    assert done.status == 0
    assert done.err.splitlines() == [f"25 passes over {sum(len(t.encode()) for t in TEXTS)} bytes"]
    assert max(map(len, done.out.splitlines())) <= 80
    assert "Does the loss care? " in done.out
    assert "after a word end" in done.out
    assert "…" not in done.out


def test_json_and_csv_are_the_analysis_table_and_nothing_else(interp, tiny, corpus, tmp_path):
    chosen = ("--intervention", "mean", "--intervention", "one", "--layers", "1,all", "--quiet")
    done = interp("ablate", "--ckpt", tiny, "--corpus", corpus, *chosen, "--json")
    assert done.err == ""
    rows = json.loads(done.out)
    assert list(rows[0]) == list(tables.COLUMNS)
    found = {(r["reference"], r["layer"]) for r in rows if r["statistic"] == "loss_difference"}
    words = ("the layer's mean", "1")
    assert found == {(each, layer) for each in words for layer in (1, None)}
    csv = interp("ablate", "--ckpt", tiny, "--corpus", corpus, *chosen, "--csv")
    (tmp_path / "table.csv").write_text(csv.out, "utf-8")
    assert len(tables.read_csv(str(tmp_path / "table.csv"))) == len(rows)


def test_a_corpus_is_read_up_to_a_limit_and_a_file_to_its_end(interp, tiny, tmp_path, monkeypatch):
    monkeypatch.setattr("interp.studies.ablations.LIMIT_BYTES", 10)
    frame = pd.DataFrame({"id": [0, 1], "text": ["nine byte", "and more of them"]})
    frame.to_parquet(tmp_path / "texts.parquet")
    (tmp_path / "text.txt").write_text("longer than ten bytes", "utf-8")
    chosen = ("--intervention", "one", "--layers", "0")
    limited = interp("ablate", "--ckpt", tiny, "--corpus", "texts.parquet", *chosen)
    assert limited.err == "2 passes over 9 bytes\n"
    whole = interp("ablate", "--ckpt", tiny, "text.txt", *chosen)
    assert whole.err == "2 passes over 21 bytes\n"
    assert "by group of bytes" not in whole.out  # that table is of all layers together


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("--intervention", "none\x1b"), "no intervention called"),
        (("--layers", "7"), "'7' is no layer of the model"),
        (("--layers", ""), "'' is no layer of the model"),
        (("--limit", "0"), "leaves no text"),
    ],
)
def test_what_cannot_be_done_is_one_line_and_a_hint(interp, tiny, corpus, arguments, reason):
    done = interp("ablate", "--ckpt", tiny, "--corpus", corpus, *arguments)
    assert (done.status, done.out) == (2, "")
    assert reason in done.err
    assert len(done.err.splitlines()) == 2
    assert "\x1b" not in done.err


def test_a_model_without_a_finite_loss_is_one_line(interp, tiny, corpus, tmp_path):
    shutil.copytree(tiny, tmp_path / "huge")
    weights = load_file(tmp_path / "huge/model.safetensors")
    weights["ln_final.w"].fill_(float(np.finfo(np.float32).max))
    save_file(weights, tmp_path / "huge/model.safetensors")
    for format_ in ((), ("--csv",)):
        done = interp("ablate", "--ckpt", "huge", "--corpus", corpus, *format_)
        assert (done.status, done.out) == (1, "")
        assert "gives no byte of the text a finite loss" in done.err


def test_nothing_but_empty_text_is_one_line(interp, tiny, tmp_path):
    done = interp("ablate", "--ckpt", tiny, write_bad_input(tmp_path, "empty.txt"))
    assert done.status == 1
    assert done.err.startswith("interp: there is no text in ")
