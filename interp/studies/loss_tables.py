"""Losses of checkpoints on the same text, and what their differences are."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Float, Int

from interp.analyses.seeds import equivalence, seed_interval
from interp.analyses.statistics import clustered_mean, paired_difference
from interp.studies.study import LANGUAGES, StudyInput
from interp.tables import analysis_table

ROPE, SHARED, PER_LAYER = "en-zh-rope", "en-zh-shared", "en-zh-per-layer"
PER_HEAD = "en-zh-per-layer-per-head"
VARIANTS = {SHARED: "shared", PER_LAYER: "per-layer"}
"""Models with learned increments, by the name of their checkpoints."""

SEEDS = (0, 1, 2)

MARGIN_NATS = 0.005
"""Per byte: the difference that is taken to be none, fixed before any run was made."""

_SIGNAL = "surprisal"
_STATISTIC = {"signal": _SIGNAL, "statistic": "loss_difference"}

_SAME = ("seed", "corpora", "optimization", "autocast")
"""Keys of a recipe that must agree for two models to be trained alike."""


@dataclass(frozen=True)
class Losses:
    """Surprisal of a text, document by document.

    Attributes:
        nats: Sum over the bytes of each document.
        n_bytes: Of each document.
    """

    nats: Float[np.ndarray, " document"]
    n_bytes: Int[np.ndarray, " document"]

    @property
    def nats_per_byte(self) -> float:
        """The loss."""
        return float(self.nats.sum() / self.n_bytes.sum())


SeedLosses = Mapping[str, Mapping[str, float]]
"""Nats per byte, by checkpoint and language."""


def names_of_seed(seed: int) -> list[str]:
    """The checkpoints of one seed, plain rotary positions first."""
    return [f"{name}-seed{seed}" for name in (ROPE, *VARIANTS)]


def losses_of(given: StudyInput, name: str) -> dict[str, Losses]:
    """The losses of a checkpoint, by language, as `interp.model.loss` defines loss.

    Raises:
        MissingCheckpoint: There is no such checkpoint.
        MissingText: Text in a language was not given.
    """
    checkpoint = given.checkpoint(name)
    found = {}
    for language in LANGUAGES:
        table = given.extraction(
            checkpoint, language, (_SIGNAL,), stride=checkpoint.model.config.n_ctx
        )
        documents = list(table.read_documents(_SIGNAL))
        # the separator before a text is not scored
        nats = [float(each.values[1:, 0].sum(dtype=np.float64)) for each in documents]
        n_bytes = [len(each.content) for each in documents]
        found[language] = Losses(np.array(nats), np.array(n_bytes, dtype=np.int64))
    return found


def complete_seeds(given: StudyInput) -> list[int]:
    """The seeds whose three models are there with the loss that a finished training records."""
    return [
        seed
        for seed in SEEDS
        if all(
            given.has_checkpoint(name) and LANGUAGES.keys() <= _recorded(given, name).keys()
            for name in names_of_seed(seed)
        )
    ]


def seed_losses(given: StudyInput, seeds: Sequence[int]) -> SeedLosses:
    """What training recorded of the models of `complete_seeds` over all of its held-out text.

    That is the loss of `interp.model.loss` too; of a seed only its mean is asked for, so that
    nine models need not read the text again.
    """
    return {
        name: {
            language: _recorded(given, name)[language]["nats_per_byte"] for language in LANGUAGES
        }
        for seed in seeds
        for name in names_of_seed(seed)
    }


def _recorded(given: StudyInput, name: str) -> Mapping[str, Mapping[str, Any]]:
    """By language, the recorded loss of a finished model; empty if there is none."""
    config = given.checkpoint(name).config
    return (config.get("held_out_loss") or {}) if config.get("is_done") else {}


def loss_table(
    given: StudyInput, losses: Mapping[str, Mapping[str, Losses]], of_seeds: SeedLosses
) -> pd.DataFrame:
    """The loss of every checkpoint, by language, in nats per byte.

    Args:
        given: Where the checkpoints are from.
        losses: Of those that read the text: with intervals, clustered by document.
        of_seeds: Recorded ones, without an interval, of the others.
    """
    about = {"signal": _SIGNAL, "statistic": "loss"}
    rows: list[dict[str, Any]] = []
    for name, by_language in losses.items():
        for language, each in by_language.items():
            loss = clustered_mean(each.nats, each.n_bytes, limits=(0.0, np.inf)).as_row()
            rows.append(about | {"checkpoint": name, "group": LANGUAGES[language]} | loss)
    for name, by_language in of_seeds.items():
        if name in losses:
            continue
        for language, nats in by_language.items():
            recorded = _recorded(given, name)[language]
            rows.append(
                about
                | {"checkpoint": name, "group": LANGUAGES[language], "value": nats}
                | {"n": recorded["n_bytes"], "n_documents": recorded["n_documents"]}
                | {"note": "as recorded by its training"}
            )
    return analysis_table(rows)


def differences(
    losses: Mapping[str, Mapping[str, Losses]], pairs: Sequence[tuple[str, str]]
) -> pd.DataFrame:
    """Loss of the first minus loss of the second of each pair, per language, in nats per byte.

    Args:
        losses: By checkpoint and language.
        pairs: Names of checkpoints.

    Returns:
        An analysis table whose ``checkpoint`` is the first and whose ``reference`` the second.
    """
    rows = []
    for first, second in pairs:
        for language, words in LANGUAGES.items():
            one, other = losses[first][language], losses[second][language]
            difference = paired_difference(one.nats, other.nats, one.n_bytes)
            about = {"checkpoint": first, "reference": second, "group": words}
            rows.append(about | _STATISTIC | difference.as_row())
    return analysis_table(rows)


def seed_differences(losses: SeedLosses, seeds: Sequence[int]) -> pd.DataFrame:
    """Differences from plain rotary positions seed by seed, and what they tell together.

    Args:
        losses: Of the models of every seed.
        seeds: Those of which all models are there.

    Returns:
        An analysis table, per model and language: ``loss_difference`` of each seed, without an
        interval; ``mean_loss_difference`` with that of t; ``equivalence_p``.
    """
    rows: list[dict[str, Any]] = []
    for variant in VARIANTS:
        for language, words in LANGUAGES.items():
            values = []
            for seed in seeds:
                names = (f"{variant}-seed{seed}", f"{ROPE}-seed{seed}")
                one, other = (losses[name][language] for name in names)
                values.append(one - other)
                about = {"checkpoint": names[0], "reference": names[1], "group": words}
                rows.append(about | _STATISTIC | {"value": one - other, "n": 1})
            about = {"checkpoint": variant, "reference": ROPE, "group": words, "signal": _SIGNAL}
            mean = seed_interval(values).as_row()
            rows.append(about | {"statistic": "mean_loss_difference"} | mean)
            shown = equivalence(values, MARGIN_NATS)
            note = "; ".join(filter(None, [f"margin {MARGIN_NATS} nats per byte", shown.note]))
            p_row = {"value": shown.p_value, "n": len(values), "note": note}
            rows.append(about | {"statistic": "equivalence_p"} | p_row)
    return analysis_table(rows)


def beside_per_head(given: StudyInput) -> list[str]:
    """The models of the per-head model's seed with which it is compared; those that are there."""
    if not given.has_checkpoint(PER_HEAD):
        return []
    seed = (given.checkpoint(PER_HEAD).config.get("recipe") or {}).get("seed")
    return [
        name
        for name in (f"{ROPE}-seed{seed}", f"{PER_LAYER}-seed{seed}")
        if given.has_checkpoint(name)
    ]


def trained_differently(given: StudyInput, names: Sequence[str]) -> list[str]:
    """A line if the training of models that are compared differs in more than the encoding."""
    about = []
    for config in [given.checkpoint(name).config for name in names]:
        recipe = config.get("recipe") or {}
        known = {key: recipe.get(key) for key in _SAME}
        held_out = {
            language: (loss or {}).get("n_bytes")
            for language, loss in (config.get("held_out_loss") or {}).items()
        }
        known |= {key: config.get(key) for key in ("step", "n_bytes_seen")}
        about.append(known | {"held-out text": held_out})
    differing = [key for key in about[0] if any(each[key] != about[0][key] for each in about)]
    if not differing:
        return []
    return [
        f"{', '.join(names)} were not trained alike: they differ in "
        f"{', '.join(differing)}. A difference of loss may come from that."
    ]
