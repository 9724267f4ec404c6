from pathlib import Path
from types import SimpleNamespace

import pytest

RECIPE = """
name = "mini"
compile = false
held_out_fraction = 0.3

[corpora.text]
train = ["rows.jsonl"]

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


@pytest.fixture
def recipe(tmp_path):
    rows = [f'{{"text": "text number {n}"}}' for n in range(40)]
    (tmp_path / "rows.jsonl").write_text("\n".join(rows), "utf-8")
    (tmp_path / "recipe.toml").write_text(RECIPE, "utf-8")
    return "recipe.toml"


def test_the_shipped_recipes_are_listed(interp):
    done = interp("train", "--list")
    assert done.status == 0
    names, sentences = zip(*(line.split(maxsplit=1) for line in done.out.splitlines()), strict=True)
    assert "two-cores" in names
    assert all(sentence.endswith(".") for sentence in sentences)


def test_a_run_ends_with_its_held_out_loss(interp, recipe):
    done = interp("train", recipe, "--out", "run", "--set", "optimization.steps=3")
    assert done.status == 0
    assert "nats per byte" in done.out
    assert "run" in done.err
    inspected = interp("inspect", "run")
    assert "3 steps" in inspected.out


def test_an_unknown_key_is_one_line(interp, recipe):
    done = interp("train", recipe, "--out", "run", "--set", "optimization.nonsense=1")
    assert done.status == 1
    assert "nonsense" in done.err
    assert not Path("run").exists()


def test_a_device_is_named_and_recorded(interp, recipe):
    done = interp("train", recipe, "--out", "run", "--device", "nonsense")
    assert done.status == 1
    assert "nonsense" in done.err
    assert not Path("run").exists()
    assert interp("train", recipe, "--out", "run", "--device", "cpu").status == 0
    assert "CPU thread" in Path("run/README.md").read_text("utf-8")


def test_an_interrupted_run_says_that_it_goes_on(interp, recipe, monkeypatch):
    from interp.training import TrainingResult

    monkeypatch.setattr(
        "interp.training.train",
        lambda _recipe, out, **_settings: TrainingResult(out, 1, 2, True, {}),
    )
    done = interp("train", recipe, "--out", "run")
    assert done.status == 130
    assert done.err.splitlines() == [
        "interp: stopped at step 1 of 2 and saved in run",
        "The same command goes on.",
    ]


def test_the_live_line_fits_a_terminal():
    from interp.cli.output import training_line
    from interp.training import TrainingProgress

    at = TrainingProgress(49_999, 50_000, 10.123, 123_456.7, 359_999.0, {"en": 1.5, "zh": 1.25})
    line = training_line(at)
    assert len(line) <= 80
    assert "49,999/50,000" in line
    assert "99:59:59 left" in line


def test_a_checkpoint_from_the_middle_of_a_run_says_so(interp, recipe):
    assert interp("train", recipe, "--out", "run", "--set", "keeping.keep_steps=[1]").status == 0
    assert "step 1 of 2" in interp("inspect", "run/steps/000001").out
    assert "2 steps" in interp("inspect", "run").out


def test_a_log_has_the_first_and_the_last_step(interp, recipe):
    done = interp("train", recipe, "--out", "run", "--set", "optimization.steps=3")
    assert [line.split("  ")[0] for line in done.err.splitlines()] == [
        "step 1/3",
        "step 3/3",
        "checkpoint: run",
    ]
    done = interp("train", recipe, "--out", "quiet", "--set", "optimization.steps=3", "--quiet")
    assert done.err == ""
    assert "nats per byte" in done.out


@pytest.fixture
def clock(monkeypatch):
    """Seconds that a test sets, as the command line sees them."""
    now = SimpleNamespace(seconds=0.0)
    time = SimpleNamespace(monotonic=lambda: now.seconds)
    monkeypatch.setattr("interp.cli.output.time", time)
    monkeypatch.setattr("interp.cli.output.LOG_SECONDS", 30.0)
    return now


def test_a_log_has_a_line_of_training_every_half_minute(clock, capfd):
    from interp.cli.output import Output
    from interp.training import TrainingProgress

    with Output().training() as progress:
        assert progress is not None
        for step in range(1, 101):
            clock.seconds = 100 + step
            progress(TrainingProgress(step, 100, 2.5, 1000.0, 100.0 - step, {"en": 2.0}))
    lines = capfd.readouterr().err.splitlines()
    assert [line.split("  ")[0] for line in lines] == [
        f"step {step}/100" for step in (1, 31, 61, 91, 100)
    ]
    assert lines[0] == "step 1/100  loss 2.500, en 2.000  1.0 kB/s  0:01:39 left"
    assert lines[-1].endswith("  1.0 kB/s  measuring the held-out text")  # which takes its time


def test_a_log_has_a_line_of_long_work_every_half_minute(clock, capfd):
    from interp.cli.output import Output

    with Output().progress() as progress:
        assert progress is not None
        for clock.seconds in range(0, 70, 5):
            progress("increments", clock.seconds * 10_000, 1_000_000)
        clock.seconds = 100
        progress("words", 5_000_000, None)
        clock.seconds = 140
        progress("a little", 12_345, 20_000)
    captured = capfd.readouterr()
    assert captured.out == ""
    assert captured.err.splitlines() == [
        "increments: 0.3 of 1.0 MB, 30%",
        "increments: 0.6 of 1.0 MB, 60%",
        "words: 5.0 MB",
        "a little: 12.3 of 20.0 kB, 62%",
    ]


def test_a_live_line_is_shown_on_a_terminal_only(monkeypatch, capfd):
    import sys

    from interp.cli.output import Output

    with Output(is_quiet=True).progress() as progress:
        assert progress is None
    with Output(is_quiet=True).training() as progress:
        assert progress is None
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    output = Output()
    with output.progress() as progress:
        assert progress is not None
        progress("increments", 50, 100)
        output.warn("a warning")
    assert "a warning" in capfd.readouterr().err
