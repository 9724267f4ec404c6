"""What a folder holds of a run, and whether a recipe can go on with it."""

import json
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from interp.checkpoints.card import model_card
from interp.checkpoints.config_file import read_config
from interp.checkpoints.folder import CARD_FILE, CONFIG_FILE, WEIGHTS_FILE
from interp.checkpoints.save import write_config
from interp.errors import CheckpointError, OutputError, RecipeError, reason
from interp.files import LOCK_FILE, is_partial, own_file, own_folder, replacing
from interp.model.plain import from_plain
from interp.training.held_out import HeldOutLoss
from interp.training.processes import Processes
from interp.training.recipe import Recipe
from interp.training.recipe_file import recipe_from_dict
from interp.training.state import holds_only_states, saved_steps
from interp.training.text import TrainingText, read_text

METRICS_FILE = "metrics.jsonl"
STATES_FOLDER = "state"
STEPS_FOLDER = "steps"


@dataclass(frozen=True)
class RecordedRun:
    """What a folder says of the run in it.

    Attributes:
        recipe: With which it was begun, or last gone on with.
        step: Steps done when it was last saved.
        held_out: By corpus, the loss of the finished model; None if the run is not done.
        fingerprints: By corpus, of the packed text.
        revisions: By data set on the Hub, the commit that was read.
    """

    recipe: Recipe
    step: int
    held_out: dict[str, HeldOutLoss] | None
    fingerprints: dict[str, str]
    revisions: dict[str, str]


def recorded_run(recipe: Recipe, out: Path) -> RecordedRun | None:
    """The run that ``out`` holds, if ``recipe`` is its recipe or a longer or shorter one.

    Args:
        recipe: What to go on with.
        out: Any path.

    Returns:
        The run; None if there is nothing, or no more than a run that was stopped before its
        first save was done.

    Raises:
        OutputError: It holds something else, or a run of another recipe.
    """
    path = out / CONFIG_FILE
    try:
        _require_own(out)
        if not path.is_file():
            _require_unused(out)
            return None
        read_config(out)
        config = json.loads(own_file(path).read_text("utf-8"))
        model_card(config)  # which is written anew where the end or the licence changes
        is_done = config.get("is_done") and (out / WEIGHTS_FILE).is_file()
        losses = config["held_out_loss"] if is_done else None
        recorded = RecordedRun(
            recipe=recipe_from_dict(config["recipe"]),
            step=int(config["step"]),
            held_out=losses and {n: from_plain(HeldOutLoss, v, "") for n, v in losses.items()},
            fingerprints={n: c["fingerprint"] for n, c in (config["corpora"] or {}).items()},
            revisions={str(k): str(v) for k, v in (config.get("revisions") or {}).items()},
        )
    except OSError as error:
        raise OutputError(f"train into {out}: {reason(error)}") from error
    except (
        *(ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError),
        *(CheckpointError, RecipeError),
    ) as error:
        raise OutputError(
            f"train into {out}: its {CONFIG_FILE} is damaged, or not that of a training run "
            f"({str(error).partition(chr(10))[0]})",
            "Name another --out.",
        ) from error
    _require_same_recipe(recorded.recipe, recipe, out)
    # it decides nothing: a run goes on, or is finished, under the licence that is given now
    return replace(recorded, recipe=replace(recorded.recipe, licence=recipe.licence))


def steps_to_go_on_from(
    recorded: RecordedRun | None, recipe: Recipe, *, out: Path, states: Path
) -> list[int]:
    """The steps of the states in ``states`` from which ``recipe`` can go on, in order.

    Args:
        recorded: What `recorded_run` found in ``out``.
        recipe: What to go on with.
        out: For messages.
        states: The folder of states.

    Returns:
        Steps; none if the run begins.

    Raises:
        OutputError: The run has begun, and no state is left that serves.
    """
    if recorded is None:
        return []
    steps = saved_steps(states)
    if recorded.recipe != recipe:  # a state from before both decays serves any number of steps
        end = min(recorded.recipe.optimization.decay_start, recipe.optimization.decay_start)
        steps = [step for step in steps if step <= end]
        if not steps and recorded.step:
            raise OutputError(
                f"train into {out}: no state from before the decay is left, at step {end} or "
                "earlier",
                "Name another --out; keeping.keep_state = true keeps such a state.",
            )
    if not steps and recorded.step:
        raise OutputError(
            f"train into {out}: its run stands at step {recorded.step}, but {states.name}/ with "
            "the state to go on from is gone",
            "Name another --out.",
        )
    return steps


