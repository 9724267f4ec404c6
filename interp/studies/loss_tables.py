"""Losses of checkpoints on the same text, and what their differences are."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Float, Int

from interp.analyses.seeds import MARGIN_NATS, equivalence, seed_interval
from interp.analyses.statistics import clustered_mean, paired_difference
from interp.checkpoints import Checkpoint
from interp.studies.facts import recipe_of
from interp.studies.models import PER_HEAD, PER_LAYER, ROPE, SEEDS, SHARED, of_seed
from interp.studies.study_input import LANGUAGES, StudyInput
from interp.tables import analysis_table, joined_notes

VARIANTS = {SHARED: "shared", PER_LAYER: "per-layer"}
"""Models with learned increments, by the name of their checkpoints."""

BOTH = "both"
"""The mean of English and Chinese: the models read as many bytes of either."""

_SIGNAL = "surprisal"
_STATISTIC = {"signal": _SIGNAL, "statistic": "loss_difference"}


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


RecordedLosses = Mapping[str, Mapping[str, float]]
"""Nats per byte, by checkpoint and language."""


def names_of_seed(seed: int) -> list[str]:
    """The checkpoints of one seed, plain rotary positions first."""
    return [of_seed(name, seed) for name in (ROPE, *VARIANTS)]


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
    """The seeds whose three models are there, with the loss that a finished training records."""
    return [
        seed
        for seed in SEEDS
        if all(
            given.has_checkpoint(name)
            and _is_known(given, name)
            and seed_of(given.checkpoint(name)) == seed
            for name in names_of_seed(seed)
        )
    ]


def seed_of(checkpoint: Checkpoint) -> int | None:
    """The seed of its training; None if that is not known."""
    recipe = recipe_of(checkpoint)
    return None if recipe is None else recipe.seed


def misnamed(given: StudyInput) -> list[str]:
    """A line for every model that has another seed than its name says: it is no seed of its own."""
    found = {
        name: seed_of(given.checkpoint(name))
        for seed in SEEDS
        for name in names_of_seed(seed)
        if given.has_checkpoint(name) and seed_of(given.checkpoint(name)) != seed
    }
    return [
        f"{name} does not say with which seed it was trained, and is left out"
        if seed is None
        else f"{name} was trained with seed {seed}, and is left out"
        for name, seed in found.items()
    ]


def recorded_losses(given: StudyInput, names: Sequence[str]) -> RecordedLosses:
    """What training recorded of finished models over all of its held-out text.

    That is the loss of `interp.model.loss` too; of a short run only its mean is asked for, so
    that ten models need not read the text again.
    """
    return {
        name: {
            language: _recorded(given, name)[language]["nats_per_byte"] for language in LANGUAGES
        }
        for name in names
    }


def _is_known(given: StudyInput, name: str) -> bool:
    return LANGUAGES.keys() <= _recorded(given, name).keys()


def _recorded(given: StudyInput, name: str) -> Mapping[str, Mapping[str, Any]]:
    """By language, the recorded loss of a finished model; without those that are not known."""
    config = given.checkpoint(name).config
    losses = (config["held_out_loss"] or {}) if config.get("is_done") else {}
    return {
        language: loss for language, loss in losses.items() if loss.get("nats_per_byte") is not None
    }


def loss_table(
    given: StudyInput, losses: Mapping[str, Mapping[str, Losses]], recorded: RecordedLosses
) -> pd.DataFrame:
    """The loss of every checkpoint, by language, in nats per byte.

    Args:
        given: Where the checkpoints are from.
        losses: Of those that read the text: with intervals, clustered by document.
        recorded: Those of the others, without an interval.
    """
    about = {"signal": _SIGNAL, "statistic": "loss"}
    rows: list[dict[str, Any]] = []
    for name, by_language in losses.items():
        for language, each in by_language.items():
            loss = clustered_mean(each.nats, each.n_bytes, limits=(0.0, np.inf)).as_row()
            rows.append(about | {"checkpoint": name, "group": LANGUAGES[language]} | loss)
    for name, by_language in recorded.items():
        for language, nats in by_language.items():
            facts = _recorded(given, name)[language]
            rows.append(
                about
                | {"checkpoint": name, "group": LANGUAGES[language], "value": nats}
                | {"n": facts.get("n_bytes"), "n_documents": facts.get("n_documents")}
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


def seed_differences(losses: RecordedLosses, seeds: Sequence[int]) -> pd.DataFrame:
    """Differences from plain rotary positions seed by seed, and what all of them tell together.

    Args:
        losses: Of the models of every seed.
        seeds: Those of which all models are there; what they tell together is left out where
            one of `SEEDS` is missing.

    Returns:
        An analysis table, per model and language and for `BOTH`: ``loss_difference`` of each
        seed, without an interval; ``mean_loss_difference`` with that of t;
        ``sd_loss_difference``; ``equivalence_p``.
    """
    rows: list[dict[str, Any]] = []
    for variant in VARIANTS:
        for language, words in [*LANGUAGES.items(), (BOTH, BOTH)]:
            values = []
            for seed in seeds:
                names = (of_seed(variant, seed), of_seed(ROPE, seed))
                one, other = (_of_language(losses[name], language) for name in names)
                values.append(one - other)
                about = {"checkpoint": names[0], "reference": names[1], "group": words}
                rows.append(about | _STATISTIC | {"value": one - other, "n": 1})
            if len(seeds) == len(SEEDS):
                about = {"checkpoint": variant, "reference": ROPE, "group": words}
                rows += [about | {"signal": _SIGNAL} | row for row in _together(values)]
    return analysis_table(rows)


def _of_language(losses: Mapping[str, float], language: str) -> float:
    if language == BOTH:
        return float(np.mean([losses[each] for each in LANGUAGES]))
    return losses[language]


def _together(values: Sequence[float]) -> list[dict[str, Any]]:
    spread = {"value": float(np.std(values, ddof=1)), "n": len(values)}
    shown = equivalence(values, MARGIN_NATS)
    note = joined_notes(f"margin {MARGIN_NATS} nats per byte", shown.note)
    return [
        {"statistic": "mean_loss_difference"} | seed_interval(values).as_row(),
        {"statistic": "sd_loss_difference"} | spread,
        {"statistic": "equivalence_p", "value": shown.p_value, "n": len(values), "note": note},
    ]


def beside_per_head(given: StudyInput) -> list[str]:
    """The models of the per-head model's seed and budget, as far as their losses are known."""
    if not given.has_checkpoint(PER_HEAD) or not _is_known(given, PER_HEAD):
        return []
    seed = seed_of(given.checkpoint(PER_HEAD))
    if seed not in complete_seeds(given):
        return []
    return [of_seed(ROPE, seed), of_seed(PER_LAYER, seed)]


