"""Is a two-word entity spaced as one thing? Increments in it against pairs as well expected.

Four comparisons, all of them paired:

- `ORDER`, at the inner space: "New York" against "York New". Only the first word has been read.
- `MATCHED`, at the inner space: an entity against an ordinary pair with another first word, whose
  space has the same surprisal and entropy under the model itself.
- `FIRST_WORD`, at and over the second word: "New York" against another first word before "York",
  so that the bytes are the same and what stands before them is not.
- `FIRST_WORD_MATCHED`, there: that difference against the one of an ordinary pair whose second
  word has the same forward probability after its first word.

What the token alone decides (shared increments, layer 0, plain rotary positions) differs by
exactly 0 in all of them.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Float

from interp.analyses.matching import CALIPER, Matching, match, standardised_difference
from interp.analyses.statistics import Estimate, holm, wilcoxon_signed_rank
from interp.analyses.word_pairs import (
    FIRST_BYTE,
    SECOND_WORD,
    SPACE,
    Carrier,
    PairTexts,
    WordPair,
    after_other_first_words,
)
from interp.extraction.increment_table import IncrementTable, layer_and_head
from interp.tables import SEEN_BEFORE, SEEN_CHARACTER, SEEN_LEAD_BYTE, analysis_table
from interp.text import counted

SIGNALS = ("increment", "surprisal", "entropy")
"""What is to be extracted of the texts."""

ORDER = "real against reversed order"
MATCHED = "entity against matched pair"
FIRST_WORD = "own against other first word"
FIRST_WORD_MATCHED = "own against other first word, against matched pair"

MEDIAN_DIFFERENCE, SHARE_SMALLER = "median_difference", "share_smaller"
P_VALUE, P_HOLM = "wilcoxon_p", "wilcoxon_p_holm"

SECOND_WORD_CHANGE = f"{SECOND_WORD}, {FIRST_WORD}"
"""Where the change is scored that a pair's own first word makes to its second word."""

BEFORE_MATCHING, AFTER_MATCHING = "before matching", "after matching"

_ENTITY, _REVERSED, _OTHER = "entity", "entity reversed", "entity after another first word"
_ORDINARY, _ORDINARY_OTHER = "ordinary pair", "ordinary pair after another first word"
_SEEN = {SPACE: SEEN_BEFORE, FIRST_BYTE: SEEN_LEAD_BYTE, SECOND_WORD: SEEN_CHARACTER}

Values = Mapping[str, Mapping[str, Float[np.ndarray, "_ column"]]]
"""Of one signal, by group of pairs and place."""


@dataclass(frozen=True)
class EntityOrder:
    """What was measured.

    Attributes:
        comparisons: An analysis table: per comparison, place, signal and column the median
            difference (order statistics), the share of pairs that differ whose first side is the
            smaller one, and p of Wilcoxon's test as it is and adjusted by Holm over the columns.
        matching: An analysis table: how far the two sides of a matched comparison lie apart in
            what they were matched on and in what they were not, before and after; how many found
            a partner; and every entity's partner with its distance.
    """

    comparisons: pd.DataFrame
    matching: pd.DataFrame

    def as_table(self) -> pd.DataFrame:
        """Both as one analysis table."""
        return pd.concat([self.comparisons, self.matching], ignore_index=True)


def entity_pair_texts(
    entities: Sequence[WordPair], ordinary: Sequence[WordPair], carriers: Sequence[Carrier]
) -> PairTexts:
    """The texts that `entity_order` is about.

    Args:
        entities: Two-word names.
        ordinary: Pairs that name nothing; those that begin as an entity does are left out.
        carriers: Sentences; every value is the mean over them.

    Raises:
        InputError: An entity finds no other first word.
    """
    entities = tuple(dict.fromkeys(entities))
    first_words = {pair.first.casefold() for pair in entities}
    controls = [pair for pair in ordinary if pair.first.casefold() not in first_words]
    groups = {
        _ENTITY: entities,
        _REVERSED: [pair.reversed for pair in entities],
        _OTHER: after_other_first_words(entities),
        _ORDINARY: controls,
        _ORDINARY_OTHER: after_other_first_words(controls),
    }
    return PairTexts(groups, carriers)


