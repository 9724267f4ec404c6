"""The page of the family of position encodings: a section for each, then all side by side."""

from collections.abc import Mapping, Sequence
from math import log

import pandas as pd

from interp.analyses.score_terms import MEAN_ABSOLUTE, SCORE, VARIANCE_SHARE
from interp.model.score_terms import TERMS
from interp.reports.chart import Chart, estimate_text
from interp.reports.markup import Html
from interp.reports.page import Section
from interp.reports.verdicts import side_by_side as words_table
from interp.studies.family import ADDED, MEMBERS, ROPE, Family
from interp.studies.family_losses import DIFFERENCE, LOSS
from interp.studies.position_encoding_figures import (
    cosine_chart,
    curve_chart,
    frequency_chart,
    loss_chart,
    product_map,
    table_map,
)
from interp.studies.position_encoding_verdicts import difference_in_words
from interp.studies.published import FAMILY
from interp.studies.study_input import StudyInput
from interp.tables import Row, rows_of, select

Tables = Mapping[str, pd.DataFrame]

_HOW = (
    "Loss is the mean surprisal of a character of the held-out end of the text, in nats, read in "
    "windows as long as those of training. A small loss is a good prediction; a model that knew "
    "nothing but the {n} characters would have ln {n} = {nats:.2f}. Every encoding was trained "
    "with several seeds, which decide the initial weights and the order of the windows; the "
    "intervals are those of t over seeds. Differences are paired: of two models of one seed, which "
    "saw the same windows."
)
_HOW_CURVES = (
    "Loss on the training windows, which differ from step to step for all models alike; a point is "
    "the mean of ten steps. The grey line is RoPE of the first seed, in every panel the same."
)
_HOW_TERMS = (
    "In layer 0 a query and a key are each a sum of a part from the token's embedding (content) "
    "and a part from the added vector (position), so that a score is a sum of four products. The "
    "norm before attention divides a token's vector by one number, its root mean square, which "
    "is taken from content and position together: a common factor of both, so that the split is "
    "exact. Beside the mean size of each product stands its share of the variance of a query's "
    "scores over its keys: what is the same for all keys changes nothing. Shares sum to 1, and one "
    "below 0 counteracts the rest."
)
_HOW_FREQUENCIES = (
    "How alike are two rows of the table? Their dot product depends on the distance alone. One "
    "pair of channels gives a cosine of the distance: the fastest is nearly back at 1 after six "
    "tokens and takes a distance of 44 for one of 0; a slow pair hardly changes over a whole "
    "window. Neither alone says how far apart two tokens are; all of them together do, as minute "
    "and hour hand do together: their sum falls from distance 0 on and does not come back to it."
)
_HOW_SECOND = (
    "The same encodings on bytes of English and Chinese articles: other text, other tokens, "
    "and no published numbers. What holds in both settings is less likely to be a matter of one "
    "small text."
)


def lesson(given: StudyInput, family: Family, tables: Tables) -> list[Section]:
    """A section for each member: what it is, what was found of it, what can be seen of it."""
    sections = []
    for member in family.seeds:
        parts: list[Html | Chart | str] = [MEMBERS[member].what, found_in_words(member, tables)]
        if member in ADDED:
            parts += _added_parts(given, family, tables, member)
        sections.append(Section(MEMBERS[member].title, parts))
    return sections


def side_by_side(given: StudyInput, family: Family, tables: Tables) -> list[Section]:
    """All members beside one another: losses, ranks, curves."""
    d_vocab = given.checkpoint(family.first(next(iter(family.seeds)))).model.config.d_vocab
    losses = [
        _HOW.format(n=d_vocab, nats=log(d_vocab)),
        loss_chart(tables["losses"]),
        _losses_beside_published(family, tables),
        _differences(family, tables["paired-differences"]),
    ]
    sections = [
        Section("Side by side", losses),
        Section("Ranking, seed by seed", [_ranks(family, tables["ranks"])]),
    ]
    if len(tables["loss-curves"]):
        curves = curve_chart(tables["loss-curves"], family)
        sections.append(Section("How they learn", [_HOW_CURVES, curves]))
    return sections


def second_setting(tables: Tables) -> list[Section]:
    """The setting on bytes, where it is there."""
    if "bytes-losses" not in tables:
        return []
    table = tables["bytes-losses"]
    corpora = list(dict.fromkeys(table["group"]))
    rows = []
    for member in [each for each in MEMBERS if each in set(table["checkpoint"])]:
        cells = [_mean_and_sd(select(table, group=corpus), member) for corpus in corpora]
        paired = tables["bytes-paired-differences"]
        cells += [_difference(select(paired, group=corpus), member, ROPE) for corpus in corpora]
        rows.append([MEMBERS[member].title, *cells])
    head = ["encoding", *corpora, *(f"{corpus}, less RoPE" for corpus in corpora)]
    shown = words_table(
        "Held-out loss in nats per byte (mean ± sd where there are several seeds)", head, rows
    )
    return [Section("A second setting: bytes", [_HOW_SECOND, shown])]


def found_in_words(member: str, tables: Tables) -> str:
    """Its loss over seeds, the published one, its parameters, and its difference to RoPE."""
    table = tables["losses"]
    loss = _row(select(table, reference=None), member, f"mean_{LOSS}")
    if loss is None:
        return "Its held-out loss is not known."
    words = f"Loss here: {_mean_and_sd(table, member)} nats per character, "
    words += f"{loss['n']} seed{'s' * (loss['n'] != 1)}"
    if member in FAMILY:
        words += f" (published: {FAMILY[member].mean:.3f} ± {FAMILY[member].sd:.3f}, 3 seeds)"
    count = _row(select(tables["parameters"], reference=None), member, "n_parameters")
    words += f". {int(count['value']):,} parameters." if count else "."
    difference = _difference(tables["paired-differences"], member, ROPE)
    return words + (f" Less RoPE, paired by seed: {difference}." if difference else "")


