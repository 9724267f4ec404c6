"""A file of a user's own two-word names."""

from interp.analyses.word_pairs import WordPair
from interp.corpus.files import OneTimeStreams, refuse_binary, shown, whole_content
from interp.errors import InputError
from interp.text import display, drop_byte_order_mark

HEADER = ["first", "second"]
"""What a first line may have as titles."""

_FORM = 'Write one pair per line, as "New York" or as "New,York"; a line with # is a remark.'


def read_pairs(path: str) -> tuple[WordPair, ...]:
    """The pairs in a file, one per line, their words apart by white space or a comma.

    Empty lines, lines that begin with ``#`` and a first line ``first,second`` are passed over.

    Args:
        path: The file; ``-`` for standard input.

    Raises:
        InputError: It cannot be read, is not UTF-8, or has a line of another form or no pair.
    """
    with OneTimeStreams().opened(path) as file:
        refuse_binary(file, path, wanted="text")
        content, _ = drop_byte_order_mark(whole_content(file, path)[:])
    try:
        lines = content.decode().splitlines()
    except UnicodeDecodeError as error:
        raise InputError(
            f"{shown(path)}: not UTF-8 at byte {error.start}", "Save the file as UTF-8."
        ) from None
    pairs = []
    for number, line in enumerate(lines, start=1):
        words = line.replace(",", " ").replace('"', " ").split()
        if not words or words[0].startswith("#") or (number == 1 and words == HEADER):
            continue
        if len(words) != 2 or not all(word.isprintable() for word in words):
            what = display(line.encode()[:60])
            raise InputError(f"{shown(path)}, line {number}: {what} is not two words", _FORM)
        pairs.append(WordPair(*words))
    if not pairs:
        raise InputError(f"there is no pair in {shown(path)}", _FORM)
    return tuple(pairs)
