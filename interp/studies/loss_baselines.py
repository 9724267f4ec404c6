"""What a compressor and an n-gram model make of the text, given as much of it as the models."""

import math
from collections.abc import Sequence

import pandas as pd

from interp.reports.verdicts import Verdict
from interp.studies.study_input import LANGUAGES, StudyInput
from interp.tables import Row, analysis_table, rows_of, select
from interp.text import size_in_words

_UNPUBLISHED = ""


def baseline_table(given: StudyInput, names: Sequence[str]) -> pd.DataFrame:
    """The baselines that the trainings of models recorded, once per amount of text.

    Args:
        given: Where the models are from.
        names: The models.

    Returns:
        An analysis table in nats per byte. Its ``signal`` is the name of the baseline, its
        ``checkpoint`` the first model that read as much: the baseline had the same text.
    """
    found: dict[tuple[int | None, str, str], Row] = {}
    for name in names:
        config = given.checkpoint(name).config
        for language, words in LANGUAGES.items():
            for baseline, bits in (config["baselines"] or {}).get(language, {}).items():
                about = {"checkpoint": name, "signal": baseline, "statistic": "loss"}
                note = f"given the training text of {name}"
                row = about | {"group": words, "value": bits * math.log(2), "note": note}
                found.setdefault((config["n_bytes_seen"], baseline, words), row)
    return analysis_table(found.values())


def baseline_verdict(given: StudyInput, losses: pd.DataFrame, baselines: pd.DataFrame) -> Verdict:
    """Which models have a lower loss than the baselines that were given as much text.

    Args:
        given: Where the models are from.
        losses: Of the models, by language.
        baselines: What `baseline_table` returned.
    """
    here, answers = [], []
    for words in LANGUAGES.values():
        n_better = n_models = 0
        for reference, rows in _by_checkpoint(select(baselines, group=words)).items():
            n_bytes = given.checkpoint(reference).config["n_bytes_seen"]
            of_models = [
                row["value"]
                for row in rows_of(select(losses, group=words))
                if row["value"] is not None
                and given.checkpoint(row["checkpoint"]).config["n_bytes_seen"] == n_bytes
            ]
            if not of_models:
                continue
            best = min(row["value"] for row in rows)
            n_models += len(of_models)
            n_better += sum(value < best for value in of_models)
            of_baselines = ", ".join(f"{row['signal']} {row['value']:.3f}" for row in rows)
            amount = "an unknown amount" if n_bytes is None else size_in_words(n_bytes)
            here.append(
                f"{words} after {amount}: models {min(of_models):.3f} to {max(of_models):.3f}, "
                f"{of_baselines}"
            )
        answers.append(f"{words}: {n_better} of {n_models} models do" if n_models else "")
    return Verdict(
        "A model knows more of the text than a compressor and an n-gram model do after the same "
        "training text.",
        _UNPUBLISHED,
        "; ".join(here),
        f"{'. '.join(filter(None, answers)) or 'Not known: no baseline is recorded'}.",
    )


def _by_checkpoint(table: pd.DataFrame) -> dict[str, list[Row]]:
    found: dict[str, list[Row]] = {}
    for row in rows_of(table):
        found.setdefault(row["checkpoint"], []).append(row)
    return found
