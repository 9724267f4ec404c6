import os
import signal
from dataclasses import replace
from pathlib import Path

import pytest
from small_runs import config, metrics, weights

from interp.checkpoints import load
from interp.errors import OutputError, RecipeError, UsageError
from interp.model import Transformer
from interp.training import Recipe, load_recipe, recipe_from_dict, shipped_recipes, train
from interp.training.family import MEMBERS, TrainedMember, family_runs, train_family
from interp.training.text import read_text

SEEDS = (3, 5)
SOME = ("none", "learned-absolute", "alibi", "rope", "increments")


def tiny_recipe(folder: Path, **changed) -> Recipe:
    """Two steps of a model of 16 channels, over the characters of a small text."""
    path = folder / "book.txt"
    path.write_text("It was a wet day.\nThe dog slept, and so did I.\n" * 30, "utf-8")
    values = {
        "name": "tiny",
        "tokenizer": "characters",
        "held_out_last": 0.2,
        "autocast": "float32",
        "compile": False,
        "corpora": {"characters": {"train": [str(path)]}},
        "model": {"d_model": 16, "n_heads": 2, "n_layers": 4, "d_mlp": 16, "n_ctx": 16},
        "optimization": {"steps": 2, "batch_size": 2, "micro_batch_size": 2, "warmup_steps": 1},
    }
    return recipe_from_dict(values | changed)


@pytest.fixture(scope="module")
def family(tmp_path_factory) -> tuple[Recipe, Path, list[TrainedMember]]:
    """Some members at two seeds; not to be changed."""
    folder = tmp_path_factory.mktemp("family")
    recipe = tiny_recipe(folder)
    out = folder / "runs"
    return recipe, out, train_family(recipe, out, members=SOME, seeds=SEEDS)


def times(folder: Path) -> dict[Path, int]:
    return {file: file.stat().st_mtime_ns for file in folder.rglob("*")}


def test_every_member_of_every_seed_is_a_checkpoint_of_its_own(family):
    _, out, trained = family
    assert {entry.name for entry in out.iterdir()} == {
        f"{member}-seed{seed}" for member in SOME for seed in SEEDS
    }
    for each in trained:
        checkpoint = load(each.run.folder)
        assert checkpoint.name == f"tiny-{each.run.member}-seed{each.run.seed}"
        assert checkpoint.model.config.position == MEMBERS[each.run.member]
        assert checkpoint.config["recipe"]["seed"] == each.run.seed
        loss = checkpoint.config["held_out_loss"]["characters"]
        assert loss == each.held_out["characters"].to_dict()
        assert each.n_parameters == sum(p.numel() for p in checkpoint.model.parameters())
        assert len(metrics(each.run.folder)) == 2


def test_all_of_a_seed_come_before_the_next_seed(family):
    _, _, trained = family
    assert [(each.run.seed, each.run.member) for each in trained] == [
        (seed, member) for seed in SEEDS for member in SOME
    ]


def test_members_of_a_seed_start_alike_and_read_the_same_windows(tmp_path):
    recipe, out = tiny_recipe(tmp_path), tmp_path / "runs"
    starts, windows = {}, {}

    class Stop(Exception):
        pass

    other = family_runs(recipe, out, ["rope"], SEEDS[1:])
    for run in [*family_runs(recipe, out, seeds=SEEDS[:1]), *other]:

        def stop(_at):
            raise Stop

        with pytest.raises(Stop):  # what is saved before the first step is the start
            train(run.recipe, run.folder, progress=stop)
        of_seed = starts.setdefault(run.seed, [])
        of_seed.append(dict(load(run.folder).model.named_parameters()))
        windows.setdefault(run.seed, []).append(read_text(run.recipe).windows(0, 4))
    first, *others = starts[SEEDS[0]]
    assert len(others) == len(MEMBERS) - 1
    for each in others:
        assert {n for n in each if not n.startswith("position.")} == set(first)
        assert all((each[name] == first[name]).all() for name in first)
    assert all((each == windows[SEEDS[0]][0]).all() for each in windows[SEEDS[0]])
    one, another = (starts[seed][0]["embed.W_E"] for seed in SEEDS)
    assert (one != another).any()
    assert (windows[SEEDS[0]][0] != windows[SEEDS[1]][0]).any()


