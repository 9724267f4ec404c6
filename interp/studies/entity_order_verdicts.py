"""What was published of two-word entities, and the verdicts on it."""

from collections.abc import Mapping, Sequence

import pandas as pd

from interp.analyses.entity_order import (
    FIRST_WORD,
    FIRST_WORD_MATCHED,
    MATCHED,
    MEDIAN_DIFFERENCE,
    ORDER,
    P_HOLM,
    SHARE_SMALLER,
    EntityOrder,
)
from interp.analyses.statistics import LEVEL
from interp.analyses.word_pairs import FIRST_BYTE, SECOND_WORD, SPACE
from interp.reports.verdicts import Verdict
from interp.tables import Row, row_name, rows_of

Columns = Mapping[str, Mapping[str, Row]]
"""Rows by the name of their column and by statistic."""


def verdicts(found: EntityOrder) -> list[Verdict]:
    """A verdict on every claim about two-word entities."""
    table = found.comparisons
    return [
        _of_order(table),
        _of_matched(table, found.matching),
        _of_second_word(table),
        _of_second_word_matched(table, found.matching),
        _of_layer_0(table),
    ]


def columns_of(
    table: pd.DataFrame, comparison: str, place: str, signal: str = "increment"
) -> dict[str, dict[str, Row]]:
    """What a comparison gives at one place: rows by the name of their column and by statistic."""
    wanted = {"signal": signal, "group": comparison, "scored_at": place}
    found: dict[str, dict[str, Row]] = {}
    for row in rows_of(table):
        if wanted.items() <= row.items():
            found.setdefault(row_name(row), {})[row["statistic"]] = row
    return found


def is_exactly_zero(of_column: Mapping[str, Row]) -> bool:
    """Whether there are differences and every one of them is exactly 0."""
    return of_column[MEDIAN_DIFFERENCE]["value"] is not None and of_column[SHARE_SMALLER]["n"] == 0


def p_in_words(p: float | None) -> str:
    """Two digits, or that it is not defined."""
    return "not defined" if p is None else f"{p:.2g}"


def matched_in_words(matching: pd.DataFrame, comparison: str) -> str:
    """How many entities a matched comparison is about."""
    wanted = {"statistic": "share_matched", "group": comparison}
    (row,) = (row for row in rows_of(matching) if wanted.items() <= row.items())
    n_matched = round(row["value"] * row["n"])
    return f"{n_matched} of {row['n']} entities found a partner"


def _of_order(table: pd.DataFrame) -> Verdict:
    columns = columns_of(table, ORDER, SPACE)
    smaller, larger = _clear(columns)
    if not _tested(columns):
        answer = _nothing_to_test(columns)
    elif smaller:
        answer = (
            f"Repeated in {_listed(smaller)} only: the real order has the smaller increment. That "
            "is expectation, for only the first word has been read."
        )
    else:
        answer = "Not repeated: no layer has a smaller increment in the real order."
    return Verdict(
        "In the real order of an entity the increment at the inner space is smaller than in the "
        "reversed one.",
        "80 pairs: no effect in L0 and L1; smaller in L2 to L5, in 61 to 82 % of pairs, p from "
        "0.04 to 6e-10",
        _in_words(columns),
        answer + _the_other_way(larger),
    )


def _of_matched(table: pd.DataFrame, matching: pd.DataFrame) -> Verdict:
    columns = columns_of(table, MATCHED, SPACE)
    smaller, larger = _clear(columns)
    if not _tested(columns):
        answer = _nothing_to_test(columns)
    elif smaller:
        answer = (
            f"Yes, in {_listed(smaller)}: surprisal and entropy of the space do not account for "
            "it. It is still not grouping: the second word has not been read, and what is expected "
            "after the space, and which word came first, are not matched."
        )
    else:
        answer = "Not shown: an entity's space is no nearer than one that is as well expected."
    return Verdict(
        "The increment at an entity's inner space is smaller than at a space that is as well "
        "expected.",
        "not measured; bigram frequency was not controlled",
        f"{_in_words(columns)}; {matched_in_words(matching, MATCHED)}",
        answer + _the_other_way(larger),
    )


def _of_second_word(table: pd.DataFrame) -> Verdict:
    at_byte, over_word = (
        columns_of(table, FIRST_WORD, place) for place in (FIRST_BYTE, SECOND_WORD)
    )
    (surprisal,) = columns_of(table, FIRST_WORD, SECOND_WORD, "surprisal").values()
    return Verdict(
        "The second word is nearer after its entity's first word than after another first word.",
        "",
        f"{FIRST_BYTE}: {_in_words(at_byte)}; {SECOND_WORD}: {_in_words(over_word)}; surprisal of "
        f"the second word {_effect_in_words(surprisal, ' nats')}",
        _second_word_answer(
            at_byte,
            over_word,
            "expectation or grouping, which this comparison cannot tell apart",
            "Not shown: with the same bytes, no layer has the smaller increment after the "
            "entity's own first word.",
        ),
    )


