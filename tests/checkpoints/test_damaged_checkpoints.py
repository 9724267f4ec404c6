import json
import os
import shutil
import struct
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from bad_inputs import NOT_TEXTS, has_run_code
from refused import refusal
from safetensors.torch import load_file, save_file

from interp.checkpoints import load


def change_config(folder: Path, change: Callable[[dict[str, Any]], Any]) -> None:
    config = json.loads((folder / "config.json").read_text("utf-8"))
    change(config)
    (folder / "config.json").write_text(json.dumps(config), "utf-8")


def change_weights(folder: Path, change: Callable[[dict[str, torch.Tensor]], Any]) -> None:
    tensors = load_file(folder / "model.safetensors")
    change(tensors)
    save_file(tensors, folder / "model.safetensors")


@pytest.mark.parametrize(
    "path", ["missing", "missing/deeper/still", "", "a" * 5000, "nul\0byte", "new\nline", "../.."]
)
def test_what_is_no_folder_is_refused(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    refusal(path)


def test_a_file_is_no_checkpoint(whole):
    assert "folder" in refusal(whole / "model.safetensors")


@pytest.mark.parametrize("file", ["config.json", "model.safetensors"])
def test_a_missing_file_is_named(folder, file):
    (folder / file).unlink()
    assert file in refusal(folder)


def test_a_card_is_not_needed(folder):
    (folder / "README.md").unlink()
    load(folder)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b'{"format_version": 1}',
        b"\xff\xfe",
        b"[" * 100_000,
        b'{"a": NaN}',
    ],
)
def test_a_config_that_is_none_is_refused(folder, content):
    (folder / "config.json").write_bytes(content)
    refusal(folder)


@pytest.mark.parametrize(
    ("key", "value", "words"),
    [
        ("format_version", 2, "format_version 2"),
        ("format_version", "1", "format_version"),
        ("format_version", True, "format_version"),
        ("architecture", None, "architecture"),
        ("name", 5, "name"),
        ("name", "", "name"),
        ("name", "two\nlines", "name"),
        ("name", "escape\x1b[31m", "name"),
        ("name", "\ud800", "name"),
        ("name", "right\u202eleft", "name"),
        ("name", "x" * 10_000, "name"),
        ("tokenizer", None, "tokenizer"),
        ("tokenizer", {"kind": "characters"}, "tokenizer"),
        ("tokenizer", {"kind": "bytes", "separator": 999}, "separator"),
        ("split", None, "split"),
        ("split", {}, "fraction"),
        ("split", {"fraction": 2, "hashes": []}, "fraction"),
        ("split", {"fraction": 0, "hashes": ["zz"]}, "split.hashes"),
        ("split", {"fraction": 0, "hashes": [5]}, "config.json"),
        ("token_counts", [1, 2], "token_counts"),
        ("token_counts", [-1] * 257, "token_counts"),
        ("recipe", "text", "recipe"),
        ("is_done", "no", "is_done must be true or false"),
        ("held_out_loss", {"en": {"nats_per_byte": -5}}, "nats_per_byte must be a number from 0"),
        ("baselines", {"en": {"xz": "2"}}, "baselines.en"),
        ("baselines", {"en": []}, "baselines.en"),
        ("baselines", {"en": {"xz": -1.0}}, "baselines.en"),
        ("baselines", {"en": {"a\nb": 1.0}}, "baselines.en"),
        ("baselines", {"en": {" ": 1.0}}, "baselines.en"),
        ("name", ["x"] * 300_000, "name"),
    ],
)
def test_a_wrong_entry_is_named(folder, key, value, words):
    change_config(folder, lambda config: config.update({key: value}))
    said = refusal(folder)
    assert words in said
    assert len(said) < 1000


def test_what_a_config_leaves_out_is_unknown(folder):
    def leave_out(config):
        for key in ("step", "corpora", "baselines"):
            del config[key]
        config["held_out_loss"] = {"en": None}

    change_config(folder, leave_out)
    config = load(folder).config
    assert (config["step"], config["corpora"], config["baselines"]) == (None, None, None)
    assert config["held_out_loss"] == {"en": {}}


@pytest.mark.parametrize(
    ("sizes", "words"),
    [
        ({"n_layer": 2}, "n_layer"),
        ({"d_model": "32"}, "d_model"),
        ({"d_model": 48}, "shape"),
        ({"d_vocab": 300}, "d_vocab"),
        ({"n_layers": 3}, ""),
        ({"n_layers": 1}, "unknown tensor"),
        ({"d_model": -2}, "d_model"),
        ({"d_model": 10**9}, ""),
        ({"n_ctx": 10**15}, "n_ctx"),
        ({"d_model": 10**30}, ""),
        ({"n_layers": 10**9}, "10"),
        ({"n_heads": 10**9}, ""),
        ({"n_heads": 10**9, "d_model": 2 * 10**9, "position": {"encoding": "alibi"}}, ""),
        ({"d_mlp": 10**18}, ""),
        ({"d_mlp": 10**30}, ""),
        ({"n_ctx": 0}, "n_ctx"),
        ({"norm_eps": 10**400}, "norm_eps"),
        ({"position": {"encoding": "increments", "d_hidden": 10**15}}, ""),
        ({"position": {"encoding": "rope"}}, "unknown tensor"),
        ({"position": []}, "position"),
    ],
)
def test_sizes_that_do_not_fit_are_refused_at_once(folder, sizes, words):
    change_config(folder, lambda config: config["architecture"].update(sizes))
    assert words in refusal(folder)


