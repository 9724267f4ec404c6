"""What a compressor and an n-gram model make of held-out text, after as much text as the models."""

import math
from collections.abc import Sequence

import pandas as pd

from interp.analyses.seeds import MARGIN_NATS
from interp.reports.verdicts import Verdict
from interp.studies.study_input import LANGUAGES, StudyInput
from interp.tables import Row, analysis_table, rows_of, select
from interp.text import size_in_words

BASELINE = "baseline_loss"
"""The statistic of a baseline; its signal is what the baseline is called."""

_UNPUBLISHED = ""


def baseline_table(given: StudyInput, names: Sequence[str]) -> pd.DataFrame:
    """The baselines that the trainings of models recorded, once per amount of text.

    Args:
        given: Where the models are from.
        names: The models.

    Returns:
        An analysis table in nats per byte. Its ``checkpoint`` is the first model that read as
        much and recorded the value; ``n`` are the bytes of held-out text that it is about.
    """
    found: dict[tuple[object, ...], Row] = {}
    for name in names:
        config = given.checkpoint(name).config
        n_seen = config["n_bytes_seen"]
        for language, words in LANGUAGES.items():
            held_out = (config["held_out_loss"] or {}).get(language, {})
            sizes = {"n": held_out.get("n_bytes"), "n_documents": held_out.get("n_documents")}
            for baseline, bits in (config["baselines"] or {}).get(language, {}).items():
                about = {"checkpoint": name, "signal": baseline, "statistic": BASELINE}
                note = f"given the training text of {name}"
                row = about | sizes | {"group": words, "value": bits * math.log(2), "note": note}
                amount = name if n_seen is None else n_seen
                found.setdefault((amount, baseline, words, bits, *sizes.values()), row)
    return analysis_table(found.values())


def baseline_verdict(given: StudyInput, losses: pd.DataFrame, baselines: pd.DataFrame) -> Verdict:
    """Which models have a lower loss than every baseline that was given as much text.

    Compared are losses over the same bytes of held-out text, after the same number of bytes of
    training text; where either is not known there is nothing to compare.

    Args:
        given: Where the models are from.
        losses: Of the models, by language.
        baselines: What `baseline_table` returned.
    """
    here, answers = [], []
    for words in LANGUAGES.values():
        n_better = n_close = n_models = 0
        of_models = _by_amount(given, select(losses, group=words))
        for amount, rows in _by_amount(given, select(baselines, group=words)).items():
            values = [row["value"] for row in of_models.get(amount, [])]
            if not values:
                continue
            best = min(row["value"] for row in rows)
            n_models += len(values)
            n_better += sum(value < best for value in values)
            n_close += sum(0 < best - value < MARGIN_NATS for value in values)
            named = ", ".join(f"{row['signal']} {row['value']:.3f}" for row in rows)
            here.append(
                f"{words} after {size_in_words(amount[0])}: models {min(values):.3f} to "
                f"{max(values):.3f}, {named}"
            )
        by_little = f", {n_close} of them by less than {MARGIN_NATS}" if n_close else ""
        answers += [f"{words}: {n_better} of {n_models} models do{by_little}"] if n_models else []
    unknown = "Not known: no baseline is recorded for this text after as much training text"
    return Verdict(
        "A model knows more of the text than a compressor and an n-gram model do after the same "
        "training text.",
        _UNPUBLISHED,
        "; ".join(here),
        f"{'. '.join(answers) or unknown}.",
    )


def _by_amount(given: StudyInput, table: pd.DataFrame) -> dict[tuple[int, int], list[Row]]:
    """Defined rows by the bytes that their model had read and those of the held-out text."""
    found: dict[tuple[int, int], list[Row]] = {}
    for row in rows_of(table):
        n_seen = given.checkpoint(row["checkpoint"]).config["n_bytes_seen"]
        if None not in (n_seen, row["n"], row["value"]):
            found.setdefault((n_seen, row["n"]), []).append(row)
    return found
