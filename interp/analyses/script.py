"""Which Chinese characters a text is written in: simplified, traditional, or both."""

from collections import Counter
from functools import cache

import hanzidentifier

SIMPLIFIED, TRADITIONAL, MIXED, UNDECIDED = "simplified", "traditional", "mixed", "undecided"

SCRIPTS = (SIMPLIFIED, TRADITIONAL, MIXED, UNDECIDED)
"""What `script_of` says, in the order in which it is shown."""

CLEAR_SHARE = 0.9
"""The share of telling characters from which on a text is one script and not mixed.

Quotations, names and characters that the dictionary lists in one script alone put a few of the
other kind into almost every article.
"""


def script_of(text: str) -> str:
    """The script of a text, one of `SCRIPTS`.

    Most characters are the same in both scripts; those that belong to one of them alone decide:
    at least `CLEAR_SHARE` of them, or the text is mixed. A text without any is undecided. Which
    character belongs where says hanzidentifier, from the headwords of CC-CEDICT.

    >>> script_of("计算机科学"), script_of("計算機科學"), script_of("人工"), script_of("计計")
    ('simplified', 'traditional', 'undecided', 'mixed')
    """
    counts = Counter[str]()
    for character, n in Counter(text).items():
        counts[_script_of_character(character)] += n
    n_telling = counts[SIMPLIFIED] + counts[TRADITIONAL]
    if not n_telling:
        return UNDECIDED
    for script in (SIMPLIFIED, TRADITIONAL):
        if counts[script] >= CLEAR_SHARE * n_telling:
            return script
    return MIXED


@cache
def _script_of_character(character: str) -> str:
    found = hanzidentifier.identify(character)
    names = {hanzidentifier.SIMPLIFIED: SIMPLIFIED, hanzidentifier.TRADITIONAL: TRADITIONAL}
    return names.get(found, "")
