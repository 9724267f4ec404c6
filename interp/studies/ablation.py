"""Study: does the loss care what the increments are?"""

from collections.abc import Mapping, Sequence
from contextlib import nullcontext

import pandas as pd

from interp.analyses.ablation import (
    ALL_BYTES,
    CLASSES,
    LOSS,
    WHOLE_TEXT,
    WORD_REST,
    WORD_START,
    Grouping,
    after_gaps,
    gap_groups,
    latin_words,
    loss_changes,
)
from interp.analyses.seeds import MARGIN_NATS
from interp.checkpoints import Checkpoint
from interp.extraction.increment_table import IncrementTable
from interp.extraction.interventions import Intervention
from interp.reports.heat_table import heat_table
from interp.reports.markup import Html
from interp.reports.page import Section
from interp.reports.pictures import row_picture
from interp.segmentation import find_segmenter
from interp.studies.ablation_verdicts import (
    TOGETHER,
    boundary_verdict,
    layer_title,
    of_replacement,
    verdicts,
)
from interp.studies.ablations import REPLACEMENTS, SIGNALS, ablations, replacements_for
from interp.studies.models import PER_HEAD, PER_LAYER, ROPE, SHARED
from interp.studies.study import Finding, Study
from interp.studies.study_input import LANGUAGES, StudyInput
from interp.tables import Row, rows_of

OTHERS = (PER_HEAD, SHARED, ROPE)
"""Models that are changed in all layers together alone, where they are there."""

DTYPE = "bfloat16"
"""Of the products in every pass, with a replacement and without: there are 57 per language."""

LIMIT_BYTES = {"en": 350_000, "zh": 100_000}
"""Of each language: English articles are long, and intervals need twenty of them."""

_UNIT = "nats per byte"
_QUESTION = (
    "The increments of a trained model have a pattern. Does the model use it? In every layer alone "
    "and in all of them together the increments are replaced while held-out text is read, and its "
    "loss is compared with the loss with the increments as they are, byte by byte."
)
_HOW = (
    "Each number is what the replacement adds to the loss: above 0 the model predicts worse. It is "
    "paired, over the same bytes; its interval is clustered by document and simultaneous for the "
    "layers of one row. A change whose whole interval is within "
    f"{MARGIN_NATS} nats per byte counts as none."
)
_HOW_READ = (
    "A change to inputs that the model never saw hurts for other reasons too. So compare: shuffles "
    "leave every value where it was seen but move it, the mean takes the pattern and leaves the "
    "average, half and double leave the pattern and change the scale."
)
_HOW_GROUPS = (
    "All layers are changed together; single layers are in the tables below. Beside each name "
    "stand its number of bytes and its loss with the increments as they are."
)
_HOW_BOUNDARIES = (
    "In English: the first letter of a word, and the letters after it. In Chinese: the bytes of "
    "the character after a gap that jieba calls a word end, and after another gap."
)
_HOW_OTHERS = (
    "A model with plain rotary positions has nothing to replace, but its steps can be scaled: what "
    "that costs has nothing to do with learned increments."
)
_LIMITS = (
    "Only the forward pass is changed. A model that is trained with other increments can have "
    "another loss: that a table of increments serves as well in training, as was published, is "
    "not tested here.",
    "A shuffle within a window can move an increment to before the token that it was made of, so "
    "that positions tell a little of what follows: what a shuffle costs is, if anything, too low.",
    "In all layers together a replacement meets a residual stream that is changed already; changes "
    "of single layers do not add up.",
    "Means and the bytes' table are taken from the text that is read, here of one language: over a "
    "text that mixes languages the mean also takes away what each of them has apart.",
    "All passes are made with bfloat16 products, which round a little: the byte's own value in the "
    "place of an increment that the byte decides does not come to exactly nothing.",
    "That a change costs nothing in one layer does not mean that the layer's increments are not "
    "used: other layers can stand in for them.",
    "Simultaneous intervals hold over the layers of one replacement and one group of bytes, not "
    "over all cells of a table.",
)


def run(given: StudyInput) -> Finding:
    """Changes of the loss of the per-layer model by language, and of other models in short."""
    checkpoint = given.checkpoint(PER_LAYER)
    reference = find_segmenter("zh")
    boundaries = {"en": latin_words(), "zh": after_gaps(reference)}
    layers = [*range(checkpoint.model.config.n_layers), None]
    tables = {
        LANGUAGES[language]: _changes(
            given, checkpoint, language, (WHOLE_TEXT, CLASSES, grouping), layers
        )
        for language, grouping in boundaries.items()
    }
    others = [
        (name, words, _changes(given, given.checkpoint(name), language, (WHOLE_TEXT,), [None]))
        for name in OTHERS
        if given.has_checkpoint(name)
        for language, words in LANGUAGES.items()
    ]
    rows = {words: rows_of(table) for words, table in tables.items()}
    groups = {LANGUAGES[language]: grouping.names for language, grouping in boundaries.items()}
    english, chinese = (LANGUAGES[language] for language in ("en", "zh"))
    return Finding(
        question=_QUESTION,
        verdicts=[
            *verdicts(rows),
            boundary_verdict(
                english,
                rows[english],
                (WORD_START, WORD_REST),
                ("at the first letter of a word", "at later letters"),
            ),
            boundary_verdict(
                chinese,
                rows[chinese],
                gap_groups(reference.reference),
                ("after a word end", "inside a word"),
            ),
        ],
        tables=_kept(tables, groups, others),
        sections=[
            Section("At a glance", [_HOW, *map(_glance, rows, rows.values()), _kinds(), _HOW_READ]),
            Section(
                "Classes of bytes",
                [_HOW_GROUPS, *_by_group(rows, dict.fromkeys(rows, CLASSES.names))],
            ),
            Section("Boundaries", [_HOW_BOUNDARIES, *_by_group(rows, groups)]),
            *([Section("Other models", [_HOW_OTHERS, _others(others)])] if others else []),
        ],
        limits=_LIMITS,
        picture=_picture(rows[english]),
    )


