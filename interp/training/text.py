"""The text of a recipe: packed for training, and held out for the loss."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Int

from interp.corpus.documents import Document
from interp.corpus.files import expand, shown
from interp.corpus.hub import PREFIX
from interp.corpus.packed import PackedCorpus, pack
from interp.corpus.sources import TextInput, ignore
from interp.corpus.split import Split, document_hash
from interp.corpus.windows import n_windows_in, training_windows
from interp.errors import InputError
from interp.tokenizer import BYTES, CharacterTokenizer, Tokenizer, with_place
from interp.training.held_out import first_documents
from interp.training.recipe import CorpusRecipe, Recipe

_COUNTED_AT_ONCE = 256


@dataclass(frozen=True)
class TrainingText:
    """What a run reads.

    Attributes:
        split: Which documents are held out, over all corpora.
        packed: By corpus, the rest; in the order of their names, whatever the recipe's order.
        held_out: By corpus, gives its held-out documents anew each time it is called.
        subset: By corpus, the first of them, which are measured during the run.
        n_ctx: Tokens of a window.
        seed: Of the order of windows.
        tokenizer: Makes tokens of the text.
        revisions: By data set on the Hub, the commit at which it is read.
    """

    split: Split
    packed: dict[str, PackedCorpus]
    held_out: dict[str, Callable[[], Iterator[bytes]]]
    subset: dict[str, list[bytes]]
    n_ctx: int
    seed: int
    tokenizer: Tokenizer
    revisions: dict[str, str]

    def windows(self, first: int, count: int) -> Int[np.ndarray, "batch pos"]:
        """Windows number ``first`` to ``first + count - 1``, n_ctx + 1 tokens each."""
        streams = [corpus.tokens for corpus in self.packed.values()]
        return training_windows(streams, n_ctx=self.n_ctx, seed=self.seed, first=first, count=count)

    def token_counts(self, first: int, end: int) -> Int[np.ndarray, " d_vocab"]:
        """How often the model reads each id in windows ``first`` to ``end - 1``."""
        counts = np.zeros(self.tokenizer.d_vocab, dtype=np.int64)
        for start in range(first, end, _COUNTED_AT_ONCE):
            windows = self.windows(start, min(_COUNTED_AT_ONCE, end - start))
            counts += np.bincount(windows[:, :-1].ravel(), minlength=len(counts))
        return counts

    def n_bytes_read(self, n_windows: int) -> int:
        """How much text the first windows are: their tokens, in bytes of the mean token."""
        per_token = [max(1.0, c.n_bytes / len(c.tokens)) for c in self.packed.values()]
        return round(n_windows * self.n_ctx * sum(per_token) / len(per_token))

    def facts(self, n_windows_seen: int) -> dict[str, dict[str, Any]]:
        """By corpus, what the checkpoint says of it."""
        turns = n_windows_seen / len(self.packed)
        return {
            name: {
                "fingerprint": corpus.fingerprint,
                "n_documents": corpus.n_documents,
                "n_bytes": corpus.n_bytes,
                "passes": turns / n_windows_in(corpus.tokens, self.n_ctx),
            }
            for name, corpus in self.packed.items()
        }


def read_text(
    recipe: Recipe,
    warn: Callable[[str], None] = ignore,
    *,
    revisions: Mapping[str, str] | None = None,
) -> TrainingText:
    """The text that a recipe names; packed corpora come from the cache if they are there.

    Args:
        recipe: Its corpora name the text.
        warn: Called with one line for what is odd but can be read.
        revisions: By data set on the Hub, the commit at which a run that was begun read it,
            whatever the Hub has now; for others it is asked.

    Raises:
        InputError: Text is missing, cannot be read, is too little for one window, or none of
            it is held out.
    """
    revisions = dict(revisions or {})
    hashes: set[int] = set()
    for corpus in recipe.corpora.values():
        if corpus.held_out:
            documents = _text(corpus.held_out, corpus, revisions).documents(warn)
            hashes |= {document_hash(d.content) for d in documents if len(d.content)}
    split = _with_ends(
        Split(recipe.held_out_fraction, frozenset(hashes), recipe.held_out_last),
        recipe,
        revisions,
    )
    tokenizer = _tokenizer(recipe, split, revisions)
    n_ctx = recipe.model.n_ctx
    streams, held_out, subset = {}, {}, {}
    for name, corpus in sorted(recipe.corpora.items()):
        text = _text(corpus.train, corpus, revisions)
        streams[name] = pack(
            lambda text=text: text.documents(warn),
            fingerprint=text.fingerprint(),
            split=split,
            name=name,
            tokenizer=tokenizer,
        )
        if not n_windows_in(streams[name].tokens, n_ctx):
            raise InputError(
                f"corpus {name} has {streams[name].n_bytes} bytes to train on, less than one "
                f"window of {n_ctx} tokens",
                "Give more text.",
            )
        held_out[name] = _held_out(name, corpus, text, split)
        for content in held_out[name]() if tokenizer != BYTES else ():
            with_place(f"held-out text of corpus {name}", tokenizer.n_tokens, content)
        subset[name] = list(first_documents(held_out[name](), recipe.keeping.held_out_bytes))
        # a separator predicts the first byte; nothing predicts the first character
        if sum(tokenizer.n_tokens(content) - 1 for content in subset[name]) < 1:
            raise InputError(
                f"corpus {name} has no held-out text to predict",
                "Hold out a larger fraction, or give held_out text.",
            )
    return TrainingText(split, streams, held_out, subset, n_ctx, recipe.seed, tokenizer, revisions)


def _with_ends(split: Split, recipe: Recipe, revisions: dict[str, str]) -> Split:
    """The split with the ends of all training texts, where these are held out."""
    if not split.last:
        return split
    ends = (split.end_of(document.content) for document in _training_documents(recipe, revisions))
    return replace(split, hashes=split.hashes | {document_hash(end) for end in ends if len(end)})


def _tokenizer(recipe: Recipe, split: Split, revisions: dict[str, str]) -> Tokenizer:
    """The recipe's tokenizer; of characters, of those that are trained on."""
    if recipe.tokenizer == "bytes":
        return BYTES
    documents = _training_documents(recipe, revisions)
    return CharacterTokenizer.of(split.training_part(d.content) for d in documents)


