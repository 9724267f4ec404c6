"""A family of tiny models of characters on disk, as training leaves it, and its text."""

import json
from collections.abc import Sequence
from math import log
from pathlib import Path

import torch

from interp import checkpoints
from interp.corpus.split import Split, document_hash
from interp.model import ModelConfig, Transformer
from interp.tokenizer import CharacterTokenizer
from interp.training.family import MEMBERS, run_name
from interp.training.held_out import HeldOutLoss

LINE = "The heron waits in the shallow water, and the fish swim on; nobody says a word.\n"
TEXT = "".join(f"{number}: {LINE}" for number in range(80)).encode()
"""About 6.7 kB, of which the last half is held out."""

SIZES = {"d_model": 16, "n_heads": 2, "n_layers": 2, "d_mlp": 24}
HELD_OUT = Split(last=0.5)


def save_family(
    folder: Path,
    *,
    members: Sequence[str] = tuple(MEMBERS),
    seeds: Sequence[int] = (0, 1),
    n_ctx: int = 8,
    **sizes: int,
) -> Path:
    """Writes a checkpoint with a record of its steps for every member and seed.

    Weights are random, and so is nothing else: the held-out loss of a member falls with its
    place in `MEMBERS`, and lies 0.01 higher for each seed.
    """
    tokenizer = CharacterTokenizer.of([TEXT])
    split = Split(last=0.5, hashes=frozenset({document_hash(HELD_OUT.end_of(TEXT))}))
    for place, member in enumerate(MEMBERS):
        for seed in seeds if member in members else ():
            config = ModelConfig(
                **(SIZES | sizes),
                d_vocab=tokenizer.d_vocab,
                n_ctx=n_ctx,
                is_tied=False,
                initialization="torch",
                position=MEMBERS[member],
            )
            model = Transformer(config, seed=seed)
            with torch.no_grad():
                for parameter in model.parameters():
                    parameter.mul_(1.5)
            loss = 2.5 - 0.05 * place + 0.01 * seed
            facts = {
                "step": 20,
                "n_steps": 20,
                "is_done": True,
                "held_out_loss": {
                    "characters": HeldOutLoss(loss, loss / log(2), 3_000, 1).to_dict()
                },
                "position_span": [[float(n_ctx)]] * config.n_layers,
            }
            if not hasattr(model.position, "rotate"):
                del facts["position_span"]
            run = folder / run_name(member, seed)
            name = f"{folder.name}-{run.name}"
            checkpoints.save(run, model, name=name, tokenizer=tokenizer, split=split, facts=facts)
            steps = [
                {"step": step, "loss_nats": loss + 1 / step, "gradient_norm": 1.0}
                for step in range(1, 21)
            ]
            lines = "".join(json.dumps(step) + "\n" for step in steps)
            (run / "metrics.jsonl").write_text(lines, "utf-8")
    return folder
