"""What is kept of a study: its tables, how they were made, and its page."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import interp
from interp import tables
from interp.analyses.statistics.estimate import UNRELIABLE_BELOW
from interp.checkpoints import Checkpoint
from interp.checkpoints.save import versions
from interp.files import make_folder, own_file
from interp.reports import page as pages
from interp.reports.gallery import write_gallery
from interp.reports.verdicts import verdict_list
from interp.studies.facts import training_in_words
from interp.studies.registry import PAGES
from interp.studies.study import Finding, Study
from interp.studies.study_input import LANGUAGES, TEXTS, TREEBANK, StudyInput, treebank_of
from interp.studies.text_files import TextFile, TextRecord, text_record
from interp.studies.writing import write_text
from interp.text import counted, one_line

NOT_COMPARABLE = (
    "This is not, or not all of, the text that the tables of the interp repository are about: "
    "these numbers are not comparable with those, nor with the published ones."
)
"""What is said of numbers on another text; docs/text.md says which text it is."""


_MOST_IN_FACTS = 12
"""Checkpoints that the head of a page lists one by one."""

_FOLDERS = {
    "$CHECKPOINTS": "checkpoints",
    "$TEXT": "text",
    "$TREEBANKS": "treebanks",
    "$OUT": "results",
}
"""What stands in a command for a folder whose place says something of this machine."""

_TEXT_HEAD = "\n| text | language | bytes of the file | rows | SHA-256 |\n|---|---|---|---|---|"


@dataclass(frozen=True)
class _Publication:
    """What the page and the README are made of.

    Attributes:
        study: The question.
        finding: Its answer.
        given: What it was asked of.
        record: Of the texts that were read.
        command: That makes it again.
        warnings: What a reader must know first.
    """

    study: Study
    finding: Finding
    given: StudyInput
    record: TextRecord
    command: str
    warnings: Sequence[str]


def run_study(study: Study, given: StudyInput, out: str | Path) -> tuple[Path, ...]:
    """Answer a study and write ``analyses/NAME/`` and ``reports/NAME.html`` under ``out``.

    The index of ``reports/`` is written anew.

    Args:
        study: The question.
        given: What it is asked of.
        out: The top of what is written; files of an earlier run are replaced.

    Returns:
        The files written.

    Raises:
        MissingCheckpoint: The study needs one that is not there.
        MissingText: It needs text in a language of which none was given.
        InterpError: Something cannot be read or written.
    """
    with given:
        for language in study.texts:
            given.text(language)
        return write_study(study, study.run(given), given, out)


def write_study(
    study: Study, finding: Finding, given: StudyInput, out: str | Path
) -> tuple[Path, ...]:
    """Write what ``study`` found on ``given`` under ``out``; see `run_study`."""
    record = text_record(given.used_texts)
    warnings = _warnings(finding, given, record)
    for warning in warnings:
        given.warn(f"{study.name}: {warning}")
    warnings += map(one_line, given.warnings)  # which were said when they came up
    arguments = f" {record.arguments}" if record.files else ""
    command = (
        f"interp study {study.name} --checkpoints {_place(given.checkpoints, '$CHECKPOINTS')}"
        f"{arguments}{_reference_arguments(given)} --out {_place(Path(out), '$OUT')}"
    )
    publication = _Publication(study, finding, given, record, command, warnings)
    folder, reports = Path(out) / "analyses" / study.name, Path(out) / "reports"
    contents = {
        folder / f"{stem}.csv": tables.to_csv(table) for stem, table in finding.tables.items()
    }
    contents[folder / "README.md"] = _readme(publication)
    contents[reports / f"{study.name}.html"] = _page(publication)
    for made in (folder, reports):
        make_folder(made)
    for path, content in contents.items():
        if path.is_symlink():  # not the file that it leads to, which is not a study's
            path.unlink()
        write_text(path, content)
    for path in folder.glob("*.csv"):
        if path not in contents and _is_analysis_table(path):  # of a run that found more
            path.unlink()
    for verdict in finding.verdicts:
        given.remark(one_line(f"{verdict.claim} {verdict.verdict}"))
    return *contents, *write_gallery(reports, order=PAGES)


def _is_analysis_table(path: Path) -> bool:
    head = ",".join(tables.COLUMNS).encode()
    try:
        with own_file(path).open("rb") as file:
            return file.readline(len(head) + 2).rstrip() == head
    except OSError:  # not of a study's making
        return False


def _reference_arguments(given: StudyInput) -> str:
    """Those of the treebanks that were read, with their folder as ``$TREEBANKS``."""
    if not given.used_treebanks:
        return ""
    arguments = ""
    for language, path in map(treebank_of, given.references):
        prefix = "" if language == "zh" else f"{language}="
        if Path(path).stem in given.used_treebanks:
            name = one_line(Path(path).name)
            arguments += f" --reference {prefix}{TREEBANK}$TREEBANKS/{name}"
    return arguments


def _place(path: Path, otherwise: str) -> str:
    """A folder as it was typed, unless that says where on this machine it lies."""
    return otherwise if path.is_absolute() or ".." in path.parts else one_line(str(path))


def _warnings(finding: Finding, given: StudyInput, record: TextRecord) -> list[str]:
    """What a reader must know first, in one line each."""
    found = [] if record.is_recorded else [NOT_COMPARABLE]
    found += [*_not_held_out(given), *_few_texts(finding, given), *finding.warnings]
    return [one_line(warning) for warning in found]


def _few_texts(finding: Finding, given: StudyInput) -> list[str]:
    """In which languages intervals rest on too few texts, if there are intervals at all."""
    if not any(table["low"].notna().any() for table in finding.tables.values()):
        return []
    n_texts: dict[str, int] = {}
    for key, table in given.used_tables.items():
        n_here = len(table.documents)
        n_texts[key.language] = min(n_here, n_texts.get(key.language, n_here))
    return [
        f"{TEXTS[language]}: intervals over {n} texts. Below {UNRELIABLE_BELOW} they are "
        "unreliable, and so is every verdict that rests on them."
        for language, n in n_texts.items()
        if language in TEXTS and 1 < n < UNRELIABLE_BELOW
    ]


def _page(made: _Publication) -> str:
    study, finding = made.study, made.finding
    sections = [
        pages.Section("What was found", [verdict_list(finding.verdicts)]),
        *finding.sections,
        pages.Section("What this cannot show", list(finding.limits)),
        pages.Section(
            "Tables",
            [
                pages.table(
                    table, caption=stem.replace("-", " ").capitalize(), file_name=f"{stem}.csv"
                )
                for stem, table in finding.tables.items()
            ],
        ),
    ]
    return pages.page(
        study.title,
        lead=[finding.question],
        facts=[(name, one_line(value)) for name, value in _facts(made)],
        warnings=made.warnings,
        sections=sections,
        footer=f"Made by interp {interp.__version__}.",
        description=study.sentence,
        picture=finding.picture,
    )


def _facts(made: _Publication) -> list[tuple[str, str]]:
    given = made.given
    facts = [("Checkpoints", _checkpoints_in_words(list(given.used_checkpoints.values())))]
    for language, words in zip(given.used_texts, _texts_read(given, made.record), strict=True):
        facts.append((f"{TEXTS[language]} text", words))
    return [*facts, ("Command", made.command)]


def _texts_read(given: StudyInput, record: TextRecord) -> list[str]:
    """What was read of each language's files, where that can be less than is in them."""
    return [
        _text_in_words(given, language, [f for f in record.files if f.language == language])
        for language in given.used_texts
    ]


