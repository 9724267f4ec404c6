"""What can be said of a family of position encodings: from losses by seed to sentences."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from interp.analyses.score_terms import VARIANCE_SHARE
from interp.model.score_terms import TERMS
from interp.reports.chart import estimate_text
from interp.reports.verdicts import Verdict
from interp.studies.family import (
    ADDED,
    ALIBI,
    FORGET_GATE,
    INCREMENTS,
    MEMBERS,
    NONE,
    PUBLISHED_MEMBERS,
    ROPE,
)
from interp.studies.family_losses import DIFFERENCE, MemberLosses
from interp.studies.published import FAMILY, PUBLISHED
from interp.tables import Row, has_interval, rows_of, select

WITHIN_NATS = 0.06
"""How near to the published means ours must lie, fixed before any model was trained."""

COMBINATIONS = ("rope-alibi", "rope-nope")

_UNPUBLISHED = ""


def verdicts(
    losses: MemberLosses,
    parameters: pd.DataFrame,
    published: pd.DataFrame,
    paired: pd.DataFrame,
    terms: pd.DataFrame,
) -> list[Verdict]:
    """Answers about the setting of which numbers were published.

    Args:
        losses: By member and seed.
        parameters: Their counts, and the published ones.
        published: Our means less the published ones.
        paired: Differences to RoPE and to no positions.
        terms: The four terms of added positions; empty where no text was given.
    """
    return [
        counts_verdict(parameters),
        near_published_verdict(published),
        order_verdict(losses),
        better_than_none_verdict(paired),
        paired_verdict(
            paired, [INCREMENTS], ROPE, "Learned increments have a lower loss than RoPE."
        ),
        paired_verdict(
            paired, COMBINATIONS, ROPE, "Slopes, or a layer without positions, improve RoPE."
        ),
        paired_verdict(
            paired, [FORGET_GATE], ALIBI, "Slopes that depend on content are better than ALiBi's."
        ),
        *(terms_verdict(terms, member) for member in ADDED),
    ]


def counts_verdict(table: pd.DataFrame) -> Verdict:
    """Whether our models have as many parameters as the published ones."""
    ours, published = (
        {row["checkpoint"]: int(row["value"]) for row in rows_of(rows)}
        for rows in (select(table, reference=None), select(table, reference=PUBLISHED))
    )
    there = [member for member in published if member in ours]
    other = [member for member in there if ours[member] != published[member]]
    claim = "The models have as many parameters as the published ones."
    said = ", ".join(f"{MEMBERS[m].title} {ours[m]:,}" for m in there) or "none is there"
    words = ", ".join(f"{MEMBERS[m].title} {count:,}" for m, count in published.items())
    if not there:
        return Verdict(claim, words, said, "Undecided: no model to compare.")
    if other:
        names = ", ".join(MEMBERS[member].title for member in other)
        return Verdict(claim, words, said, f"No: another number in {names}.")
    return Verdict(claim, words, said, f"Yes, in all {len(there)} that are there.")


def near_published_verdict(table: pd.DataFrame) -> Verdict:
    """Whether our mean losses are near the published ones."""
    claim = f"Mean losses lie within {WITHIN_NATS} nats of the published means of three seeds."
    words = ", ".join(f"{MEMBERS[m].title} {each.mean:.3f}" for m, each in FAMILY.items())
    rows = {row["checkpoint"]: row for row in rows_of(table)}
    known = {m: row["value"] for m, row in rows.items() if row["value"] is not None}
    said = ", ".join(f"{MEMBERS[m].title} {value:+.3f}" for m, value in known.items())
    here = f"differences of the means: {said}" if said else "no two seeds of any are there"
    far = [MEMBERS[m].title for m, value in known.items() if abs(value) > WITHIN_NATS]
    if far:
        return Verdict(claim, words, here, f"No: {', '.join(far)} {_lie(far)} further away.")
    if len(known) < len(FAMILY):
        lacking = [MEMBERS[m].title for m in FAMILY if m not in known]
        return Verdict(claim, words, here, f"Undecided: two seeds are needed of {_all(lacking)}.")
    return Verdict(claim, words, here, "Yes.")


def order_verdict(losses: MemberLosses) -> Verdict:
    """Whether the six encodings stand in the published order, seed by seed."""
    published = sorted(PUBLISHED_MEMBERS, key=lambda member: FAMILY[member].mean)
    claim = "The six encodings stand in the published order, from the lowest loss."
    words = ", ".join(MEMBERS[member].title for member in published)
    there = [member for member in published if member in losses]
    seeds = [
        seed
        for seed in sorted({seed for member in there for seed in losses[member]})
        if all(seed in losses[member] for member in there)
    ]
    if len(there) < len(published) or not seeds:
        return Verdict(
            claim, words, "not all six are there with one seed", "Undecided: models are missing."
        )
    means = {m: float(np.mean([losses[m][seed] for seed in seeds])) for m in there}
    ours = sorted(there, key=means.__getitem__)
    n_same = sum(sorted(there, key=lambda m: losses[m][seed]) == published for seed in seeds)
    here = f"{', '.join(MEMBERS[m].title for m in ours)}, by the mean; the published order in "
    here += f"{n_same} of {len(seeds)} seeds"
    if n_same == len(seeds):
        return Verdict(claim, words, here, "Yes, in every seed.")
    if ours == published:
        return Verdict(claim, words, here, "By the mean, but not in every seed.")
    return Verdict(claim, words, here, "No: not by the mean.")


def better_than_none_verdict(paired: pd.DataFrame) -> Verdict:
    """Whether every encoding has a lower loss than no positions."""
    claim = "Every encoding has a lower loss than no positions at all."
    rows = _means(paired, NONE)
    return _of_several(claim, "so in all five that were published", rows)


def paired_verdict(
    paired: pd.DataFrame, members: Sequence[str], reference: str, claim: str
) -> Verdict:
    """Whether the mean difference of each of ``members`` to ``reference`` is below 0."""
    rows = {member: row for member, row in _means(paired, reference).items() if member in members}
    return _of_several(claim, _UNPUBLISHED, rows)


def terms_verdict(terms: pd.DataFrame, member: str) -> Verdict:
    """Whether most of what layer 0's scores differ by is content with content."""
    title = MEMBERS[member].title
    claim = f"{title}: in layer 0 scores differ mostly by content with content."
    shares = {
        row["group"]: row
        for row in rows_of(terms)
        if row["checkpoint"] == member and row["statistic"] == f"mean_{VARIANCE_SHARE}"
    }
    if not shares:
        return Verdict(claim, _UNPUBLISHED, "not measured", "Undecided: no model or no text.")
    here = ", ".join(f"{term} {_share_in_words(shares[term])}" for term in TERMS)
    row = shares[TERMS[0]]
    if row["low"] is None:
        return Verdict(claim, _UNPUBLISHED, here, f"Undecided: {row['note']}.")
    if row["low"] > 0.5:
        return Verdict(claim, _UNPUBLISHED, here, "Yes: more than half of the variance.")
    if row["high"] < 0.5:
        return Verdict(claim, _UNPUBLISHED, here, "No: positions have more than half of it.")
    return Verdict(claim, _UNPUBLISHED, here, "Undecided: the interval holds one half.")


