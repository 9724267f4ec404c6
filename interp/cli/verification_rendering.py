"""What position encodings promise and keep, for a reader at a terminal of 80 columns."""

from collections.abc import Iterable, Mapping, Sequence

from rich.table import Table

from interp.cli.rendering import UNDEFINED, Rendered, table_of
from interp.model.verification import Check

_ANSWERS = {True: "yes", False: "NO", None: ""}


def verification_tables(
    checks: Mapping[str, Sequence[Check]], settings: Sequence[str]
) -> list[Rendered]:
    """A table per encoding, then what the numbers are."""
    rendered = []
    for encoding, of_encoding in checks.items():
        table = table_of("property", "measured", "must be", "holds")
        for check in of_encoding:
            cells = (_number(check.value), _bounds(check), _ANSWERS[check.holds])
            table.add_row(check.name, *cells)
        title = ", ".join([encoding, *settings])
        rendered.append(Rendered(title, table, tuple(_notes(of_encoding))))
    meanings = Table.grid("", "", padding=(0, 2, 0, 0))
    some = next(iter(checks.values()))
    for what, names in _grouped((check.what, check.name) for check in some).items():
        meanings.add_row("\n".join(names), what)
    return [*rendered, Rendered("What the numbers are", meanings)]


def broken(checks: Mapping[str, Sequence[Check]]) -> list[str]:
    """One line for each property that an encoding must have and has not."""
    return [
        f"{encoding}: {check.name}: {_number(check.value)}, must be {_bounds(check)}"
        for encoding, of_encoding in checks.items()
        for check in of_encoding
        if check.holds is False
    ]


def _notes(checks: Sequence[Check]) -> list[str]:
    noted = ((check.note, check.name) for check in checks if check.note)
    return [f"{', '.join(names)}: {note}." for note, names in _grouped(noted).items()]


def _grouped(pairs: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    """The second of each pair by the first, in order."""
    grouped: dict[str, list[str]] = {}
    for key, value in pairs:
        grouped.setdefault(key, []).append(value)
    return grouped


def _bounds(check: Check) -> str:
    if check.at_least is not None and check.at_least == check.at_most:
        return _number(check.at_least)
    if check.at_least is not None:
        return f"at least {_number(check.at_least)}"
    return "" if check.at_most is None else f"at most {_number(check.at_most)}"


def _number(value: float | None) -> str:
    """Three digits: the numbers lie between rounding errors and windows of tokens."""
    return UNDEFINED if value is None else f"{value:.3g}"
