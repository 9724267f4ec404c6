"""Reading the weights: every name, shape and value is checked before the model has them."""

from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open

from interp.checkpoints.folder import CONFIG_FILE
from interp.errors import CheckpointError, reason
from interp.files import GIT_LFS_POINTER, named_file
from interp.model import ModelConfig, Transformer


def read_model(path: Path, architecture: ModelConfig) -> Transformer:
    """The model of a weights file, in float32 and without gradients.

    Raises:
        CheckpointError: It is damaged, does not fit the architecture, has values that are not
            finite, or its path is not UTF-8.
    """
    what = f"load checkpoint {path.parent}: {path.name}"
    refuse_git_lfs_pointer(path, what)
    try:
        str(path).encode()
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
    except UnicodeEncodeError:
        raise CheckpointError(
            f"{what}: its path is not UTF-8, and safetensors opens no other", "Rename the folder."
        ) from None
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
        CheckpointError: It is such a pointer, no regular file, or cannot be read.
    """
    try:
        with named_file(path).open("rb") as file:
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
