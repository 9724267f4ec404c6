"""The training loop.

Learning rate, windows and their order are pure functions of the step, so that a run that is
stopped and gone on with repeats an undisturbed one bit for bit (same threads and versions).
"""

import json
import math
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from interp.checkpoints.load import CONFIG_FILE
from interp.checkpoints.save import save
from interp.corpus.sources import ignore
from interp.corpus.windows import training_windows
from interp.errors import OutputError, RecipeError, TrainingError, reason
from interp.model import Transformer
from interp.model.loss import surprisal_nats
from interp.training.held_out import HeldOutLoss, held_out_losses
from interp.training.position_span import position_span
from interp.training.recipe import Recipe
from interp.training.state import RunState, drop_states, load_state, save_state, saved_steps
from interp.training.text import TrainingText, read_text

METRICS_FILE = "metrics.jsonl"
_MOST_BFLOAT16_CHANGE_NATS = 0.001


@dataclass(frozen=True)
class TrainingProgress:
    """Where a run stands.

    Attributes:
        step: Steps done.
        n_steps: Steps of the whole run.
        loss_nats: Of the last step's windows, nats per token.
        bytes_per_second: Over the last seconds, measuring and saving included.
        seconds_left: At that rate.
        held_out_nats: By corpus, nats per byte of the fixed subset, as last measured.
    """

    step: int
    n_steps: int
    loss_nats: float
    bytes_per_second: float
    seconds_left: float
    held_out_nats: dict[str, float]


@dataclass(frozen=True)
class TrainingResult:
    """What a run left in its folder.

    Attributes:
        folder: The checkpoint.
        step: Steps done.
        n_steps: Steps of the whole run.
        is_interrupted: Whether it was stopped before its last step; the same call goes on.
        held_out: By corpus, the loss of the finished model over all held-out text; empty if
            interrupted.
    """

    folder: Path
    step: int
    n_steps: int
    is_interrupted: bool
    held_out: dict[str, HeldOutLoss]


def train(
    recipe: Recipe,
    out: Path,
    *,
    device: str | None = None,
    progress: Callable[[TrainingProgress], None] | None = None,
    warn: Callable[[str], None] = ignore,
) -> TrainingResult:
    """Train the model of ``recipe`` into the folder ``out``, or go on with it there.

    ``out`` is a checkpoint from the first step on: always the last good one. SIGINT and SIGTERM
    save and return; a kill costs the time since the last save.

    Args:
        recipe: What to train. A run with a constant schedule can be given more steps, or
            fewer, as long as a state from before the decay is there (``keep_state``).
        out: A new or empty folder, or one of the same recipe.
        device: Such as ``cuda``; the CPU by default.
        progress: Called after every step.
        warn: Called with one line for what is odd in the text.

    Raises:
        InputError: The text cannot be read.
        OutputError: ``out`` holds something else, or cannot be written.
        TrainingError: The loss is not finite; the last good checkpoint is kept.
    """
    recorded = _recorded_run(recipe, out)
    if recorded is not None and recorded.is_done and recorded.recipe == recipe:
        return recorded.result(out)
    text = read_text(recipe, warn)
    run = _Run(recipe, out, text, torch.device(device or "cpu"))
    try:
        out.mkdir(parents=True, exist_ok=True)
        run.start(recorded.recipe if recorded else recipe)
        with _stop_signals() as is_stopped:
            run.until_done(is_stopped, progress)
        return run.finish()
    except OSError as error:
        raise OutputError(f"train into {out}: {reason(error)}") from error


