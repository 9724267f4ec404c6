"""Frozen dataclasses from plain values, as JSON and TOML have them: every key and type checked."""

import dataclasses
import math
from types import UnionType
from typing import Any, Literal, get_args, get_origin


def from_plain(cls: type, values: dict[str, Any], prefix: str) -> Any:
    """An instance of the dataclass ``cls`` from plain values, every key and type checked.

    Args:
        cls: The dataclass.
        values: Plain values by field name; integers are taken where floats are due, lists
            where tuples are due.
        prefix: Put before a key's name in messages, such as ``position.``.

    Raises:
        ValueError: An unknown key, or a value of the wrong type.
    """
    fields = {f.name: f for f in dataclasses.fields(cls)}
    unknown = sorted(set(values) - set(fields))
    require(
        not unknown,
        f"unknown key {prefix}{shown_key(unknown[0]) if unknown else ''}; "
        f"known are {', '.join(fields)}",
    )
    return cls(**{k: _typed(v, fields[k].type, prefix + k) for k, v in values.items()})


def _typed(value: Any, annotation: Any, name: str) -> Any:
    if value == "none" and annotation in (float | None, int | None, str | None):
        return None  # TOML has no null
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if annotation in (float, float | None) and is_number:
        return _finite(value, name)
    if annotation in (int, int | None) and isinstance(value, int) and not isinstance(value, bool):
        return value
    if value is None and annotation in (float | None, int | None, str | None):
        return None
    if annotation in (str, str | None) and isinstance(value, str):
        return value
    if annotation is bool and isinstance(value, bool):
        return value
    if value is None and annotation == tuple[float, ...] | None:
        return None
    if annotation == tuple[float, ...] | None:
        annotation = tuple[float, ...]
    is_list = isinstance(value, list | tuple)
    if annotation in (tuple[str, ...], tuple[int, ...], tuple[float, ...]) and is_list:
        element = get_args(annotation)[0]
        return tuple(_typed(v, element, name) for v in value)
    if get_origin(annotation) is Literal and isinstance(value, str):
        require_one_of(name, value, get_args(annotation))
        return value
    raise ValueError(f"{name} must be {_kind(annotation)}, not {value!r:.80}")


def _kind(annotation: Any) -> str:
    """What a value has to be, for messages."""
    if get_origin(annotation) is Literal:
        return f"one of {', '.join(get_args(annotation))}"
    if get_origin(annotation) is tuple:
        return f"a list, each {_kind(get_args(annotation)[0])}"
    if isinstance(annotation, UnionType):
        return f"{_kind(get_args(annotation)[0])}, or none"
    return _KINDS.get(annotation, str(annotation))


_KINDS = {int: "a whole number", float: "a number", str: "text", bool: "true or false"}


def shown_key(key: str) -> str:
    """A key as messages show it: on one line, and not without end."""
    return key if key.isprintable() and len(key) <= 100 else ascii(key[:100])


def _finite(value: Any, name: str) -> float:
    try:
        number = float(value)
    except OverflowError:  # an integer of more than 308 digits
        number = math.inf
    require(math.isfinite(number), f"{name} must be a finite number, not {value!r:.40}")
    return number


def require(condition: bool, message: str) -> None:
    """Raise `ValueError` with ``message`` unless ``condition`` holds."""
    if not condition:
        raise ValueError(message)


def require_one_of(name: str, value: str, known: tuple[str, ...]) -> None:
    """Raise `ValueError` unless ``value`` is one of ``known``; ``name`` is whose it is."""
    require(value in known, f"{name} must be one of {', '.join(known)}, not {value!r:.80}")
