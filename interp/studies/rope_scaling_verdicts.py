"""What can be said of stretched rotary positions: from bands to sentences."""

from collections.abc import Mapping, Sequence

from interp.analyses.seed_tables import SeedValues, mean_of, paired_values
from interp.reports.verdicts import Verdict
from interp.studies.family import INCREMENTS, MEMBERS, ROPE
from interp.studies.length_tables import BandLosses
from interp.studies.length_verdicts import mean_in_words
from interp.studies.published import ROPE_SCALING

PLAIN = "plain"

_UNPUBLISHED = ""


def verdicts(losses: BandLosses, bands: Sequence[str]) -> list[Verdict]:
    """Answers about the band that is new to the models, and about the one that is not.

    Args:
        losses: By ``MEMBER (SCALING)``, band and seed.
        bands: Their names: within the training length, and beyond.
    """
    found = []
    for member in (ROPE, INCREMENTS):
        title = MEMBERS[member].title
        new = bands[-1]
        found += [
            scaling_verdict(
                losses, member, "ntk:2", new, f"{title}: NTK-aware beats plain at twice the length."
            ),
            scaling_verdict(
                losses,
                member,
                "pi:2",
                new,
                f"{title}: interpolation, untrained, is worse than plain at twice the length.",
                is_worse_claimed=True,
            ),
            scaling_verdict(
                losses, member, "yarn:2", new, f"{title}: YaRN beats plain at twice the length."
            ),
            scaling_verdict(
                losses,
                member,
                "ntk:2",
                bands[0],
                f"{title}: NTK-aware costs something where it is not needed.",
                is_worse_claimed=True,
            ),
        ]
    return found


def scaling_verdict(
    losses: BandLosses,
    member: str,
    scaling: str,
    band: str,
    claim: str,
    *,
    is_worse_claimed: bool = False,
) -> Verdict:
    """Whether a scaling has a lower loss than plain in a band; or a higher one, if claimed."""
    published = _published(scaling, band) if member == ROPE else _UNPUBLISHED
    stretched, plain = (
        losses.get(f"{member} ({each})", {}).get(band, {}) for each in (scaling, PLAIN)
    )
    mean = mean_of(paired_values(stretched, plain))
    if mean.value is None:
        return Verdict(claim, published, "not there", "Undecided: no model to compare.")
    here = f"{band}: {mean_in_words(mean)}, paired by seed"
    if mean.low is None or mean.high is None:
        return Verdict(claim, published, here, f"Undecided: {mean.note}.")
    if mean.low <= 0 <= mean.high:
        return Verdict(claim, published, here, "Undecided: the interval holds 0.")
    is_lower = mean.high < 0
    words = "its loss is lower" if is_lower else "its loss is higher"
    answer = "Yes" if is_lower != is_worse_claimed else "No"
    return Verdict(claim, published, here, f"{answer}: {words}.")


def difference_in_words(
    stretched: Mapping[str, SeedValues], plain: Mapping[str, SeedValues]
) -> str:
    """Mean differences, band by band, with intervals over seeds."""
    said = [
        f"{band} {mean_in_words(mean_of(paired_values(values, plain[band])))}"
        for band, values in stretched.items()
        if band in plain
    ]
    return "; ".join(said) or "not defined"


def _published(scaling: str, band: str) -> str:
    """The difference to plain in the band of that name, of one seed."""
    if scaling not in ROPE_SCALING:
        return _UNPUBLISHED
    index = 0 if band.startswith("positions 0-") else 1
    one, plain = ROPE_SCALING[scaling][index], ROPE_SCALING[PLAIN][index]
    return f"one seed, {one:.3f} - {plain:.3f} = {one - plain:+.3f} nats"
