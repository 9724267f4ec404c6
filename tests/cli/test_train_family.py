import json
import os
import signal
import sys
from pathlib import Path

import pytest

RECIPE = """
name = "mini"
compile = false
held_out_fraction = 0.3

[corpora.en]
train = ["en.jsonl"]

[corpora.zh]
train = ["zh.jsonl"]

[model]
d_model = 16
n_heads = 2
n_layers = 1
d_mlp = 16
n_ctx = 16

[optimization]
steps = 2
batch_size = 2
micro_batch_size = 2
warmup_steps = 1
"""
TWO = ("train-family", "recipe.toml", "--out", "runs", "--encodings", "rope,alibi")


@pytest.fixture(autouse=True)
def _recipe(tmp_path):
    for name, words in (("en", "text number"), ("zh", "第几篇文章")):
        rows = [f'{{"text": "{words} {n}"}}' for n in range(40)]
        (tmp_path / f"{name}.jsonl").write_text("\n".join(rows), "utf-8")
    (tmp_path / "recipe.toml").write_text(RECIPE, "utf-8")


def test_a_family_ends_with_a_table_per_corpus(interp):
    done = interp(*TWO, "--seeds", "0,1")
    assert done.status == 0
    assert sorted(path.name for path in Path("runs").iterdir()) == [
        *("alibi-seed0", "alibi-seed1", "rope-seed0", "rope-seed1")
    ]
    assert [line for line in done.out.splitlines() if "nats per byte" in line] == [
        "Held-out loss, en: nats per byte",
        "Held-out loss, zh: nats per byte",
    ]
    assert max(map(len, done.out.splitlines())) <= 80
    (rope, _) = [line.split() for line in done.out.splitlines() if line.startswith("rope ")]
    losses = [
        json.loads(Path(f"runs/rope-seed{seed}/config.json").read_text("utf-8"))["held_out_loss"]
        for seed in (0, 1)
    ]
    first, second = (loss["en"]["nats_per_byte"] for loss in losses)
    mean, sd = (first + second) / 2, abs(first - second) / 2**0.5
    assert rope[2:] == [f"{number:.3f}" for number in (first, second, mean, sd)]
    assert [line.split("  ")[:2] for line in done.err.splitlines() if "done" not in line] == [
        *([f"{member}-seed{seed}", "step 1/2"] for seed in (0, 1) for member in ("rope", "alibi")),
        ["checkpoints: runs"],
    ]
    assert done.err.count("done, held out en ") == 4


def test_one_seed_has_no_mean(interp):
    done = interp(*TWO, "--seeds", "4", "--quiet")
    (line, _) = [line.split() for line in done.out.splitlines() if line.startswith("alibi ")]
    assert line[3:] == ["—", "—"]
    assert "two seeds or more" in done.out
    assert done.err == ""


def test_json_has_every_loss_and_the_parameters(interp):
    done = interp(*TWO, "--json")
    rows = json.loads(done.out)
    losses = [row for row in rows if row["statistic"] == "loss"]
    assert [(row["checkpoint"], row["group"]) for row in losses] == [
        (f"{member}-seed0", corpus) for corpus in ("en", "zh") for member in ("rope", "alibi")
    ]
    counts = {r["checkpoint"]: r["value"] for r in rows if r["statistic"] == "n_parameters"}
    assert counts["rope"] == counts["alibi"] > 0
    spreads = [row for row in rows if row["statistic"] == "sd_loss"]
    assert all(row["value"] is None and "two seeds" in row["note"] for row in spreads)
    # what is finished is reported again, and trained no more
    again = interp(*TWO, "--json")
    assert json.loads(again.out) == rows
    assert "step" not in again.err


@pytest.mark.parametrize(
    ("arguments", "status", "words"),
    [
        (["--encodings", "rope,nope"], 2, "Known: none, sinusoidal"),
        (["--seeds", "0,x"], 2, "--seeds"),
        (["--seeds", "0,-1"], 1, "seed must be"),
        (["--set", "optimization.nonsense=1"], 1, "nonsense"),
        (["--set", "model.position.encoding=rope"], 1, "model.position"),
    ],
)
def test_what_cannot_be_is_one_line_and_trains_nothing(interp, arguments, status, words):
    done = interp("train-family", "recipe.toml", "--out", "runs", *arguments)
    assert done.status == status
    assert words in done.err
    assert len(done.err.splitlines()) <= 2
    assert not Path("runs").exists()


def test_an_interrupted_family_says_that_it_goes_on(interp, monkeypatch):
    import interp.training.family as family

    real = family.train
    monkeypatch.setattr(family, "train", signalled(real, "mini-alibi"))
    done = interp(*TWO)
    assert done.status == 130
    assert done.out == ""
    assert done.err.splitlines()[-2:] == [
        "interp: stopped with 1 of 2 models trained, and saved in runs",
        "The same command goes on.",
    ]
    monkeypatch.setattr(family, "train", real)
    assert interp(*TWO).status == 0


def signalled(train, name):
    """``train``, with a signal after the first step of the run of that name."""

    def instead(recipe, out, *, progress, **settings):
        def on_step(at):
            if recipe.name.startswith(name):
                os.kill(os.getpid(), signal.SIGTERM)
            progress(at)

        return train(recipe, out, progress=on_step, **settings)

    return instead


def test_the_live_table_has_a_row_for_each_run(interp, monkeypatch):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    done = interp(*TWO)
    assert done.status == 0
    rows = {line.split()[0]: line.split()[1:] for line in done.err.splitlines() if "-seed" in line}
    assert set(rows) == {"rope-seed0", "alibi-seed0"}
    for state, step, *numbers in rows.values():
        assert (state, step) == ("done", "2")
        assert len(numbers) == 4  # loss, two held-out losses, seconds


def test_the_live_table_follows_the_run_where_not_all_fit(tmp_path):
    from interp.cli.family_progress import FamilyTable
    from interp.training import TrainingProgress, load_recipe
    from interp.training.family import family_runs

    runs = family_runs(load_recipe("recipe.toml"), tmp_path)
    family = FamilyTable(runs)
    assert family.table(100).row_count == len(runs) == 10
    for number, first in ((0, 0), (5, 4), (9, 7)):
        family.update(runs[number], TrainingProgress(1, 2, 2.5, 1.0, 1.0, {}))
        names = [str(name) for name in family.table(5).columns[0]._cells]
        assert names == [run.folder.name for run in runs[first : first + 3]]
