"""What changes of the loss say of whether a model uses its increments."""

from collections.abc import Mapping, Sequence

from interp.analyses.ablation import (
    ALL_BYTES,
    HIGHER,
    LOSS_DIFFERENCE,
    LOWER,
    SAME,
    UNDECIDED,
    answer,
)
from interp.analyses.seeds import MARGIN_NATS
from interp.reports.chart import estimate_text
from interp.reports.verdicts import Verdict
from interp.studies.ablations import REPLACEMENTS, SCALES
from interp.tables import Row, has_interval

TOGETHER = "all layers"
"""The column of all layers together."""

NO_PATTERN = ("mean", "shuffled-within-class", "shuffled", "one")
"""Replacements that leave no pattern, or none of its own, the plainest first."""

_ANSWERS = {
    HIGHER: "Yes",
    LOWER: "Yes, and for the better",
    SAME: "No",
    UNDECIDED: "Undecided",
}


def layer_title(row: Row) -> str:
    """The layer of a row, or that it is about all of them together."""
    return TOGETHER if row["layer"] is None else f"L{row['layer']}"


def change_in_words(row: Row) -> str:
    """A change of the loss with its interval."""
    return estimate_text(row, "+.4f")


def answer_of(row: Row) -> str:
    """`interp.analyses.ablation.answer` of a row."""
    return answer(row["value"], row["low"], row["high"])


def of_replacement(rows: Sequence[Row], name: str, group: str = ALL_BYTES) -> list[Row]:
    """The changes of one replacement and group of bytes, layer by layer."""
    words = REPLACEMENTS[name].words
    return [
        row
        for row in rows
        if row["statistic"] == LOSS_DIFFERENCE
        and row["reference"] == words
        and row["group"] == group
    ]


def one_line(rows: Sequence[Row]) -> str:
    """Whether the loss cares, by the plainest replacement that was made.

    Args:
        rows: Of what `interp.analyses.ablation.loss_changes` gives.
    """
    name = next(name for name in (*NO_PATTERN, *REPLACEMENTS) if of_replacement(rows, name))
    found = of_replacement(rows, name)
    together = [row for row in found if row["layer"] is None]
    main = together[0] if together else max(found, key=lambda row: abs(row["value"] or 0.0))
    return (
        f"Does the loss care? {_ANSWERS[answer_of(main)]}: {REPLACEMENTS[name].words} in "
        f"{layer_title(main)} adds {change_in_words(main)} nats per byte{_by_layer(found)}."
    )


def verdicts(by_language: Mapping[str, Sequence[Row]]) -> list[Verdict]:
    """Verdicts on the changes of the loss.

    Args:
        by_language: Rows of `interp.analyses.ablation.loss_changes`, by the language's name.
    """
    return [
        *(_cares(language, rows) for language, rows in by_language.items()),
        _of_bytes(by_language),
        _of_scale(by_language),
        _costs_nothing(by_language),
    ]


def boundary_verdict(
    language: str, rows: Sequence[Row], groups: tuple[str, str], where: tuple[str, str]
) -> Verdict:
    """Whether what the mean costs stands at boundaries.

    Args:
        language: Its name.
        rows: Of `interp.analyses.ablation.loss_changes`.
        groups: The bytes at boundaries, and the others.
        where: What these are, in words.
    """
    claim = f"{language}: the increments matter most {where[0]}."
    found = [of_replacement(rows, "mean", group) for group in groups]
    if not all(found):
        return Verdict(claim, "", "there are no such bytes", "Not measured.")
    at, elsewhere = map(_together, found)
    here = (
        f"with each layer's mean instead, all layers: {where[0]} {change_in_words(at)}; "
        f"{where[1]} {change_in_words(elsewhere)}"
    )
    if not (has_interval(at) and has_interval(elsewhere)):
        verdict = "Undecided: there is a change without an interval."
    elif at["low"] > elsewhere["high"]:
        verdict = "Yes: the loss rises more there, and the intervals do not meet."
    elif at["high"] < elsewhere["low"]:
        verdict = "No: the loss rises more elsewhere, and the intervals do not meet."
    else:
        verdict = "Undecided: the intervals overlap."
    return Verdict(claim, "", here, verdict)


