"""The family of position encodings in the order in which it is told, and its models."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from interp.checkpoints import Checkpoint
from interp.studies.study_input import MissingCheckpoint, StudyInput
from interp.training.family import MEMBERS as FAMILY
from interp.training.family import run_name

CHARACTERS, BYTES = "family-characters", "family-bytes"
"""The two settings: folders of checkpoints, and the recipes that they were trained with."""

NONE, SINUSOIDAL, LEARNED, ALIBI, ROPE = "none", "sinusoidal", "learned-absolute", "alibi", "rope"
INCREMENTS, FORGET_GATE = "increments", "forget-gate"

ADDED = (SINUSOIDAL, LEARNED)
"""Those that add to the embedding."""

PUBLISHED_MEMBERS = ("none", "sinusoidal", "learned-absolute", "relative-bias", "alibi", "rope")
"""Those of which there are published numbers."""


@dataclass(frozen=True)
class Member:
    """One position encoding.

    Attributes:
        title: What a reader calls it.
        what: What it is, for somebody who reads of it for the first time.
        beyond: What it means for texts longer than the training windows.
    """

    title: str
    what: str
    beyond: str


MEMBERS: Mapping[str, Member] = {
    "none": Member(
        "No positions",
        "Attention compares what tokens are and not where they stand: shuffle the tokens before "
        "a token, and it gathers the same. Only the causal mask is left, by which a token sees "
        "those before it and no others. From how many there are a model can guess where it is, "
        "but the order of what it sees is hard to come by.",
        "Nothing in the model has a length, so that it runs on any window.",
    ),
    "sinusoidal": Member(
        "Sinusoidal",
        "A fixed table of sines and cosines is added to the embedding: each pair of channels is "
        "a hand of a clock, fast hands in the first channels, slow ones in the last. Position and "
        "content share the same vector, and the model has to learn to tell them apart.",
        "The table goes on for ever, but rows beyond the training length are vectors that the "
        "model has never seen.",
    ),
    "learned-absolute": Member(
        "Learned absolute",
        "The same, but the table is learned: one vector for each position of the training "
        "window, drawn at random at the start. It has to find out from the text alone that "
        "position 7 lies between 6 and 8.",
        "There is no vector for a position beyond the training length.",
    ),
    "relative-bias": Member(
        "Relative bias",
        "Nothing is added to the embedding. Each head learns a number for each distance between "
        "query and key, up to 32 tokens, and adds it to the attention score, so that what is far "
        "away can count less, or more, than what is near.",
        "Keys further away than 32 tokens share one number, so that it runs on any window.",
    ),
    "alibi": Member(
        "ALiBi",
        "Scores fall with the distance in tokens, each head at a fixed slope of its own: steep "
        "heads look at the last few tokens, gentle ones far back. Nothing is learned, and what "
        "is far away fades.",
        "What lies beyond the training length is further down the same slope, and has nearly "
        "faded.",
    ),
    "rope": Member(
        "RoPE",
        "Queries and keys are rotated by their position, pair of channels by pair, each at its "
        "own speed. The score of two rotated vectors depends on the angle between them, and so "
        "on the distance of the tokens alone; lengths stay. There is nothing to learn, and no "
        "content is pushed aside.",
        "Slow pairs turn to angles that they never reached in training.",
    ),
    "increments": Member(
        "Learned increments",
        "RoPE, but how far a token advances the position is learned: a small network in each "
        "layer reads the token there and says how far it lies from the one before. At the start "
        "of training every step is 1, and the model is plain RoPE.",
        "Positions go on at the pace of the text: where steps are short, a window of twice the "
        "tokens covers less than twice the positions.",
    ),
    "rope-alibi": Member(
        "RoPE and ALiBi",
        "Rotation says which distance, slopes say that near counts more: both at once.",
        "The slopes hide what rotation has never seen.",
    ),
    "forget-gate": Member(
        "Forget gate",
        "No rotation. As with ALiBi what is far away fades, but by how much each token in between "
        "makes it fade is learned from that token, layer by layer and head by head: a slope that "
        "depends on what stands there.",
        "Gates go on closing with every token, so that far keys fade as far as the model has "
        "learned to let them.",
    ),
    "rope-nope": Member(
        "RoPE in 3 of 4 layers",
        "RoPE in three layers; in the fourth nothing but the causal mask, so that this layer "
        "compares content at any distance alike.",
        "One layer has no angles that could be new to it; the others do.",
    ),
}
"""By name, in the order of the lesson: each can be read on what came before."""


@dataclass(frozen=True)
class Family:
    """The finished models of one setting.

    Attributes:
        setting: Its folder.
        seeds: Of each member of which there is a model, in the order of the lesson.
        missing: Lines about what is not there.
    """

    setting: str
    seeds: Mapping[str, Sequence[int]]
    missing: Sequence[str]

    def name(self, member: str, seed: int) -> str:
        """The checkpoint of a member and seed."""
        return f"{self.setting}/{run_name(member, seed)}"

    def first(self, member: str) -> str:
        """The checkpoint of a member's first seed."""
        return self.name(member, self.seeds[member][0])


def family_of(given: StudyInput, setting: str, members: Sequence[str] = tuple(MEMBERS)) -> Family:
    """The models of a setting that are there and trained to their end.

    Args:
        given: Where they lie.
        setting: Their folder.
        members: Those that are asked for.

    Raises:
        MissingCheckpoint: There is none.
        CheckpointError: One is damaged.
    """
    found: dict[str, list[int]] = {}
    missing = []
    for member in members:
        for seed in _seeds(given, setting, member):
            checkpoint = given.checkpoint(f"{setting}/{run_name(member, seed)}")
            problem = _under_way(checkpoint) or _other_encoding(checkpoint, member)
            if problem:
                missing.append(f"{setting}/{run_name(member, seed)} is left out: {problem}")
            else:
                found.setdefault(member, []).append(seed)
        if member not in found:
            missing.append(f"there is no finished model {setting}/{member}-seed0")
    if not found:
        raise MissingCheckpoint(
            f"there is no checkpoint {setting}/{run_name(members[0], 0)} in {given.checkpoints}, "
            "nor another of its family",
            f"Train them: interp train-family {setting} --out {given.checkpoints / setting}",
        )
    return Family(setting, found, missing)


def _seeds(given: StudyInput, setting: str, member: str) -> list[int]:
    names = [path.name for path in (given.checkpoints / setting).glob(f"{member}-seed*")]
    matches = [re.fullmatch(rf"{member}-seed(\d{{1,9}})", name) for name in names]
    seeds = sorted({int(match[1]) for match in matches if match})
    return [seed for seed in seeds if given.has_checkpoint(f"{setting}/{run_name(member, seed)}")]


def _under_way(checkpoint: Checkpoint) -> str:
    step, n_steps = checkpoint.config.get("step"), checkpoint.config.get("n_steps")
    if step is None or n_steps is None or (step >= n_steps and checkpoint.config.get("is_done")):
        return ""
    return f"its training is at step {step:,} of {n_steps:,}, and not finished"


def _other_encoding(checkpoint: Checkpoint, member: str) -> str:
    """What is wrong where a model is not what its folder's name says."""
    has, named = checkpoint.model.config.position, FAMILY[member]
    kinds = [
        (p.encoding, getattr(p, "recency", None), getattr(p, "unrotated_every", None))
        for p in (has, named)
    ]
    return "" if kinds[0] == kinds[1] else f"its position encoding is {has.encoding}"
