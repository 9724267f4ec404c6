import json
from pathlib import Path

import pandas as pd
import pytest
from saved_checkpoint import N_CTX, save_tiny

from interp import tables
from interp.checkpoints import save
from interp.corpus.split import Split, document_hash
from interp.model import ModelConfig, Transformer
from interp.model.config import LearnedAbsoluteConfig

TEXT = "One text for all of these commands, 读一读。 " * 6


@pytest.fixture
def text(tmp_path):
    path = tmp_path / "text.txt"
    path.write_text(TEXT, "utf-8")
    return str(path)


def test_the_table_fits_a_terminal_and_compares_with_the_first(interp, tiny, text, tmp_path):
    other = str(save_tiny(tmp_path / "another-checkpoint", scope="shared"))
    done = interp("loss-by-position", "--ckpt", tiny, "--ckpt", other, text, "--length", "128")
    assert done.status == 0
    assert max(map(len, done.out.splitlines())) <= 80
    for words in (
        f"tiny (trained on {N_CTX} tokens): nats per byte",
        "another-checkpoint",
        "0-63",
        "64-127",
        "0-127",
        "+/-",
    ):
        assert words in done.out
    assert "not about other texts" in " ".join(done.out.split())
    assert "not known to be held out" in done.err
    assert "…" not in done.out


def test_json_and_csv_are_the_analysis_table_and_nothing_else(interp, tiny, text, tmp_path):
    arguments = ("loss-by-position", "--ckpt", tiny, text, "--length", "96")
    rows = json.loads(interp(*arguments, "--json").out)
    assert list(rows[0]) == list(tables.COLUMNS)
    groups = [row["group"] for row in rows if row["statistic"] == "mean_surprisal"]
    bands = ["positions 0-63", "positions 64-95", "positions 0-95"]
    assert groups == [*(f"position {number}" for number in range(96)), *bands]
    (tmp_path / "table.csv").write_text(interp(*arguments, "--csv").out, "utf-8")
    assert len(tables.read_csv(str(tmp_path / "table.csv"))) == len(rows)


def test_the_page_has_curves_bands_and_the_command(interp, tiny, text, tmp_path):
    done = interp(
        "loss-by-position",
        *("--ckpt", tiny, "--length", "128", "--rope-scaling", "ntk:2", text),
        *("--out", "page.html"),
    )
    assert (done.status, "page: page.html" in done.err) == (0, True)
    page = (tmp_path / "page.html").read_text("utf-8")
    for words in ("By input position", "tiny (ntk:2)", "--rope-scaling ntk:2 --out page.html"):
        assert words in page


def test_a_file_that_cannot_be_written_is_said_before_the_text_is_read(interp, tiny, text):
    done = interp("loss-by-position", "--ckpt", tiny, text, "--out", "no/such/page.html")
    assert (done.status, done.out) == (1, "")
    assert "does not exist" in done.err


def test_only_what_was_held_out_is_read(interp, tmp_path):
    texts = [f"{number}: {TEXT}" for number in range(4)]
    pd.DataFrame({"id": range(4), "text": texts}).to_parquet(tmp_path / "texts.parquet")
    split = Split(hashes=frozenset([document_hash(texts[2].encode())]))
    sizes = {"d_model": 16, "n_heads": 2, "n_layers": 1, "d_mlp": 24, "n_ctx": N_CTX}
    save(tmp_path / "knows", Transformer(ModelConfig(**sizes)), name="knows", split=split)
    arguments = ("loss-by-position", "--ckpt", "knows", "--corpus", "texts.parquet", "--held-out")
    done = interp(*arguments, "--json")
    assert done.err == ""
    whole = [row for row in json.loads(done.out) if row["group"] == f"positions 0-{N_CTX - 1}"]
    assert whole[0]["n"] == len(texts[2].encode())


def test_nothing_held_out_is_one_line_and_a_hint(interp, tiny, text):
    done = interp("loss-by-position", "--ckpt", tiny, text, "--held-out")
    assert (done.status, done.out) == (1, "")
    first, hint = done.err.splitlines()
    assert "nothing of the text is known to have been held out from the training of tiny" in first
    assert "Give the text that it was trained on" in hint


def test_only_the_model_that_is_not_known_to_have_held_it_out_is_named(
    interp, tiny, text, tmp_path
):
    model = Transformer(ModelConfig(d_model=16, n_heads=2, n_layers=1, d_mlp=24, n_ctx=32))
    split = Split(hashes=frozenset({document_hash(TEXT.encode())}))
    save(tmp_path / "knows", model, name="knows", split=split)
    done = interp("loss-by-position", "--ckpt", "knows", "--ckpt", tiny, text, "--held-out")
    assert done.err.splitlines()[0].endswith("from the training of tiny")


def test_learned_positions_that_are_fewer_are_one_line_for_both_commands(interp, text, tmp_path):
    sizes = {"d_model": 16, "n_heads": 2, "n_layers": 1, "d_mlp": 24, "n_ctx": 32}
    model = Transformer(ModelConfig(**sizes, position=LearnedAbsoluteConfig()))
    save(tmp_path / "learned", model, name="learned")
    done = interp("loss-by-position", "--ckpt", "learned", text, "--length", "64")
    assert (done.status, done.out) == (1, "")
    assert "learned: the model has 32 learned positions" in done.err
    extracted = ("extract", "--ckpt", "learned", text, "--out", "kept", "--signal", "surprisal")
    done = interp(*extracted, "--window", "64")
    assert done.status == 1
    assert len(done.err.splitlines()) == 2
    assert not (tmp_path / "kept").exists()
    assert interp(*extracted, "--window", "32", "--stride", "32").status == 0


@pytest.mark.parametrize("length", ["7", "0", "-5", "99999999"])
def test_a_length_that_cannot_be_is_one_line(interp, tiny, text, length):
    done = interp("loss-by-position", "--ckpt", tiny, text, "--length", length)
    assert (done.status, done.out) == (2, "")
    assert "window must be 8 to" in done.err


@pytest.mark.parametrize("command", ["loss-by-position", "report"])
def test_a_page_does_not_take_the_place_of_the_text(interp, tiny, text, command):
    done = interp(command, "--ckpt", tiny, text, "--out", text)
    assert (done.status, done.out) == (2, "")
    assert "it would be replaced" in done.err
    assert Path(text).read_text("utf-8") == TEXT