def per_head_differences(losses: RecordedLosses, beside: Sequence[str]) -> pd.DataFrame:
    """Recorded loss of the per-head model minus that of others of its seed, per language.

    Args:
        losses: Of all of them.
        beside: The others.

    Returns:
        An analysis table, without intervals: of each there is one run.
    """
    rows = [
        {"checkpoint": PER_HEAD, "reference": name, "group": words, "n": 1}
        | _STATISTIC
        | {"value": losses[PER_HEAD][language] - losses[name][language]}
        for name in beside
        for language, words in LANGUAGES.items()
    ]
    return analysis_table(rows)


def read_otherwise(
    given: StudyInput, losses: Mapping[str, Mapping[str, Losses]], recorded: RecordedLosses
) -> list[str]:
    """A line if losses that training recorded are over other text than those measured here."""
    measured = {
        (language, int(each.n_bytes.sum()))
        for by_language in losses.values()
        for language, each in by_language.items()
    }
    names = [
        name
        for name in recorded
        if {(language, _recorded(given, name)[language].get("n_bytes")) for language in LANGUAGES}
        != measured
    ]
    if not names:
        return []
    return [
        f"the losses of {', '.join(names)} are over another amount of text than the one read here: "
        "they and those of the other models do not compare"
    ]


def trained_differently(
    given: StudyInput, names: Sequence[str], *, but: Sequence[str] = ()
) -> list[str]:
    """A line if the training of models that are compared differs in more than the encoding.

    Args:
        given: Where they are from.
        names: The models.
        but: What else may differ, such as ``seed``.
    """
    about = [_training(given.checkpoint(name)) for name in names]
    differing = [
        key
        for key in (about[0] if about else {})
        if key not in but and any(each[key] != about[0][key] for each in about)
    ]
    if not differing:
        return []
    return [
        f"{', '.join(names)} were not trained alike: they differ in "
        f"{', '.join(differing)}. A difference of loss may come from that."
    ]


def _training(checkpoint: Checkpoint) -> dict[str, Any]:
    """What must agree for two models to be trained alike, by the name that a reader knows."""
    config, recipe = checkpoint.config, recipe_of(checkpoint)
    return {
        "model": checkpoint.model.config.to_dict() | {"position": None},
        "seed": recipe and recipe.seed,
        "corpora": recipe and recipe.corpora,
        "optimization": recipe and recipe.optimization,
        "autocast": recipe and recipe.autocast,
        "text": _sizes(config["corpora"]),
        "step": config["step"],
        "bytes seen": config["n_bytes_seen"],
        "hardware": config["hardware"],
        "type of the weights": config.get("weights"),
        "held-out text": _sizes(config["held_out_loss"]),
    }


def _sizes(by_corpus: Mapping[str, Mapping[str, Any]] | None) -> dict[str, tuple[Any, Any]]:
    return {
        name: (facts.get("n_documents"), facts.get("n_bytes"))
        for name, facts in (by_corpus or {}).items()
    }
