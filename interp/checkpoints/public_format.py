"""Reading the public experiment's checkpoints, which are pickles: as data, never as code.

The file is a ``torch.save`` of ``{step, model_state_dict, model_config}``. Its rotation is
interleaved, shared increments are softplus, per-layer ones 10 x sigmoid, and the RMSNorm before
a per-layer DeltaMLP has PyTorch's default epsilon.
"""

import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from interp.checkpoints.config_file import LONGEST_NAME
from interp.checkpoints.save import save
from interp.checkpoints.weights_file import empty_model, refuse_git_lfs_pointer
from interp.errors import CheckpointError, reason
from interp.model import IncrementsConfig, ModelConfig, Transformer
from interp.text import D_VOCAB, display

_WRAPPERS = ("_orig_mod.", "module.")
_DELTA_NORM_EPS = torch.finfo(torch.float32).eps  # 1.19e-7
_REQUIRED = {"dim", "n_heads", "n_layers", "intermediate_dim", "vocab_size", "max_seq_len"}
_REPRESENTED: Mapping[str, tuple[Any, ...]] = {
    "pos_encoding": ("rope", "selective_rope"),
    "norm_type": ("rmsnorm",),
    "activation": ("swiglu",),
    "decay": ("none", None),
}
"""Settings with the values that a `Transformer` can represent."""

_READ = {
    *_REQUIRED,
    *_REPRESENTED,
    *("rope_theta", "norm_eps", "per_layer_delta", "per_head_delta", "delta_hidden_dim"),
    *("max_delta", "head_dim", "effective_delta_hidden_dim"),
    *("dropout", "init_std"),  # matter in training alone
}


def import_checkpoint(file: Path, out: Path) -> None:
    """Write the public experiment's checkpoint ``file`` as a checkpoint folder ``out``.

    Args:
        file: As ``torch.save`` wrote it.
        out: A folder that does not exist, or is empty.

    Raises:
        CheckpointError: It is damaged, holds anything but tensors and plain values, or is a
            model that cannot be represented here, which is named.
    """
    what = f"import {file}"
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise CheckpointError(f"{what}: {out} exists and is not empty", "Name another --out.")
    content = _read(file, what)
    try:
        config = _config(content["model_config"], what)
        state = {_own_name(name): tensor for name, tensor in content["model_state_dict"].items()}
        step = content.get("step")
    except (KeyError, AttributeError, TypeError, ValueError) as error:
        said = f"it has no {error}" if isinstance(error, KeyError) else str(error)
        raise CheckpointError(f"{what}: {said}") from error
    if config.d_vocab != D_VOCAB:
        raise CheckpointError(
            f"{what}: vocab_size = {config.d_vocab}; only bytes, {D_VOCAB}, are read"
        )
    model = _model(config, state, what)
    facts = {"step": step} if isinstance(step, int) else {}
    name = display(file.stem.encode("utf-8", "surrogateescape"))[:LONGEST_NAME]
    save(out, model, name=name, facts={"imported_from": file.name, **facts})


def _read(file: Path, what: str) -> dict[str, Any]:
    refuse_git_lfs_pointer(file, what)
    try:
        with warnings.catch_warnings():  # of pickle protocols, in files that are refused below
            warnings.simplefilter("ignore")
            content = torch.load(file, map_location="cpu", weights_only=True)
    except OSError as error:
        raise CheckpointError(f"{what}: {reason(error)}") from error
    except Exception as error:  # a damaged pickle raises whatever its opcodes lead to
        raise CheckpointError(
            f"{what}: it is damaged, or holds more than tensors and plain values; nothing in it "
            "was run",
            "It must be a torch.save of {step, model_state_dict, model_config}.",
        ) from error
    if not isinstance(content, dict):
        raise CheckpointError(f"{what}: it holds a {type(content).__name__}, not a checkpoint")
    return content