def _training_documents(recipe: Recipe, revisions: dict[str, str]) -> Iterator[Document]:
    for _, corpus in sorted(recipe.corpora.items()):
        yield from _text(corpus.train, corpus, revisions).documents()


def _text(addresses: tuple[str, ...], corpus: CorpusRecipe, revisions: dict[str, str]) -> TextInput:
    """What is to be read; ``revisions`` is one table for a run, in which all keep what they ask."""
    for address in addresses:
        if not address.startswith(PREFIX) and any(Path(path).is_fifo() for path in expand(address)):
            raise InputError(
                f"cannot train on {shown(address)}: a pipe gives its text only once, and a run "
                "reads it again",
                "Write the text to a file first.",
            )
    return TextInput(corpora=addresses, limit_bytes=corpus.limit_bytes, revisions=revisions)


def _held_out(
    name: str, corpus: CorpusRecipe, text: TextInput, split: Split
) -> Callable[[], Iterator[bytes]]:
    given = _text(corpus.held_out, corpus, text.revisions) if corpus.held_out else None

    def contents() -> Iterator[bytes]:
        for document in (given or text).documents():
            content = document.content if given else split.held_out_part(document.content)
            if content is None or not len(content):
                continue
            if given and document_hash(content) not in split.hashes:
                raise InputError(
                    f"the held-out text of corpus {name} has changed since it was first read",
                    "Put the text back; the same command goes on.",
                )
            yield content[:]

    return contents
