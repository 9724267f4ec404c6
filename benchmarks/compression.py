"""Held-out bits per byte of a checkpoint beside those of a compressor and of an n-gram model.

    python benchmarks/compression.py CHECKPOINT [--write]

Run it where the paths of the checkpoint's recipe lead to its text. Both opponents get the very
windows that the checkpoint was trained on, and then the same held-out documents:

- ``xz -9e``: how much longer the compressed training text becomes by the held-out text;
- an interpolated Witten-Bell byte 5-gram, which ends in a uniform distribution over 256 bytes.

``--write`` records the figures in the checkpoint's config.json and card.
"""

import argparse
import json
import lzma
import sys
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from interp.checkpoints.folder import CONFIG_FILE
from interp.checkpoints.load import load
from interp.checkpoints.save import write_config
from interp.corpus.windows import training_windows
from interp.text import D_VOCAB, SEPARATOR, encode
from interp.tokenizer import BYTES
from interp.training.recipe_file import recipe_from_dict
from interp.training.text import read_text

ORDER = 5


def main() -> None:
    """Measure, print a line per language, and record."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("checkpoint", type=Path)
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()

    checkpoint = load(arguments.checkpoint)
    config = checkpoint.config
    if checkpoint.tokenizer != BYTES or not config["held_out_loss"] or not config["corpora"]:
        sys.exit(f"{arguments.checkpoint}: not a finished byte-level model with known text")
    recipe = recipe_from_dict(config["recipe"])
    text = read_text(recipe, revisions=config["revisions"])
    for name, corpus in text.packed.items():
        if corpus.fingerprint != config["corpora"].get(name, {}).get("fingerprint"):
            sys.exit(f"{arguments.checkpoint}: it was not trained on what is here at {name}")
    windows = training_windows(
        [corpus.tokens for corpus in text.packed.values()],
        n_ctx=recipe.model.n_ctx,
        seed=recipe.seed,
        first=0,
        count=config["step"] * recipe.optimization.batch_size,
    )
    seen = windows[:, :-1].astype(np.uint16)
    seen_bytes = seen[seen != SEPARATOR].astype(np.uint8).tobytes()
    n_gram = WittenBell(seen.ravel(), ORDER)
    compressed = xz_size(seen_bytes)

    found = {}
    for language, documents in text.held_out.items():
        held_out = list(documents())
        n_bytes = sum(map(len, held_out))
        added = xz_size(seen_bytes + b"".join(held_out)) - compressed
        found[language] = {
            "xz -9e": added * 8 / n_bytes,
            f"Witten-Bell {ORDER}-gram": n_gram.bits(held_out) / n_bytes,
        }
        own = config["held_out_loss"][language]["bits_per_byte"]
        beside = ", ".join(f"{name} {bits:.4f}" for name, bits in found[language].items())
        print(f"{language}: {n_bytes} bytes, bits per byte: this checkpoint {own:.4f}, {beside}")
    if arguments.write:
        written = json.loads((arguments.checkpoint / CONFIG_FILE).read_text("utf-8"))
        write_config(arguments.checkpoint, written | {"baselines": found})


def xz_size(content: bytes) -> int:
    """Bytes of ``content`` after ``xz -9e``; its dictionary holds the last 64 MiB."""
    return len(lzma.compress(content, preset=9 | lzma.PRESET_EXTREME))


class WittenBell:
    """P(w | h) = (c(hw) + T(h) P(w | h')) / (c(h) + T(h)), down to a uniform distribution.

    T(h) is the number of different tokens seen after h; h' is h without its first token.
    """

    def __init__(self, tokens: np.ndarray, order: int) -> None:
        self.order = order
        self.grams = [
            np.unique(n_grams(tokens, n), return_counts=True) for n in range(1, order + 1)
        ]
        self.contexts = [context_counts(*gram) for gram in self.grams]

    def bits(self, documents: Iterable[bytes]) -> float:
        """The sum over all bytes, each document after its separator."""
        tokens = np.concatenate([encode(content) for content in documents])
        probability = np.full(len(tokens), 1 / 256)
        for n in range(1, self.order + 1):
            grams = n_grams(tokens, n)
            keys, counts = self.grams[n - 1]
            contexts, totals, kinds = self.contexts[n - 1]
            count = look_up(keys, counts, grams)
            total = look_up(contexts, totals, grams // D_VOCAB)
            kind = look_up(contexts, kinds, grams // D_VOCAB)
            below = probability[n - 1 :]
            seen = total > 0
            mixed = (count + kind * below) / np.maximum(total + kind, 1)
            probability[n - 1 :] = np.where(seen, mixed, below)
        return float(-np.log2(probability[tokens != SEPARATOR]).sum())


def n_grams(tokens: np.ndarray, n: int) -> np.ndarray:
    """The n tokens that end at each token from the n-th on, as one number in base 257."""
    coded = np.zeros(len(tokens) - n + 1, dtype=np.int64)
    for place in range(n):
        coded = coded * D_VOCAB + tokens[place : len(tokens) - n + 1 + place]
    return coded


def context_counts(grams: np.ndarray, counts: np.ndarray) -> tuple[np.ndarray, ...]:
    """Contexts in order, how often each was seen, and how many kinds of token followed it."""
    contexts, starts = np.unique(grams // D_VOCAB, return_index=True)
    kinds = np.diff(np.append(starts, len(grams)))
    return contexts, np.add.reduceat(counts, starts), kinds


def look_up(keys: np.ndarray, values: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """The values of ``wanted``, 0 where a key is not there."""
    place = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    return np.where(keys[place] == wanted, values[place], 0)


if __name__ == "__main__":
    main()
