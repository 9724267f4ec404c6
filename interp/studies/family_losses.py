"""What the checkpoints of a family say of themselves: losses, curves, parameter counts."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from interp.analyses.seed_tables import SeedValues, paired_values, rank_rows, seed_rows
from interp.errors import InputError
from interp.studies import loss_tables
from interp.studies.family import ALIBI, FORGET_GATE, NONE, ROPE, Family
from interp.studies.published import FAMILY, PUBLISHED
from interp.studies.study_input import StudyInput
from interp.studies.training_record import in_points, recorded_steps
from interp.tables import analysis_table
from interp.training.continuation import METRICS_FILE
from interp.training.family import TrainedMember, run_name

STEPS_OF_A_POINT = 10
"""Steps whose training losses are one point of a curve: single steps are noisy."""

LOSS, DIFFERENCE, PARAMETERS = "loss", "loss_difference", "n_parameters"

MemberLosses = Mapping[str, SeedValues]
"""Losses in nats per byte, by member and seed."""


def losses_of(given: StudyInput, family: Family) -> dict[str, dict[str, dict[int, float]]]:
    """The held-out loss that training recorded, in nats per byte: by corpus, member and seed.

    Raises:
        InputError: No checkpoint has one.
    """
    found: dict[str, dict[str, dict[int, float]]] = {}
    for member, seeds in family.seeds.items():
        for seed in seeds:
            config = given.checkpoint(family.name(member, seed)).config
            for corpus, loss in (config["held_out_loss"] or {}).items():
                nats = loss.get("nats_per_byte")
                if nats is not None:
                    found.setdefault(corpus, {}).setdefault(member, {})[seed] = nats
    if not found:
        raise InputError(
            f"the checkpoints in {family.setting} have no held-out loss",
            "Training measures it at its end; train them anew.",
        )
    return found


def trained_table(trained: Sequence[TrainedMember]) -> pd.DataFrame:
    """What `loss_table` says of models that were trained just now, and what `parameter_table` does.

    Args:
        trained: At least one.
    """
    losses: dict[str, dict[str, dict[int, float]]] = {}
    for each in trained:
        for corpus, loss in each.held_out.items():
            by_member = losses.setdefault(corpus, {})
            by_member.setdefault(each.run.member, {})[each.run.seed] = loss.nats_per_byte
    n_parameters = {each.run.member: each.n_parameters for each in trained}
    counts = analysis_table(
        {"checkpoint": member, "statistic": PARAMETERS, "value": n}
        for member, n in n_parameters.items()
    )
    return pd.concat([loss_table(losses, None, published=False), counts], ignore_index=True)


def loss_table(
    losses: Mapping[str, MemberLosses], setting: str | None, published: bool
) -> pd.DataFrame:
    """Losses by seed, their mean and sd, and the published ones as rows with that reference.

    Args:
        losses: As `losses_of` gives them.
        setting: Where the models are from; None where that needs no word.
        published: Whether published numbers are of this setting.
    """
    rows = []
    for corpus, by_member in losses.items():
        about = {"signal": "surprisal", "group": corpus, "scored_at": setting}
        for member, values in by_member.items():
            rows += seed_rows(member, values, LOSS, about)
    for member, known in FAMILY.items() if published else ():
        about = {"signal": "surprisal", "checkpoint": member, "reference": PUBLISHED}
        name = run_name(member, 0)
        rows.append(about | {"checkpoint": name, "statistic": LOSS, "value": known.loss, "n": 1})
        rows.append(about | {"statistic": f"mean_{LOSS}", "value": known.mean, "n": 3})
        rows.append(about | {"statistic": f"sd_{LOSS}", "value": known.sd, "n": 3})
    return analysis_table(rows)


def published_differences(by_member: MemberLosses) -> pd.DataFrame:
    """Our mean minus the published mean, where both are of at least two seeds.

    There is no interval: of the published mean only its sd over three seeds is known, and the
    interval of ours alone would not be that of the difference.
    """
    rows = []
    for member, known in FAMILY.items():
        values = list(by_member.get(member, {}).values())
        is_defined = len(values) > 1
        rows.append(
            {
                "checkpoint": member,
                "reference": PUBLISHED,
                "signal": "surprisal",
                "statistic": f"mean_{DIFFERENCE}",
                "n": len(values),
                "value": float(np.mean(values)) - known.mean if is_defined else None,
                "note": None if is_defined else "not defined: fewer than two seeds",
            }
        )
    return analysis_table(rows)


def paired_table(losses: Mapping[str, MemberLosses], setting: str) -> pd.DataFrame:
    """Differences in loss seed by seed, and their mean.

    Of all members to RoPE and to no positions, and of the forget gate to ALiBi: both make fade
    what is far away.
    """
    rows = []
    for corpus, by_member in losses.items():
        pairs = [(member, reference) for reference in (ROPE, NONE) for member in by_member]
        pairs.append((FORGET_GATE, ALIBI))
        for member, reference in pairs:
            if member != reference and member in by_member:
                values = paired_values(by_member[member], by_member.get(reference, {}))
                about = {"reference": reference, "signal": "surprisal", "group": corpus}
                about["scored_at"] = setting
                rows += seed_rows(member, values, DIFFERENCE, about)
    return analysis_table(rows)


def rank_table(losses: Mapping[str, MemberLosses], setting: str) -> pd.DataFrame:
    """The rank of every member by its loss, seed by seed."""
    rows = []
    for corpus, by_member in losses.items():
        about = {"signal": "surprisal", "group": corpus, "scored_at": setting}
        rows += rank_rows(by_member, about)
    return analysis_table(rows)


def parameter_table(given: StudyInput, family: Family) -> pd.DataFrame:
    """Numbers of parameters, and the published ones."""
    rows = []
    for member, seeds in family.seeds.items():
        count = given.checkpoint(family.name(member, seeds[0])).model.n_parameters
        rows.append({"checkpoint": member, "statistic": PARAMETERS, "value": count})
    for member, known in FAMILY.items():
        published = {"reference": PUBLISHED, "value": known.n_parameters}
        rows.append({"checkpoint": member, "statistic": PARAMETERS} | published)
    return analysis_table(rows)


def curve_table(given: StudyInput, family: Family) -> tuple[pd.DataFrame, list[str]]:
    """Training loss in nats per token, means over `STEPS_OF_A_POINT` steps, from metrics.jsonl.

    Returns:
        An analysis table whose ``group`` is the last step of a mean, and a line for each run
        that has no record of its steps.
    """
    rows: list[dict[str, Any]] = []
    missing = []
    for member, seeds in family.seeds.items():
        for seed in seeds:
            steps = recorded_steps(given, family.name(member, seed))
            if not steps:
                missing.append(f"{family.name(member, seed)} has no {METRICS_FILE}: no curve of it")
            for of_point in in_points(steps, STEPS_OF_A_POINT):
                rows.append(
                    {
                        "checkpoint": run_name(member, seed),
                        "group": f"step {of_point[-1].number}",
                        "statistic": "training_loss",
                        "value": float(np.mean([step.loss_nats for step in of_point])),
                        "n": len(of_point),
                    }
                )
    return analysis_table(rows), missing


def trained_differently(given: StudyInput, family: Family) -> list[str]:
    """Lines if models of one seed differ in how they were trained, beside their encoding."""
    lines = []
    for seed in sorted({seed for seeds in family.seeds.values() for seed in seeds}):
        names = [family.name(m, seed) for m, seeds in family.seeds.items() if seed in seeds]
        lines += loss_tables.trained_differently(given, names)
    return lines