def test_finished_runs_are_left_as_they_are_and_reported(family):
    recipe, out, trained = family
    before, seen = times(out), []

    def progress(run, at):
        seen.append((run, at))

    again = train_family(recipe, out, members=SOME, seeds=SEEDS, progress=progress)
    assert again == trained
    assert seen == [(each.run, each) for each in trained]
    assert times(out) == before


@pytest.mark.parametrize(("number", "step"), [(signal.SIGINT, 1), (signal.SIGTERM, 2)])
def test_a_signal_stops_the_family_and_the_same_call_goes_on(family, tmp_path, number, step):
    recipe, whole, _ = family
    members, out = ("none", "rope", "alibi"), tmp_path / "runs"

    def stop(run, at):
        if run.member == "rope" and not isinstance(at, TrainedMember) and at.step == step:
            os.kill(os.getpid(), number)

    stopped = train_family(recipe, out, members=members, seeds=SEEDS[:1], progress=stop)
    # after its last step the run in hand is finished, and no other one begun
    assert [each.run.member for each in stopped] == ["none", "rope"][:step]
    assert {entry.name for entry in out.iterdir()} == {"none-seed3", "rope-seed3"}
    assert config(out / "rope-seed3")["step"] == step
    finished = times(out / "none-seed3")

    done = train_family(recipe, out, members=members, seeds=SEEDS[:1])
    assert [each.run.member for each in done] == list(members)
    assert times(out / "none-seed3") == finished
    for name in ("none-seed3", "rope-seed3", "alibi-seed3"):
        assert weights(out / name) == weights(whole / name)


def test_a_family_of_another_recipe_is_refused_before_anything_is_trained(family, tmp_path):
    recipe, _, _ = family
    out = tmp_path / "runs"
    train_family(recipe, out, members=("rope",), seeds=(0,))
    changed = replace(recipe, optimization=replace(recipe.optimization, steps=3))
    with pytest.raises(OutputError, match=r"rope-seed0.*optimization\.steps"):
        train_family(changed, out, members=("none", "rope"), seeds=(0,))
    assert [entry.name for entry in out.iterdir()] == ["rope-seed0"]


def test_a_folder_with_something_else_is_refused_before_anything_is_trained(family, tmp_path):
    recipe, _, _ = family
    (tmp_path / "rope-seed0").mkdir()
    (tmp_path / "rope-seed0" / "thesis.tex").write_text("years of work")
    with pytest.raises(OutputError, match=r"rope-seed0.*no training run"):
        train_family(recipe, tmp_path, members=("none", "rope"))
    assert [entry.name for entry in tmp_path.iterdir()] == ["rope-seed0"]


@pytest.mark.parametrize(
    ("error", "settings", "words"),
    [
        (UsageError, {"members": ["rope", "roep"]}, "roep"),
        (UsageError, {"members": [""]}, "no member"),
        (RecipeError, {"seeds": [-1]}, "seed"),
    ],
)
def test_what_is_no_member_or_seed_is_one_line(family, tmp_path, error, settings, words):
    recipe, _, _ = family
    with pytest.raises(error, match=words) as caught:
        train_family(recipe, tmp_path / "runs", **settings)
    assert len(str(caught.value).splitlines()) == 1
    assert not (tmp_path / "runs").exists()


def test_a_recipe_that_chooses_a_position_encoding_is_refused(tmp_path):
    sizes = tiny_recipe(tmp_path).to_dict()["model"]
    chosen = tiny_recipe(tmp_path, model=sizes | {"position": {"encoding": "rope"}})
    with pytest.raises(RecipeError, match=r"model\.position"):
        family_runs(chosen, tmp_path / "runs")


def test_members_and_seeds_named_twice_are_trained_once(family, tmp_path):
    runs = family_runs(family[0], tmp_path, ["rope", "rope"], [1, 1])
    assert [run.folder.name for run in runs] == ["rope-seed1"]


def test_the_shipped_families_are_the_published_model():
    recipe = load_recipe("family-characters")
    counts = {"none": 803_712, "learned-absolute": 811_904, "relative-bias": 804_240}
    counts |= dict.fromkeys(("sinusoidal", "alibi", "rope"), 803_712)
    for run in family_runs(recipe, Path("runs"), list(counts)):
        model = Transformer(replace(run.recipe.model, d_vocab=65), seed=None)
        assert sum(p.numel() for p in model.parameters()) == counts[run.member]
    same = load_recipe("family-bytes")
    assert (same.model, same.optimization) == (recipe.model, recipe.optimization)
    assert {"family-characters", "family-bytes"} <= set(shipped_recipes())
