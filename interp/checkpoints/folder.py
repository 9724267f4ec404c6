"""The folder of a checkpoint: where it is, and its files."""

import re
from importlib.resources import files
from pathlib import Path

from interp.errors import CheckpointError, reason

CONFIG_FILE = "config.json"
WEIGHTS_FILE = "model.safetensors"
CARD_FILE = "README.md"
DEFAULT_NAME = "en-zh-per-layer"

_HUB_ID = re.compile(r"[\w.-]+/[\w.-]+")


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


def checkpoint_folder(path_or_hub_id: str) -> Path:
    """The folder of a checkpoint, from the Hub where there is none of this name.

    Raises:
        CheckpointError: It is no folder, and the Hub did not give it.
    """
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


def file_inside(folder: Path, name: str) -> Path:
    """A file of the folder; a link may lead to the Hub's own cache, and nowhere else.

    Raises:
        CheckpointError: It is not there, cannot be read, or is a link out of the folder.
    """
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
