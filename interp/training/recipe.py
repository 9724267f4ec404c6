"""A training recipe: everything that decides what a run gives, as one frozen value.

`interp.training.recipe_file` reads one from TOML; it is written into the checkpoint. On a CPU, two
runs of one recipe on the same text give the same weights, with the same library versions and
threads.
"""

import dataclasses
import math
from dataclasses import dataclass, field
from typing import Any, Literal

from interp.checkpoints.config_file import require_name
from interp.corpus.files import STANDARD_INPUT
from interp.corpus.hub import PREFIX
from interp.model.config import ModelConfig
from interp.model.plain import require


@dataclass(frozen=True)
class CorpusRecipe:
    """One corpus of a recipe; all give the same number of tokens.

    Attributes:
        train: Paths, globs or Hub addresses of the text to train on.
        held_out: The same for held-out text; none means what ``held_out_fraction`` of the
            recipe takes from ``train``.
        limit_bytes: Read at most this much of each address; needed for the Hub.
    """

    train: tuple[str, ...]
    held_out: tuple[str, ...] = ()
    limit_bytes: int | None = None

    def __post_init__(self) -> None:
        require(bool(self.train), "train names no text")
        require(self.limit_bytes is None or self.limit_bytes >= 1, "limit_bytes must be 1 or more")
        for address in (*self.train, *self.held_out):
            require(
                address != STANDARD_INPUT,
                "standard input (-) gives its text only once, and a run reads it again",
            )
            require(
                self.limit_bytes is not None or not address.startswith(PREFIX),
                f"{address} is streamed from the Hub and needs limit_bytes, such as 40_000_000",
            )


@dataclass(frozen=True)
class Optimization:
    """How the weights are found.

    Attributes:
        steps: Optimizer steps of the whole run.
        batch_size: Windows of a step.
        micro_batch_size: Windows at a time; gradients accumulate to ``batch_size``.
        learning_rate: At its height.
        warmup_steps: Steps of linear warm-up.
        schedule: After warm-up: ``cosine`` to ``final_fraction`` of the learning rate at the last
            step, or ``constant`` and a linear decay to 0 over the last ``decay_steps``. Only the
            latter can be continued.
        final_fraction: See ``schedule``.
        decay_steps: See ``schedule``.
        weight_decay: On matrices only.
        clip_norm: The gradient's norm is clipped to this.
    """

    steps: int = 50_000
    batch_size: int = 64
    micro_batch_size: int = 64
    learning_rate: float = 1e-3
    warmup_steps: int = 500
    schedule: Literal["cosine", "constant"] = "cosine"
    final_fraction: float = 0.0
    decay_steps: int = 0
    beta1: float = 0.9
    beta2: float = 0.999
    weight_decay: float = 0.01
    clip_norm: float = 1.0

    def __post_init__(self) -> None:
        for name in ("steps", "batch_size", "micro_batch_size"):
            require(getattr(self, name) >= 1, f"{name} must be 1 or more")
        for name in ("warmup_steps", "decay_steps", "weight_decay"):
            require(getattr(self, name) >= 0, f"{name} must be 0 or more")
        for name in ("learning_rate", "clip_norm"):
            require(getattr(self, name) > 0, f"{name} must be above 0")
        for name in ("beta1", "beta2", "final_fraction"):
            require(0 <= getattr(self, name) < 1, f"{name} must be 0 to below 1")
        require(
            self.batch_size % self.micro_batch_size == 0,
            f"batch_size = {self.batch_size} must be a multiple of "
            f"micro_batch_size = {self.micro_batch_size}",
        )
        require(
            self.schedule in ("cosine", "constant"),
            f"schedule must be cosine or constant, not {self.schedule!r}",
        )
        require(
            self.warmup_steps + self.decay_steps <= self.steps,
            f"warmup_steps + decay_steps = {self.warmup_steps + self.decay_steps} "
            f"must fit into steps = {self.steps}",
        )

    def learning_rate_at(self, step: int) -> float:
        """The learning rate of step ``step``, counted from 0."""
        if step < self.warmup_steps:
            return self.learning_rate * (step + 1) / self.warmup_steps
        if self.schedule == "cosine":
            done = (step - self.warmup_steps) / max(1, self.steps - self.warmup_steps)
            above = (1 + math.cos(math.pi * done)) / 2
            return self.learning_rate * (self.final_fraction + (1 - self.final_fraction) * above)
        left = self.steps - step
        return self.learning_rate * min(1.0, left / max(1, self.decay_steps))

    @property
    def decay_start(self) -> int:
        """The step at which the decay of a constant schedule begins; else the last step."""
        return self.steps - self.decay_steps if self.schedule == "constant" else self.steps


