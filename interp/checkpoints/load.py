"""Loading a checkpoint: every name, shape and value is checked, and no code in it is run."""

import hashlib
import json
import math
import re
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open

from interp.checkpoints.stretch import require_span, stretched_facts
from interp.corpus.split import Split
from interp.errors import CheckpointError, InputError, reason
from interp.files import GIT_LFS_POINTER
from interp.model import ModelConfig, Transformer
from interp.text import Content
from interp.tokenizer import BYTES, Tokenizer, tokenizer_from

CONFIG_FILE = "config.json"
WEIGHTS_FILE = "model.safetensors"
CARD_FILE = "README.md"
FORMAT_VERSION = 1
DEFAULT_NAME = "en-zh-per-layer"

FACTS = (
    "recipe",
    "corpora",
    "token_counts",
    "step",
    "n_steps",
    "n_bytes_seen",
    "wall_seconds",
    "hardware",
    "held_out_loss",
    "position_span",
    "baselines",
)
"""Keys of a config that training fills in; None where they are unknown."""

LONGEST_NAME = 200
_MOST_CONFIG_BYTES = 64 << 20
_TOO_LARGE = 2**63
_COUNTS = {"step", "n_steps", "n_bytes_seen", "n_documents", "n_bytes"}
_NUMBERS = {"wall_seconds", "nats_per_byte", "bits_per_byte", "passes"}
_BY_CORPUS = ("corpora", "held_out_loss", "baselines")
_HASH = re.compile("[0-9a-f]{16}")
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
        tokenizer: What its tokens are.
    """

    name: str
    folder: Path
    model: Transformer
    config: dict[str, Any]
    fingerprint: str
    split: Split
    tokenizer: Tokenizer = BYTES

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


def load(
    path_or_hub_id: str | Path | None = None,
    *,
    device: str | None = None,
    rope_scaling: str | None = None,
) -> Checkpoint:
    """A checkpoint from a folder or from the Hub.

    Args:
        path_or_hub_id: A folder, or ``OWNER/NAME`` on the Hub where there is no such folder;
            None is the one that comes with the package.
        device: Where the model goes, such as ``cuda``; the CPU by default.
        rope_scaling: How rotary positions are stretched to read beyond the training length:
            ``pi:2``, ``ntk:2`` or ``yarn:2`` for twice the length. The model's n_ctx becomes
            that length, and its name says how it was stretched.

    Raises:
        CheckpointError: It is missing, incomplete, damaged, or does not fit together; or it
            has no positions to stretch, or stretched ones.
        InputError: There is no such device.
        UsageError: ``rope_scaling`` is no scaling.
    """
    folder = default_checkpoint() if path_or_hub_id is None else _folder(str(path_or_hub_id))
    config = _read_config(folder)
    try:
        architecture = ModelConfig.from_dict(_entry(config, "architecture", dict))
        held_out = _split(_entry(config, "split", dict))
        name = _entry(config, "name", str)
        require_name(name)
        tokenizer = _tokenizer(config, architecture)
        _check_facts(config, architecture)
        require_span(config, architecture)
        config = _with_unknowns(config)
    except (ValueError, KeyError, TypeError, OverflowError) as error:
        said = f"{error.args[0]} is missing" if isinstance(error, KeyError) else str(error)
        raise CheckpointError(f"load checkpoint {folder}: {CONFIG_FILE}: {said}") from error
    if rope_scaling is not None:
        architecture, config = stretched_facts(config, architecture, rope_scaling, folder=folder)
        name = f"{name} ({rope_scaling})"
    weights = _inside(folder, WEIGHTS_FILE)
    model = _read_model(weights, architecture)
    to_device(model, device)
    with weights.open("rb") as file:
        fingerprint = hashlib.file_digest(file, "sha256").hexdigest()
    return Checkpoint(name, folder, model, config, fingerprint, held_out, tokenizer)


def require_name(name: str) -> None:
    """Raise `ValueError` unless ``name`` can stand in tables, terminals and titles."""
    if not (name.isprintable() and 0 < len(name) <= LONGEST_NAME):
        raise ValueError(
            f"name must be 1 to {LONGEST_NAME} printable characters, not {name[:100]!a}"
        )


def to_device(model: Transformer, device: str | None) -> torch.device:
    """Move ``model`` to a device by its name; None is the CPU.

    Raises:
        InputError: There is no such device.
    """
    try:
        place = torch.device(device or "cpu")
        if place.type == "meta":
            raise RuntimeError("it holds no values")
        model.to(place)
    except (RuntimeError, AssertionError, NotImplementedError) as error:
        raise InputError(
            f"device {device!r} cannot be used here: {str(error).partition(chr(10))[0]}",
            "Leave --device out for the CPU.",
        ) from error
    return place


def _folder(path_or_hub_id: str) -> Path:
    path = Path(path_or_hub_id)
    try:
        if path.is_dir():
            return path
        exists = path.exists()
    except PermissionError as error:
        raise CheckpointError(f"load checkpoint {path_or_hub_id!r}: {reason(error)}") from error
    except (OSError, ValueError):  # too long, or with a NUL: no name of a file
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
    try:
        is_file = path.is_file()
    except OSError as error:
        raise CheckpointError(f"load checkpoint {folder}: {name}: {reason(error)}") from error
    if not is_file:
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
        content = path.read_bytes()
        config = json.loads(content, parse_float=_finite, parse_constant=_finite)
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
    if type(version) is not int or version != FORMAT_VERSION:
        raise CheckpointError(
            f"load checkpoint {folder}: {CONFIG_FILE} has format_version {version!r}; "
            f"this version of interp reads {FORMAT_VERSION}",
        )
    return config


def _finite(written: str) -> float:
    """The number; ``NaN`` and ``Infinity`` are no JSON, and 1e999 no number to work with."""
    number = float(written)
    if not math.isfinite(number):
        raise ValueError(f"{written[:40]} is not a finite number")
    return number


def _tokenizer(config: dict[str, Any], architecture: ModelConfig) -> Tokenizer:
    tokenizer = tokenizer_from(_entry(config, "tokenizer", dict))
    if architecture.d_vocab != tokenizer.d_vocab:
        raise ValueError(
            f"d_vocab must be that of the tokenizer, {tokenizer.d_vocab}, "
            f"not {architecture.d_vocab}"
        )
    return tokenizer


def _split(split: dict[str, Any]) -> Split:
    fraction, last, hashes = split["fraction"], split.get("last", 0), split["hashes"]
    for name, value in (("fraction", fraction), ("last", last)):
        if not _is_number(value):
            raise ValueError(f"split.{name} must be a number, not {value!r:.40}")
    if not (isinstance(hashes, list) and all(_HASH.fullmatch(str(value)) for value in hashes)):
        raise ValueError("split.hashes must be a list of hexadecimal numbers of 16 digits")
    found = frozenset(int(value, 16) for value in hashes)
    return Split(fraction=float(fraction), hashes=found, last=float(last))


def _check_facts(config: dict[str, Any], architecture: ModelConfig) -> None:
    """Raise `ValueError` where what is said of the training is of another kind than it must be.

    Null is unknown, and so is what is left out.
    """
    counts = config.get("token_counts")
    if counts is not None and not (
        isinstance(counts, list)
        and len(counts) == architecture.d_vocab
        and all(_is_count(count) for count in counts)
    ):
        raise ValueError(f"token_counts must be {architecture.d_vocab} counts, or null")
    for key in ("recipe", "versions", *_BY_CORPUS):
        if not isinstance(config.get(key), dict | None):
            raise ValueError(f"{key} must be a table, or null")
    _check_numbers(config, "")
    for key in _BY_CORPUS:
        for name, facts in (config.get(key) or {}).items():
            if not isinstance(facts, dict | None):
                raise ValueError(f"{key}.{name[:40]} must be a table, or null")
            _check_numbers(facts or {}, f"{key}.{name[:40]}.")
            if key == "baselines" and not all(map(_is_number, (facts or {}).values())):
                raise ValueError(f"{key}.{name[:40]} must be a table of numbers, or null")


def _with_unknowns(config: dict[str, Any]) -> dict[str, Any]:
    """The config with every fact that it leaves out; of a corpus nothing may be known."""
    known: dict[str, Any] = {**dict.fromkeys(FACTS), **config}
    for key in _BY_CORPUS:
        if known[key] is not None:
            known[key] = {name: facts or {} for name, facts in known[key].items()}
    return known


def _check_numbers(facts: dict[str, Any], prefix: str) -> None:
    kinds = {"a count": (_COUNTS, _is_count), "a number": (_NUMBERS, _is_number)}
    for kind, (keys, is_of_kind) in kinds.items():
        for key in keys & facts.keys():
            if facts[key] is not None and not is_of_kind(facts[key]):
                raise ValueError(f"{prefix}{key} must be {kind}, or null, not {facts[key]!r:.40}")


def _is_number(value: Any) -> bool:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return is_number and abs(value) < _TOO_LARGE


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and _is_number(value) and value >= 0


def _read_model(path: Path, architecture: ModelConfig) -> Transformer:
    what = f"load checkpoint {path.parent}: {path.name}"
    refuse_git_lfs_pointer(path, what)
    try:
        with safe_open(path, framework="pt") as file:
            shapes = {name: tuple(file.get_slice(name).get_shape()) for name in file.keys()}  # noqa: SIM118
            model = empty_model(architecture, shapes, what)
            state = {}
            for name, parameter in model.named_parameters():
                tensor = file.get_tensor(name)
                if not tensor.is_floating_point():
                    raise CheckpointError(f"{what}: {name} is {tensor.dtype}, not a float type")
                tensor = tensor.to(torch.float32)  # a float64 may leave its range
                if not bool(tensor.isfinite().all()):
                    raise CheckpointError(
                        f"{what}: {name} has values that are not finite",
                        "Its training diverged; take an earlier checkpoint.",
                    )
                state[name] = tensor
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


def refuse_git_lfs_pointer(path: Path, what: str) -> None:
    """Say so where Git has not fetched the weights.

    Args:
        path: The file of the weights.
        what: What is being read, for the message.

    Raises:
        CheckpointError: It is such a pointer, or cannot be read.
    """
    try:
        with path.open("rb") as file:
            head = file.read(len(GIT_LFS_POINTER))
    except OSError as error:
        raise CheckpointError(f"{what}: {reason(error)}") from error
    if head == GIT_LFS_POINTER:
        raise CheckpointError(
            f"{what}: it is a Git LFS pointer, not the weights", "Run `git lfs pull` there."
        )


def empty_model(
    architecture: ModelConfig,
    shapes: dict[str, tuple[int, ...]],
    what: str,
    *,
    said_by: str = CONFIG_FILE,
) -> Transformer:
    """A model without memory for its weights, once they are known to be just these.

    Args:
        architecture: What the model should be.
        shapes: By name, of the weights that there are.
        what: What is being read, for messages.
        said_by: Where the architecture is from, for messages.

    Raises:
        CheckpointError: A weight is missing, unknown or of another shape.
    """
    if architecture.n_layers > len(shapes):  # before anything is built for each layer
        raise CheckpointError(
            f"{what} has {len(shapes)} tensors, too few for the {architecture.n_layers} layers "
            f"of {said_by}"
        )
    try:
        with torch.device("meta"):
            model = Transformer(architecture, seed=None)
    except (RuntimeError, TypeError, OverflowError) as error:  # more than 2^63 bytes
        raise CheckpointError(
            f"{what}: no model can have the sizes that {said_by} gives"
        ) from error
    expected = {name: tuple(p.shape) for name, p in model.named_parameters()}
    for name in sorted(expected.keys() ^ shapes.keys()):
        problem = "lacks" if name in expected else "has the unknown tensor"
        raise CheckpointError(f"{what} {problem} {name[:100]!r}; {said_by} says otherwise")
    for name, shape in expected.items():
        if shapes[name] != shape:
            raise CheckpointError(
                f"{what}: {name} has shape {list(shapes[name])}, {said_by} makes it {list(shape)}"
            )
    return model


def _entry(config: dict[str, Any], key: str, kind: type) -> Any:
    value = config.get(key)
    if not isinstance(value, kind):
        raise ValueError(
            f"{key} must be a {'table' if kind is dict else 'text'}, not {value!r:.80}"
        )
    return value