class _Run:
    """A model in training."""

    def __init__(self, recipe: Recipe, out: Path, text: TrainingText, device: torch.device) -> None:
        self.recipe, self.out, self.text, self.device = recipe, out, text, device
        self.model = Transformer(recipe.model, seed=recipe.seed).to(device)
        self.step_model = torch.compile(self.model) if recipe.compile else self.model
        matrices = [parameter for _, parameter in self.model.matrices()]
        others = [p for p in self.model.parameters() if p.ndim < 2]
        optimization = recipe.optimization
        self.optimizer = torch.optim.AdamW(
            [
                {"params": matrices, "weight_decay": optimization.weight_decay},
                {"params": others, "weight_decay": 0.0},
            ],
            lr=optimization.learning_rate,
            betas=(optimization.beta1, optimization.beta2),
            fused=True,
        )
        self.state = RunState(step=0, seconds=0.0)
        self.held_out: dict[str, HeldOutLoss] = {}
        self.states = out / "state"
        self.began = time.monotonic()

    def start(self, before: Recipe) -> None:
        """Take up the last state that the schedule can go on from, or begin.

        Args:
            before: The recipe that the folder's states were made with.
        """
        steps = saved_steps(self.states)
        if before != self.recipe:  # a state from before both decays serves any number of steps
            ends = (before.optimization.decay_start, self.recipe.optimization.decay_start)
            steps = [step for step in steps if step <= min(ends)]
            if not steps:
                raise OutputError(
                    f"train into {self.out}: no state from before the decay is left, at step "
                    f"{min(ends)} or earlier",
                    "Name another --out; keeping.keep_state = true keeps such a state.",
                )
        if steps:
            self.state = load_state(self.states, steps[-1], self.model, self.optimizer)
        _cut_metrics(self.out / METRICS_FILE, self.state.step)
        self.began = time.monotonic() - self.state.seconds
        self.save()

    def until_done(
        self,
        is_stopped: Callable[[], bool],
        progress: Callable[[TrainingProgress], None] | None,
    ) -> None:
        """Step until the last step or a stop signal, saving on the clock."""
        optimization, keeping = self.recipe.optimization, self.recipe.keeping
        saved_at, rate = time.monotonic(), _Rate()
        with (self.out / METRICS_FILE).open("a", encoding="utf-8") as metrics:
            while self.state.step < optimization.steps and not is_stopped():
                loss, gradient_norm = self.step()
                step = self.state.step
                entry = {
                    "step": step,
                    "loss_nats": loss,
                    "learning_rate": optimization.learning_rate_at(step - 1),
                    "gradient_norm": gradient_norm,
                    "seconds": round(self.state.seconds, 3),
                }
                if step % keeping.held_out_every == 0 or step == optimization.steps:
                    self.held_out = self.measure(keeping.held_out_bytes)
                    entry["held_out_nats"] = self.held_out_nats()
                metrics.write(json.dumps(entry) + "\n")
                metrics.flush()
                if step in keeping.keep_steps:
                    self.save_checkpoint(self.out / "steps" / f"{step:06d}")
                is_branch = step == optimization.decay_start and keeping.keep_state
                if is_branch or time.monotonic() - saved_at > keeping.save_every_seconds:
                    self.save()
                    saved_at = time.monotonic()
                if progress:
                    progress(self._progress(loss, rate))
        self.save()

    def step(self) -> tuple[float, float]:
        """One optimizer step; gives the mean loss of its windows and the gradient's norm."""
        optimization = self.recipe.optimization
        for group in self.optimizer.param_groups:
            group["lr"] = optimization.learning_rate_at(self.state.step)
        n_parts = optimization.batch_size // optimization.micro_batch_size
        total = 0.0
        for part in range(n_parts):
            first = self.state.step * optimization.batch_size + part * optimization.micro_batch_size
            windows = self.windows(first, optimization.micro_batch_size)
            loss = surprisal_nats(self.forward(windows[:, :-1]), windows[:, 1:]).mean() / n_parts
            loss.backward()
            total += loss.item()
        norm = torch.nn.utils.clip_grad_norm_(
            self.model.parameters(), optimization.clip_norm
        ).item()
        if not math.isfinite(total) or not math.isfinite(norm):
            raise TrainingError(
                f"train: at step {self.state.step + 1} the loss is {total} and the gradient's "
                f"norm {norm}; the checkpoint of the last save is kept in {self.out}",
                "Lower the learning rate, or lengthen the warm-up.",
            )
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        self.state = RunState(self.state.step + 1, time.monotonic() - self.began)
        return total, norm

    def windows(self, first: int, count: int) -> Tensor:
        """Training windows, on the device."""
        windows = training_windows(
            [corpus.tokens for corpus in self.text.packed.values()],
            n_ctx=self.recipe.model.n_ctx,
            seed=self.recipe.seed,
            first=first,
            count=count,
        )
        return torch.from_numpy(windows).to(self.device)

    def forward(self, ids: Tensor) -> Tensor:
        """Logits, under the recipe's autocast."""
        is_autocast = self.recipe.autocast == "bfloat16"
        with torch.autocast(self.device.type, torch.bfloat16, enabled=is_autocast):
            return self.step_model(ids)

    def measure(self, most_bytes: int | None) -> dict[str, HeldOutLoss]:
        """Held-out loss by corpus, of the first documents or of all."""
        return held_out_losses(
            self.forward,
            self.text.held_out,
            n_ctx=self.recipe.model.n_ctx,
            device=self.device,
            batch_size=self.recipe.optimization.micro_batch_size,
            most_bytes=most_bytes,
        )

    def held_out_nats(self) -> dict[str, float]:
        """The last measured losses alone."""
        return {name: loss.nats_per_byte for name, loss in self.held_out.items()}

    def save(self) -> None:
        """Save state and checkpoint; older states go, but the one before the decay if kept."""
        save_state(self.states, self.state, self.model, self.optimizer)
        keeping, decay_start = self.recipe.keeping, self.recipe.optimization.decay_start
        kept = {self.state.step} | ({decay_start} if keeping.keep_state else set())
        drop_states(self.states, kept)
        self.save_checkpoint(self.out)

    def save_checkpoint(self, folder: Path, weights: str = "float32", **more: Any) -> None:
        """Save the model as it is, with what is known of it."""
        optimization = self.recipe.optimization
        n_windows = self.state.step * optimization.batch_size
        facts = {
            "recipe": self.recipe.to_dict(),
            "corpora": self.text.facts(n_windows, self.recipe.model.n_ctx),
            "token_counts": self.text.token_counts,
            "step": self.state.step,
            "n_steps": optimization.steps,
            "n_bytes_seen": n_windows * self.recipe.model.n_ctx,
            "wall_seconds": round(self.state.seconds, 1),
            "hardware": _hardware(self.device),
            "held_out_loss": {name: loss.to_dict() for name, loss in self.held_out.items()} or None,
        }
        save(
            folder,
            self.model,
            name=self.recipe.name,
            split=self.text.split,
            facts=facts | more,
            weights=weights,  # type: ignore[arg-type]
        )

    def finish(self) -> TrainingResult:
        """Measure the finished model on all held-out text and store it in its final type."""
        optimization, keeping = self.recipe.optimization, self.recipe.keeping
        is_interrupted = self.state.step < optimization.steps
        if not is_interrupted:
            self.held_out = self.measure(None)
            weights = self._weights_type()
            last = self.windows(0, min(256, self.state.step * optimization.batch_size))[:, :-1]
            self.save_checkpoint(
                self.out, weights, position_span=position_span(self.model, last), is_done=True
            )
            if keeping.keep_state:
                drop_states(self.states, {optimization.decay_start})
            else:
                drop_states(self.states, set())
        return TrainingResult(
            self.out,
            self.state.step,
            optimization.steps,
            is_interrupted,
            {} if is_interrupted else self.held_out,
        )

    def _weights_type(self) -> str:
        """The recipe's type of weights, if rounding to it hardly changes the held-out loss."""
        if self.recipe.keeping.weights == "float32":
            return "float32"
        exact = {name: p.detach().clone() for name, p in self.model.named_parameters()}
        with torch.no_grad():
            for parameter in self.model.parameters():
                parameter.copy_(parameter.to(torch.bfloat16))
        rounded = self.measure(None)
        change = max(
            abs(rounded[name].nats_per_byte - loss.nats_per_byte)
            for name, loss in self.held_out.items()
        )
        if change < _MOST_BFLOAT16_CHANGE_NATS:
            self.held_out = rounded  # of the weights that are stored
            return "bfloat16"
        self.model.load_state_dict(exact, strict=False)
        return "float32"

    def _progress(self, loss: float, rate: "_Rate") -> TrainingProgress:
        n_steps = self.recipe.optimization.steps
        bytes_per_step = self.recipe.optimization.batch_size * self.recipe.model.n_ctx
        steps_per_second = rate.update(self.state.step)
        return TrainingProgress(
            step=self.state.step,
            n_steps=n_steps,
            loss_nats=loss,
            bytes_per_second=steps_per_second * bytes_per_step,
            seconds_left=(n_steps - self.state.step) / steps_per_second,
            held_out_nats=self.held_out_nats(),
        )


