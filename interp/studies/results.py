"""What this repository keeps of the shipped checkpoint: analyses/first-look, its page, an index."""

from pathlib import Path
from tempfile import TemporaryDirectory

from interp import checkpoints, tables
from interp.corpus.sources import TextInput
from interp.extraction.extract import extract
from interp.files import make_folder
from interp.reports.gallery import write_gallery
from interp.studies.boundaries import BOUNDARY_SIGNALS
from interp.studies.demo import BYTE_CLASSES, MAX_PLOTS, WORD_BOUNDARIES
from interp.studies.first_look import first_look
from interp.studies.reading import EXTRACTING, Progress, Warnings, documents_of, stage
from interp.studies.registry import FIRST_LOOK, PAGES
from interp.studies.writing import write_text

COMMAND = "make results"


def results(
    out: str | Path,
    *,
    checkpoint: checkpoints.Checkpoint | None = None,
    progress: Progress | None = None,
) -> tuple[Path, ...]:
    """Write ``analyses/first-look/``, ``reports/first-look.html`` and the index under ``out``.

    The model is run anew each time, whatever the cache has, so that these are its numbers.

    Args:
        out: The top of the repository.
        checkpoint: The model; by default the one that comes with the package.
        progress: Called as the work goes on.

    Returns:
        The files written.

    Raises:
        InterpError: Something cannot be read or written.
    """
    checkpoint = checkpoint or checkpoints.load(checkpoints.default_checkpoint())
    sample, warnings = TextInput(), Warnings()
    with TemporaryDirectory(prefix="interp-", ignore_cleanup_errors=True) as folder:
        increments = extract(
            checkpoint,
            lambda: documents_of(sample, warnings),
            Path(folder) / "increments",
            signals=BOUNDARY_SIGNALS,
            progress=stage(EXTRACTING, progress),
        )
        found = first_look(
            checkpoint,
            increments,
            text=sample.describe(),
            command=COMMAND,
            warnings=warnings,
            max_plots=MAX_PLOTS,
            progress=progress,
        )
        versions = increments.manifest["versions"]
    tables_folder, pages_folder = Path(out) / "analyses" / FIRST_LOOK, Path(out) / "reports"
    make_folder(tables_folder)
    make_folder(pages_folder)
    contents = {
        tables_folder / BYTE_CLASSES: tables.to_csv(found.byte_classes),
        tables_folder / WORD_BOUNDARIES: tables.to_csv(found.word_boundaries),
        tables_folder / "README.md": _readme(checkpoint, versions),
        pages_folder / f"{FIRST_LOOK}.html": found.page,
    }
    for path, content in contents.items():
        write_text(path, content)
    return *contents, *write_gallery(pages_folder, order=PAGES)


def _readme(checkpoint: checkpoints.Checkpoint, versions: dict[str, str]) -> str:
    made_with = ", ".join(f"{name} {number}" for name, number in versions.items())
    return f"""# First look

Byte classes and Chinese word boundaries of the increments of `{checkpoint.name}` (weights
SHA-256 `{checkpoint.fingerprint}`) on the sample text inside the package.

Made by `{COMMAND}`, with {made_with}. The page is `reports/{FIRST_LOOK}.html`.

- `{BYTE_CLASSES}`: mean with a 95 % interval, sd, min and max of the increment per layer and
  class of byte, over running text and over the vocabulary.
- `{WORD_BOUNDARIES}`: ROC-AUC per layer against jieba, with intervals, ceilings, base rate and
  share of tied pairs.

The sample text was written for this project and is under its MIT licence, and so are these
tables. (Tables made from Wikipedia text would be under CC BY-SA 4.0, as the weights of the
checkpoint are.)
"""
