"""The text of a recipe: packed for training, and held out for the loss."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from interp.corpus.packed import PackedCorpus, pack
from interp.corpus.sources import TextInput, ignore
from interp.corpus.split import Split, document_hash
from interp.corpus.windows import n_windows_in
from interp.errors import InputError
from interp.training.recipe import CorpusRecipe, Recipe


@dataclass(frozen=True)
class TrainingText:
    """What a run reads.

    Attributes:
        split: Which documents are held out, over all corpora.
        packed: By corpus, the rest.
        held_out: By corpus, gives its held-out documents anew each time it is called.
    """

    split: Split
    packed: dict[str, PackedCorpus]
    held_out: dict[str, Callable[[], Iterator[bytes]]]

    @property
    def token_counts(self) -> list[int]:
        """How often each id stands in the text to train on."""
        counts = [corpus.token_counts for corpus in self.packed.values()]
        return [sum(of_one_id) for of_one_id in zip(*counts, strict=True)]

    def facts(self, n_windows_seen: int, n_ctx: int) -> dict[str, dict[str, Any]]:
        """By corpus, what the checkpoint says of it."""
        turns = n_windows_seen / len(self.packed)
        return {
            name: {
                "fingerprint": corpus.fingerprint,
                "n_documents": corpus.n_documents,
                "n_bytes": corpus.n_bytes,
                "passes": turns / n_windows_in(corpus.tokens, n_ctx),
            }
            for name, corpus in self.packed.items()
        }


def read_text(recipe: Recipe, warn: Callable[[str], None] = ignore) -> TrainingText:
    """The text that a recipe names; packed corpora come from the cache if they are there.

    Args:
        recipe: Its corpora name the text.
        warn: Called with one line for what is odd but can be read.

    Raises:
        InputError: Text is missing, cannot be read, or is too little for one window.
    """
    hashes: set[int] = set()
    for corpus in recipe.corpora.values():
        if corpus.held_out:
            hashes |= {
                document_hash(d.content) for d in _text(corpus.held_out, corpus).documents(warn)
            }
    split = Split(fraction=recipe.held_out_fraction, hashes=frozenset(hashes))
    packed, held_out = {}, {}
    for name, corpus in recipe.corpora.items():
        text = _text(corpus.train, corpus)
        packed[name] = pack(
            lambda text=text: text.documents(warn),
            fingerprint=text.fingerprint(),
            split=split,
            name=name,
        )
        if not n_windows_in(packed[name].tokens, recipe.model.n_ctx):
            raise InputError(
                f"corpus {name} has {packed[name].n_bytes} bytes to train on, less than one "
                f"window of {recipe.model.n_ctx} tokens",
                "Give more text.",
            )
        held_out[name] = _held_out(corpus, split)
    return TrainingText(split, packed, held_out)


def _text(addresses: tuple[str, ...], corpus: CorpusRecipe) -> TextInput:
    return TextInput(corpora=addresses, limit_bytes=corpus.limit_bytes)


def _held_out(corpus: CorpusRecipe, split: Split) -> Callable[[], Iterator[bytes]]:
    def contents() -> Iterator[bytes]:
        for document in _text(corpus.held_out or corpus.train, corpus).documents():
            if document.content and (corpus.held_out or split.is_held_out(document.content)):
                yield document.content[:]

    return contents