def text_to_go_on_with(
    recorded: RecordedRun | None,
    recipe: Recipe,
    *,
    out: Path,
    processes: Processes,
    warn: Callable[[str], None],
) -> TrainingText:
    """The text of ``recipe``, once it is known to be what the run was begun with.

    The first process reads it before the others, which then find it in the cache.

    Args:
        recorded: What `recorded_run` found in ``out``.
        recipe: Its corpora name the text.
        out: For messages.
        processes: All that need it.
        warn: Called in the first process with one line for what is odd but can be read.

    Raises:
        OutputError: A corpus, or what is held out of it, has changed.
        InputError: It cannot be read.
    """
    fingerprints = recorded.fingerprints if recorded else {}
    revisions = recorded.revisions if recorded else {}
    text = None
    if processes.is_first:
        text = read_text(recipe, warn, revisions=revisions)
        _require_same_text(fingerprints, text, out)
        fingerprints = {name: corpus.fingerprint for name, corpus in text.packed.items()}
        revisions = text.revisions
    fingerprints, revisions = processes.first(lambda: (fingerprints, revisions))
    if text is None:
        text = read_text(recipe, revisions=revisions)
        _require_same_text(fingerprints, text, out)
    return text


def keep_finished(out: Path, step: int) -> None:
    """Copy the finished checkpoint in ``out`` to ``steps/STEP``, before the run is gone on with.

    The config comes last: where it is there, the copy is whole, and after a kill ``out`` may
    already have the weights of the run that goes on.

    Raises:
        OSError: It cannot be written.
    """
    folder = out / STEPS_FOLDER / f"{step:06d}"
    folder.mkdir(parents=True, exist_ok=True)
    kept = folder / CONFIG_FILE
    if kept.is_file() and kept.read_bytes() == (out / CONFIG_FILE).read_bytes():
        return
    for name in (WEIGHTS_FILE, CARD_FILE, CONFIG_FILE):
        if (out / name).is_file():
            with replacing(folder / name) as beside:
                shutil.copyfile(own_file(out / name), beside)


def no_longer_finished(out: Path) -> None:
    """Let the config say that the run is not done, before other weights take their place.

    Else a kill between the two would leave a run that calls itself finished with weights from
    the middle of it.

    Raises:
        OSError: It cannot be written.
    """
    config = json.loads((out / CONFIG_FILE).read_text("utf-8"))
    write_config(out, config | {"is_done": False, "held_out_loss": None})


def say_licence(out: Path, licence: str) -> None:
    """Let config and card of a finished run say the licence that its recipe has now.

    Raises:
        OutputError: They cannot be written.
    """
    try:
        config = json.loads((out / CONFIG_FILE).read_text("utf-8"))
        if config["recipe"].get("licence", "") != licence:
            write_config(out, config | {"recipe": config["recipe"] | {"licence": licence}})
    except OSError as error:
        raise OutputError(f"train into {out}: {reason(error)}") from error


def cut_metrics(path: Path, step: int) -> None:
    """Drop the lines of steps after ``step``, which a kill lost and which will come again."""
    if not path.is_file():
        return
    kept = []
    for line in path.read_text("utf-8", "replace").splitlines():
        try:
            if json.loads(line)["step"] <= step:
                kept.append(line + "\n")
        except (ValueError, KeyError, TypeError, RecursionError):
            continue  # the line that a kill cut short, or no line of ours
    with replacing(path) as beside:
        beside.write_text("".join(kept), "utf-8")


def _require_own(out: Path) -> None:
    """Refuse links, which would have other folders' files changed and deleted, and pipes."""
    steps = out / STEPS_FOLDER
    folders = [out / STATES_FOLDER, steps, *steps.glob("[0-9]*")]
    for path in (out / METRICS_FILE, *folders):
        try:
            (own_folder if path in folders else own_file)(path)
        except (FileNotFoundError, NotADirectoryError):
            continue
        except OSError as error:
            words = f"{path.relative_to(out)}: {reason(error)}"
            raise OutputError(f"train into {out}: {words}", "Name another --out.") from error


def _require_unused(out: Path) -> None:
    if not out.exists():
        return
    if out.is_dir():
        entries = {entry.name for entry in out.iterdir() if not is_partial(entry)} - {LOCK_FILE}
        # killed before the first save was done, which writes the state, the weights, the config
        states = out / STATES_FOLDER
        steps = saved_steps(states) if holds_only_states(states) else None
        is_begun = (entries == {STATES_FOLDER} and steps in ([], [0])) or (
            entries == {STATES_FOLDER, WEIGHTS_FILE} and steps == [0]
        )
        if not entries or is_begun:
            return
    raise OutputError(f"train into {out}: it exists and is no training run", "Name another --out.")


def _require_same_text(before: Mapping[str, str], text: TrainingText, out: Path) -> None:
    for name, corpus in text.packed.items():
        if before.get(name, corpus.fingerprint) != corpus.fingerprint:
            raise OutputError(
                f"train into {out}: the text of corpus {name}, or what is held out, has changed "
                "since the run was begun",
                "Name another --out, or put the text back.",
            )


def _require_same_recipe(before: Recipe, recipe: Recipe, out: Path) -> None:
    old, new = _flat(before.to_dict()), _flat(recipe.to_dict())
    if recipe.optimization.schedule == "constant":
        for key in ("optimization.steps", "optimization.decay_steps"):
            new[key] = old.get(key)
    new["licence"] = old["licence"]
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
