"""Training: a recipe in, a checkpoint out."""

from interp.training.processes import Processes, StoppedElsewhere, joined
from interp.training.progress import TrainingProgress, TrainingResult
from interp.training.recipe import Recipe
from interp.training.recipe_file import load_recipe, recipe_from_dict, shipped_recipes
from interp.training.train import train

__all__ = [
    "Processes",
    "Recipe",
    "StoppedElsewhere",
    "TrainingProgress",
    "TrainingResult",
    "joined",
    "load_recipe",
    "recipe_from_dict",
    "shipped_recipes",
    "train",
]
