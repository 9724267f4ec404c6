"""What this repository keeps of the shipped checkpoint: analyses/first-look and its page.

Run as ``python -m interp.studies.results --out DIR``; ``make results`` does it.
"""

import argparse
import sys
from pathlib import Path

from interp import checkpoints, tables
from interp.corpus.sources import TextInput
from interp.errors import InterpError
from interp.studies.demo import BYTE_CLASSES, MAX_PLOTS, WORD_BOUNDARIES
from interp.studies.first_look import first_look
from interp.studies.reading import Warnings, increments_of
from interp.studies.writing import make_folder, write_text

COMMAND = "make results"
STUDY = "first-look"


def results(
    out: str | Path, *, checkpoint: checkpoints.Checkpoint | None = None
) -> tuple[Path, ...]:
    """Write ``analyses/first-look/`` and ``reports/first-look.html`` under ``out``.

    Args:
        out: The top of the repository.
        checkpoint: The model; by default the one that comes with the package.

    Returns:
        The files written.

    Raises:
        InterpError: Something cannot be read or written.
    """
    checkpoint = checkpoint or checkpoints.load(checkpoints.default_checkpoint())
    sample, warnings = TextInput(), Warnings()
    with increments_of(checkpoint, sample, warn=warnings) as increments:
        found = first_look(
            checkpoint,
            increments,
            text=sample.describe(),
            command=COMMAND,
            warnings=warnings.messages,
            max_plots=MAX_PLOTS,
        )
        versions = increments.manifest["versions"]
    tables_folder, pages_folder = Path(out) / "analyses" / STUDY, Path(out) / "reports"
    make_folder(tables_folder)
    make_folder(pages_folder)
    contents = {
        tables_folder / BYTE_CLASSES: tables.to_csv(found.byte_classes),
        tables_folder / WORD_BOUNDARIES: tables.to_csv(found.word_boundaries),
        tables_folder / "README.md": _readme(checkpoint, versions),
        pages_folder / f"{STUDY}.html": found.page,
    }
    for path, content in contents.items():
        write_text(path, content)
    return tuple(contents)


def _readme(checkpoint: checkpoints.Checkpoint, versions: dict[str, str]) -> str:
    made_with = ", ".join(f"{name} {number}" for name, number in versions.items())
    return f"""# First look

Byte classes and Chinese word boundaries of the increments of `{checkpoint.name}` (weights
SHA-256 `{checkpoint.fingerprint}`) on the sample text inside the package.

Made by `{COMMAND}`, with {made_with}. The page is `reports/{STUDY}.html`.

- `{BYTE_CLASSES}`: mean with a 95 % interval, sd, min and max of the increment per layer and
  class of byte, over running text and over the vocabulary.
- `{WORD_BOUNDARIES}`: ROC-AUC per layer against jieba, with intervals, ceilings, base rate and
  share of tied pairs.

The sample text was written for this project and is under its MIT licence, and so are these
tables. (Tables made from Wikipedia text would be under CC BY-SA 4.0, as the weights of the
checkpoint are.)
"""


def main() -> None:
    """Parse ``--out`` and write the results."""
    parser = argparse.ArgumentParser(description="Write what is kept of the shipped checkpoint.")
    parser.add_argument("--out", default=".", help="the top of the repository (default: here)")
    out = parser.parse_args().out
    try:
        written = results(out)
    except InterpError as error:
        sys.exit(f"interp: {error}" + (f"\n{error.hint}" if error.hint else ""))
    sys.stderr.writelines(f"wrote {path}\n" for path in written)


if __name__ == "__main__":
    main()
