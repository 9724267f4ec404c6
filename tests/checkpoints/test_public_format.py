import json
import os
from pathlib import Path

import pytest
import torch
from bad_inputs import NOT_TEXTS
from public_model import random_state, run

from interp.checkpoints import load
from interp.checkpoints.public_format import import_checkpoint
from interp.cli import main
from interp.errors import CheckpointError
from interp.text import encode

CONFIG = {
    "dim": 32,
    "n_heads": 2,
    "n_layers": 3,
    "intermediate_dim": 40,
    "vocab_size": 257,
    "max_seq_len": 64,
    "rope_theta": 500.0,
    "norm_eps": 1e-5,
    "dropout": 0.0,
    "pos_encoding": "selective_rope",
    "norm_type": "rmsnorm",
    "activation": "swiglu",
    "init_std": 0.02,
    "delta_hidden_dim": 8,
    "per_layer_delta": True,
    "per_head_delta": False,
    "decay": "none",
}
TEXT = "New York 人工智能".encode()
KINDS = [
    {"pos_encoding": "rope"},
    {"per_layer_delta": False},
    {"per_layer_delta": False, "per_head_delta": True},
    {"per_layer_delta": True},
    {"per_layer_delta": True, "per_head_delta": True},
]
SHARED = Path(__file__).parents[3] / "shared" / "checkpoints"


def write(folder: Path, *, prefix: str = "", state: dict | None = None, **settings) -> Path:
    config = CONFIG | settings
    state = random_state(config) if state is None else state
    file = folder / "public.pt"
    named = {prefix + name: tensor for name, tensor in state.items()}
    torch.save({"step": 7, "model_state_dict": named, "model_config": config}, file)
    return file


@pytest.mark.parametrize(
    "settings", KINDS, ids=lambda s: "-".join(f"{k}={v}" for k, v in s.items())
)
def test_imported_model_computes_what_the_public_one_does(tmp_path, settings):
    import_checkpoint(write(tmp_path, **settings), tmp_path / "out")
    model = load(tmp_path / "out").model
    ids = torch.from_numpy(encode(TEXT))
    logits, cache = model.run_with_cache(ids[None])
    config = CONFIG | settings
    expected, increments = run(config, random_state(config), ids.tolist())
    torch.testing.assert_close(logits[0], expected, atol=1e-4, rtol=1e-4)
    for layer in range(config["n_layers"]):
        found = cache[f"blocks.{layer}.attn.hook_increment"][0].expand(-1, config["n_heads"])
        torch.testing.assert_close(found, increments[layer], atol=1e-4, rtol=1e-4)
    if config["pos_encoding"] != "rope":  # else the oracle would say little
        assert increments.std() > 0.1


