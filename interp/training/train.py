"""The training loop.

Learning rate, windows and their order are pure functions of the step, so that a run that is
stopped and gone on with repeats an undisturbed one: bit for bit on a CPU (with the same threads
and versions), and but for the order of sums on a GPU.
"""

import json
import math
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import nullcontext, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, TextIO

import numpy as np
import torch

from interp.checkpoints.load import device_named, load
from interp.checkpoints.save import save
from interp.corpus.sources import ignore
from interp.errors import OutputError, TrainingError, reason
from interp.files import locked, remove_partial
from interp.model.loss import Forward, surprisal_nats
from interp.training.continuation import (
    METRICS_FILE,
    STATES_FOLDER,
    STEPS_FOLDER,
    RecordedRun,
    cut_metrics,
    keep_finished,
    no_longer_finished,
    recorded_run,
    say_licence,
    steps_to_go_on_from,
    text_to_go_on_with,
)
from interp.training.held_out import HeldOutLoss, held_out_losses
from interp.training.learner import Learner
from interp.training.machine import explained, hardware, require_memory
from interp.training.position_span import position_span
from interp.training.processes import Processes
from interp.training.progress import Rate, TrainingProgress, TrainingResult
from interp.training.recipe import Recipe
from interp.training.state import RunState, drop_states, load_state, save_state
from interp.training.stopping import stop_signals
from interp.training.text import TrainingText

_MOST_BFLOAT16_CHANGE_NATS = 0.001
_SPAN_WINDOWS = 256


def train(
    recipe: Recipe,
    out: Path,
    *,
    device: str | None = None,
    processes: Processes = Processes(),  # noqa: B008  (a frozen value)
    progress: Callable[[TrainingProgress], None] | None = None,
    warn: Callable[[str], None] = ignore,
) -> TrainingResult:
    """Train the model of ``recipe`` into the folder ``out``, or go on with it there.

    ``out`` is a checkpoint from the first step on: always the last good one. SIGINT and SIGTERM
    give up the step under way, save and return; a kill costs the time since the last save. A
    finished run that is given other steps leaves its checkpoint in ``steps/STEP``.

    Args:
        recipe: What to train. A run with a constant schedule can be given more steps, or
            fewer, as long as a state from before the decay is there (``keep_state``).
        out: A new or empty folder, or one of the same recipe.
        device: Such as ``cuda``; the CPU by default.
        processes: Those that share the work, as `joined` gives them; this one alone by default.
            All of them make the same call, and get the same result.
        progress: Called after every step, in the first process.
        warn: Called with one line for what is odd in the text, in the first process.

    Raises:
        InputError: The text cannot be read.
        RecipeError: The model cannot fit into this machine's memory, or the windows of a step
            cannot be shared out over the processes.
        OutputError: ``out`` holds something else, cannot be written, or another process trains
            into it.
        CheckpointError: The state to go on from is damaged, or the weights of the finished run.
        TrainingError: The loss is not finite, memory ran out, or the model cannot be compiled;
            the last good checkpoint is kept.
    """
    first = processes.first
    # what is no run is refused before anything is written
    if result := first(lambda: _finished(recipe, out)):
        return result
    require_memory(recipe.model)
    processes.share(recipe.optimization)  # what cannot be is said before any text is read
    place = device_named(processes.device(device))
    with locked(out) if processes.is_first else nullcontext():
        if result := first(lambda: _finished(recipe, out)):  # by another run, meanwhile
            return result
        recorded = first(lambda: recorded_run(recipe, out))
        text = text_to_go_on_with(recorded, recipe, out=out, processes=processes, warn=warn)
        try:
            run = _Run(recipe, out, text, Learner(recipe, text, place, processes), processes)
            run.start(recorded)
            with stop_signals() as is_stopped:
                run.until_done(is_stopped, progress)
            return replace(first(run.finish), is_signalled=is_stopped())
        except OSError as error:
            raise OutputError(f"train into {out}: {reason(error)}") from error
        except (MemoryError, RuntimeError) as error:
            micro_batch_size = recipe.optimization.micro_batch_size
            known = explained(error, micro_batch_size=micro_batch_size, n_ctx=recipe.model.n_ctx)
            if known is None:
                raise
            raise known from error