def difference_in_words(row: Row) -> str:
    """A mean difference in nats with its interval over seeds."""
    if row["value"] is None:
        return str(row["note"])
    return estimate_text(row, "+.3f") + ("" if has_interval(row) else f" ({row['note']})")


def _of_several(claim: str, published: str, rows: Mapping[str, Row]) -> Verdict:
    """Which of the mean differences are surely below 0, above it, or neither."""
    if not rows:
        return Verdict(claim, published, "none is there", "Undecided: no model to compare.")
    said = "; ".join(f"{MEMBERS[m].title} {difference_in_words(r)}" for m, r in rows.items())
    here = f"mean differences paired by seed: {said}"
    lower = [m for m, row in rows.items() if row["high"] is not None and row["high"] < 0]
    higher = [m for m, row in rows.items() if row["low"] is not None and row["low"] > 0]
    if len(lower) == len(rows):
        return Verdict(claim, published, here, "Yes." if len(rows) == 1 else "Yes, each of them.")
    rest = [m for m in rows if m not in lower and m not in higher]
    if len(rest) == len(rows):
        return Verdict(claim, published, here, "Undecided: no interval leaves out 0.")
    parts = [
        (f"lower: {_titles(lower)}", lower),
        (f"higher: {_titles(higher)}", higher),
        (f"undecided: {_titles(rest)}", rest),
    ]
    words = "; ".join(words for words, members in parts if members)
    opening = (
        "No" if higher and len(rows) == 1 else "No, not each" if higher else "Not shown of all"
    )
    return Verdict(claim, published, here, f"{opening}: {words}.")


def _means(paired: pd.DataFrame, reference: str) -> dict[str, Row]:
    """The mean difference of each member, of those to ``reference``."""
    of_mean = select(paired, reference=reference, statistic=f"mean_{DIFFERENCE}")
    return {row["checkpoint"]: row for row in rows_of(of_mean)}


def _share_in_words(row: Row) -> str:
    return estimate_text(row, ".0%")


def _titles(members: Sequence[str]) -> str:
    return ", ".join(MEMBERS[member].title for member in members)


def _all(names: Sequence[str]) -> str:
    return "all six" if len(names) == len(FAMILY) else ", ".join(names)


def _lie(names: Sequence[str]) -> str:
    return "lies" if len(names) == 1 else "lie"