class _Rate:
    """Steps per second over the last half minute."""

    def __init__(self) -> None:
        self.times: list[tuple[float, int]] = []

    def update(self, step: int) -> float:
        now = time.monotonic()
        self.times = [(t, s) for t, s in self.times if now - t < 30] + [(now, step)]
        (first, first_step), (last, last_step) = self.times[0], self.times[-1]
        return (last_step - first_step) / (last - first) if last > first else 1.0


@contextmanager
def _stop_signals() -> Iterator[Callable[[], bool]]:
    """While inside, SIGINT and SIGTERM only make the function given answer True."""
    stopped: list[int] = []
    before = {}
    try:
        for number in (signal.SIGINT, signal.SIGTERM):
            before[number] = signal.signal(number, lambda number, _frame: stopped.append(number))
    except ValueError:  # not in the main thread, where no signal arrives
        pass
    try:
        yield lambda: bool(stopped)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@dataclass(frozen=True)
class _RecordedRun:
    """What a folder says of the run in it."""

    recipe: Recipe
    is_done: bool
    config: dict[str, Any]

    def result(self, out: Path) -> TrainingResult:
        losses = self.config["held_out_loss"]
        held_out = {name: HeldOutLoss(**loss) for name, loss in losses.items()}
        return TrainingResult(out, self.config["step"], self.config["n_steps"], False, held_out)


