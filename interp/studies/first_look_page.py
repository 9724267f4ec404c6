"""The page of a first look: what was measured on what, the plots, both tables."""

from collections.abc import Sequence
from typing import Any

import pandas as pd

import interp
from interp.analyses.byte_classes import COUNTS_UNKNOWN, RUNNING_TEXT, VOCABULARY
from interp.checkpoints import Checkpoint
from interp.extraction.increment_table import IncrementTable
from interp.model import IncrementsConfig
from interp.reports import page as pages
from interp.reports.character_positions import PositionTrace
from interp.reports.charts import auc_chart, baseline_chart, byte_class_chart
from interp.reports.pictures import position_picture
from interp.reports.position_plot import position_plot
from interp.studies.facts import held_out_loss_in_words, model_in_words, training_in_words
from interp.studies.plots import drawn_documents, position_traces
from interp.tables import select
from interp.text import counted, display, one_line
from interp.tokenizer import BYTES

MAX_WARNINGS = 30
"""The most warnings that a page lists."""

OPENING = 30
"""Characters of a text by which a gallery tells a page from others."""

_LEAD_LEARNED = (
    "A transformer with rotary positions that advance by a learned increment instead of 1 says "
    "with every {token} how far it stands from the one before it. This page shows these "
    "increments on a text."
)
_LEAD_PLAIN = (
    "A transformer with plain rotary positions puts every {token} 1 from the one before it. This "
    "page shows on a text what a model with learned increments is compared with."
)
_DESCRIPTION = (
    "How far apart the characters of {text} stand in every layer, which {token}s a layer steps "
    "over{words}."
)
_HOW_POSITIONS = (
    "A character stands at the running sum of the increments up to and including its last byte; "
    "the separator before the text is 0. Faint lines follow a character from row to row. "
    "Spaces count as characters; a byte that is no valid UTF-8 shows as its hex."
)
_HOW_POSITIONS_OF_CHARACTERS = (
    "A character stands at the running sum of the increments up to and including its own; 0 is "
    "before the first. Faint lines follow a character from row to row. Spaces count as characters."
)
_HOW_BOUNDARIES = (
    "For every gap between two Chinese characters: is the increment at the next character's lead "
    "byte larger where jieba ends a word? 0.5 is chance, and below 0.5 it is smaller there. The "
    "increment has seen at most the text up to the lead byte, not the whole next character. The "
    "ceiling is what the best function of the lead byte alone reaches, so no increment that the "
    "byte alone decides can be above the one in sample. jieba is another program's opinion, not "
    "the truth."
)
_NO_CHINESE = (
    "Not defined: no gap between two Chinese characters in the text. Of the words of other "
    "languages: interp word-boundary-auc --lang."
)
_HOW_BASELINES = (
    "Surprisal and entropy are the same model's predictions of the next byte. The others need no "
    "model: what the lead byte, or the character before the gap with that byte, said of jieba's "
    "boundaries in other texts; and, from counts of Chinese Wikipedia that know no words, minus "
    "the pointwise mutual information of the two characters and how open each of them is to its "
    "neighbours (branching entropy). Compare scores that have seen the same of the next character."
)
_HOW_CLASSES = (
    "Mean increment of every {token} by its class, in positions; plain rotary positions have 1 "
    "everywhere."
)
_HOW_CLASSES_OF_BYTES = (
    " Lead bytes E4 to E9 begin most Chinese characters, continuation bytes end them."
)
_HOW_VOCABULARY = (
    "What the token alone decides, every byte value counted once however frequent it is, {which}."
)
_SEEN = "and only those that training saw"
_ALL = "and all that can stand in UTF-8, since it is not known which of them training saw"


def first_look_page(
    checkpoint: Checkpoint,
    increments: IncrementTable,
    byte_classes: pd.DataFrame,
    word_boundaries: pd.DataFrame,
    *,
    text: str,
    command: str,
    warnings: Sequence[str],
    max_plots: int,
) -> str:
    """The page as an HTML document.

    Args:
        checkpoint: The model.
        increments: What was read.
        byte_classes: Over running text and over the vocabulary.
        word_boundaries: Per layer.
        text: What was read, in a few words.
        command: The command that makes the page, or nothing.
        warnings: What a reader must know first.
        max_plots: The most texts whose characters are drawn.
    """
    running = byte_classes.query(f"reference == {RUNNING_TEXT!r}")
    vocabulary = byte_classes.query(f"reference == {VOCABULARY!r}")
    n_rows = len(increments.columns("increment"))
    drawn = drawn_documents(increments.documents, n_rows=n_rows, max_plots=max_plots)
    traces = list(position_traces(increments, drawn))
    is_bytes = increments.tokenizer == BYTES
    token = "byte" if is_bytes else "character"
    sections = [_positions_section(increments, traces, n_drawn=len(drawn))]
    if is_bytes:
        sections.append(_boundaries_section(word_boundaries))
    sections.append(
        pages.Section(
            f"{token.capitalize()} classes",
            [
                _HOW_CLASSES.format(token=token) + (_HOW_CLASSES_OF_BYTES if is_bytes else ""),
                byte_class_chart(running, kind=f"{token} class"),
                pages.table(
                    running,
                    caption=f"{token.capitalize()} classes in running text",
                    file_name=f"{token}-classes.csv",
                ),
            ],
        )
    )
    if len(vocabulary):
        is_unknown = any(COUNTS_UNKNOWN in note for note in vocabulary["note"].dropna())
        sections.append(
            pages.Section(
                "Byte values",
                [
                    _HOW_VOCABULARY.format(which=_ALL if is_unknown else _SEEN),
                    byte_class_chart(vocabulary, key="byte-values"),
                    pages.table(
                        vocabulary, caption="Classes of byte values", file_name="byte-values.csv"
                    ),
                ],
            )
        )
    is_learned = isinstance(checkpoint.model.config.position, IncrementsConfig)
    return pages.page(
        f"Increments of {checkpoint.name}",
        lead=[(_LEAD_LEARNED if is_learned else _LEAD_PLAIN).format(token=token)],
        facts=_facts(checkpoint, increments, word_boundaries, text=text, command=command),
        warnings=[*_shortened(warnings), *_dropped_marks(increments)],
        sections=sections,
        footer=f"Made by interp {interp.__version__}.",
        description=_DESCRIPTION.format(
            text=f"{one_line(text)}{_opening(traces)}",
            token=token,
            words=", and whether it knows where Chinese words end"
            if is_bytes and _has_chinese(word_boundaries)
            else "",
        ),
        picture=position_picture(traces[0]) if traces else "",
    )


