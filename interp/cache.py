"""The one folder in which `interp` keeps what it can make again."""

import os
from pathlib import Path

import platformdirs


def cache_folder() -> Path:
    """The cache folder: ``INTERP_CACHE`` if set, else the user's cache folder for ``interp``.

    It is safe to delete. It is not made here, and need not be writable: whoever writes to it
    makes it, and works without it where that fails.

    Returns:
        An absolute path.
    """
    chosen = os.environ.get("INTERP_CACHE") or platformdirs.user_cache_dir("interp")
    return Path(chosen).expanduser().absolute()