def _recorded_run(recipe: Recipe, out: Path) -> _RecordedRun | None:
    """The run that ``out`` holds, if ``recipe`` can go on with it; None for an empty folder."""
    path = out / CONFIG_FILE
    try:
        if not path.is_file():
            if out.exists() and (not out.is_dir() or any(out.iterdir())):
                raise OutputError(
                    f"train into {out}: it exists and is no training run", "Name another --out."
                )
            return None
        config = json.loads(path.read_text("utf-8"))
        before = Recipe.from_dict(config["recipe"])
    except OSError as error:
        raise OutputError(f"train into {out}: {reason(error)}") from error
    except (ValueError, KeyError, TypeError, RecipeError) as error:
        raise OutputError(
            f"train into {out}: its {CONFIG_FILE} is not that of a training run",
            "Name another --out.",
        ) from error
    _require_same_recipe(before, recipe, out)
    return _RecordedRun(before, bool(config.get("is_done")), config)


def _require_same_recipe(before: Recipe, recipe: Recipe, out: Path) -> None:
    wanted = recipe
    if recipe.optimization.schedule == "constant":
        length = {key: getattr(before.optimization, key) for key in ("steps", "decay_steps")}
        wanted = replace(recipe, optimization=replace(recipe.optimization, **length))
    old, new = _flat(before.to_dict()), _flat(wanted.to_dict())
    for key in old | new:
        if old.get(key) != new.get(key):
            raise OutputError(
                f"train into {out}: it was begun with {key} = {old.get(key)!r}, "
                f"not {new.get(key)!r}",
                "Name another --out, or give the same recipe; only a constant schedule takes "
                "other steps or decay_steps.",
            )


def _flat(values: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    flat = {}
    for key, value in values.items():
        flat |= (
            _flat(value, f"{prefix}{key}.") if isinstance(value, dict) else {prefix + key: value}
        )
    return flat


def _cut_metrics(path: Path, step: int) -> None:
    """Drop the lines of steps that a kill lost, which will be written again."""
    if not path.is_file():
        return
    kept = []
    for line in path.read_text("utf-8").splitlines():
        try:
            if json.loads(line)["step"] <= step:
                kept.append(line + "\n")
        except (ValueError, KeyError, TypeError):
            continue  # the line that a kill cut short
    path.write_text("".join(kept), "utf-8")


def _hardware(device: torch.device) -> str:
    if device.type == "cuda":
        return torch.cuda.get_device_name(device)
    if device.type != "cpu":
        return device.type
    return f"{torch.get_num_threads()} CPU threads"