def _cares(language: str, rows: Sequence[Row]) -> Verdict:
    found = of_replacement(rows, "mean")
    main, shuffled = _together(found), _together(of_replacement(rows, "shuffled-within-class"))
    alone = [row for row in found if row["layer"] is not None]
    here = "; ".join(f"{layer_title(row)} {change_in_words(row)}" for row in [main, *alone])
    return Verdict(
        f"{language}: the model uses its increments, so that the loss rises where each layer's "
        "mean stands in their place.",
        "",
        f"{here}; shuffled within byte class, all layers, {change_in_words(shuffled)}",
        f"{_ANSWERS[answer_of(main)]}, with all layers together{_by_layer(found)}.",
    )


def _of_bytes(by_language: Mapping[str, Sequence[Row]]) -> Verdict:
    answers, here = [], []
    for language, rows in by_language.items():
        row = _together(of_replacement(rows, "byte-table"))
        words = {
            SAME: "it does",
            HIGHER: "no, what the text before the byte adds to the increment counts",
            LOWER: "it does, and better",
            UNDECIDED: "undecided",
        }
        here.append(f"{language} {change_in_words(row)}")
        answers.append(f"{language}: {words[answer_of(row)]}")
    return Verdict(
        "A table with one increment per byte value and layer does as well.",
        "frozen increments (a table taken from a trained model) give the same loss, where the "
        "model is trained with them",
        "; ".join(here),
        f"{'. '.join(answers)}. Only the forward pass is changed here, in a model that was trained "
        "with its own increments: the published claim is another one, and is not tested.",
    )


def _of_scale(by_language: Mapping[str, Sequence[Row]]) -> Verdict:
    here, answers = [], []
    for language, rows in by_language.items():
        found = [_together(of_replacement(rows, name)) for name in SCALES]
        here += [f"{language}, {row['reference']} {change_in_words(row)}" for row in found]
        of_both = {answer_of(row) for row in found}
        words = "undecided"
        if HIGHER in of_both:
            words = (
                "no, it costs although the whole pattern is left: part of any cost here is that "
                "the model never saw such positions"
            )
        elif of_both == {SAME}:
            words = "yes"
        answers.append(f"{language}: {words}")
    return Verdict(
        "The scale alone does not count: all increments halved or doubled leave the loss as it is.",
        "",
        "; ".join(here),
        f"{'. '.join(answers)}.",
    )


def _costs_nothing(by_language: Mapping[str, Sequence[Row]]) -> Verdict:
    free, n_free, n_all = [], 0, 0
    for language, rows in by_language.items():
        for name, each in REPLACEMENTS.items():
            found = of_replacement(rows, name)
            layers = [layer_title(row) for row in found if answer_of(row) == SAME]
            n_all, n_free = n_all + len(found), n_free + len(layers)
            free += [f"{language}, {each.words}: {', '.join(layers)}"] if layers else []
    return Verdict(
        f"Some replacements cost nothing: less than {MARGIN_NATS} nats per byte either way.",
        "",
        "; ".join(free) or "none",
        f"{'Yes' if free else 'No'}: {n_free} of {n_all} are within that margin with their whole "
        "interval.",
    )


def _together(found: Sequence[Row]) -> Row:
    return next(row for row in found if row["layer"] is None)


def _by_layer(found: Sequence[Row]) -> str:
    """Which layers care, of those that were changed alone."""
    groups = {
        HIGHER: "it rises with",
        LOWER: "falls with",
        SAME: "not with",
        UNDECIDED: "undecided",
    }
    alone = [row for row in found if row["layer"] is not None]
    parts = []
    for name, words in groups.items():
        layers = [layer_title(row) for row in alone if answer_of(row) == name]
        parts += [f"{words} {', '.join(layers)}"] if layers else []
    return f"; one layer at a time, {', '.join(parts)}" if parts else ""