def _of_second_word_matched(table: pd.DataFrame, matching: pd.DataFrame) -> Verdict:
    at_byte, over_word = (
        columns_of(table, FIRST_WORD_MATCHED, place) for place in (FIRST_BYTE, SECOND_WORD)
    )
    return Verdict(
        "That is more than expectation: it is so beyond ordinary pairs whose second word is as "
        "probable after their first.",
        "",
        f"{FIRST_BYTE}: {_in_words(at_byte)}; {SECOND_WORD}: {_in_words(over_word)}; "
        f"{matched_in_words(matching, FIRST_WORD_MATCHED)}",
        _second_word_answer(
            at_byte,
            over_word,
            "more than forward probability",
            "Not shown: no layer does more for an entity than for an ordinary pair that is as "
            "probable.",
        ),
    )


def _second_word_answer(at_byte: Columns, over_word: Columns, what: str, nothing: str) -> str:
    if not _tested(at_byte):
        return _nothing_to_test(at_byte)
    found, larger = [], []
    for columns, place in ((at_byte, "at its first byte"), (over_word, "over the word")):
        smaller, larger_here = _clear(columns)
        found += [f"{_listed(smaller)} {place}"] if smaller else []
        larger += [f"{name} {place}" for name in larger_here]
    answer = f"Yes, in {' and '.join(found)}: {what}." if found else nothing
    return answer + _the_other_way(larger)


def _of_layer_0(table: pd.DataFrame) -> Verdict:
    places = (
        (ORDER, SPACE),
        (MATCHED, SPACE),
        *(
            (each, place)
            for each in (FIRST_WORD, FIRST_WORD_MATCHED)
            for place in (FIRST_BYTE, SECOND_WORD)
        ),
    )
    first = [next(iter(columns_of(table, *where).items())) for where in places]
    n_zero = sum(is_exactly_zero(of_column) for _, of_column in first)
    name = first[0][0]
    return Verdict(
        f"{name}, which the token alone decides, differs by exactly 0 in every comparison.",
        "no effect in L0",
        f"exactly 0 for every pair in {n_zero} of {len(first)} comparisons",
        "Yes, as it must." if n_zero == len(first) else "No: the scores compare different bytes.",
    )


def _tested(columns: Columns) -> bool:
    return any(each[P_HOLM]["value"] is not None for each in columns.values())


def _nothing_to_test(columns: Columns) -> str:
    reasons = dict.fromkeys(str(each[P_HOLM]["note"]) for each in columns.values())
    return f"Not defined: {'; '.join(reasons).removeprefix('not defined: ')}."


def _clear(columns: Columns) -> tuple[list[str], list[str]]:
    """Columns in which the first side is surely the smaller one, and surely the larger one."""
    sure = [
        (name, each[MEDIAN_DIFFERENCE]["value"] < 0)
        for name, each in columns.items()
        if each[P_HOLM]["value"] is not None and each[P_HOLM]["value"] < LEVEL
    ]
    return [name for name, is_less in sure if is_less], [n for n, is_less in sure if not is_less]


def _the_other_way(names: Sequence[str]) -> str:
    return f" In {_listed(names)} it is the larger one." if names else ""


def _listed(names: Sequence[str]) -> str:
    *others, last = names
    return f"{', '.join(others)} and {last}" if others else last


def _in_words(columns: Columns) -> str:
    """Layers with a clear difference with their numbers, then the others by name."""
    smaller, larger = _clear(columns)
    words = [f"{name} {_effect_in_words(columns[name])}" for name in (*smaller, *larger)]
    zero = [name for name, each in columns.items() if is_exactly_zero(each)]
    others = [name for name in columns if name not in (*smaller, *larger, *zero)]
    words += [f"no clear difference in {_listed(others)}"] if others else []
    words += [f"exactly 0 in {_listed(zero)}"] if zero else []
    return ", ".join(words)


def _effect_in_words(each: Mapping[str, Row], unit: str = "") -> str:
    median, share, p = (each[name]["value"] for name in (MEDIAN_DIFFERENCE, SHARE_SMALLER, P_HOLM))
    if median is None or share is None:
        return "not defined"
    return f"{median:+.2g}{unit} (smaller in {100 * share:.0f} % of pairs, p {p_in_words(p)})"
