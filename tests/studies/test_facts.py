import json
import shutil
from pathlib import Path

import pytest

from interp import checkpoints
from interp.checkpoints import Checkpoint
from interp.errors import CheckpointError
from interp.studies.facts import (
    checkpoint_facts,
    checkpoint_values,
    held_out_loss_in_words,
    training_in_words,
)


def told(tiny: Checkpoint, folder: Path, **facts) -> Checkpoint:
    """``tiny`` with other facts in its config."""
    shutil.copytree(tiny.folder, folder)
    config = json.loads((folder / "config.json").read_text("utf-8"))
    (folder / "config.json").write_text(json.dumps(config | facts), "utf-8")
    return checkpoints.load(folder)


def test_facts_of_a_checkpoint_say_what_is_not_known(tiny):
    facts = dict(checkpoint_facts(tiny))
    assert facts["training"] == "not known"
    assert facts["model"].startswith("2 layers, 2 heads; every layer has its own increments")
    assert checkpoint_values(tiny)["split"]["n_hashes"] == 0


def test_facts_say_what_is_known(tiny, tmp_path):
    checkpoint = told(
        tiny,
        tmp_path / "told",
        step=1,
        n_bytes_seen=2_500_000,
        corpora={"en": {"n_documents": 1200, "n_bytes": 1}},
        held_out_loss={"en": {"bits_per_byte": 2}, "zh": {"bits_per_byte": 1.75}},
        split={"fraction": 0.25, "hashes": ["0f" * 8, "1" * 16]},
    )
    facts = dict(checkpoint_facts(checkpoint))
    assert facts["training"] == "1 step, 2.5 MB of text"
    assert facts["corpora"] == "en: 1,200 texts, 1 byte"
    assert facts["held-out loss"] == "en 2.000 bits per byte, zh 1.750 bits per byte"
    assert facts["held out"] == (
        "2 texts whose hashes are in config.json and 25.00% of all texts by rule"
    )


@pytest.mark.parametrize(
    "facts",
    [
        {"held_out_loss": {"en": {"bits_per_byte": None}}},
        {"held_out_loss": {"en": {}}},
        {"held_out_loss": {"en": None}},
        {"corpora": {"en": {}}},
        {"corpora": {"en": {"n_documents": None}}},
        {"corpora": {"en": None}},
        {"step": 3, "n_bytes_seen": None},
        {"versions": None},
        {"versions": {"interp": None}},
    ],
)
def test_what_is_null_or_left_out_is_not_known_and_is_no_failure(tiny, tmp_path, facts):
    checkpoint = told(tiny, tmp_path / "told", **facts)
    assert dict(checkpoint_facts(checkpoint))["held-out loss"] == "not known"
    assert held_out_loss_in_words(checkpoint) == ""
    assert training_in_words(checkpoint) in ("not known", "3 steps")
    json.dumps(checkpoint_values(checkpoint), allow_nan=False)


@pytest.mark.parametrize(
    "facts",
    [
        {"held_out_loss": {"en": {"bits_per_byte": "x"}}},
        {"held_out_loss": {"en": {"bits_per_byte": 10**400}}},
        {"held_out_loss": {"en": {"bits_per_byte": float("nan")}}},
        {"held_out_loss": {"en": 1.5}},
        {"held_out_loss": [1.5]},
        {"corpora": {"en": {"n_documents": 1.5}}},
        {"corpora": {"en": {"n_bytes": -1}}},
        {"corpora": {"en": []}},
        {"n_bytes_seen": "x"},
        {"n_bytes_seen": 2**63},
        {"step": True},
        {"step": "3"},
        {"n_steps": 0.5},
        {"wall_seconds": float("inf")},
        {"token_counts": [True] * 257},
        {"token_counts": [2**63] * 257},
        {"split": {"fraction": "0.5", "hashes": []}},
        {"split": {"fraction": True, "hashes": []}},
        {"split": {"fraction": 1, "hashes": []}},
        {"split": {"fraction": 0.5, "hashes": "0f"}},
        {"split": {"fraction": 0.5, "hashes": [15]}},
        {"split": {"fraction": 0.5}},
    ],
)
def test_facts_of_a_wrong_kind_are_refused_in_one_line(tiny, tmp_path, facts):
    with pytest.raises(CheckpointError, match=r"config\.json") as caught:
        told(tiny, tmp_path / "told", **facts)
    assert "\n" not in str(caught.value)


def test_a_number_without_end_is_refused(tiny, tmp_path):
    shutil.copytree(tiny.folder, tmp_path / "told")
    path = tmp_path / "told" / "config.json"
    path.write_text(path.read_text("utf-8").replace("null", "1e999", 1), "utf-8")
    with pytest.raises(CheckpointError, match="not a finite number"):
        checkpoints.load(tmp_path / "told")
