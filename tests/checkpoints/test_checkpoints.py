import hashlib
import json
import os
import resource
import shutil
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import huggingface_hub
import numpy as np
import pytest
import torch
from bad_inputs import NOT_TEXTS, has_run_code
from huggingface_hub.errors import LocalEntryNotFoundError
from safetensors.torch import load_file, save_file
from saved_checkpoint import save_tiny

from interp.checkpoints import load, save
from interp.checkpoints.card import model_card
from interp.corpus.split import Split, document_hash
from interp.errors import CheckpointError, InputError, OutputError
from interp.model import IncrementsConfig, ModelConfig, RopeConfig, Transformer

IDS = torch.tensor([[256, 72, 105, 228, 189, 160]])
HELD_OUT_LOSS = {
    "en": {"nats_per_byte": 1.5, "bits_per_byte": 2.164, "n_bytes": 2000, "n_documents": 3},
    "zh": {"nats_per_byte": 1.1, "bits_per_byte": 1.587, "n_bytes": 3000, "n_documents": 4},
}


@pytest.fixture(scope="module")
def whole(tmp_path_factory) -> Path:
    return save_tiny(tmp_path_factory.mktemp("checkpoints") / "whole")


@pytest.fixture
def folder(whole, tmp_path) -> Path:
    """A copy that a test may damage."""
    return Path(shutil.copytree(whole, tmp_path / "copy"))


def tiny(position: RopeConfig | None = None) -> Transformer:
    sizes = {"d_model": 16, "n_heads": 2, "n_layers": 1, "d_mlp": 8, "n_ctx": 16}
    return Transformer(ModelConfig(**sizes, position=position or IncrementsConfig(d_hidden=4)))


def refusal(path: object, error: type[Exception] = CheckpointError) -> str:
    with pytest.raises(error) as caught:
        load(str(path))
    assert len(str(caught.value).splitlines()) == 1
    assert not has_run_code()
    return str(caught.value)


def change_config(folder: Path, change: Callable[[dict[str, Any]], Any]) -> None:
    config = json.loads((folder / "config.json").read_text("utf-8"))
    change(config)
    (folder / "config.json").write_text(json.dumps(config), "utf-8")


def change_weights(folder: Path, change: Callable[[dict[str, torch.Tensor]], Any]) -> None:
    tensors = load_file(folder / "model.safetensors")
    change(tensors)
    save_file(tensors, folder / "model.safetensors")


@pytest.mark.parametrize(
    "position",
    [
        RopeConfig(layout="interleaved", base=500.0),
        IncrementsConfig(d_hidden=4, scope="shared", per_head=True, max_increment=None),
        IncrementsConfig(d_hidden=4, norm_eps=1.19e-7),
    ],
)
def test_a_model_comes_back_as_it_was_saved(tmp_path, position):
    model = tiny(position)
    save(tmp_path / "saved", model, name="名字")
    checkpoint = load(tmp_path / "saved")
    assert checkpoint.name == "名字"
    assert checkpoint.model.config == model.config
    assert torch.equal(checkpoint.model(IDS), model(IDS))
    assert {p.dtype for p in checkpoint.model.parameters()} == {torch.float32}
    assert not any(p.requires_grad for p in checkpoint.model.parameters())


def test_bfloat16_weights_are_half_the_size_and_come_back_as_float32(tmp_path):
    model = tiny()
    save(tmp_path / "exact", model, name="m")
    save(tmp_path / "rounded", model, name="m", weights="bfloat16")
    sizes = [(tmp_path / f / "model.safetensors").stat().st_size for f in ("exact", "rounded")]
    assert sizes[1] < 0.7 * sizes[0]
    checkpoint = load(tmp_path / "rounded")
    assert checkpoint.config["weights"] == "bfloat16"
    for name, parameter in checkpoint.model.named_parameters():
        exact = dict(model.named_parameters())[name]
        assert torch.equal(parameter, exact.bfloat16().float())


def test_saving_again_gives_the_same_bytes(tmp_path):
    for name in ("one", "two"):
        save(tmp_path / name, tiny(), name="m")
    for file in ("config.json", "model.safetensors", "README.md"):
        contents = {(tmp_path / name / file).read_bytes() for name in ("one", "two")}
        assert len(contents) == 1, file


def test_the_fingerprint_is_the_sha256_of_the_weights(whole):
    expected = hashlib.sha256((whole / "model.safetensors").read_bytes()).hexdigest()
    assert load(whole).fingerprint == expected


def test_a_folder_has_three_files_that_others_may_read(whole):
    assert sorted(f.name for f in whole.iterdir()) == [
        "README.md",
        "config.json",
        "model.safetensors",
    ]
    assert len({f.stat().st_mode for f in whole.iterdir()}) == 1


def test_what_is_not_known_of_the_training_is_null(whole):
    config = load(whole).config
    for key in ("recipe", "corpora", "step", "held_out_loss", "token_counts", "position_span"):
        assert config[key] is None


def test_a_text_is_held_out_only_if_that_is_known(tmp_path):
    split = Split(hashes=frozenset({document_hash(b"kept back"), 3}))
    save(tmp_path / "m", tiny(), name="m", split=split)
    checkpoint = load(tmp_path / "m")
    assert checkpoint.split == split
    assert checkpoint.is_held_out(b"kept back") is True
    assert checkpoint.is_held_out(b"something else") is None


