"""Loading a checkpoint: every name, shape and value is checked, and no code in it is run."""

import hashlib
import json
import re
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open

from interp.corpus.split import Split
from interp.errors import CheckpointError, InputError, reason
from interp.model import ModelConfig, Transformer
from interp.text import Content

CONFIG_FILE = "config.json"
WEIGHTS_FILE = "model.safetensors"
CARD_FILE = "README.md"
FORMAT_VERSION = 1
DEFAULT_NAME = "en-zh-per-layer"

_MOST_CONFIG_BYTES = 64 << 20
_LFS_POINTER = b"version https://git-lfs"
_HUB_ID = re.compile(r"[\w.-]+/[\w.-]+")


@dataclass(frozen=True)
class Checkpoint:
    """A trained model with what is known of its training.

    Attributes:
        name: What the model is called.
        folder: Where it was read from.
        model: In float32, ready to be read from, without gradients being needed.
        config: Everything in config.json; see docs/formats.md. Unknown is None.
        fingerprint: SHA-256 of the weights file, in hex.
        split: Which texts training left out.
    """

    name: str
    folder: Path
    model: Transformer
    config: dict[str, Any]
    fingerprint: str
    split: Split

    def is_held_out(self, content: Content) -> bool | None:
        """True if training is known to have left this text out; None if that is not known."""
        return self.split.is_held_out(content) or None


def default_checkpoint() -> Path:
    """The folder of the checkpoint that comes with the package.

    Raises:
        CheckpointError: The installation lacks it.
    """
    inside = Path(str(files("interp"))) / "_checkpoints" / DEFAULT_NAME
    beside = Path(str(files("interp"))).parent / "checkpoints" / DEFAULT_NAME
    for folder in (inside, beside):
        if (folder / CONFIG_FILE).is_file():
            return folder
    raise CheckpointError(
        f"load checkpoint: this installation lacks the default checkpoint {DEFAULT_NAME}",
        "Install interp again, or name a checkpoint with --ckpt.",
    )


def load(path_or_hub_id: str | Path | None = None, *, device: str | None = None) -> Checkpoint:
    """A checkpoint from a folder or from the Hub.

    Args:
        path_or_hub_id: A folder, or ``OWNER/NAME`` on the Hub where there is no such folder;
            None is the one that comes with the package.
        device: Where the model goes, such as ``cuda``; the CPU by default.

    Raises:
        CheckpointError: It is missing, incomplete, damaged, or does not fit together.
        InputError: There is no such device.
    """
    folder = default_checkpoint() if path_or_hub_id is None else _folder(str(path_or_hub_id))
    config = _read_config(folder)
    try:
        architecture = ModelConfig.from_dict(_entry(config, "architecture", dict))
        split = _entry(config, "split", dict)
        held_out = Split(
            fraction=float(split["fraction"]),
            hashes=frozenset(int(value, 16) for value in split["hashes"]),
        )
        name = _entry(config, "name", str)
        _check_facts(config, architecture)
    except (ValueError, KeyError, TypeError) as error:
        said = f"{error.args[0]} is missing" if isinstance(error, KeyError) else str(error)
        raise CheckpointError(f"load checkpoint {folder}: {CONFIG_FILE}: {said}") from error
    weights = _inside(folder, WEIGHTS_FILE)
    model = _read_model(weights, architecture)
    try:
        model.to(device or "cpu")
    except (RuntimeError, AssertionError, NotImplementedError) as error:
        raise InputError(
            f"device {device!r} cannot be used here: {str(error).splitlines()[0]}",
            "Leave --device out for the CPU.",
        ) from error
    with weights.open("rb") as file:
        fingerprint = hashlib.file_digest(file, "sha256").hexdigest()
    return Checkpoint(name, folder, model, config, fingerprint, held_out)


def _folder(path_or_hub_id: str) -> Path:
    path = Path(path_or_hub_id)
    try:
        if path.is_dir():
            return path
        exists = path.exists()
    except (OSError, ValueError):
        exists = False
    if exists:
        raise CheckpointError(
            f"load checkpoint {path_or_hub_id!r}: it is a file; a checkpoint is a folder with "
            f"{CONFIG_FILE} and {WEIGHTS_FILE}",
            "Name the folder.",
        )
    if not _HUB_ID.fullmatch(path_or_hub_id):
        raise CheckpointError(
            f"load checkpoint {path_or_hub_id!r}: there is no such folder",
            "Name a folder, or OWNER/NAME on the Hub.",
        )
    return _download(path_or_hub_id)


def _download(hub_id: str) -> Path:
    import httpx
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HfHubHTTPError, HFValidationError, LocalEntryNotFoundError

    try:
        return Path(
            snapshot_download(hub_id, allow_patterns=[CONFIG_FILE, WEIGHTS_FILE, CARD_FILE])
        )
    except (
        HfHubHTTPError,
        HFValidationError,
        LocalEntryNotFoundError,
        httpx.HTTPError,
        OSError,
    ) as error:
        words = str(error).strip().splitlines() or [type(error).__name__]
        raise CheckpointError(
            f"load checkpoint {hub_id!r}: there is no such folder, and the Hub did not give it: "
            f"{words[0][:200]}",
            "Check the name, and that there is a network.",
        ) from error


