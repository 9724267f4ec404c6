"""From what the user named to an IncrementTable: a folder that is there, or a text to read."""

import os
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from interp.cli.output import Output
from interp.errors import UsageError

if TYPE_CHECKING:
    from interp.checkpoints import Checkpoint
    from interp.corpus.sources import TextInput
    from interp.extraction.increment_table import IncrementTable
    from interp.segmentation.gaps import Reference


def load_checkpoint(
    ckpt: str | None, *, device: str | None = None, rope_scaling: str | None = None
) -> "Checkpoint":
    """The checkpoint of this name, or the embedded one."""
    from interp import checkpoints

    return checkpoints.load(ckpt, device=device, rope_scaling=rope_scaling)


def text_input(
    files: list[str] | None,
    corpora: list[str] | None = None,
    limit: int | None = None,
    literal: str | None = None,
) -> "TextInput":
    """What the user gave to read."""
    from interp.corpus.sources import TextInput

    return TextInput(
        files=tuple(files or ()),
        corpora=tuple(corpora or ()),
        limit_bytes=limit,
        literal=None if literal is None else os.fsencode(literal),
    )


@contextmanager
def increment_table(
    output: Output,
    *,
    ckpt: str | None,
    files: list[str] | None,
    corpora: list[str] | None,
    limit: int | None,
    increments: str | None,
    progress: Callable[[str, int, int | None], None] | None,
    signals: Sequence[str] = ("increment",),
    check: Callable[["Checkpoint"], None] | None = None,
) -> Iterator["IncrementTable"]:
    """The table to measure, for as long as the block runs.

    Args:
        output: Takes what is odd about a text.
        ckpt: The checkpoint, as the user named it.
        files: What to read.
        corpora: What else to read.
        limit: The most bytes of each corpus.
        increments: A folder with a table, instead of all these.
        progress: Called as the text is read.
        signals: What to read of the text.
        check: Refuses a checkpoint before the text is read.

    Raises:
        UsageError: Both a table and something to read are given.
    """
    if increments is not None:
        refuse_beside_increments(
            {"--ckpt": ckpt, "FILE": files, "--corpus": corpora, "--limit": limit}
        )
        from interp.extraction.increment_table import IncrementTable

        yield IncrementTable.open(increments)
        return
    given_text = text_input(files, corpora, limit)
    from interp.studies.reading import increments_of

    checkpoint = load_checkpoint(ckpt)
    if check is not None:
        check(checkpoint)
    with increments_of(
        checkpoint, given_text, signals=signals, warn=output.warn, progress=progress
    ) as table:
        yield table


def refuse_beside_increments(named: Mapping[str, object]) -> None:
    """Refuse what says how to make a table where one is named that is there.

    Args:
        named: What the user gave, by its name on the command line; nothing is None or empty.

    Raises:
        UsageError: Something was given.
    """
    clashing = " and ".join(name for name, value in named.items() if value not in (None, [], ()))
    if clashing:
        raise UsageError(
            f"--increments goes without {clashing}: the folder holds what was read with its "
            "checkpoint from its text",
            f"Leave out --increments, or {clashing}.",
        )


def reference_of(language: str, spec: str | None, *, has_text: bool) -> "Reference":
    """The reference that the user named.

    Args:
        language: Of the text.
        spec: Who judges; the language's program where it is None.
        has_text: Whether there is text to be read, which a treebank brings itself.

    Raises:
        UsageError: Nobody judges this language, or a treebank would not be all that is read.
        InputError: The reference cannot be made.
    """
    from interp.segmentation.references import LANGUAGES, TREEBANK, find_reference

    if language not in LANGUAGES:
        raise UsageError(
            f"--lang {language}: nobody here says where its words end",
            f"Known: {', '.join(LANGUAGES)}.",
        )
    if has_text and spec is not None and spec.startswith(f"{TREEBANK}:"):
        raise UsageError(
            f"--reference {spec} brings its own text and goes without FILE and --corpus",
            "Leave out the text, or take segmented:FILE for the words of a text of your own.",
        )
    return find_reference(language, spec)


def refuse_replacing(
    out: str, files: Sequence[str] | None, corpus: Sequence[str] | None = None
) -> None:
    """Refuse, before anything is read, a file that can't be written or that is to be read.

    Raises:
        OutputError: It cannot be written.
        UsageError: It is one of the texts.
    """
    from interp.files import check_writable

    target = check_writable(Path(out))
    if not target.exists():
        return
    for name in _local_files([*(files or ()), *(corpus or ())]):
        if target.samefile(name):
            raise UsageError(
                f"--out {out} is a text that is to be read: it would be replaced",
                "Name another file.",
            )


def _local_files(names: Sequence[str]) -> Iterator[Path]:
    """The files that are there, of paths and globs; what cannot be read is said when it is."""
    from interp.corpus.files import expand
    from interp.errors import InputError

    for name in names:
        try:
            found = expand(name)
        except InputError:  # an address on the Hub, or nothing
            continue
        yield from (Path(path) for path in found if Path(path).exists())


def command_of(words: Sequence[str], files: Sequence[str] | None) -> str:
    """A command as it could be typed again, with the files that it reads at its end."""
    is_option_like = any(name.startswith("-") and name != "-" for name in files or ())
    return shlex.join([*words, *(["--"] if is_option_like else []), *(files or ())])