def swap(tensors: dict[str, torch.Tensor], name: str, change: Callable) -> None:
    tensors[name] = change(tensors[name]).contiguous()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda t: t.pop("ln_final.w"), "ln_final.w"),
        (lambda t: t.update(extra=torch.zeros(1)), "extra"),
        (lambda t: t.update({"x\n" * 300: torch.zeros(1)}), "unknown tensor"),
        (lambda t: swap(t, "ln_final.w", lambda w: w[:-1]), "shape [31]"),
        (lambda t: swap(t, "embed.W_E", lambda w: w.T), "embed.W_E"),
        (lambda t: swap(t, "ln_final.w", lambda w: w.unsqueeze(0)), "shape"),
        (lambda t: swap(t, "ln_final.w", lambda w: w / 0), "not finite"),
        (lambda t: swap(t, "embed.W_E", lambda w: w * float("nan")), "not finite"),
        (lambda t: swap(t, "ln_final.w", lambda w: w.double() * 1e300), "not finite"),
        (lambda t: swap(t, "ln_final.w", lambda w: w.int()), "int32"),
        (lambda t: swap(t, "ln_final.w", lambda w: w.bool()), "bool"),
        (lambda t: t.clear(), "tensors"),
    ],
)
def test_weights_that_do_not_fit_are_refused_by_name(folder, change, words):
    change_weights(folder, change)
    assert words in refusal(folder)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float16, torch.float8_e4m3fn])
def test_any_float_type_is_read(folder, dtype):
    change_weights(folder, lambda t: swap(t, "ln_final.w", lambda w: w.to(dtype)))
    load(folder)


def test_a_git_lfs_pointer_says_so(folder):
    (folder / "model.safetensors").write_bytes(NOT_TEXTS["lfs-pointer.safetensors"])
    assert "LFS" in refusal(folder)


@pytest.mark.parametrize("length", [0, 3, 8, 100, -1])
def test_truncated_weights_are_refused(folder, length):
    path = folder / "model.safetensors"
    path.write_bytes(path.read_bytes()[:length])
    assert "model.safetensors" in refusal(folder)


@pytest.mark.parametrize("name", NOT_TEXTS)
def test_no_other_kind_of_file_is_taken_for_weights(folder, name):
    (folder / "model.safetensors").write_bytes(NOT_TEXTS[name])
    assert "model.safetensors" in refusal(folder)


def test_a_header_that_promises_too_much_is_refused(folder):
    header = json.dumps({"a": {"dtype": "F32", "shape": [2**40, 2**20], "data_offsets": [0, 4]}})
    content = struct.pack("<Q", len(header)) + header.encode() + bytes(4)
    (folder / "model.safetensors").write_bytes(content)
    refusal(folder)
    (folder / "model.safetensors").write_bytes(struct.pack("<Q", 2**62) + bytes(100))
    refusal(folder)


def test_pickles_beside_the_weights_are_never_read(folder):
    for name in ("model.pt", "pytorch_model.bin", "config.pkl"):
        (folder / name).write_bytes(NOT_TEXTS["runs-code.pkl"])
    load(folder)
    assert not has_run_code()


@pytest.mark.parametrize("file", ["config.json", "model.safetensors"])
def test_a_link_out_of_the_folder_is_refused(folder, tmp_path, file):
    (folder / file).rename(tmp_path / file)
    (folder / file).symlink_to(tmp_path / file)
    assert "link" in refusal(folder)


def test_links_as_the_hub_cache_has_them_are_followed(whole, tmp_path):
    snapshot = tmp_path / "models--a--b" / "snapshots" / "0123"
    blobs = tmp_path / "models--a--b" / "blobs"
    shutil.copytree(whole, blobs)
    snapshot.mkdir(parents=True)
    for file in blobs.iterdir():
        (snapshot / file.name).symlink_to(f"../../blobs/{file.name}")
    assert load(snapshot).name == "whole"


def test_a_link_that_leads_nowhere_or_around_is_refused(folder):
    (folder / "config.json").unlink()
    (folder / "config.json").symlink_to("config.json")
    refusal(folder)


def test_a_folder_or_a_pipe_instead_of_a_file_is_refused(folder):
    (folder / "config.json").unlink()
    os.mkfifo(folder / "config.json")
    assert "config.json" in refusal(folder)
    (folder / "config.json").unlink()
    (folder / "config.json").mkdir()
    assert "config.json" in refusal(folder)


@pytest.mark.skipif(sys.platform != "linux", reason="names are any bytes on Linux alone")
def test_weights_under_a_name_that_is_no_utf_8_are_not_called_damaged(folder):
    said = refusal(folder.rename(folder.with_name(os.fsdecode(b"00\xff02"))))
    assert "its path is not UTF-8" in said


def test_a_folder_that_may_not_be_read_says_so(folder, monkeypatch):
    def refuse(self):
        raise PermissionError(13, "Permission denied", str(self))

    monkeypatch.setattr(Path, "is_file", refuse)
    assert "permission denied" in refusal(folder)
    monkeypatch.setattr(Path, "is_dir", refuse)
    assert "permission denied" in refusal(folder)
