"""Reading a recipe: from TOML, from a checkpoint's config, and with settings put over it."""

import dataclasses
import difflib
import tomllib
from collections.abc import Iterator, Sequence
from importlib.resources import files
from itertools import takewhile
from pathlib import Path
from typing import Any

from interp.checkpoints.config_file import LONGEST_NAME
from interp.errors import RecipeError, reason
from interp.model.config import POSITION_CONFIGS, ModelConfig
from interp.model.plain import from_plain, require, shown_key
from interp.training.recipe import CorpusRecipe, Keeping, Optimization, Recipe


def shipped_recipes() -> dict[str, str]:
    """The recipes inside the package: what each trains, by name."""
    folder = files("interp.training") / "recipes"
    texts = {f.name: f.read_text("utf-8") for f in folder.iterdir() if f.name.endswith(".toml")}
    return {
        name.removesuffix(".toml"): _first_sentence(text) for name, text in sorted(texts.items())
    }


def _first_sentence(toml: str) -> str:
    """Of the comment at the top."""
    comment = takewhile(lambda line: line.startswith("#"), toml.splitlines())
    words = " ".join(line.removeprefix("#").strip() for line in comment)
    return words.partition(". ")[0].removesuffix(".")


def load_recipe(name_or_path: str, settings: Sequence[str] = ()) -> Recipe:
    """A recipe from a TOML file or by a shipped recipe's name, with settings put over it.

    Args:
        name_or_path: A path, or one of `shipped_recipes`.
        settings: ``key=value`` each, the key dotted (``optimization.steps``), the value as in
            TOML; a bare word is taken as a string.

    Raises:
        RecipeError: No such recipe, not TOML, or a key or value that cannot be.
    """
    values = _read(name_or_path)
    for setting in settings:
        _set(values, setting)
    return recipe_from_dict(values)


def recipe_from_dict(values: dict[str, Any]) -> Recipe:
    """The recipe that `Recipe.to_dict` wrote, or that a TOML file holds.

    Raises:
        RecipeError: An unknown key, or a value of the wrong type or out of range.
    """
    values = dict(values)
    try:
        _require_known_keys(values)
        corpora = _table(values.pop("corpora", {}), "corpora")
        for name in corpora:
            require(
                bool(name) and name.isprintable() and len(name) <= LONGEST_NAME,
                f"corpora: {name[:40]!a} is no name for a corpus",
            )
        parts: dict[str, Any] = {
            "corpora": {n: _corpus(n, _table(c, f"corpora.{n}")) for n, c in corpora.items()},
            "model": _part("model", values, ModelConfig.from_dict),
            "optimization": _part(
                "optimization", values, lambda v: from_plain(Optimization, v, "")
            ),
            "keeping": _part("keeping", values, lambda v: from_plain(Keeping, v, "")),
        }
        scalars = {f.name: f for f in dataclasses.fields(Recipe) if f.name not in parts}
        plain = dataclasses.make_dataclass(
            "plain", [(f.name, f.type) for f in scalars.values() if f.name in values]
        )
        checked = from_plain(plain, values, "")
        require("name" in values, "name is missing")
        return Recipe(**parts, **{name: getattr(checked, name) for name in values})
    except ValueError as error:
        raise RecipeError(f"recipe: {error}", "See docs/recipes.md for every key.") from error
    except RecursionError as error:
        raise RecipeError("recipe: too many tables, each in the one before it") from error


def value_of(written: str) -> Any:
    """The value of a setting: as in TOML, or a bare word as a text."""
    try:
        parsed = tomllib.loads(f"value = {written}")
    except (tomllib.TOMLDecodeError, RecursionError):
        parsed = {}
    return parsed["value"] if parsed.keys() == {"value"} else written


def _read(name_or_path: str) -> dict[str, Any]:
    if name_or_path in shipped_recipes():
        text = (files("interp.training") / "recipes" / f"{name_or_path}.toml").read_text("utf-8")
        return tomllib.loads(text)
    path = Path(name_or_path)
    try:
        if path.exists() and not (path.is_file() or path.is_dir()):
            raise RecipeError(f"recipe {name_or_path!r} is no regular file", "Write it to one.")
        return tomllib.loads(path.read_text("utf-8"))
    except OSError as error:
        raise RecipeError(
            f"recipe {name_or_path!r}: {reason(error)}",
            f"Give a TOML file, or one of: {', '.join(shipped_recipes())}.",
        ) from error
    except (ValueError, RecursionError) as error:  # broken TOML, or not UTF-8
        words = str(error).splitlines()[0]
        raise RecipeError(f"recipe {name_or_path!r} is not TOML: {words}") from error


def _set(values: dict[str, Any], setting: str) -> None:
    key, equals, written = setting.partition("=")
    if not equals or not key:
        raise RecipeError(f"setting {setting!r:.100} is not of the form key=value")
    value = value_of(written)
    *tables, last = key.split(".")
    for table in tables:
        values = values.setdefault(table, {})
        if not isinstance(values, dict):
            raise RecipeError(f"setting {setting!r:.100}: {table} is not a table of the recipe")
    values[last] = value


def _require_known_keys(values: dict[str, Any]) -> None:
    """Refuse a key that no recipe has, with the known ones that may be meant."""
    known = _known_keys(Recipe)
    by_name: dict[str, list[str]] = {}
    for key in known:
        by_name.setdefault(key.rpartition(".")[2], []).append(key)
    for key in _keys(values):
        if key in known or key.startswith("corpora."):
            continue
        names = difflib.get_close_matches(key.rpartition(".")[2], by_name, n=1, cutoff=0.75)
        meant = " or ".join(by_name[names[0]]) if names else ""
        hint = f"Did you mean {meant}?" if meant else "See docs/recipes.md for every key."
        raise RecipeError(f"recipe: unknown key {shown_key(key)}", hint)


def _known_keys(cls: type, prefix: str = "") -> list[str]:
    """The dotted keys of a recipe's values, without those of a corpus."""
    parts = {
        "model": (ModelConfig,),
        "position": tuple(POSITION_CONFIGS.values()),
        "optimization": (Optimization,),
        "keeping": (Keeping,),
    }
    known: dict[str, None] = {}  # in order
    for each in dataclasses.fields(cls):
        known[prefix + each.name] = None
        for part in parts.get(each.name, ()):
            known |= dict.fromkeys(_known_keys(part, f"{prefix}{each.name}."))
    return list(known)


def _keys(values: dict[str, Any], prefix: str = "") -> Iterator[str]:
    """The dotted keys of values that are no tables."""
    for key, value in values.items():
        if isinstance(value, dict) and value:
            yield from _keys(value, f"{prefix}{key}.")
        else:
            yield prefix + key


def _corpus(name: str, values: dict[str, Any]) -> CorpusRecipe:
    listed = {
        k: [v] if k in ("train", "held_out") and isinstance(v, str) else v
        for k, v in values.items()
    }
    try:
        require("train" in listed, "train is missing")
        return from_plain(CorpusRecipe, listed, "")
    except ValueError as error:
        raise ValueError(f"corpora.{name}: {error}") from error


def _part(name: str, values: dict[str, Any], make: Any) -> Any:
    table = _table(values.pop(name, {}), name)
    try:
        return make(table)
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from error


def _table(value: Any, name: str) -> dict[str, Any]:
    require(isinstance(value, dict), f"{name} must be a table, not {value!r:.80}")
    return value
