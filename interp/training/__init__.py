"""Training: a recipe in, a checkpoint out."""

from interp.training.progress import TrainingProgress, TrainingResult
from interp.training.recipe import Recipe, load_recipe, shipped_recipes
from interp.training.train import train

__all__ = [
    "Recipe",
    "TrainingProgress",
    "TrainingResult",
    "load_recipe",
    "shipped_recipes",
    "train",
]
