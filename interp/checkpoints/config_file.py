"""Reading config.json: every fact is of the kind that it must be, or unknown."""

import json
import math
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from interp.checkpoints.folder import CONFIG_FILE, file_inside
from interp.checkpoints.stretch import require_span
from interp.corpus.split import Split
from interp.errors import CheckpointError, reason
from interp.model import ModelConfig
from interp.tokenizer import Tokenizer, tokenizer_from

FORMAT_VERSION = 1

FACTS = (
    "recipe",
    "corpora",
    "revisions",
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
_AMOUNTS = {"wall_seconds", "nats_per_byte", "bits_per_byte", "passes"}
_BY_CORPUS = ("corpora", "held_out_loss", "baselines")
_HASH = re.compile("[0-9a-f]{16}")


@dataclass(frozen=True)
class CheckpointConfig:
    """What config.json says, checked.

    Attributes:
        name: What the model is called.
        architecture: Its sizes and its position encoding.
        tokenizer: What its tokens are.
        split: Which texts training left out.
        facts: Everything that the file has, and None for each of `FACTS` that it leaves out.
    """

    name: str
    architecture: ModelConfig
    tokenizer: Tokenizer
    split: Split
    facts: dict[str, Any]


def read_config(folder: Path) -> CheckpointConfig:
    """Read config.json of a checkpoint.

    Raises:
        CheckpointError: It is missing, no JSON, of another version, or says what cannot be.
    """
    config = _read_json(folder)
    try:
        architecture = ModelConfig.from_dict(_entry(config, "architecture", dict))
        split = split_of(_entry(config, "split", dict))
        name = _entry(config, "name", str)
        require_name(name)
        tokenizer = _tokenizer(config, architecture)
        _check_facts(config, architecture)
        require_span(config, architecture)
        facts = _with_unknowns(config)
    except (ValueError, KeyError, TypeError, OverflowError) as error:
        said = f"{error.args[0]} is missing" if isinstance(error, KeyError) else str(error)
        raise CheckpointError(f"load checkpoint {folder}: {CONFIG_FILE}: {said}") from error
    return CheckpointConfig(name, architecture, tokenizer, split, facts)


def require_name(name: str) -> None:
    """Raise `ValueError` unless ``name`` can stand in tables, terminals and titles."""
    if not (name.isprintable() and 0 < len(name) <= LONGEST_NAME):
        raise ValueError(
            f"name must be 1 to {LONGEST_NAME} printable characters, not {name[:100]!a}"
        )


def _read_json(folder: Path) -> dict[str, Any]:
    path = file_inside(folder, CONFIG_FILE)
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


def split_of(split: dict[str, Any]) -> Split:
    """The split that a config has.

    Raises:
        ValueError: A value of it is of another kind than it must be.
        KeyError: It has no ``fraction`` or ``hashes``.
    """
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
    for key in ("recipe", "versions", "revisions", *_BY_CORPUS):
        if not isinstance(config.get(key), dict | None):
            raise ValueError(f"{key} must be a table, or null")
    _check_numbers(config, "")
    for key in _BY_CORPUS:
        for name, facts in (config.get(key) or {}).items():
            if not isinstance(facts, dict | None):
                raise ValueError(f"{key}.{name[:40]} must be a table, or null")
            _check_numbers(facts or {}, f"{key}.{name[:40]}.")
            if key == "baselines":
                _check_baselines(facts or {}, f"{key}.{name[:40]}")


def _check_baselines(bits: dict[str, Any], key: str) -> None:
    for name, value in bits.items():
        if not name.strip() or not name.isprintable():
            raise ValueError(f"{key}: a baseline has no printable name: {name[:40]!a}")
        if not _is_number(value) or value < 0:
            raise ValueError(f"{key} must be a table of numbers from 0, or null")


def _with_unknowns(config: dict[str, Any]) -> dict[str, Any]:
    """The config with every fact that it leaves out; of a corpus nothing may be known."""
    known: dict[str, Any] = {**dict.fromkeys(FACTS), **config}
    for key in _BY_CORPUS:
        if known[key] is not None:
            known[key] = {name: facts or {} for name, facts in known[key].items()}
    return known


def _check_numbers(facts: dict[str, Any], prefix: str) -> None:
    kinds = {
        "a count": (_COUNTS, _is_count),
        "a number from 0": (_AMOUNTS, lambda value: _is_number(value) and value >= 0),
        "true or false": ({"is_done"}, lambda value: isinstance(value, bool)),
    }
    for kind, (keys, is_of_kind) in kinds.items():
        for key in keys & facts.keys():
            if facts[key] is not None and not is_of_kind(facts[key]):
                raise ValueError(f"{prefix}{key} must be {kind}, or null, not {facts[key]!r:.40}")


def _is_number(value: Any) -> bool:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return is_number and abs(value) < _TOO_LARGE


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and _is_number(value) and value >= 0


def _entry(config: dict[str, Any], key: str, kind: type) -> Any:
    value = config.get(key)
    if not isinstance(value, kind):
        raise ValueError(
            f"{key} must be a {'table' if kind is dict else 'text'}, not {value!r:.80}"
        )
    return value
