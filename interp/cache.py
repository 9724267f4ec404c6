"""The one folder in which `interp` keeps what it can make again."""

import os
from pathlib import Path

import platformdirs


def cache_folder() -> Path:
    """The cache folder: ``INTERP_CACHE`` if set, else the user's cache folder for ``interp``.

    It is safe to delete. It is not made here: whoever writes to it makes it. Where that fails,
    what can be done without it is done all the same; training, which packs its text there,
    says that it can't.

    Returns:
        An absolute path.
    """
    chosen = os.environ.get("INTERP_CACHE") or platformdirs.user_cache_dir("interp")
    # unlike Path.expanduser, this leaves ~NAME as it is where there is no such user
    return Path(os.path.expanduser(chosen)).absolute()  # noqa: PTH111
