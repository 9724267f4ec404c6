"""Comparisons of two-word names for a reader at a terminal of 80 columns."""

from rich.table import Table

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
from interp.analyses.word_pairs import FIRST_BYTE, SECOND_WORD, SPACE
from interp.cli.rendering import UNDEFINED, Rendered, table_of
from interp.studies.entity_order_verdicts import (
    Columns,
    columns_of,
    is_exactly_zero,
    matched_in_words,
    p_in_words,
)
from interp.tables import has_interval

_SHOWN = (
    (ORDER, SPACE, "expectation only: the second word has not been read"),
    (MATCHED, SPACE, "more than surprisal and entropy of the space; not grouping"),
    (FIRST_WORD, FIRST_BYTE, "expectation or grouping"),
    (FIRST_WORD, SECOND_WORD, "expectation or grouping"),
    (FIRST_WORD_MATCHED, FIRST_BYTE, "more than forward probability"),
    (FIRST_WORD_MATCHED, SECOND_WORD, "more than forward probability"),
)
"""Comparison, place, and what a difference can show."""

_PLACES = {
    SPACE: "at the inner space",
    FIRST_BYTE: "at its first byte",
    SECOND_WORD: "over the word",
}


def entity_tables(found: EntityOrder) -> list[Rendered]:
    """A table per comparison and place, layer by layer."""
    rendered = []
    for comparison, place, shows in _SHOWN:
        notes = [f"Can show: {shows}."]
        if comparison in (MATCHED, FIRST_WORD_MATCHED):
            notes.append(f"{matched_in_words(found.matching, comparison)}.")
        title = f"{comparison.capitalize()}: {_PLACES[place]}"
        columns = columns_of(found.comparisons, comparison, place)
        rendered.append(Rendered(title, _table(columns), tuple(notes)))
    last = rendered[-1]
    more = "smaller: share of names whose increment is. Matched pairs: --csv or --json."
    return [*rendered[:-1], Rendered(last.title, last.table, (*last.notes, more))]


def _table(columns: Columns) -> Table:
    table = table_of("layer", "names", "median difference", "95 % interval", "smaller", "p (Holm)")
    for name, each in columns.items():
        median, share = each[MEDIAN_DIFFERENCE], each[SHARE_SMALLER]
        n = f"{median['n']:,}"
        if median["value"] is None:
            table.add_row(name, n, *[UNDEFINED] * 4)
            continue
        if is_exactly_zero(each):
            table.add_row(name, n, "exactly 0", *[UNDEFINED] * 3)
            continue
        table.add_row(
            name,
            n,
            f"{median['value']:+.2g}",
            f"{median['low']:.2g} to {median['high']:.2g}" if has_interval(median) else UNDEFINED,
            f"{100 * share['value']:.0f} %",
            p_in_words(each[P_HOLM]["value"]),
        )
    return table