def _config(settings: Mapping[str, Any], what: str) -> ModelConfig:
    for name, value in settings.items():
        if not (isinstance(name, str) and isinstance(value, bool | int | float | str | None)):
            raise CheckpointError(f"{what}: the setting {name!r:.40} is no plain value")
    for name, known in _REPRESENTED.items():
        value = settings.get(name, known[0])
        if value not in known:
            allowed = " or ".join(str(v) for v in known if v is not None)
            raise CheckpointError(
                f"{what}: {name} = {value!r} cannot be represented, only {allowed}"
            )
    for name in ("per_layer_delta", "per_head_delta"):
        if not isinstance(settings.get(name, False), bool):
            raise CheckpointError(f"{what}: {name} must be true or false")
    unknown = sorted(set(settings) - _READ)
    if unknown:
        raise CheckpointError(f"{what}: the setting {unknown[0]!r} is not known here")
    missing = sorted(_REQUIRED - set(settings))
    if missing:
        raise CheckpointError(f"{what}: model_config has no {missing[0]}")
    is_per_layer = settings.get("per_layer_delta", False)
    position = {"base": settings.get("rope_theta", 10_000.0), "layout": "interleaved"}
    if settings.get("pos_encoding", "rope") == "rope":
        position["encoding"] = "rope"
    else:
        position |= {
            "encoding": "increments",
            "scope": "per_layer" if is_per_layer else "shared",
            "per_head": settings.get("per_head_delta", False),
            "d_hidden": settings.get("delta_hidden_dim") or settings["dim"] // 4,
            "max_increment": settings.get("max_delta", 10.0) if is_per_layer else None,
            "norm_eps": _DELTA_NORM_EPS,
        }
    return ModelConfig.from_dict(
        {
            "d_model": settings["dim"],
            "n_heads": settings["n_heads"],
            "n_layers": settings["n_layers"],
            "d_mlp": settings["intermediate_dim"],
            "d_vocab": settings["vocab_size"],
            "n_ctx": settings["max_seq_len"],
            "norm_eps": settings.get("norm_eps", 1e-5),
            "position": position,
        }
    )


def _own_name(name: str) -> str:
    """``name`` without the prefixes that wrappers put before it, as often as they did."""
    while name.startswith(_WRAPPERS):
        name = name[len(next(w for w in _WRAPPERS if name.startswith(w))) :]
    return name


def _model(config: ModelConfig, state: dict[str, Tensor], what: str) -> Transformer:
    left = dict(state)

    c, m = config.d_model, config.d_mlp

    def take(name: str, *shape: int) -> Tensor:
        if name not in left:
            raise CheckpointError(f"{what}: it has no weight {name}")
        tensor = left.pop(name)
        if not (
            isinstance(tensor, Tensor)
            and tensor.is_floating_point()
            and tensor.layout == torch.strided
            and not tensor.is_meta
        ):
            raise CheckpointError(f"{what}: {name} is not a dense float tensor")
        if shape and tensor.shape != shape:
            raise CheckpointError(
                f"{what}: {name} has shape {list(tensor.shape)}, its model_config makes it "
                f"{list(shape)}"
            )
        if not bool(tensor.isfinite().all()):
            raise CheckpointError(f"{what}: {name} has values that are not finite")
        return tensor.float()

    if config.n_layers > len(state):  # before anything is built for each layer
        raise CheckpointError(f"{what}: {len(state)} weights are too few for its layers")
    weights = {"embed.W_E": take("tok_emb.weight"), "ln_final.w": take("final_norm.weight")}
    for layer in range(config.n_layers):
        theirs, ours = f"layers.{layer}", f"blocks.{layer}"
        weights |= {
            f"{ours}.ln1.w": take(f"{theirs}.attn_norm.weight"),
            f"{ours}.ln2.w": take(f"{theirs}.ffn_norm.weight"),
            f"{ours}.attn.W_QKV": torch.cat(
                [take(f"{theirs}.attn.w{name}.weight", c, c) for name in "qkv"]
            ),
            f"{ours}.attn.W_out": take(f"{theirs}.attn.wo.weight"),
            f"{ours}.mlp.W_gate_in": torch.cat(
                [take(f"{theirs}.ffn.{name}.weight", m, c) for name in ("w_gate", "w_up")]
            ),
            f"{ours}.mlp.W_proj": take(f"{theirs}.ffn.w_down.weight"),
        }
    if isinstance(config.position, IncrementsConfig):
        weights |= _increment_weights(config, take)
    tied = left.get("lm_head.weight")  # saved under both names
    if tied is not None and not torch.equal(take("lm_head.weight"), weights["embed.W_E"]):
        left["lm_head.weight"] = tied
    if left:
        raise CheckpointError(f"{what}: the weight {min(left)} has no place in such a model")
    return _loaded(config, weights, what)


def _increment_weights(config: ModelConfig, take: Any) -> dict[str, Tensor]:
    ends = ("fc1.weight", "fc1.bias", "fc2.weight", "fc2.bias")
    if getattr(config.position, "scope", None) == "shared":
        return {f"position.shared.{end}": take(f"delta_mlp.{end}") for end in ends}
    weights = {}
    for layer in range(config.n_layers):
        weights[f"position.layers.{layer}.0.w"] = take(f"delta_mlps.{layer}.norm.weight")
        for end in ends:
            weights[f"position.layers.{layer}.1.{end}"] = take(f"delta_mlps.{layer}.{end}")
    return weights


def _loaded(config: ModelConfig, weights: dict[str, Tensor], what: str) -> Transformer:
    shapes = {name: tuple(tensor.shape) for name, tensor in weights.items()}
    model = empty_model(config, shapes, what, said_by="its model_config")
    model.load_state_dict(weights, assign=True)
    return model
