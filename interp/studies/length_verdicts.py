"""What can be said of windows longer than those of training: from bands to sentences."""

from collections.abc import Mapping
from dataclasses import dataclass

import pandas as pd

from interp.analyses.position_spans import RATIO
from interp.analyses.seed_tables import SeedValues, mean_of, paired_values
from interp.analyses.seeds import equivalence
from interp.analyses.statistics import Estimate
from interp.reports.verdicts import Verdict
from interp.studies.family import ALIBI, INCREMENTS, LEARNED, MEMBERS, NONE, ROPE, SINUSOIDAL
from interp.studies.length_tables import BandLosses
from interp.studies.published import FAMILY, FAMILY_BANDS
from interp.tables import rows_of, select

FALLS_APART_NATS = 0.5
"""Worse by more than this a model has fallen apart."""

FLAT_NATS = 0.05
"""Within this a curve is flat; both margins were fixed before any model was trained."""


@dataclass(frozen=True)
class Beyond:
    """What bands beyond the training length cost more than the first, by band and seed."""

    member: str
    costs: Mapping[str, SeedValues]

    @classmethod
    def of(cls, losses: BandLosses, member: str) -> "Beyond":
        """Those of a member; none where it is not there."""
        first, *later = losses.get(member) or [""]
        return cls(
            member, {b: paired_values(losses[member][b], losses[member][first]) for b in later}
        )

    @property
    def in_words(self) -> str:
        """The mean cost of every band with its interval over seeds."""
        said = [f"{band}: {mean_in_words(mean_of(values))}" for band, values in self.costs.items()]
        return "; ".join(said) or "not there"

    @property
    def last(self) -> SeedValues:
        """Of the last band; none where there is none."""
        return list(self.costs.values())[-1] if self.costs else {}

    @property
    def published(self) -> str:
        """The same of the published seed."""
        first, *later = FAMILY[self.member].bands if self.member in FAMILY else [None]
        said = [
            f"{band}: {value - first:+.3f}"
            for band, value in zip(FAMILY_BANDS[1:], later, strict=False)
            if value is not None and first is not None
        ]
        return f"one seed, {'; '.join(said)}" if said else ""


def verdicts(losses: BandLosses, spans: pd.DataFrame | None, refusal: str) -> list[Verdict]:
    """Answers about windows longer than those of training.

    Args:
        losses: By member, band and seed; the first band is within the training length.
        spans: Where learned positions reach; None where no model has them.
        refusal: What a learned absolute model says of such a window; "" where there is none.
    """
    return [
        falls_apart_verdict(Beyond.of(losses, SINUSOIDAL)),
        flat_verdict(Beyond.of(losses, ALIBI)),
        degrades_verdict(Beyond.of(losses, ROPE), "RoPE degrades at 4 times the training length."),
        degrades_verdict(Beyond.of(losses, NONE), "Without positions too, longer windows cost."),
        refuses_verdict(refusal),
        increments_verdict(Beyond.of(losses, INCREMENTS), Beyond.of(losses, ROPE)),
        spans_verdict(spans),
    ]


def falls_apart_verdict(beyond: Beyond) -> Verdict:
    """Whether the first band beyond the training length is worse by more than the margin."""
    claim = f"{MEMBERS[beyond.member].title} falls apart at twice the training length: it is worse "
    claim += f"by more than {FALLS_APART_NATS} nats."
    mean = mean_of(next(iter(beyond.costs.values()), {}))
    return Verdict(claim, beyond.published, beyond.in_words, _against(mean, FALLS_APART_NATS))


def flat_verdict(beyond: Beyond) -> Verdict:
    """Whether all bands are shown to be within the margin of the first."""
    title = MEMBERS[beyond.member].title
    claim = f"{title} stays flat to 4 times the training length: within {FLAT_NATS} nats."
    answers = []
    for band, values in beyond.costs.items():
        mean = mean_of(values)
        if equivalence(list(values.values()), FLAT_NATS).is_shown:
            answers.append((True, f"{band} flat"))
        elif mean.low is not None and mean.low > FLAT_NATS:
            answers.append((False, f"{band} worse by more"))
        elif mean.high is not None and mean.high < -FLAT_NATS:
            answers.append((False, f"{band} better by more"))
        else:
            answers.append((None, f"{band} undecided"))
    words = "; ".join(words for _, words in answers)
    kinds = {kind for kind, _ in answers}
    opening = "Undecided" if not answers or None in kinds else "Yes" if kinds == {True} else "No"
    if False in kinds:
        opening = "No"
    return Verdict(claim, beyond.published, beyond.in_words, _sentence(opening, words))