def _checkpoints_in_words(used: list[Checkpoint]) -> str:
    """Each with its weights and training; of very many only which they are."""
    if len(used) <= _MOST_IN_FACTS:
        return "; ".join(map(_in_words, used))
    return (
        f"{len(used)}, from {used[0].name} to {used[-1].name}; the README beside the tables has "
        "the weights and the training of each"
    )


def _in_words(checkpoint: Checkpoint) -> str:
    return (
        f"{checkpoint.name} (weights {checkpoint.fingerprint[:12]}; "
        f"training: {training_in_words(checkpoint)})"
    )


def _text_in_words(given: StudyInput, language: str, files: list[TextFile]) -> str:
    words = ", ".join(file.name for file in files)
    limit = given.used_texts[language].limit_bytes
    words += f" (at most {counted(limit, 'byte')} of each corpus)" if limit is not None else ""
    of_language = [table for key, table in given.used_tables.items() if key.language == language]
    if not of_language:
        return words
    sizes = of_language[0].documents["n_bytes"].tolist()
    return f"{words}: {counted(len(sizes), 'text')}, {counted(sum(sizes), 'byte')}"


def _not_held_out(given: StudyInput) -> list[str]:
    """Which checkpoints may have been trained on how many of the texts."""
    n_doubtful: dict[str, dict[str, int]] = {}
    for key, table in given.used_tables.items():
        is_held_out = table.documents["held_out"].fillna(False).tolist()
        n_doubtful.setdefault(key.checkpoint, {})[key.language] = is_held_out.count(False)
    names: dict[int, list[str]] = {}
    for name, by_language in n_doubtful.items():
        names.setdefault(sum(by_language.values()), []).append(name)
    return [
        f"{counted(n, 'text')} not known to be held out from the training of {', '.join(of_n)}"
        for n, of_n in names.items()
        if n
    ]


