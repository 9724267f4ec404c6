"""A page about a text: how far apart a model puts its characters."""

from collections.abc import Callable
from pathlib import Path

from interp.checkpoints import Checkpoint
from interp.corpus.sources import TextInput, ignore
from interp.files import check_writable
from interp.studies.boundaries import BOUNDARY_SIGNALS
from interp.studies.first_look import FirstLook, first_look
from interp.studies.reading import Progress, Warnings, increments_of
from interp.studies.writing import write_text


def report(
    checkpoint: Checkpoint,
    text_input: TextInput,
    out: str | Path,
    *,
    command: str = "",
    warn: Callable[[str], None] = ignore,
    progress: Progress | None = None,
) -> FirstLook:
    """Measure a text and write the page about it to the file ``out``.

    Args:
        checkpoint: The model.
        text_input: The text.
        out: The page; an existing file is replaced. Nothing is written if something fails.
        command: The command that makes the page, to be shown on it.
        warn: Called with one line for what is odd but can be read; the page has it too.
        progress: Called as the work goes on.

    Returns:
        The tables and the page.

    Raises:
        InterpError: A text can't be read, or the page can't be written.
    """
    path = Path(out)
    check_writable(path)
    warnings = Warnings(warn)
    with increments_of(
        checkpoint, text_input, signals=BOUNDARY_SIGNALS, warn=warnings, progress=progress
    ) as increments:
        found = first_look(
            checkpoint,
            increments,
            text=text_input.describe(),
            command=command,
            warnings=warnings,
            progress=progress,
        )
    write_text(path, found.page)
    return found