def degrades_verdict(beyond: Beyond, claim: str) -> Verdict:
    """Whether the last band is worse than the first."""
    mean = mean_of(beyond.last)
    return Verdict(claim, beyond.published, beyond.in_words, _against(mean, 0.0))


def refuses_verdict(refusal: str) -> Verdict:
    """Whether a learned table says that it cannot run."""
    claim = f"{MEMBERS[LEARNED].title} cannot run beyond its training length."
    if not refusal:
        return Verdict(claim, "cannot run", "not there", "Undecided: no model to try.")
    return Verdict(claim, "cannot run", f"it says: {refusal}", "Yes: it has no further vectors.")


def increments_verdict(increments: Beyond, rope: Beyond) -> Verdict:
    """Whether longer windows cost learned increments less than RoPE, in every band."""
    claim = "Learned increments lose less than RoPE in windows longer than in training."
    differences = {
        band: mean_of(paired_values(values, rope.costs[band]))
        for band, values in increments.costs.items()
        if band in rope.costs
    }
    if not differences:
        return Verdict(claim, "", "not there", "Undecided: no model to compare.")
    said = "; ".join(f"{band} {mean_in_words(each)}" for band, each in differences.items())
    here = f"costs: {increments.in_words}. Less those of RoPE, paired by seed: {said}"
    answers = [
        f"{band} {'undecided' if side is None else 'less' if side < 0 else 'more'}"
        for band, side in ((band, _side(each)) for band, each in differences.items())
    ]
    sides = {_side(each) for each in differences.values()}
    opening = "Yes" if sides == {-1} else "No" if 1 in sides else "Undecided"
    if sides == {-1, None}:
        opening = "Not in every band"
    return Verdict(claim, "", here, _sentence(opening, "; ".join(answers)))


def spans_verdict(spans: pd.DataFrame | None) -> Verdict:
    """Whether learned positions go beyond the span that training saw."""
    claim = "In longer windows learned positions go beyond those of training."
    ratios = [] if spans is None else rows_of(select(spans, statistic=RATIO))
    known = [row for row in ratios if row["value"] is not None]
    if not known:
        return Verdict(claim, "", "not known", "Undecided: no span to compare.")
    groups = list(dict.fromkeys(row["group"] for row in known))
    said = []
    for group in groups:
        values = [row["value"] for row in known if row["group"] == group]
        said.append(f"{group}: {min(values):.2f} to {max(values):.2f} times")
    last = [row["value"] for row in known if row["group"] == groups[-1]]
    answer = "Yes, in every layer and seed." if min(last) > 1 else "Not in every layer and seed."
    here = f"over layers and seeds, of the span in training: {'; '.join(said)}"
    return Verdict(claim, "", here, answer)


def _against(mean: Estimate, margin: float) -> str:
    """Whether a cost lies above a margin, by its interval."""
    if mean.low is None or mean.high is None:
        return f"Undecided: {mean.note}."
    if mean.low > margin:
        return "Yes."
    if mean.high < margin:
        return "No."
    return f"Undecided: the interval holds {margin:g}."


def _side(mean: Estimate) -> int | None:
    """-1 or 1 where an interval lies below or above 0."""
    if mean.low is None or mean.high is None or mean.low <= 0 <= mean.high:
        return None
    return -1 if mean.high < 0 else 1


def mean_in_words(mean: Estimate) -> str:
    """A mean of nats with its sign and its interval over seeds."""
    if mean.value is None:
        return "not defined"
    interval = "" if mean.low is None else f" [{mean.low:+.3f}, {mean.high:+.3f}]"
    return f"{mean.value:+.3f}{interval}"


def _sentence(opening: str, words: str) -> str:
    return f"{opening}: {words}." if words else f"{opening}."
