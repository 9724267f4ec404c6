"""Words of one's own for jieba."""

import re
from dataclasses import dataclass
from pathlib import Path

from interp.errors import InputError
from interp.segmentation.text_file import read_text_file

LONGEST_WORD = 100
"""Characters; jieba keeps every beginning of every word."""

_ENTRY = re.compile(r"([^\s\x00-\x1f]+)(?:\s+([0-9]{1,15}))?(?:\s+([a-z]+))?")


@dataclass(frozen=True)
class UserWords:
    """A dictionary in jieba's form: a word a line, if one likes with its count and its class.

    Attributes:
        name: The file's name.
        sha256: SHA-256 of the file, in hex.
        entries: Word, how often it occurs, part of speech; a count of None makes jieba choose one
            with which the word is found, a count of 0 says that it is none.
    """

    name: str
    sha256: str
    entries: tuple[tuple[str, int | None, str | None], ...]

    @classmethod
    def read(cls, path: str | Path) -> "UserWords":
        """The words of a file.

        Raises:
            InputError: It cannot be read, or a line is something else.
        """
        file = read_text_file(path, "user dictionary")
        entries = []
        for number, line in enumerate(file.text.splitlines(), 1):
            if not line.strip():
                continue
            found = _ENTRY.fullmatch(line.strip())
            if found is None:
                raise InputError(
                    f"cannot read the user dictionary {path}: line {number} is no word with its "
                    f"count, but {line.strip()[:40]!r}",
                    "Each line is a word, a count if you like, and a part of speech, separated by "
                    "spaces, such as: 云计算 5 n",
                )
            word, count, tag = found.groups()
            if len(word) > LONGEST_WORD:
                raise InputError(
                    f"cannot read the user dictionary {path}: the word of line {number} has "
                    f"{len(word):,} characters, and the most is {LONGEST_WORD}",
                    "Each line is one word.",
                )
            entries.append((word, None if count is None else int(count), tag))
        return cls(file.name, file.sha256, tuple(entries))