STUDY = Study(
    name="ablation",
    title="Does the loss care about increments?",
    sentence="What it costs to put other increments in the place of the learned ones, layer by "
    "layer: means, shuffles, other scales, by class of byte and at word boundaries.",
    run=run,
    texts=tuple(LANGUAGES),
)


def _changes(
    given: StudyInput,
    checkpoint: Checkpoint,
    language: str,
    groupings: Sequence[Grouping],
    layers: Sequence[int | None],
) -> pd.DataFrame:
    """Every replacement that can change something, in every layer of ``layers``."""
    names = replacements_for(checkpoint)
    n_all, n_done = 1 + len(names) * len(layers), 0
    on_pass = given.stage(f"passes of {checkpoint.name} on {LANGUAGES[language]}")

    def read(
        intervention: Intervention | None, signals: Sequence[str]
    ) -> nullcontext[IncrementTable]:
        nonlocal n_done
        table = given.extraction(
            checkpoint,
            language,
            signals,
            stride=checkpoint.model.config.n_ctx,
            dtype=DTYPE,
            limit_bytes=LIMIT_BYTES[language],
            intervention=intervention,
        )
        n_done += 1
        on_pass(n_done * table.manifest["n_bytes"], n_all * table.manifest["n_bytes"])
        return nullcontext(table)

    with read(None, SIGNALS) as unchanged:
        return loss_changes(unchanged, ablations(read, unchanged, names, layers), groupings)


def _glance(language: str, rows: Sequence[Row]) -> Html:
    """Replacements against layers."""
    found = {name: of_replacement(rows, name) for name in REPLACEMENTS}
    titles = list(dict.fromkeys(layer_title(row) for each in found.values() for row in each))
    cells = [
        (REPLACEMENTS[name].words, [_at(each, title) for title in titles])
        for name, each in found.items()
        if each
    ]
    title = f"{language}: what replaced increments add to the loss"
    return heat_table(title, ["in their place", *titles], cells, unit=_UNIT, note=_loss(rows))


def _by_group(
    by_language: Mapping[str, Sequence[Row]], groups: Mapping[str, Sequence[str]]
) -> list[Html]:
    """Groups of bytes against replacements, all layers together."""
    tables = []
    for language, rows in by_language.items():
        losses = {row["group"]: row for row in rows if row["statistic"] == LOSS}
        names = [name for name in REPLACEMENTS if of_replacement(rows, name)]
        cells = [
            (
                f"{group} · {losses[group]['n']:,} · {losses[group]['value']:.3f}",
                [_at(of_replacement(rows, name, group), TOGETHER) for name in names],
            )
            for group in groups[language]
            if group in losses
        ]
        head = ["group · bytes · loss", *(REPLACEMENTS[name].words for name in names)]
        tables.append(heat_table(f"{language}, all layers together", head, cells, unit=_UNIT))
    return tables


def _others(others: Sequence[tuple[str, str, pd.DataFrame]]) -> Html:
    names = list(REPLACEMENTS)
    cells = []
    for checkpoint, language, table in others:
        rows = rows_of(table)
        of_row = [_at(of_replacement(rows, name), TOGETHER) for name in names]
        cells.append((f"{checkpoint}, {language}", of_row))
    head = ["checkpoint", *(REPLACEMENTS[name].words for name in names)]
    return heat_table("Other models, all layers together", head, cells, unit=_UNIT)


def _kinds() -> str:
    kinds = "; ".join(f"{each.words}: {each.keeps}" for each in REPLACEMENTS.values())
    return f"What each of them leaves. {kinds[0].upper()}{kinds[1:]}."


def _kept(
    tables: Mapping[str, pd.DataFrame],
    groups: Mapping[str, Sequence[str]],
    others: Sequence[tuple[str, str, pd.DataFrame]],
) -> dict[str, pd.DataFrame]:
    """The tables of the study, with the language before the group."""

    def of_groups(names: Mapping[str, Sequence[str]]) -> pd.DataFrame:
        parts = []
        for language, table in tables.items():
            part = table[table["group"].isin(list(names[language]))]
            parts.append(_with_language(pd.DataFrame(part), language))
        return pd.concat(parts, ignore_index=True)

    kept = {
        "loss-changes": of_groups(dict.fromkeys(tables, (ALL_BYTES,))),
        "byte-classes": of_groups(dict.fromkeys(tables, CLASSES.names)),
        "boundaries": of_groups(groups),
    }
    if others:
        found = [_with_language(table, language) for _, language, table in others]
        kept["other-models"] = pd.concat(found, ignore_index=True)
    return kept


def _with_language(table: pd.DataFrame, language: str) -> pd.DataFrame:
    return table.assign(group=f"{language}, " + table["group"])


def _at(found: Sequence[Row], title: str) -> Row | None:
    return next((row for row in found if layer_title(row) == title), None)


def _loss(rows: Sequence[Row]) -> str:
    loss = next(row for row in rows if row["statistic"] == LOSS and row["group"] == ALL_BYTES)
    return (
        f"The loss with the increments as they are is {loss['value']:.4f} nats per byte, over "
        f"{loss['n']:,} bytes of {loss['n_documents']:,} texts."
    )


def _picture(rows: Sequence[Row]) -> Html:
    found = of_replacement(rows, "mean")
    return row_picture(found, reference=0.0)