@dataclass(frozen=True)
class Keeping:
    """What is saved, measured and how often.

    Attributes:
        save_every_seconds: A kill costs at most this.
        held_out_every: Steps between two measurements of held-out loss.
        held_out_bytes: Per corpus, the first whole documents up to this many bytes; the loss of
            the finished model is measured on all.
        keep_steps: Steps whose checkpoint is kept under ``steps/``; 1 to the last step.
        keep_state: Whether the optimizer's state stays when the run is done.
        weights: Type of the finished weights. ``bfloat16`` is taken only if it changes the loss
            over those held-out documents by less than 0.001 nats per byte; else they stay
            float32.
    """

    save_every_seconds: int = 120
    held_out_every: int = 500
    held_out_bytes: int = 200_000
    keep_steps: tuple[int, ...] = ()
    keep_state: bool = False
    weights: Literal["float32", "bfloat16"] = "float32"

    def __post_init__(self) -> None:
        for name in ("save_every_seconds", "held_out_every", "held_out_bytes"):
            require(getattr(self, name) >= 1, f"{name} must be 1 or more")
        require(
            self.weights in ("float32", "bfloat16"),
            f"weights must be float32 or bfloat16, not {self.weights!r}",
        )


@dataclass(frozen=True)
class Recipe:
    """Everything that decides what a training run gives.

    Attributes:
        name: What the model is called.
        corpora: By language; all give the same number of tokens.
        tokenizer: ``bytes``, or ``characters``: the code points of the training text.
        held_out_fraction: Documents whose hash is below this fraction are never trained on.
        held_out_last: The last part of each training text that is never trained on, as a
            fraction of its bytes; for a corpus of one text.
        seed: Of the initial weights and of the order of windows.
        autocast: Type of the matrix products.
        compile: Whether the model is compiled.
        licence: What the model card says of the licences of weights and text; without it the
            card speaks only of Wikipedia from the Hub.
    """

    name: str
    corpora: dict[str, CorpusRecipe]
    tokenizer: Literal["bytes", "characters"] = "bytes"
    held_out_fraction: float = 0.0
    held_out_last: float = 0.0
    seed: int = 0
    autocast: Literal["bfloat16", "float32"] = "bfloat16"
    compile: bool = True
    licence: str = ""
    model: ModelConfig = field(default_factory=ModelConfig)
    optimization: Optimization = field(default_factory=Optimization)
    keeping: Keeping = field(default_factory=Keeping)

    def __post_init__(self) -> None:
        require_name(self.name)
        require(
            self.licence.isprintable() and len(self.licence) <= 1000,
            "licence must be at most 1000 printable characters on one line",
        )
        require(bool(self.corpora), "corpora is empty: name at least one, as [corpora.en]")
        require(0 <= self.seed < 2**63, "seed must be 0 to below 2^63")
        require(
            self.autocast in ("bfloat16", "float32"),
            f"autocast must be bfloat16 or float32, not {self.autocast!r}",
        )
        for key in ("held_out_fraction", "held_out_last"):
            value = getattr(self, key)
            require(0 <= value < 1, f"{key} must be 0 to below 1, not {value}")
        for name, corpus in self.corpora.items():
            ways = [bool(corpus.held_out), self.held_out_fraction > 0, self.held_out_last > 0]
            require(
                any(ways),
                f"corpora.{name} needs held_out text, or the recipe a held_out_fraction or "
                "held_out_last",
            )
            require(
                not (ways[2] and (ways[0] or ways[1])),
                f"corpora.{name}: held_out_last excludes held_out text and held_out_fraction",
            )
        position = self.model.position
        parts = (*self.corpora.values(), self.model, position, self.optimization, self.keeping)
        for part in parts:
            for key, value in vars(part).items():  # up to there, a count is exact as a float too
                require(not isinstance(value, int) or value < 2**53, f"{key} must be below 2^53")
        for key in ("scaling", "trained_spans"):
            require(
                getattr(position, key, None) is None,
                f"model.position.{key} is for trained models: stretch one as it is loaded, with "
                "--rope-scaling",
            )
        micro_batch_size, n_ctx = self.optimization.micro_batch_size, self.model.n_ctx
        require(
            micro_batch_size * n_ctx < 2**31,
            f"optimization.micro_batch_size = {micro_batch_size} windows of n_ctx = {n_ctx} "
            "tokens are more than 2^31 at a time",
        )
        steps = self.optimization.steps
        for step in self.keeping.keep_steps:
            require(
                1 <= step <= steps,
                f"keeping.keep_steps must be 1 to optimization.steps = {steps}, not {step}",
            )

    def to_dict(self) -> dict[str, Any]:
        """The recipe as plain values; `recipe_from_dict` reads it back."""
        return dataclasses.asdict(self)
