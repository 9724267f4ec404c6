import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from killed_at_random import INTERRUPTED

from interp.extraction.increment_table import IncrementTable


def files_of(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


@pytest.mark.parametrize("what", ["extract", "merge"])
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_what_is_stopped_at_random_moments_keeps_its_parts_and_ends_the_same(
    tmp_path, what, number
):
    program = Path(__file__).with_name("extract_and_be_killed.py")
    done = subprocess.run(
        [sys.executable, str(program), what, str(int(number)), "7", str(tmp_path)],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path), "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    *disturbed, last = told["statuses"]
    assert last == 0, done.stderr
    stopped = {signal.SIGKILL: -9, signal.SIGINT: INTERRUPTED}[number]
    assert set(disturbed) <= {stopped, 0}, done.stderr
    assert disturbed.count(stopped) >= 2
    assert any(told["kept"])
    for kept in told["kept"]:
        assert all(Path(part).stat().st_mtime_ns == time for part, time in kept.items())

    assert files_of(tmp_path / "disturbed") == files_of(tmp_path / "undisturbed")
    texts = [
        document.content
        for document in IncrementTable.open(tmp_path / "disturbed").read_documents("surprisal")
    ]
    assert len(texts) == 8
    assert max(map(len, texts)) == 2250