class _Run:
    """A model in training, and what is kept of it.

    In the first process; the others only take part in the steps.
    """

    def __init__(
        self,
        recipe: Recipe,
        out: Path,
        text: TrainingText,
        learner: Learner,
        processes: Processes,
    ) -> None:
        self.recipe, self.out, self.text = recipe, out, text
        self.learner, self.model, self.processes = learner, learner.model, processes
        self.state = RunState(step=0, seconds=0.0)
        self.token_counts = np.zeros(text.tokenizer.d_vocab, dtype=np.int64)
        self.n_counted = 0  # the windows that token_counts is about
        self.held_out: dict[str, HeldOutLoss] = {}
        self.measured_at: int | None = None  # the step of which held_out is the loss
        self.states = out / STATES_FOLDER
        self.began = time.monotonic()

    def start(self, recorded: RecordedRun | None) -> None:
        """Take up the last state that the recipe can go on from, or begin.

        Args:
            recorded: The run that the folder holds.
        """
        steps = self.processes.first(
            lambda: steps_to_go_on_from(recorded, self.recipe, out=self.out, states=self.states)
        )
        if steps:  # it stays there at least until the next step, which every process takes
            self.state = load_state(self.states, steps[-1], self.model, self.learner.optimizer)
        self.began = time.monotonic() - self.state.seconds
        if not self.processes.is_first:
            return
        if self.state.token_counts:
            self.token_counts = np.array(self.state.token_counts)
            self.n_counted = self.n_windows()
        if recorded and recorded.held_out is not None:
            keep_finished(self.out, recorded.step)
            no_longer_finished(self.out)
        drop_states(self.states, set(steps))  # later ones are of a decay that is taken back
        remove_partial(self.out)
        cut_metrics(self.out / METRICS_FILE, self.state.step)
        self.save()

    def until_done(
        self,
        is_stopped: Callable[[], bool],
        progress: Callable[[TrainingProgress], None] | None,
    ) -> None:
        """Step until the last step or a stop signal to any process, saving on the clock."""

        def step() -> tuple[float, float] | None:
            is_last = self.state.step >= self.recipe.optimization.steps
            return None if is_last else self.step(is_stopped)

        if not self.processes.is_first:
            while step():
                pass
            return
        saved_at, rate = time.monotonic(), Rate(self.state.step)
        with (self.out / METRICS_FILE).open("a", encoding="utf-8") as metrics:
            while taken := step():
                loss, gradient_norm = taken
                self._keep_step()
                self._write_metrics(metrics, loss, gradient_norm)
                if self._is_branch() or (
                    time.monotonic() - saved_at > self.recipe.keeping.save_every_seconds
                ):
                    self.require_sound()
                    self.save()
                    saved_at = time.monotonic()
                if progress:
                    progress(self._progress(loss, rate))
        self.require_sound()
        self.save()

    def step(self, is_stopped: Callable[[], bool]) -> tuple[float, float] | None:
        """One optimizer step; gives the mean loss of its windows and the gradient's norm.

        None if it was given up, which changes nothing.
        """
        taken = self.learner.gradient(self.state.step, is_stopped)
        if taken is None:
            return None
        loss, norm = taken
        if not math.isfinite(loss) or not math.isfinite(norm):
            raise self._diverged(f"the loss is {loss} and the gradient's norm {norm}")
        self.learner.update(self.state.step)
        self.state = RunState(self.state.step + 1, time.monotonic() - self.began)
        return taken

    def n_windows(self) -> int:
        """How many windows have been drawn, by all processes."""
        return self.state.step * self.recipe.optimization.batch_size

    def require_sound(self) -> None:
        """Refuse weights that give no finite loss, so that they never replace good ones.

        Raises:
            TrainingError: The loss of the next windows is not finite.
        """
        windows = self.learner.windows(self.n_windows(), self.learner.at_a_time)
        with torch.no_grad():
            logits = self.learner.forward(windows[:, :-1])
        loss = surprisal_nats(logits, windows[:, 1:]).mean().item()
        if not math.isfinite(loss):
            raise self._diverged(f"the loss of the next windows is {loss}")

    def measure(self, documents: Mapping[str, Iterable[bytes]], forward: Forward) -> None:
        """Take the held-out loss by corpus over the documents given.

        Args:
            documents: By corpus, the held-out documents.
            forward: With autocast on the way, which is quick; the model without autocast at
                the end, so that whoever loads the checkpoint finds the same.

        Raises:
            TrainingError: It is not finite.
        """
        losses = held_out_losses(
            forward,
            documents,
            n_ctx=self.recipe.model.n_ctx,
            device=self.learner.device,
            batch_size=self.learner.at_a_time,
            tokenizer=self.text.tokenizer,
        )
        for name, loss in losses.items():
            if not math.isfinite(loss.nats_per_byte):
                raise self._diverged(f"the held-out loss of {name} is {loss.nats_per_byte}")
        self.held_out, self.measured_at = losses, self.state.step

    def held_out_nats(self) -> dict[str, float]:
        """The last measured losses alone."""
        return {name: loss.nats_per_byte for name, loss in self.held_out.items()}

    def save(self) -> None:
        """Save state and checkpoint; older states go, but the one before the decay if kept."""
        self.count_tokens()
        state = replace(self.state, token_counts=tuple(self.token_counts.tolist()))
        save_state(self.states, state, self.model, self.learner.optimizer)
        keeping, decay_start = self.recipe.keeping, self.recipe.optimization.decay_start
        kept = {self.state.step} | ({decay_start} if keeping.keep_state else set())
        drop_states(self.states, kept)
        self.save_checkpoint(self.out)

    def count_tokens(self) -> None:
        """Bring ``token_counts`` up to the windows drawn so far."""
        self.token_counts += self.text.token_counts(self.n_counted, self.n_windows())
        self.n_counted = self.n_windows()

    def save_checkpoint(self, folder: Path, weights: str = "float32", **more: Any) -> None:
        """Save the model as it is, with what is known of it."""
        self.count_tokens()
        losses = {name: loss.to_dict() for name, loss in self.held_out.items()}
        facts = {
            "recipe": self.recipe.to_dict(),
            "corpora": self.text.facts(self.n_windows()),
            "revisions": self.text.revisions,
            "token_counts": self.token_counts.tolist(),
            "step": self.state.step,
            "n_steps": self.recipe.optimization.steps,
            "n_bytes_seen": self.text.n_bytes_read(self.n_windows()),
            "wall_seconds": round(self.state.seconds, 1),
            "hardware": hardware(self.learner.device, self.processes.n),
            "held_out_loss": losses if self.measured_at == self.state.step else None,
        }
        save(
            folder,
            self.model,
            name=self.recipe.name,
            tokenizer=self.text.tokenizer,
            split=self.text.split,
            facts=facts | more,
            weights=weights,  # type: ignore[arg-type]
        )

    def finish(self) -> TrainingResult:
        """Give the weights their final type, and measure them on all held-out text."""
        step, n_steps = self.state.step, self.recipe.optimization.steps
        if step < n_steps:
            return TrainingResult(self.out, step, n_steps, True, {})
        weights = self._round_weights()
        held_out = {name: documents() for name, documents in self.text.held_out.items()}
        self.measure(held_out, self.learner.step_model)
        windows = self.learner.windows(0, min(_SPAN_WINDOWS, self.n_windows()))[:, :-1]
        self.save_checkpoint(
            self.out, weights, position_span=position_span(self.model, windows), is_done=True
        )
        _drop_finished_states(self.recipe, self.out)
        return TrainingResult(self.out, step, n_steps, False, self.held_out)

    def _round_weights(self) -> str:
        """Round to the recipe's type if that hardly changes the subset's loss; gives the type."""
        if self.recipe.keeping.weights == "float32":
            return "float32"
        exact = {name: p.detach().clone() for name, p in self.model.named_parameters()}
        self.measure(self.text.subset, self.learner.step_model)
        before = self.held_out
        with torch.no_grad():
            for parameter in self.model.parameters():
                parameter.copy_(parameter.to(torch.bfloat16))
        self.measure(self.text.subset, self.learner.step_model)
        change = max(
            abs(self.held_out[name].nats_per_byte - loss.nats_per_byte)
            for name, loss in before.items()
        )
        if change < _MOST_BFLOAT16_CHANGE_NATS:
            return "bfloat16"
        self.model.load_state_dict(exact, strict=False)
        return "float32"

    def _keep_step(self) -> None:
        """Measure and keep the model where the recipe says so."""
        step, keeping = self.state.step, self.recipe.keeping
        is_kept = step in keeping.keep_steps
        is_last = step == self.recipe.optimization.steps
        if is_kept or is_last or step % keeping.held_out_every == 0:
            self.measure(self.text.subset, self.learner.forward)
        if is_kept:
            self.save_checkpoint(self.out / STEPS_FOLDER / f"{step:06d}")

    def _is_branch(self) -> bool:
        """Whether a longer run can go on from here, and its state is to stay."""
        optimization = self.recipe.optimization
        is_decay_next = self.state.step == optimization.decay_start < optimization.steps
        return is_decay_next and self.recipe.keeping.keep_state

    def _write_metrics(self, metrics: TextIO, loss: float, gradient_norm: float) -> None:
        step = self.state.step
        entry = {
            "step": step,
            "loss_nats": loss,
            "learning_rate": self.recipe.optimization.learning_rate_at(step - 1),
            "gradient_norm": gradient_norm,
            "seconds": round(self.state.seconds, 3),
        }
        if self.measured_at == step:
            entry["held_out_nats"] = self.held_out_nats()
        metrics.write(json.dumps(entry) + "\n")
        metrics.flush()

    def _progress(self, loss: float, rate: Rate) -> TrainingProgress:
        n_steps = self.recipe.optimization.steps
        bytes_per_step = self.text.n_bytes_read(self.recipe.optimization.batch_size)
        steps_per_second = rate.update(self.state.step)
        return TrainingProgress(
            step=self.state.step,
            n_steps=n_steps,
            loss_nats=loss,
            bytes_per_second=steps_per_second * bytes_per_step,
            seconds_left=(n_steps - self.state.step) / steps_per_second,
            held_out_nats=self.held_out_nats(),
        )

    def _diverged(self, what: str) -> TrainingError:
        return TrainingError(
            f"train: after step {self.state.step} {what}; the checkpoint of the last save is "
            f"kept in {self.out}",
            "Lower the learning rate, or lengthen the warm-up.",
        )


def _finished(recipe: Recipe, out: Path) -> TrainingResult | None:
    """The result of the run in ``out`` if ``recipe`` has nothing left to do."""
    recorded = recorded_run(recipe, out)
    if recorded is None or recorded.held_out is None or recorded.recipe != recipe:
        return None
    load(out)  # what is damaged is not called finished
    say_licence(out, recipe.licence)
    with suppress(OSError):  # what a kill right after the last save left; maybe it has to stay
        _drop_finished_states(recipe, out)
    return TrainingResult(out, recorded.step, recorded.step, False, recorded.held_out)


def _drop_finished_states(recipe: Recipe, out: Path) -> None:
    is_kept = recipe.keeping.keep_state
    drop_states(out / STATES_FOLDER, {recipe.optimization.decay_start} if is_kept else set())