def test_the_card_says_what_is_known(tmp_path):
    facts = {
        "recipe": {"seed": 0, "corpora": {"en": {"train": ["wikimedia/wikipedia"]}}},
        "step": 500,
        "n_steps": 1000,
        "n_bytes_seen": 2_048_000,
        "held_out_loss": HELD_OUT_LOSS,
        "baselines": {"en": {"xz -9e": 2.5, "5-gram": 2.83}, "zh": {"5-gram": 2.41}},
    }
    save(tmp_path / "m", tiny(), name="my model", facts=facts)
    card = (tmp_path / "m" / "README.md").read_text("utf-8")
    assert card.startswith("# my model\n")
    assert "500 of 1,000" in card
    table = [[cell.strip() for cell in row.split("|")] for row in card.splitlines() if "|" in row]
    rows = {row[1]: row[2:-1] for row in table}
    assert rows["en"] == ["3", "2,000", "1.5000", "2.164", "2.500", "2.830"]
    assert rows["zh"] == ["4", "3,000", "1.1000", "1.587", "", "2.410"]
    assert "CC BY-SA 4.0" in card


@pytest.mark.parametrize(
    "facts",
    [
        {},
        {"step": 3},
        {"step": 3, "n_steps": 5},
        {"step": 3, "n_bytes_seen": 10**6},
        {"step": 3, "wall_seconds": 60.0},
        {"held_out_loss": HELD_OUT_LOSS},
    ],
)
def test_a_card_needs_no_fact(tmp_path, facts):
    save(tmp_path / "m", tiny(), name="m", facts=facts)
    assert "None" not in (tmp_path / "m" / "README.md").read_text("utf-8")
    load(tmp_path / "m")


def test_the_card_can_be_made_again_from_the_config(whole):
    card = (whole / "README.md").read_text("utf-8")
    assert model_card(load(whole).config) == card


def test_a_save_that_fails_leaves_the_checkpoint_before_it(folder):
    before = {f.name: f.read_bytes() for f in folder.iterdir()}
    with pytest.raises(ValueError, match="JSON"):
        save(folder, tiny(), name="m", facts={"wall_seconds": float("nan")})
    assert {f.name: f.read_bytes() for f in folder.iterdir()} == before


def test_a_full_disk_is_one_line_and_leaves_the_checkpoint_before_it(folder):
    before = {f.name: f.read_bytes() for f in folder.iterdir()}
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, limits[1]))
    try:
        with pytest.raises(OutputError) as caught:
            save(folder, load(folder).model, name="m")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert "file too large" in str(caught.value)
    assert {f.name: f.read_bytes() for f in folder.iterdir()} == before


def test_a_file_in_the_way_is_one_line(tmp_path):
    (tmp_path / "m").write_text("in the way")
    with pytest.raises(OutputError) as caught:
        save(tmp_path / "m", tiny(), name="m")
    assert len(str(caught.value).splitlines()) == 1


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
        ("split", None, "split"),
        ("split", {}, "fraction"),
        ("split", {"fraction": 2, "hashes": []}, "fraction"),
        ("split", {"fraction": 0, "hashes": ["zz"]}, "config.json"),
        ("split", {"fraction": 0, "hashes": [5]}, "config.json"),
        ("token_counts", [1, 2], "token_counts"),
        ("token_counts", [-1] * 257, "token_counts"),
        ("recipe", "text", "recipe"),
    ],
)
def test_a_wrong_entry_is_named(folder, key, value, words):
    change_config(folder, lambda config: config.update({key: value}))
    assert words in refusal(folder)


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
        ({"d_model": 10**30}, ""),
        ({"n_layers": 10**9}, "10"),
        ({"n_heads": 10**9}, ""),
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


def test_a_folder_that_may_not_be_read_says_so(folder, monkeypatch):
    def refuse(self):
        raise PermissionError(13, "Permission denied", str(self))

    monkeypatch.setattr(Path, "is_file", refuse)
    assert "permission denied" in refusal(folder)
    monkeypatch.setattr(Path, "is_dir", refuse)
    assert "permission denied" in refusal(folder)


def test_an_unknown_device_is_refused(whole):
    for device in ("nonsense", "meta"):
        with pytest.raises(InputError, match=device) as caught:
            load(whole, device=device)
        assert len(str(caught.value).splitlines()) == 1


def test_a_hub_id_is_downloaded_without_anything_but_the_three_files(whole, monkeypatch):
    asked = {}

    def snapshot_download(repo_id, **settings):
        asked.update(repo_id=repo_id, **settings)
        return str(whole)

    monkeypatch.setattr(huggingface_hub, "snapshot_download", snapshot_download)
    assert load("someone/model").name == "whole"
    assert asked["repo_id"] == "someone/model"
    assert sorted(asked["allow_patterns"]) == ["README.md", "config.json", "model.safetensors"]


@pytest.mark.parametrize(
    "error",
    [
        LocalEntryNotFoundError("no network\nand more lines"),
        ConnectionError("Name or service not known"),
        OSError("disk"),
        huggingface_hub.errors.HFValidationError("bad name"),
    ],
)
def test_without_a_network_a_hub_id_is_one_line(error, monkeypatch):
    def fail(*_args, **_settings):
        raise error

    monkeypatch.setattr(huggingface_hub, "snapshot_download", fail)
    assert "someone/model" in refusal("someone/model")


def test_a_folder_comes_before_a_hub_id_of_that_name(whole, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shutil.copytree(whole, tmp_path / "someone" / "model")
    assert load("someone/model").name == "whole"


def test_increments_differ_from_byte_to_byte_in_what_the_tests_load(whole):
    increments = load(whole).model.token_increments()["increment"]
    assert np.unique(increments.numpy()).size > 250
