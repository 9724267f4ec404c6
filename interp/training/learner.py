"""The model in training and what changes it: all that every process of a run does."""

from collections.abc import Callable
from dataclasses import replace
from typing import cast

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from interp.model import Transformer
from interp.model.loss import surprisal_nats
from interp.training.processes import Processes, exchanging
from interp.training.recipe import Recipe
from interp.training.text import TrainingText


class Learner:
    """Model and optimizer, and their steps.

    Attributes:
        model: What is trained.
        step_model: The same, compiled if the recipe says so.
        device: Where it is.
        at_a_time: Windows of one forward pass, which always has this many.
    """

    def __init__(
        self, recipe: Recipe, text: TrainingText, device: torch.device, processes: Processes
    ) -> None:
        """Make the model with its initial weights, on ``device``.

        Raises:
            RecipeError: The windows of a step cannot be shared out over the processes.
        """
        self._optimization, self._text, self._processes = recipe.optimization, text, processes
        self._share, self.at_a_time = processes.share(recipe.optimization)
        self._is_autocast = recipe.autocast == "bfloat16"
        architecture = replace(recipe.model, d_vocab=text.tokenizer.d_vocab)
        self.model = Transformer(architecture, seed=recipe.seed)
        self.device = device
        self.model.to(device)
        compiled = torch.compile(self.model) if recipe.compile else self.model
        self.step_model = cast(nn.Module, compiled)
        self._sharing_model = processes.sharing(self.step_model)
        self.optimizer = self._make_optimizer()

    def gradient(self, step: int, is_stopped: Callable[[], bool]) -> tuple[float, float] | None:
        """Take the gradient of step ``step``, counted from 0, over all processes' windows.

        Args:
            step: It decides which windows these are.
            is_stopped: Whether this process was asked to stop. Where any of them was, all give
                the step up before the next forward pass, and the weights stay as they are.

        Returns:
            The mean loss in nats per token, and the norm of the gradient before it is clipped;
            None if the step was given up.
        """
        n_parts = self._share // self.at_a_time
        first = (step * self._processes.n + self._processes.rank) * self._share
        total = 0.0
        for part in range(n_parts):
            if self._processes.any(is_stopped()):
                self.optimizer.zero_grad(set_to_none=True)
                return None
            windows = self.windows(first + part * self.at_a_time, self.at_a_time)
            with exchanging(self._sharing_model, is_last=part == n_parts - 1):
                logits = self._forward(self._sharing_model, windows[:, :-1])
                loss = surprisal_nats(logits, windows[:, 1:]).mean() / n_parts
                loss.backward()
            total += loss.item()
        norm = torch.nn.utils.clip_grad_norm_(self.model.parameters(), self._optimization.clip_norm)
        return self._processes.mean(total), norm.item()

    def update(self, step: int) -> None:
        """Change the weights by the gradient of step ``step``."""
        for group in self.optimizer.param_groups:
            group["lr"] = self._optimization.learning_rate_at(step)
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)

    def windows(self, first: int, count: int) -> Int[Tensor, "batch pos"]:
        """Training windows, on the device."""
        return torch.from_numpy(self._text.windows(first, count)).to(self.device)

    def forward(self, ids: Int[Tensor, "batch pos"]) -> Float[Tensor, "batch pos d_vocab"]:
        """Logits, under the recipe's autocast; of this process alone."""
        return self._forward(self.step_model, ids)

    def _forward(self, model: nn.Module, ids: Tensor) -> Tensor:
        with torch.autocast(self.device.type, torch.bfloat16, enabled=self._is_autocast):
            return model(ids)

    def _make_optimizer(self) -> torch.optim.AdamW:
        matrices = [parameter for _, parameter in self.model.matrices()]
        others = [p for p in self.model.parameters() if p.ndim < 2]
        optimization = self._optimization
        return torch.optim.AdamW(
            [
                {"params": matrices, "weight_decay": optimization.weight_decay},
                {"params": others, "weight_decay": 0.0},
            ],
            lr=optimization.learning_rate,
            betas=(optimization.beta1, optimization.beta2),
            fused=True,
        )
