import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from small_runs import metrics, weights

from interp.checkpoints import load


@pytest.mark.parametrize("seed", [1, 2])
def test_training_that_is_killed_at_random_moments_ends_the_same(text, tmp_path, seed):
    program = Path(__file__).with_name("train_and_be_killed.py")
    done = subprocess.run(
        [sys.executable, str(program), str(text), str(seed), str(tmp_path)],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path), "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    *disturbed, last = told["statuses"]
    assert last == 0, done.stderr
    assert set(disturbed) <= {-9, 0}, done.stderr
    assert disturbed.count(-9) >= 2
    steps = [step for step in told["steps"] if step is not None]
    assert steps == sorted(steps)  # what a kill leaves is a checkpoint, never an older one

    disturbed, undisturbed = tmp_path / "disturbed", tmp_path / "undisturbed"
    for place in ("", "steps/000005", "steps/000020"):
        assert weights(disturbed / place) == weights(undisturbed / place)
    assert load(disturbed).config["step"] == 40
    assert [line["step"] for line in metrics(disturbed)] == list(range(1, 41))
    assert [line["loss_nats"] for line in metrics(disturbed)] == [
        line["loss_nats"] for line in metrics(undisturbed)
    ]