def entity_order(table: IncrementTable, texts: PairTexts) -> EntityOrder:
    """The four comparisons on a model.

    Entities that share their first word are one observation: their mean difference.

    Args:
        table: `SIGNALS` of the documents of ``texts``.
        texts: As `entity_pair_texts` makes them.
    """
    increments, surprisal, entropy = (texts.values(table, signal) for signal in SIGNALS)
    at_space, at_word = _expected_at_space(surprisal, entropy), _expected_word(surprisal)
    space_match = match(at_space.matched(_ENTITY), at_space.matched(_ORDINARY))
    word_match = match(at_word.matched(_ENTITY), at_word.matched(_ORDINARY))
    clusters = [pair.first.casefold() for pair in texts.groups[_ENTITY]]
    about = {"checkpoint": table.manifest["checkpoint"]}

    def rows(
        group: str, signal: str, place: str, differences: Float[np.ndarray, "pair column"]
    ) -> Iterator[dict[str, Any]]:
        where = about | {"group": group, "signal": signal, "scored_at": place, "seen": _SEEN[place]}
        return _tested(differences, clusters, table.columns(signal), where)

    found = list(rows(ORDER, "increment", SPACE, _order(increments)))
    found += rows(
        MATCHED, "increment", SPACE, _against_partner(_at(SPACE, increments), space_match)
    )
    for place in (FIRST_BYTE, SECOND_WORD):
        found += rows(FIRST_WORD, "increment", place, _first_word(increments, place)[_ENTITY])
        against = _against_partner(_first_word(increments, place), word_match)
        found += rows(FIRST_WORD_MATCHED, "increment", place, against)
    found += rows(ORDER, "surprisal", SPACE, _order(surprisal))
    found += rows(ORDER, "entropy", SPACE, _order(entropy))
    by_first_word = _first_word(surprisal, SECOND_WORD)[_ENTITY]
    found += rows(FIRST_WORD, "surprisal", SECOND_WORD, by_first_word)
    matching = [
        *_matching_rows(MATCHED, at_space, space_match, texts),
        *_matching_rows(FIRST_WORD_MATCHED, at_word, word_match, texts),
    ]
    return EntityOrder(analysis_table(found), analysis_table([about | row for row in matching]))


@dataclass(frozen=True)
class _Expectation:
    """What is known of how expected a pair is; the first of it is matched, the rest only shown.

    Attributes:
        names: Signal and place of each number.
        values: By group of pairs, one column each.
        n_matched: How many of them are matched.
    """

    names: Sequence[tuple[str, str]]
    values: Mapping[str, Float[np.ndarray, "_ number"]]
    n_matched: int

    def matched(self, group: str) -> Float[np.ndarray, "pair number"]:
        return self.values[group][:, : self.n_matched]


def _expected_at_space(surprisal: Values, entropy: Values) -> _Expectation:
    numbers = {
        group: [surprisal[group][SPACE], entropy[group][SPACE], entropy[group][FIRST_BYTE]]
        for group in (_ENTITY, _ORDINARY)
    }
    names = [("surprisal", SPACE), ("entropy", SPACE), ("entropy", FIRST_BYTE)]
    return _Expectation(names, {group: np.hstack(each) for group, each in numbers.items()}, 2)


def _expected_word(surprisal: Values) -> _Expectation:
    gains = _first_word(surprisal, SECOND_WORD)
    numbers = {
        group: [surprisal[group][SECOND_WORD], gains[group]] for group in (_ENTITY, _ORDINARY)
    }
    names = [("surprisal", SECOND_WORD), ("surprisal", SECOND_WORD_CHANGE)]
    return _Expectation(names, {group: np.hstack(each) for group, each in numbers.items()}, 1)


def _order(values: Values) -> Float[np.ndarray, "pair column"]:
    return values[_ENTITY][SPACE] - values[_REVERSED][SPACE]


def _at(place: str, values: Values) -> Mapping[str, Float[np.ndarray, "_ column"]]:
    return {group: values[group][place] for group in (_ENTITY, _ORDINARY)}