def saturation_notes(increments: IncrementTable, signal: str = "increment") -> list[str]:
    """One phrase per column in which more than 1 % of the entries are saturated.

    Saturated is within 0.1 % of the bound: such entries may still differ, but hardly.
    """
    shares = increments.manifest["signals"][signal].get("saturated") or {}
    return [f"{name} {share:.1%}" for name, share in shares.items() if share > 0.01]


def _positions_section(
    increments: IncrementTable, traces: Sequence[PositionTrace], *, n_drawn: int
) -> pages.Section:
    n_with_text = sum(n_bytes > 0 for n_bytes in increments.documents["n_bytes"].tolist())
    is_bytes = increments.tokenizer == BYTES
    parts: list[Any] = [_HOW_POSITIONS if is_bytes else _HOW_POSITIONS_OF_CHARACTERS]
    if n_drawn < n_with_text:
        parts.append(
            f"{n_drawn} of {n_with_text:,} texts are drawn, the first ones of every source; "
            "the tables below are about all of them."
        )
    parts += [position_plot(trace) for trace in traces]
    return pages.Section("Character positions", parts)


def _boundaries_section(word_boundaries: pd.DataFrame) -> pages.Section:
    if not _has_chinese(word_boundaries):
        return pages.Section("Word boundaries", [_NO_CHINESE])
    return pages.Section(
        "Word boundaries",
        [
            _HOW_BOUNDARIES,
            auc_chart(word_boundaries),
            baseline_chart(word_boundaries),
            _HOW_BASELINES,
            pages.table(
                word_boundaries,
                caption="Areas under the ROC curve",
                file_name="word-boundary-auc.csv",
            ),
        ],
    )


def _has_chinese(word_boundaries: pd.DataFrame) -> bool:
    """Whether the text has a gap between two Chinese characters."""
    return bool(select(word_boundaries, statistic="base_rate")["n"].sum())


def _opening(traces: Sequence[PositionTrace]) -> str:
    """The first words of the first text drawn, in brackets."""
    if not traces:
        return ""
    characters = traces[0].characters
    words = display(b"".join(characters[:OPENING]))
    return f" (“{words}{'…' if len(characters) > OPENING else ''}”)"


def _facts(
    checkpoint: Checkpoint,
    increments: IncrementTable,
    word_boundaries: pd.DataFrame,
    *,
    text: str,
    command: str,
) -> list[tuple[str, str]]:
    manifest, documents = increments.manifest, increments.documents
    n_documents, n_bytes = len(documents), sum(documents["n_bytes"].tolist())
    n_held_out = sum(documents["held_out"].fillna(False).tolist())
    held_out = (
        "yes, all of it"
        if n_held_out == n_documents
        else f"not known to be held out, but for {n_held_out:,} of {n_documents:,} texts"
        if n_held_out
        else "not known to be held out"
    )
    is_bytes = increments.tokenizer == BYTES
    references = word_boundaries["reference"].dropna().unique() if is_bytes else ()
    facts = [
        ("Checkpoint", f"{checkpoint.name} (weights {checkpoint.fingerprint[:12]})"),
        ("Model", model_in_words(checkpoint)),
        ("Training", training_in_words(checkpoint)),
        ("Held-out loss", held_out_loss_in_words(checkpoint)),
        ("Text", f"{text}: {counted(n_documents, 'text')}, {counted(n_bytes, 'byte')}"),
        ("Text held out from training", held_out),
        (
            "Read in",
            f"windows of {manifest['window']:,} tokens, one every {manifest['stride']:,}; "
            f"{manifest['dtype']}",
        ),
        ("Within 0.1 % of the bound", _saturation_in_words(increments)),
        ("Word reference", ", ".join(references)),
        ("Command", command),
    ]
    # names of texts and corpora, and the command's own text, may hold anything
    return [(name, one_line(value)) for name, value in facts if value]


def _saturation_in_words(increments: IncrementTable) -> str:
    if increments.manifest["signals"]["increment"].get("saturated") is None:
        return ""
    return ", ".join(saturation_notes(increments)) or "none above 1 %"


def _shortened(warnings: Sequence[str]) -> list[str]:
    shown = list(warnings[:MAX_WARNINGS])
    if len(warnings) > MAX_WARNINGS:
        shown.append(f"and {len(warnings) - MAX_WARNINGS:,} more")
    return shown


def _dropped_marks(increments: IncrementTable) -> list[str]:
    n_texts = sum(n > 0 for n in increments.documents["dropped_bytes"].tolist())
    if not n_texts:
        return []
    return [
        f"{counted(n_texts, 'text')} began with a byte order mark, which is left out: offsets "
        "count from after it"
    ]