def _readme(made: _Publication) -> str:
    study, finding, given, record = made.study, made.finding, made.given, made.record
    made_with = ", ".join(f"{name} {number}" for name, number in versions().items())
    checkpoints = [
        f"| {_cell(name)} | {_cell(training_in_words(checkpoint))} | `{checkpoint.fingerprint}` |"
        for name, checkpoint in given.used_checkpoints.items()
    ]
    files = [
        f"| {_cell(file.name)} | {TEXTS[file.language]} | {_number(file.n_bytes)} | "
        f"{_number(file.n_rows)} | `{file.sha256}` |"
        for file in record.files
    ]
    treebanks = [
        f"| {_cell(name)} | words marked by people | | {len(each.sentences):,} | `{each.sha256}` |"
        for name, each in given.used_treebanks.items()
    ]
    has_texts = bool(files or treebanks)
    found = [
        f"- {_cell(verdict.claim)}"
        + (f" Published: {_cell(verdict.published)}." if verdict.published else "")
        + (f" Here: {_cell(verdict.ours)}." if verdict.ours else "")
        + f" **{_cell(verdict.verdict)}**"
        for verdict in finding.verdicts
    ]
    return "\n".join(
        [
            f"# {study.title}\n",
            f"{finding.question}\n",
            f"{_with_folders(made.command)}\n",
            f"    {made.command}\n",
            f"Made with {made_with}. The page is `reports/{study.name}.html`.\n",
            *(f"Read: {_words(words)}.\n" for words in _texts_read(given, record)),
            *(f"Note: {_words(warning)}\n" for warning in made.warnings),
            *found,
            "\n| checkpoint | training | SHA-256 of the weights |\n|---|---|---|",
            *checkpoints,
            *([_TEXT_HEAD] * has_texts),
            *files,
            *treebanks,
            "",
            f"{_about_text(record, has_treebanks=bool(treebanks))}\n",
        ]
    )


def _with_folders(command: str) -> str:
    folders = [
        f"the folder of the {what} as `{name}`"
        for name, what in _FOLDERS.items()
        if name in command
    ]
    return f"With {', '.join(folders)}:" if folders else "The command:"


def _about_text(record: TextRecord, *, has_treebanks: bool) -> str:
    of_treebanks = (
        "Of the treebanks' sentences and words, and so of tables made from them, the licences are "
        "those that Universal Dependencies gives with each."
    )
    if not record.files:
        if has_treebanks:
            return of_treebanks
        return "The texts are in the package, under its MIT licence, and so are these tables."
    if record.is_recorded:
        languages = {file.language for file in record.files}
        of_articles = (
            " Their text is from Wikipedia, under CC BY-SA 4.0 (English: 3.0), and so are these "
            "tables."
        )
        of_source = (
            " Python source is from the standard library of Python 3.11, under the PSF License "
            "Agreement."
        )
        return (
            "`docs/text.md` says what these files are."
            + (of_articles if languages & set(LANGUAGES) else "")
            + (of_source if "python" in languages else "")
            + (f" {of_treebanks}" if has_treebanks else "")
        )
    return NOT_COMPARABLE + " `docs/text.md` says which text that is."


def _number(number: int | None) -> str:
    return "" if number is None else f"{number:,}"


def _words(words: str) -> str:
    """One line of Markdown in which no HTML begins."""
    return one_line(words).replace("<", "\\<")


def _cell(words: str) -> str:
    return _words(words).replace("|", "\\|")
