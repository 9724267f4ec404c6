"""The main job on what comes with the package: embedded checkpoint, embedded text, one folder."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from interp import checkpoints, tables
from interp.corpus.sources import TextInput, ignore
from interp.errors import OutputError, reason
from interp.extraction.extract import extract
from interp.files import is_partial, make_folder
from interp.studies.boundaries import BOUNDARY_SIGNALS
from interp.studies.first_look import FirstLook, first_look
from interp.studies.reading import EXTRACTING, Progress, Warnings, documents_of, stage
from interp.studies.writing import write_text

MAX_PLOTS = 4
"""Texts of the sample that are drawn: two of each language."""

INCREMENTS = "increments"
BYTE_CLASSES = "byte-classes.csv"
WORD_BOUNDARIES = "word-boundary-auc.csv"
PAGE = "report.html"


@dataclass(frozen=True)
class Demo:
    """What the demo made.

    Attributes:
        found: The tables and the page.
        increments: The folder of the increments, an IncrementTable.
        byte_classes: The file of the first table.
        word_boundaries: The file of the second.
        page: The file of the page.
    """

    found: FirstLook
    increments: Path
    byte_classes: Path
    word_boundaries: Path
    page: Path


def demo(
    out: str | Path,
    *,
    checkpoint: checkpoints.Checkpoint | None = None,
    warn: Callable[[str], None] = ignore,
    progress: Progress | None = None,
) -> Demo:
    """Extract, measure and report the sample text, and keep everything in the folder ``out``.

    Run again on its own folder it goes on where it stopped, leaves increments that are complete
    as they are, and writes tables and page anew.

    Args:
        out: The folder; made if it is not there.
        checkpoint: The model; by default the one that comes with the package.
        warn: Called with one line for what is odd.
        progress: Called as the work goes on.

    Raises:
        OutputError: The folder holds something else, or cannot be written.
        CheckpointError: The installation lacks the checkpoint.
    """
    folder = Path(out)
    _refuse_others(folder)
    checkpoint = checkpoint or checkpoints.load(checkpoints.default_checkpoint())
    make_folder(folder)
    sample = TextInput()
    warnings = Warnings(warn)
    increments = extract(
        checkpoint,
        lambda: documents_of(sample, warnings),
        folder / INCREMENTS,
        signals=BOUNDARY_SIGNALS,
        progress=stage(EXTRACTING, progress),
    )
    found = first_look(
        checkpoint,
        increments,
        text=sample.describe(),
        command="interp demo",
        warnings=warnings,
        max_plots=MAX_PLOTS,
        progress=progress,
    )
    made = Demo(
        found,
        increments=folder / INCREMENTS,
        byte_classes=folder / BYTE_CLASSES,
        word_boundaries=folder / WORD_BOUNDARIES,
        page=folder / PAGE,
    )
    write_text(made.byte_classes, tables.to_csv(found.byte_classes))
    write_text(made.word_boundaries, tables.to_csv(found.word_boundaries))
    write_text(made.page, found.page)
    return made


def _refuse_others(folder: Path) -> None:
    try:
        entries = {path.name for path in folder.iterdir() if not is_partial(path)}
    except FileNotFoundError:
        return
    except OSError as error:
        raise OutputError(f"demo: {folder}: {reason(error)}", "Choose another --out.") from error
    foreign = entries - {INCREMENTS, BYTE_CLASSES, WORD_BOUNDARIES, PAGE}
    if foreign:
        raise OutputError(
            f"demo: {folder} holds something else ({min(foreign)})", "Choose another --out."
        )
