"""Segmenters that are installed on demand."""

from importlib import import_module
from types import ModuleType

from interp.errors import InputError


def import_extra(*modules: str, extra: str) -> ModuleType:
    """The first of some modules that an extra of interp brings, once all of them are there.

    Raises:
        InputError: One is not installed.
    """
    try:
        imported = [import_module(name) for name in modules]
    except ImportError as error:
        raise InputError(
            f"word boundaries: {error.name or modules[0]}, which says where words end, is not "
            "installed",
            f'Install it with: pip install "interp[{extra}]"',
        ) from error
    return imported[0]