def _inside(folder: Path, name: str) -> Path:
    """A file of the folder; a link may lead to the Hub's own cache, and nowhere else."""
    path = folder / name
    if not path.is_file():
        raise CheckpointError(
            f"load checkpoint {folder}: it has no {name}",
            f"A checkpoint is a folder with {CONFIG_FILE} and {WEIGHTS_FILE}.",
        )
    target = path.resolve()
    blobs = folder.resolve().parent.parent / "blobs"
    if target.parent not in (folder.resolve(), blobs):
        raise CheckpointError(
            f"load checkpoint {folder}: {name} is a link out of the folder", "Copy the file there."
        )
    return path


def _read_config(folder: Path) -> dict[str, Any]:
    path = _inside(folder, CONFIG_FILE)
    try:
        if path.stat().st_size > _MOST_CONFIG_BYTES:
            raise CheckpointError(f"load checkpoint {folder}: {CONFIG_FILE} is over 64 MiB")
        config = json.loads(path.read_bytes())
    except OSError as error:
        raise CheckpointError(
            f"load checkpoint {folder}: {CONFIG_FILE}: {reason(error)}"
        ) from error
    except (ValueError, RecursionError) as error:
        raise CheckpointError(
            f"load checkpoint {folder}: {CONFIG_FILE} is not JSON: {str(error).splitlines()[0]}",
            "Download or save the checkpoint again.",
        ) from error
    version = config.get("format_version") if isinstance(config, dict) else None
    if version != FORMAT_VERSION:
        raise CheckpointError(
            f"load checkpoint {folder}: {CONFIG_FILE} has format_version {version!r}; "
            f"this version of interp reads {FORMAT_VERSION}",
        )
    return config


def _check_facts(config: dict[str, Any], architecture: ModelConfig) -> None:
    counts = config.get("token_counts")
    if counts is not None and not (
        isinstance(counts, list)
        and len(counts) == architecture.d_vocab
        and all(isinstance(count, int) and count >= 0 for count in counts)
    ):
        raise ValueError(f"token_counts must be {architecture.d_vocab} counts, or null")
    if config.get("step") is not None and not isinstance(config["step"], int):
        raise ValueError(f"step must be a number, not {config['step']!r}")
    for key in ("recipe", "corpora", "held_out_loss", "versions"):
        if not isinstance(config.get(key), dict | None):
            raise ValueError(f"{key} must be a table, or null")


def _read_model(path: Path, architecture: ModelConfig) -> Transformer:
    what = f"load checkpoint {path.parent}: {path.name}"
    try:
        with path.open("rb") as file:
            if file.read(len(_LFS_POINTER)) == _LFS_POINTER:
                raise CheckpointError(
                    f"{what} is a Git LFS pointer, not the weights", "Run `git lfs pull` there."
                )
        with safe_open(path, framework="pt") as file:
            shapes = {name: tuple(file.get_slice(name).get_shape()) for name in file.keys()}  # noqa: SIM118
            model = _empty_model(architecture, shapes, what)
            state = {}
            for name, parameter in model.named_parameters():
                tensor = file.get_tensor(name)
                if not tensor.is_floating_point():
                    raise CheckpointError(f"{what}: {name} is {tensor.dtype}, not a float type")
                if not bool(tensor.isfinite().all()):
                    raise CheckpointError(
                        f"{what}: {name} has values that are not finite",
                        "Its training diverged; take an earlier checkpoint.",
                    )
                state[name] = tensor.to(torch.float32)
                assert parameter.shape == tensor.shape
    except SafetensorError as error:
        raise CheckpointError(
            f"{what} is damaged or not in safetensors format: {str(error).splitlines()[0]}",
            "Download or save it again.",
        ) from error
    except OSError as error:
        raise CheckpointError(f"{what}: {reason(error)}") from error
    model.load_state_dict(state, assign=True)
    model.requires_grad_(False)
    return model


def _empty_model(
    architecture: ModelConfig, shapes: dict[str, tuple[int, ...]], what: str
) -> Transformer:
    """A model without memory for its weights, once the file is known to have just these."""
    if architecture.n_layers > len(shapes):  # before anything is built for each layer
        raise CheckpointError(
            f"{what} has {len(shapes)} tensors, too few for the {architecture.n_layers} layers "
            f"of {CONFIG_FILE}"
        )
    with torch.device("meta"):
        model = Transformer(architecture, seed=None)
    expected = {name: tuple(p.shape) for name, p in model.named_parameters()}
    for name in sorted(expected.keys() ^ shapes.keys()):
        problem = "lacks" if name in expected else "has the unknown tensor"
        raise CheckpointError(f"{what} {problem} {name[:100]!r}; {CONFIG_FILE} says otherwise")
    for name, shape in expected.items():
        if shapes[name] != shape:
            raise CheckpointError(
                f"{what}: {name} has shape {list(shapes[name])}, "
                f"{CONFIG_FILE} makes it {list(shape)}"
            )
    return model


def _entry(config: dict[str, Any], key: str, kind: type) -> Any:
    value = config.get(key)
    if not isinstance(value, kind):
        raise ValueError(f"{key} must be a {'table' if kind is dict else 'text'}, not {value!r}")
    return value
