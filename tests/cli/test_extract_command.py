import io
import json

import pandas as pd
import pytest
from saved_checkpoint import save_tiny

from interp.extraction.increment_table import IncrementTable


@pytest.fixture
def text(tmp_path):
    path = tmp_path / "text.txt"
    path.write_text("Some words, and some more of them.", "utf-8")
    return str(path)


def test_the_folder_holds_every_signal_asked_for(interp, tiny, text):
    signals = ("--signal", "increment", "--signal", "surprisal")
    done = interp("extract", "--ckpt", tiny, "--out", "kept", *signals, "--stride", "16", text)
    assert done.status == 0
    assert "kept" in done.err
    table = IncrementTable.open("kept")
    assert table.signals == ("increment", "surprisal")
    assert table.manifest["stride"] == 16


def test_a_hook_point_with_a_reduction_is_kept_by_that_name(interp, tiny, text):
    signal = "blocks.*.attn.hook_z:norm"
    done = interp("extract", "--ckpt", tiny, "--out", "kept", "--signal", signal, text)
    assert (done.status, signal in done.err) == (0, True)
    assert IncrementTable.open("kept").signals == (signal,)


def test_the_share_of_saturated_entries_is_printed(interp, text, tmp_path):
    checkpoint = save_tiny(tmp_path / "low-bound", max_increment=1.0001)
    done = interp("extract", "--ckpt", str(checkpoint), "--out", "kept", "--csv", text)
    frame = pd.read_csv(io.StringIO(done.out))
    assert frame["statistic"].unique().tolist() == ["saturated_share"]
    assert (frame["value"] > 0.5).all()
    auc = interp("word-boundary-auc", "--increments", "kept")
    assert "Within 0.1 % of the bound: L0 100.0%" in auc.out


def test_a_signal_without_a_bound_has_no_share(interp, tiny, text):
    done = interp("extract", "--ckpt", tiny, "--out", "k", "--signal", "surprisal", "--json", text)
    (row,) = json.loads(done.out)
    assert row["value"] is None
    assert row["note"] == "this signal has no bound"


def test_the_same_extraction_is_left_as_it_is(interp, tiny, text, tmp_path):
    arguments = ("extract", "--ckpt", tiny, "--out", "kept", text)
    first = interp(*arguments)
    part = tmp_path / "kept" / "increment" / "part-00000.parquet"
    written = part.stat().st_mtime_ns
    again = interp(*arguments)
    assert (again.status, again.out) == (0, first.out)
    assert part.stat().st_mtime_ns == written


def test_another_extraction_is_refused_with_the_difference(interp, tiny, text):
    interp("extract", "--ckpt", tiny, "--out", "kept", text)
    done = interp("extract", "--ckpt", tiny, "--out", "kept", "--stride", "16", text)
    assert done.status == 1
    assert "differs in stride" in done.err


@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        (("--signal", "nonsense"), 1),
        (("--signal", "blocks.*.hook_resid_post:nonsense"), 1),
        (("--signal", "nonsense:norm"), 1),
        (("--dtype", "float8"), 2),
        (("--stride", "1"), 2),
        (("--device", "nonsense"), 1),
        (("--device", "cuda:99"), 1),
        (("--device", "meta"), 1),
    ],
)
def test_settings_that_cannot_be_are_one_line(interp, tiny, text, tmp_path, arguments, status):
    done = interp("extract", "--ckpt", tiny, "--out", "kept", *arguments, text)
    assert done.status == status
    assert len(done.err.splitlines()) <= 2
    assert not (tmp_path / "kept").exists()


def test_a_quiet_extraction_says_nothing_on_standard_error(interp, tiny, text):
    assert interp("extract", "-q", "--ckpt", tiny, "--out", "kept", text).err == ""
