"""What a user asks of word boundaries on the command line."""

import io
import json

import pandas as pd
import pytest
from saved_checkpoint import save_tiny

from interp.corpus.sources import sample_documents

TREEBANK = """\
# sent_id = 1
# text = 我们喜欢喝绿茶。
1\t我们\t_\tPRON\t_\t_\t2\tnsubj\t_\tSpaceAfter=No
2\t喜欢\t_\tVERB\t_\t_\t0\troot\t_\tSpaceAfter=No
3\t喝\t_\tVERB\t_\t_\t2\txcomp\t_\tSpaceAfter=No
4\t绿茶\t_\tNOUN\t_\t_\t3\tobj\t_\tSpaceAfter=No
5\t。\t_\tPUNCT\t_\t_\t2\tpunct\t_\tSpaceAfter=No

# sent_id = 2
# text = 河边有两只白鸟。
1\t河边\t_\tNOUN\t_\t_\t2\tobl\t_\tSpaceAfter=No
2\t有\t_\tVERB\t_\t_\t0\troot\t_\tSpaceAfter=No
3\t两\t_\tNUM\t_\t_\t4\tnummod\t_\tSpaceAfter=No
4\t只\t_\tNOUN\t_\t_\t6\tclf\t_\tSpaceAfter=No
5\t白\t_\tADJ\t_\t_\t6\tamod\t_\tSpaceAfter=No
6\t鸟\t_\tNOUN\t_\t_\t2\tobj\t_\tSpaceAfter=No
7\t。\t_\tPUNCT\t_\t_\t2\tpunct\t_\tSpaceAfter=No
"""


@pytest.fixture
def chinese(tmp_path):
    """Openings of Chinese sample articles."""
    path = tmp_path / "zh.jsonl"
    texts = [
        bytes(document.content[:900]).decode("utf-8", "ignore")
        for document in sample_documents("zh")
    ]
    lines = [json.dumps({"text": text}, ensure_ascii=False) for text in texts]
    path.write_text("\n".join(lines[:8]), "utf-8")
    return str(path)


def rows(done) -> pd.DataFrame:
    assert done.status == 0, done.err
    return pd.read_csv(io.StringIO(done.out))


def test_every_score_has_its_null_and_its_worth_as_a_segmentation(interp, tiny, chinese):
    found = rows(interp("word-boundary-auc", "--ckpt", tiny, chinese, "--csv"))
    areas = found.query("statistic == 'roc_auc'")
    assert set(areas["signal"]) == {
        "increment",
        "surprisal",
        "entropy",
        "lead_byte_ceiling",
        "local_reference",
        "negative_pmi",
        "left_entropy",
        "right_entropy",
    }
    assert areas["seen"].notna().all()
    n_rows = found[found["signal"] != "every_gap"]["statistic"].value_counts()
    for statistic in ("null_roc_auc", "p", "p_holm", "average_precision", "f1", "r_value"):
        assert n_rows[statistic] == len(areas)


def test_layers_are_compared_with_surprisal_on_the_same_gaps(interp, tiny, chinese):
    done = interp("word-boundary-auc", "--ckpt", tiny, chinese, "--versus", "surprisal", "--csv")
    found = rows(done)
    area = found.query("statistic == 'roc_auc'").set_index(["signal", "layer"])["value"]
    differences = found.query("statistic == 'roc_auc_difference' and signal == 'increment'")
    assert (differences["group"] == "against surprisal").all()
    for row in differences.itertuples():
        expected = area["increment", row.layer] - area["surprisal"].iloc[0]
        assert row.value == pytest.approx(expected, abs=1e-6)
        assert row.low < row.value < row.high


def test_two_checkpoints_are_compared_on_the_same_gaps(interp, tiny, chinese, tmp_path):
    other = save_tiny(tmp_path / "other")
    asked = ("word-boundary-auc", "--ckpt", tiny, chinese, "--versus-ckpt", str(other))
    found = rows(interp(*asked, "--signal", "increment", "--csv"))
    differences = found.query("statistic == 'roc_auc_difference'")
    assert (differences["group"] == "against other").all()
    assert (differences["value"] == 0).all()  # the same weights under another name
    assert differences["note"].str.contains("degenerate").all()
    again = interp("word-boundary-auc", "--ckpt", tiny, chinese, "--versus-ckpt", tiny)
    assert (again.status, len(again.err.splitlines())) == (2, 2)
    assert "both checkpoints are called" in again.err


