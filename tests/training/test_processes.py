import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from small_runs import config, metrics, weights, write_text

from interp.checkpoints import load
from interp.errors import InputError, RecipeError
from interp.training import Processes
from interp.training.recipe import Optimization

N_WINDOWS = 8 * 12
ENVIRONMENT = {"PYTHONPATH": os.pathsep.join(sys.path), "OMP_NUM_THREADS": "1"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("processes")
    write_text(folder / "rows.jsonl")
    return folder


@pytest.fixture(scope="module")
def ran(folder):
    """By name, the statuses of the processes of each run and what they said."""
    program = Path(__file__).with_name("run_in_processes.py")
    done = subprocess.run(
        [sys.executable, str(program), str(folder)],
        env=os.environ | ENVIRONMENT | {"INTERP_CACHE": str(folder / "cache")},
        capture_output=True,
        check=True,
        text=True,
        timeout=900,
    )
    return json.loads(done.stdout)


def seen(folder: Path, run: str, n: int) -> list[list[int]]:
    return [json.loads((folder / f"windows-{run}-{rank}.json").read_text()) for rank in range(n)]


@pytest.mark.usefixtures("ran")
def test_two_processes_see_every_window_of_a_step_once(folder):
    assert seen(folder, "one", 1) == [list(range(N_WINDOWS))]
    first, second = seen(folder, "two", 2)
    for step in range(8):
        shares = first[6 * step : 6 * (step + 1)], second[6 * step : 6 * (step + 1)]
        assert sorted(shares[0] + shares[1]) == list(range(12 * step, 12 * (step + 1)))


def test_losses_are_those_of_one_process(ran, folder):
    assert ran["one"]["statuses"] == [0]
    assert ran["two"]["statuses"] == [0, 0]
    one, two = metrics(folder / "one"), metrics(folder / "two")
    assert [line["step"] for line in two] == list(range(1, 9))
    for key in ("loss_nats", "gradient_norm", "learning_rate"):
        assert [line[key] for line in two] == pytest.approx([line[key] for line in one], abs=1e-3)
    losses = [config(folder / run)["held_out_loss"]["text"] for run in ("one", "two")]
    assert losses[1] == pytest.approx(losses[0], abs=1e-3)


def test_one_process_writes_and_speaks(ran, folder):
    one, two = config(folder / "one"), config(folder / "two")
    for key in ("token_counts", "n_bytes_seen", "corpora", "step", "recipe"):
        assert two[key] == one[key]
    assert two["hardware"] == "2 processes, each on 1 CPU thread"
    names = {f.relative_to(folder / "one") for f in (folder / "one").rglob("*")}
    assert {f.relative_to(folder / "two") for f in (folder / "two").rglob("*")} == names
    said = ran["two"]["said"]
    assert said.count("nats per byte") == ran["one"]["said"].count("nats per byte") > 0
    assert said.count("step 1/8") == said.count("step 8/8") == said.count("checkpoint: two") == 1


@pytest.mark.parametrize("name", ["signal", "signal to go on alone"])
def test_a_signal_to_one_process_stops_all_in_good_order(ran, name):
    assert ran[name]["statuses"] == [130, 0]
    assert ran[name]["said"].count("stopped at step 5 of 8 and saved") == 1


def test_a_run_of_two_that_was_stopped_goes_on_as_if_it_had_not_been(ran, folder):
    assert ran["two go on"]["statuses"] == [0, 0]
    assert weights(folder / "stopped") == weights(folder / "two")
    lines = [line["loss_nats"] for line in metrics(folder / "stopped")]
    assert lines == [line["loss_nats"] for line in metrics(folder / "two")]


def test_a_run_goes_on_with_another_number_of_processes(ran, folder):
    assert ran["one goes on"]["statuses"] == [0]
    lines = [line["loss_nats"] for line in metrics(folder / "other")]
    assert lines == pytest.approx([line["loss_nats"] for line in metrics(folder / "one")], abs=1e-3)
    assert config(folder / "other")["token_counts"] == config(folder / "one")["token_counts"]


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("memory", "interp: train: there is not enough memory"),
        ("killed", "interp: train: another process of the run was killed"),
        ("text", "missing.jsonl"),
        ("recipe", "interp: recipe: unknown key steps"),
        ("uneven", "interp: train: optimization.batch_size = 9 windows cannot be shared out"),
    ],
)
def test_an_error_in_one_process_ends_all_and_is_said_once(ran, name, words):
    statuses, said = ran[name]["statuses"], ran[name]["said"]
    assert sorted(statuses) == ([-9, 1] if name == "killed" else [1, 1])
    assert said.count(words) == 1
    assert said.count("interp: ") == 1
    assert "Traceback" not in said


def test_what_an_error_leaves_is_the_last_save(ran, folder):
    for name in ("memory", "killed"):
        assert ran[name]["statuses"] != [0, 0]
        assert load(folder / name).config["step"] == 0
        assert not (folder / name / ".lock").exists() or name == "killed"
    assert not (folder / "text").exists()


def test_torchrun_starts_them(folder):
    done = subprocess.run(
        [
            *(sys.executable, "-m", "torch.distributed.run", "--nproc_per_node", "2"),
            *("--standalone", "-m", "interp", "train", "two-cores", "--out", str(folder / "none")),
            *("--set", f'corpora.en.train=["{folder}/missing"]', "--set", "name=torchrun"),
        ],
        env=os.environ | ENVIRONMENT,
        capture_output=True,
        text=True,
        timeout=900,
    )
    assert done.returncode == 1
    assert done.stderr.count("interp: ") == 1
    assert not (folder / "none").exists()


def test_a_step_is_shared_out_evenly():
    of_two = Processes(rank=1, n=2)
    assert of_two.share(Optimization(batch_size=8, micro_batch_size=8)) == (4, 4)
    assert of_two.share(Optimization(batch_size=8, micro_batch_size=2)) == (4, 2)
    assert Processes().share(Optimization(batch_size=9, micro_batch_size=3)) == (9, 3)
    with pytest.raises(RecipeError, match="evenly over 2 processes"):
        of_two.share(Optimization(batch_size=9, micro_batch_size=3))
    with pytest.raises(RecipeError, match="micro_batch_size = 4"):
        of_two.share(Optimization(batch_size=12, micro_batch_size=4))


def test_each_process_has_a_device_of_its_own(monkeypatch):
    monkeypatch.setenv("LOCAL_RANK", "1")
    of_two = Processes(rank=3, n=4)
    assert of_two.device("cuda") == "cuda:1"
    assert of_two.device("cpu") == "cpu"
    assert of_two.device(None) is None
    assert Processes().device("cuda:7") == "cuda:7"
    with pytest.raises(InputError, match="cuda:0"):
        of_two.device("cuda:0")