def _added_parts(
    given: StudyInput, family: Family, tables: Tables, member: str
) -> Sequence[Html | Chart | str]:
    checkpoint = given.checkpoint(family.first(member))
    parts: list[Html | Chart | str] = [product_map(checkpoint)]
    if member == "sinusoidal":
        frequencies = frequency_chart(tables["frequencies"])
        parts = [table_map(checkpoint), *parts, _HOW_FREQUENCIES, frequencies]
    else:
        parts.append(cosine_chart(tables["table-cosines"]))
    if "score-terms" in tables:
        is_first = member == next(each for each in ADDED if each in family.seeds)
        parts += [_HOW_TERMS] * is_first
        parts.append(_terms(tables["score-terms"], member))
    return parts


def _losses_beside_published(family: Family, tables: Tables) -> Html:
    table, differences = tables["losses"], tables["published-differences"]
    ours = select(table, reference=None)
    seeds = sorted({seed for each in family.seeds.values() for seed in each})
    rows = []
    for member in family.seeds:
        by_seed = [_number(_row(ours, f"{member}-seed{seed}", LOSS)) for seed in seeds]
        known = FAMILY.get(member)
        published = ["", ""]
        if known is not None:
            published = [f"{known.loss:.3f}", f"{known.mean:.3f} ± {known.sd:.3f}"]
        difference = _row(differences, member, f"mean_{DIFFERENCE}")
        last = _number(difference, "+.3f") if known is not None else ""
        rows.append([MEMBERS[member].title, *by_seed, _mean_and_sd(ours, member), *published, last])
    head = ["encoding", *(f"seed {seed}" for seed in seeds), "mean ± sd"]
    head += ["published, seed 0", "published, mean ± sd", "mean less published"]
    return words_table("Held-out loss in nats per character, published beside ours", head, rows)


def _differences(family: Family, paired: pd.DataFrame) -> Html:
    seeds = sorted({seed for each in family.seeds.values() for seed in each})
    to_rope = select(paired, reference=ROPE)
    rows = []
    for member in family.seeds:
        if member != ROPE:
            by_seed = [
                _number(_row(to_rope, f"{member}-seed{seed}", DIFFERENCE), "+.3f") for seed in seeds
            ]
            mean = _difference(to_rope, member, ROPE)
            rows.append([MEMBERS[member].title, *by_seed, mean])
    head = ["encoding", *(f"seed {seed}" for seed in seeds), "mean [95 %, t over seeds]"]
    return words_table("Loss less that of RoPE of the same seed, nats per character", head, rows)


def _ranks(family: Family, table: pd.DataFrame) -> Html:
    seeds = sorted({seed for each in family.seeds.values() for seed in each})
    rows = [
        [
            MEMBERS[member].title,
            *(_number(_row(table, f"{member}-seed{seed}", "rank"), "g") for seed in seeds),
        ]
        for member in family.seeds
    ]
    head = ["encoding", *(f"seed {seed}" for seed in seeds)]
    return words_table("Rank by held-out loss: 1 is the lowest", head, rows)


def _terms(table: pd.DataFrame, member: str) -> Html:
    """Sizes and shares of the terms: over seeds, and of every head of the first seed."""
    names = [name for name in table["checkpoint"] if name.startswith(f"{member}-seed")]
    first = [row for row in rows_of(select(table, checkpoint=names[0])) if row["head"] is not None]
    rows = []
    for term in (*TERMS, SCORE):
        of_term = select(table, group=term)
        size = _row(of_term, member, f"mean_{MEAN_ABSOLUTE}")
        share = _row(of_term, member, f"mean_{VARIANCE_SHARE}")
        heads = [
            _number(row, ".0%")
            for row in first
            if row["group"] == term and row["statistic"] == VARIANCE_SHARE
        ]
        shares = [_with_interval(share, ".0%"), *heads] if term != SCORE else []
        rows.append([term, _with_interval(size, ".3f"), *shares])
    n_heads = max(row["head"] for row in first) + 1
    rows[-1] += [""] * (n_heads + 1)
    head = ["query-key", "mean size", "share of variance"]
    seed = names[0].removeprefix(f"{member}-")
    head += [f"H{index}, {seed.replace('seed', 'seed ')}" for index in range(n_heads)]
    title = f"{MEMBERS[member].title}: the four terms of layer 0's scores, mean over seeds"
    return words_table(title, head, rows)


def _row(table: pd.DataFrame, checkpoint: str, statistic: str) -> Row | None:
    """The first row of a checkpoint and statistic."""
    return next(iter(rows_of(select(table, checkpoint=checkpoint, statistic=statistic))), None)


def _mean_and_sd(table: pd.DataFrame, member: str) -> str:
    ours = select(table, reference=None)
    mean, sd = (_row(ours, member, f"{which}_{LOSS}") for which in ("mean", "sd"))
    if mean is None or mean["value"] is None:
        return ""
    spread = "" if sd is None or sd["value"] is None else f" ± {sd['value']:.3f}"
    return f"{mean['value']:.3f}{spread}"


def _difference(paired: pd.DataFrame, member: str, reference: str) -> str:
    row = _row(select(paired, reference=reference), member, f"mean_{DIFFERENCE}")
    return "" if row is None else difference_in_words(row)


def _number(row: Row | None, form: str = ".3f") -> str:
    if row is None:
        return ""
    return "not defined" if row["value"] is None else format(row["value"], form)


def _with_interval(row: Row | None, form: str) -> str:
    return _number(row, form) if row is None or row["low"] is None else estimate_text(row, form)