def test_wrappers_before_names_are_dropped_however_often_they_stand(tmp_path):
    plain = write(tmp_path)
    import_checkpoint(plain, tmp_path / "plain")
    wrapped = write(tmp_path, prefix="_orig_mod.module._orig_mod.")
    import_checkpoint(wrapped, tmp_path / "wrapped")
    assert load(tmp_path / "plain").fingerprint == load(tmp_path / "wrapped").fingerprint
    assert load(tmp_path / "wrapped").config["step"] == 7


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"pos_encoding": "pope"}, "pope"),
        ({"norm_type": "layernorm"}, "layernorm"),
        ({"activation": "gelu"}, "gelu"),
        ({"decay": "alibi"}, "decay = 'alibi'"),
        ({"window": 9}, "window"),
        ({"n_layers": 10**9}, "too few"),
        ({"dim": 10**9}, "shape"),
        ({"dim": "wide"}, "wide"),
    ],
)
def test_what_cannot_be_represented_is_named_and_nothing_is_written(tmp_path, settings, said):
    file = write(tmp_path, state=random_state(CONFIG), **settings)
    with pytest.raises(CheckpointError, match=said):
        import_checkpoint(file, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_missing_an_unknown_and_a_broken_weight_are_named(tmp_path):
    state = random_state(CONFIG)
    without = {name: t for name, t in state.items() if name != "layers.1.attn.wk.weight"}
    broken = state | {"final_norm.weight": torch.full((32,), torch.nan)}
    for changed, said in [
        (without, r"no weight layers\.1\.attn\.wk\.weight"),
        (state | {"layers.0.attn.bias": torch.ones(1)}, r"layers\.0\.attn\.bias"),
        (broken, "not finite"),
        (state | {"lm_head.weight": "no tensor"}, r"lm_head\.weight is not a dense float tensor"),
        (state | {"lm_head.weight": torch.ones(257, 32)}, r"lm_head\.weight has no place"),
        (state | {"final_norm.weight": torch.ones(32).to_sparse()}, "not a dense float tensor"),
        (state | {"final_norm.weight": torch.ones(32, device="meta")}, "not a dense float tensor"),
    ]:
        with pytest.raises(CheckpointError, match=said):
            import_checkpoint(write(tmp_path, state=changed), tmp_path / "out")


class Marker:
    """Leaves a file behind when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self):
        return Path.touch, (self.path,)


def test_code_in_a_file_is_never_run(tmp_path, capsys):
    file = tmp_path / "runs-code.pt"
    torch.save({"model_state_dict": Marker(tmp_path / "ran"), "model_config": {}}, file)
    with pytest.raises(SystemExit) as stopped:
        main(["import", str(file), "--out", str(tmp_path / "out")])
    assert stopped.value.code == 1
    assert "nothing in it was run" in capsys.readouterr().err
    assert not (tmp_path / "ran").exists()
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 cut short", b"plain text", b"\x80\x04N."])
def test_a_file_that_is_no_checkpoint_gives_one_line(tmp_path, content):
    (tmp_path / "x.pt").write_bytes(content)
    with pytest.raises(CheckpointError, match="import"):
        import_checkpoint(tmp_path / "x.pt", tmp_path / "out")
    with pytest.raises(CheckpointError, match="no such file"):
        import_checkpoint(tmp_path / "missing.pt", tmp_path / "out")


def test_a_pipe_is_refused_and_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "x.pt")
    with pytest.raises(CheckpointError, match="no regular file"):
        import_checkpoint(tmp_path / "x.pt", tmp_path / "out")


def test_a_git_lfs_pointer_says_so(tmp_path):
    (tmp_path / "x.pt").write_bytes(NOT_TEXTS["lfs-pointer.safetensors"])
    with pytest.raises(CheckpointError, match="LFS") as refused:
        import_checkpoint(tmp_path / "x.pt", tmp_path / "out")
    assert "git lfs pull" in str(refused.value.hint)


@pytest.mark.skipif(not SHARED.is_dir(), reason="the trained file of this form is not here")
def test_increments_agree_with_an_independent_implementation_on_a_trained_model(tmp_path):
    import_checkpoint(SHARED / "public-format-per-layer.pt", tmp_path / "out")
    model = load(tmp_path / "out").model
    for expected in json.loads((SHARED / "public-format-per-layer.json").read_text()):
        ids = torch.from_numpy(encode(expected["text"].encode()))[None]
        _, cache = model.run_with_cache(ids)
        names = [f"blocks.{layer}.attn.hook_increment" for layer in range(6)]
        found = torch.stack([cache[name][0, 1:, 0] for name in names])
        torch.testing.assert_close(found, torch.tensor(expected["increments"]), atol=1e-4, rtol=0)


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        ({"per_layer_delta": torch.ones(2)}, "'per_layer_delta' is no plain value"),
        ({"rope_theta": [1, 2]}, "'rope_theta' is no plain value"),
        ({"per_head_delta": "yes"}, "per_head_delta must be true or false"),
        ({5: 6}, "the setting 5 is no plain value"),
    ],
)
def test_a_setting_of_another_kind_is_named(tmp_path, setting, said):
    file = tmp_path / "x.pt"
    content = {"model_state_dict": random_state(CONFIG), "model_config": CONFIG | setting}
    torch.save({"step": 7, **content}, file)
    with pytest.raises(CheckpointError, match=said):
        import_checkpoint(file, tmp_path / "out")