def _first_word(values: Values, place: str) -> Mapping[str, Float[np.ndarray, "_ column"]]:
    """What a pair's own first word changes, for entities and for ordinary pairs."""
    others = {_ENTITY: _OTHER, _ORDINARY: _ORDINARY_OTHER}
    return {own: values[own][place] - values[other][place] for own, other in others.items()}


def _against_partner(
    values: Mapping[str, Float[np.ndarray, "_ column"]], matching: Matching
) -> Float[np.ndarray, "pair column"]:
    """Every entity minus its partner; NaN for one without."""
    differences = values[_ENTITY] - values[_ORDINARY][matching.partner]
    return np.where(matching.is_matched[:, np.newaxis], differences, np.nan)


def _tested(
    differences: Float[np.ndarray, "pair column"],
    clusters: Sequence[str],
    columns: Sequence[str],
    about: Mapping[str, Any],
) -> Iterator[dict[str, Any]]:
    """The rows of one comparison; pairs that are NaN are left out of it."""
    tests = [wilcoxon_signed_rank(each) for each in _cluster_means(differences, clusters).T]
    p_values = [np.nan if test.p_value.value is None else test.p_value.value for test in tests]
    adjusted = holm(np.array(p_values))
    how = f"Holm over {counted(int((~np.isnan(adjusted)).sum()), 'test')}"
    for name, test, p_holm in zip(columns, tests, adjusted, strict=True):
        layer, head = layer_and_head(name)
        estimates: Mapping[str, Estimate] = {
            MEDIAN_DIFFERENCE: test.median,
            SHARE_SMALLER: _other_side(test.share_positive),
            P_VALUE: test.p_value,
            P_HOLM: test.p_value
            if np.isnan(p_holm)
            else replace(test.p_value, value=float(p_holm), method=how),
        }
        for statistic, estimate in estimates.items():
            where = {"layer": layer, "head": head, "statistic": statistic}
            yield {**about, **where, **estimate.as_row()}


def _cluster_means(
    differences: Float[np.ndarray, "pair column"], clusters: Sequence[str]
) -> Float[np.ndarray, "cluster column"]:
    is_there = ~np.isnan(differences).any(axis=1)
    names = np.array(clusters)[is_there]
    members = np.unique(names, return_inverse=True)[1]
    counts = np.bincount(members)
    sums = np.zeros((len(counts), differences.shape[1]))
    np.add.at(sums, members, differences[is_there])
    return sums / counts[:, np.newaxis]


def _other_side(share: Estimate) -> Estimate:
    """The share that is below 0, from the share above it."""
    if share.value is None or share.low is None or share.high is None:
        return share
    return replace(share, value=1 - share.value, low=1 - share.high, high=1 - share.low)


def _matching_rows(
    comparison: str, expected: _Expectation, matching: Matching, texts: PairTexts
) -> Iterator[dict[str, Any]]:
    wanted, offered = expected.values[_ENTITY], expected.values[_ORDINARY]
    n_matched = int(matching.is_matched.sum())
    common = {"group": comparison, "method": f"caliper of {CALIPER} standard deviations"}
    yield common | {
        "statistic": "share_matched",
        "value": n_matched / len(wanted),
        "n": len(wanted),
    }
    sides = {
        BEFORE_MATCHING: (standardised_difference(wanted, offered), len(wanted)),
        AFTER_MATCHING: (standardised_difference(wanted, offered, matching), n_matched),
    }
    for index, (signal, place) in enumerate(expected.names):
        for reference, (differences, n) in sides.items():
            value = differences[index]
            note = "" if index < expected.n_matched else "not matched"
            note = "not defined: no match" if np.isnan(value) else note
            yield common | {
                "statistic": "standardised_difference",
                "signal": signal,
                "scored_at": place,
                "reference": reference,
                "value": value,
                "n": n,
                "note": note or None,
            }
    for index, pair in enumerate(texts.groups[_ENTITY]):
        partner = int(matching.partner[index])
        yield {
            "group": f"{comparison}: {pair}",
            "statistic": "distance",
            "reference": None if partner < 0 else str(texts.groups[_ORDINARY][partner]),
            "value": matching.distance[index],
            "note": "not defined: no ordinary pair within the caliper" if partner < 0 else None,
        }
