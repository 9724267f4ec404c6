"""The one error family: what went wrong, in one line, and what to do about it."""

import os


class InterpError(Exception):
    """A failure that a user can act on; the command line prints it as one line and exits 1.

    Args:
        message: What was done, on what, what was received and what was expected; one line.
        hint: What to do next, one line, or None where the message says it.
    """

    exit_status = 1

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.hint = hint


class InputError(InterpError):
    """A text, corpus, table or reference that cannot be read."""


class CheckpointError(InterpError):
    """A checkpoint that is missing, damaged, or not what it says it is."""


class RecipeError(InterpError):
    """A training recipe with an unknown key or an impossible value."""


class TrainingError(InterpError):
    """A training run that cannot go on."""


class OutputError(InterpError):
    """Something that cannot be written, or would overwrite what it should not."""


class UsageError(InterpError):
    """A command or call whose arguments do not go together; exit status 2."""

    exit_status = 2


def is_out_of_memory(error: BaseException) -> bool:
    """Whether it says that there was not enough memory, on whatever device."""
    if isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryError":  # torch's own
        return True
    return isinstance(error, RuntimeError) and any(
        words in str(error) for words in ("can't allocate memory", "not enough memory")
    )


def reason(error: OSError) -> str:
    """The operating system's own words for ``error``, such as ``permission denied``.

    Args:
        error: The error as caught.

    Returns:
        One lower-case phrase without the path, which the message around it names.
    """
    words = error.strerror or (os.strerror(error.errno) if error.errno else str(error))
    return words[:1].lower() + words[1:]