def test_a_treebank_brings_its_own_text(interp, tiny, tmp_path):
    (tmp_path / "gsd.conllu").write_text(TREEBANK, "utf-8")
    asked = ("word-boundary-auc", "--ckpt", tiny, "--reference", "ud:gsd.conllu")
    found = rows(interp(*asked, "--csv"))
    assert set(found["reference"]) == {"gsd"}
    base = found.query("statistic == 'base_rate'").iloc[0]
    # 我们|喜欢|喝|绿茶 has 6 gaps and 3 boundaries, 河边|有|两|只|白|鸟 6 gaps and 5 boundaries
    assert (base["n"], base["value"]) == (12, pytest.approx(8 / 12))
    assert "Gaps of 1 ten-sentence block;" in interp(*asked).out
    refused = interp(*asked, "zh.txt")
    assert refused.status == 2
    assert "brings its own text" in refused.err


def test_english_is_read_without_its_spaces(interp, tiny, tmp_path):
    (tmp_path / "en.txt").write_text("The heron waits.\nA fish swims by.\n", "utf-8")
    asked = ("word-boundary-auc", "--ckpt", tiny, "--lang", "en", "--reference", "spaces")
    found = rows(interp(*asked, "en.txt", "--csv"))
    base = found.query("statistic == 'base_rate'").iloc[0]
    # The|heron|waits and A|fish|swims|by: 12 + 11 gaps, 2 + 3 of them where spaces were
    assert (base["n"], base["value"]) == (23, pytest.approx(5 / 23))


def test_a_probe_is_an_ordinary_signal(interp, tiny, chinese):
    places = ("--scored-at", "lead-byte", "--scored-at", "character")
    found = rows(interp("word-boundary-auc", "--ckpt", tiny, chinese, "--probe", *places, "--csv"))
    probe = found.query("statistic == 'roc_auc' and signal == 'probe'")
    assert probe["layer"].tolist() == [0, 1]
    assert (probe["scored_at"] == "lead byte").all()  # where it was fitted
    assert len(found.query("statistic == 'roc_auc' and signal == 'increment'")) == 4


def test_a_signal_asked_for_twice_counts_once(interp, tiny, chinese):
    once, twice = (
        interp(
            "word-boundary-auc", "--ckpt", tiny, chinese, *["--signal", "increment"] * n, "--csv"
        )
        for n in (1, 2)
    )
    assert once.out == twice.out


def test_the_saturation_of_either_checkpoint_is_said(interp, tiny, chinese, tmp_path):
    bounded = save_tiny(tmp_path / "bounded", max_increment=1.0001)
    asked = ("word-boundary-auc", chinese, "--signal", "increment")
    saturated = "Within 0.1 % of the bound: L0 100.0% (bounded), L1 100.0% (bounded) of all"
    for pair in ((tiny, str(bounded)), (str(bounded), tiny)):
        done = interp(*asked, "--ckpt", pair[0], "--versus-ckpt", pair[1])
        assert saturated in " ".join(done.out.split())


def test_checkpoints_without_a_score_in_common_are_not_compared_in_silence(
    interp, tiny, chinese, tmp_path
):
    shared = save_tiny(tmp_path / "shared", scope="shared", max_increment=None)
    asked = ("word-boundary-auc", "--ckpt", tiny, chinese, "--versus-ckpt", str(shared))
    done = interp(*asked, "--signal", "increment")
    assert (done.status, done.out) == (2, "")
    assert "nothing to compare shared with" in done.err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--scored-at", "middle"], "no such place"),
        (["--versus", "L9"], "no score called 'L9'"),
        (["--lang", "tlh"], "nobody here says where its words end"),
        (["--reference", "unheard-of"], "no such reference"),
        (["--increments", "kept", "--probe"], "--increments goes without --probe"),
        (["--increments", "kept", "zh.txt"], "--increments goes without FILE"),
    ],
)
def test_what_cannot_be_asked_is_said_in_one_line(interp, tiny, tmp_path, arguments, words):
    (tmp_path / "zh.txt").write_text("他来到了网易杭研大厦。", "utf-8")
    text = [] if "--increments" in arguments else ["--ckpt", tiny, "zh.txt"]
    done = interp("word-boundary-auc", *text, *arguments)
    assert done.status == 2
    assert words in done.err
    assert "Traceback" not in done.err
    assert len(done.err.splitlines()) <= 3
