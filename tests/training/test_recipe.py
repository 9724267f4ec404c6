import json
import math
import os
import tomllib
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from interp.errors import RecipeError
from interp.model import IncrementsConfig, RopeConfig
from interp.training import load_recipe, recipe_from_dict, shipped_recipes
from interp.training.recipe import Optimization

WRITTEN = """
name = "名字"
seed = 3
held_out_fraction = 0.1
compile = false

[corpora.en]
train = "english.txt"
limit_bytes = 1_000

[corpora.zh]
train = ["*.jsonl", "more.parquet"]
held_out = ["kept.txt"]

[model]
d_model = 32
n_heads = 2

[model.position]
encoding = "increments"
scope = "shared"
per_head = true
max_increment = 4

[optimization]
steps = 100
warmup_steps = 10
schedule = "constant"
decay_steps = 20
learning_rate = 1

[keeping]
keep_steps = [10, 100]
"""


@pytest.fixture
def written(tmp_path) -> str:
    (tmp_path / "recipe.toml").write_text(WRITTEN, "utf-8")
    return str(tmp_path / "recipe.toml")


def hint(path: str, *settings: str) -> str:
    with pytest.raises(RecipeError) as caught:
        load_recipe(path, settings)
    return caught.value.hint or ""


def refusal(path: str, *settings: str) -> str:
    with pytest.raises(RecipeError) as caught:
        load_recipe(path, settings)
    assert len(str(caught.value).splitlines()) == 1
    return str(caught.value)


def test_a_recipe_is_what_its_file_says(written):
    recipe = load_recipe(written)
    assert recipe.name == "名字"
    assert recipe.corpora["en"].train == ("english.txt",)
    assert recipe.corpora["zh"].train == ("*.jsonl", "more.parquet")
    assert recipe.corpora["zh"].held_out == ("kept.txt",)
    assert recipe.model.d_model == 32
    assert recipe.model.position == IncrementsConfig(
        scope="shared", per_head=True, max_increment=4.0
    )
    assert recipe.optimization.learning_rate == 1.0
    assert recipe.optimization.decay_start == 80
    assert recipe.keeping.keep_steps == (10, 100)


def test_what_a_file_leaves_out_is_the_published_setting(tmp_path):
    (tmp_path / "short.toml").write_text(
        'name = "short"\nheld_out_fraction = 0.1\n[corpora.en]\ntrain = "t"\n'
    )
    recipe = load_recipe(str(tmp_path / "short.toml"))
    reference = load_recipe("reference")
    assert recipe.model == reference.model
    assert recipe.optimization == reference.optimization == Optimization()


@pytest.mark.parametrize("encoding", ["rope", "increments"])
def test_a_recipe_survives_the_way_through_the_checkpoint(written, encoding):
    settings = [f'model.position={{encoding="{encoding}"}}'] if encoding == "rope" else []
    recipe = load_recipe(written, settings)
    assert isinstance(recipe.model.position, RopeConfig)
    plain = json.loads(json.dumps(recipe.to_dict()))
    assert recipe_from_dict(plain) == recipe


def test_the_shipped_recipes_are_whole():
    assert {"reference", "two-cores", "python-source"} <= set(shipped_recipes())
    for name, sentence in shipped_recipes().items():
        recipe = load_recipe(name)
        assert sentence
        of_one = {"python-source": {"python"}, "family-characters": {"characters"}}
        assert set(recipe.corpora) == of_one.get(name, {"en", "zh"})
        assert recipe_from_dict(recipe.to_dict()) == recipe


def test_the_reference_recipe_is_the_published_one():
    recipe = load_recipe("reference")
    optimization = recipe.optimization
    assert (optimization.steps, optimization.batch_size, recipe.model.n_ctx) == (50_000, 64, 512)
    assert (optimization.learning_rate, optimization.warmup_steps) == (1e-3, 500)
    assert (optimization.beta1, optimization.beta2) == (0.9, 0.999)
    assert (optimization.weight_decay, optimization.clip_norm) == (0.01, 1.0)
    assert (optimization.schedule, recipe.autocast) == ("cosine", "bfloat16")
    model = recipe.model
    assert (model.d_model, model.n_heads, model.n_layers, model.d_mlp) == (256, 8, 6, 1024)


@pytest.mark.parametrize(
    ("setting", "key", "value"),
    [
        ("optimization.steps=200", "optimization.steps", 200),
        ("optimization.learning_rate=3e-4", "optimization.learning_rate", 3e-4),
        ("compile=true", "compile", True),
        ("name=bare word", "name", "bare word"),
        ('name="quoted"', "name", "quoted"),
        ("name=", "name", None),
        ("keeping.keep_steps=[1, 2]", "keeping.keep_steps", (1, 2)),
        ("keeping.weights=bfloat16", "keeping.weights", "bfloat16"),
        ("model.position.scope=per_layer", "model.position.scope", "per_layer"),
        ('corpora.en.train=["a=b.txt"]', "corpora", None),
    ],
)
def test_a_setting_is_put_over_the_file(written, setting, key, value):
    if key == "name" and value is None:
        assert "name" in refusal(written, setting)
        return
    found: Any = load_recipe(written, [setting])
    for part in key.split("."):
        found = getattr(found, part)
    if key == "corpora":
        assert found["en"].train == ("a=b.txt",)
    else:
        assert found == value


def test_later_settings_win(written):
    recipe = load_recipe(written, ["seed=1", "seed=2"])
    assert recipe.seed == 2


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ("no equals sign", "key=value"),
        ("=5", "key=value"),
        ("nonsense=1", "nonsense"),
        ("optimization.stepz=1", "stepz"),
        ("model.d_modle=1", "d_modle"),
        ("model.position.scpoe=shared", "scpoe"),
        ("corpora.en.trian=x", "trian"),
        ("keeping.keep=1", "keep"),
        ("seed.deeper=1", "seed"),
        ("optimization=5", "optimization"),
        ("corpora=5", "corpora"),
        ("corpora.en=5", "corpora.en"),
        ('corpora={"two\\nlines" = {train = "t"}}', "name for a corpus"),
        ("optimization.steps=many", "steps"),
        ("optimization.steps=1.5", "steps"),
        ("optimization.steps=true", "steps"),
        ("optimization.steps=0", "steps"),
        ("optimization.steps=25", "warmup_steps"),
        ("optimization.batch_size=63", "batch_size"),
        ("optimization.learning_rate=0", "learning_rate"),
        ("optimization.learning_rate=nan", "learning_rate"),
        ("optimization.learning_rate=inf", "learning_rate"),
        ("optimization.beta2=1", "beta2"),
        ("optimization.schedule=linear", "schedule"),
        ("optimization.warmup_steps=-1", "warmup_steps"),
        ("optimization.clip_norm=0", "clip_norm"),
        ("keeping.weights=float16", "weights"),
        ("keeping.save_every_seconds=0", "save_every_seconds"),
        ("keeping.keep_steps=5", "keep_steps"),
        ('keeping.keep_steps=["a"]', "keep_steps"),
        ("model.d_model=33", "d_model"),
        ("model.n_layers=0", "n_layers"),
        ("model.n_layers=-5", "n_layers"),
        ("model.norm_eps=1e999", "norm_eps"),
        ("model.n_ctx=1000000000000000", "n_ctx"),
        ("model.position.encoding=absolute", "encoding"),
        ("autocast=float16", "autocast"),
        ("compile=yes", "compile"),
        ("seed=-1", "seed"),
        (f"seed={2**63}", "seed"),
        ("held_out_fraction=1", "held_out_fraction"),
        ("held_out_fraction=0", "corpora.en"),
        ("corpora.en.train=[]", "train"),
        ("corpora.en.limit_bytes=0", "limit_bytes"),
        ("name=5", "name"),
        ('name="two\\nlines"', "name"),
        ("name=1\nseed=5", "name"),
        ("optimization.steps=" + "[" * 20_000, "steps"),
        ("optimization.steps=1" + "0" * 400, "steps must be below 2^53"),
        ("optimization.batch_size=64" + "0" * 30, "batch_size must be below 2^53"),
        ("model.n_layers=1" + "0" * 400, "n_layers must be below 2^53"),
        ("corpora.en.limit_bytes=1" + "0" * 400, "limit_bytes must be below 2^53"),
        (".".join("a" * 3000) + "=1", "too many tables"),
        ("corpora.en.held_out." + ".".join("a" * 3000) + "=1", "too many tables"),
    ],
)
def test_what_cannot_be_is_refused_by_its_key(written, setting, words):
    assert words in refusal(written, setting)


@pytest.mark.parametrize(
    ("setting", "meant"),
    [
        ("steps=3", "Did you mean optimization.steps?"),
        ("n_ctx=64", "Did you mean model.n_ctx?"),
        ("position.scope=shared", "Did you mean model.position.scope?"),
        ("model.max_increment=3", "Did you mean model.position.max_increment?"),
        ("optimization.stepz=3", "Did you mean optimization.steps?"),
        ("norm_eps=1", "Did you mean model.norm_eps or model.position.norm_eps?"),
        ("optimization.nonsense=1", "See docs/recipes.md for every key."),
    ],
)
def test_an_unknown_key_comes_with_the_one_that_may_be_meant(written, setting, meant):
    assert "unknown key" in refusal(written, setting)
    assert hint(written, setting) == meant


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ("autocast=3", "autocast must be one of bfloat16, float32, not 3"),
        ("keeping.weights=true", "weights must be one of float32, bfloat16, not True"),
        ("optimization.steps=8x", "steps must be a whole number, not '8x'"),
        ("optimization.learning_rate=fast", "learning_rate must be a number, not 'fast'"),
        ("compile=yes", "compile must be true or false, not 'yes'"),
        ("model.position.max_increment=x", "max_increment must be a number, or none, not 'x'"),
        ("keeping.keep_steps=5", "keep_steps must be a list, each a whole number, not 5"),
        ("corpora.en.train=5", "train must be a list, each text, not 5"),
        ("optimization=5", "recipe: optimization must be a table, not 5"),
    ],
)
def test_a_value_of_the_wrong_kind_is_told_the_right_one(written, setting, words):
    assert words in refusal(written, setting)


@pytest.mark.parametrize(
    ("line", "words"),
    [("name = 'm'\n", "corpora"), ("[corpora.en]\ntrain='t'\n", "name"), ("", "name")],
)
def test_what_is_missing_is_named(tmp_path, line, words):
    (tmp_path / "recipe.toml").write_text(line)
    assert words in refusal(str(tmp_path / "recipe.toml"))


@pytest.mark.parametrize("content", [b"name = ", b"\xff\xfe", b"a = " + b"[" * 20_000, b"\x00"])
def test_a_file_that_is_not_toml_is_one_line(tmp_path, content):
    (tmp_path / "recipe.toml").write_bytes(content)
    assert "not TOML" in refusal(str(tmp_path / "recipe.toml"))


def test_a_recipe_that_may_never_end_is_not_read(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", "/dev/zero"):
        assert "no regular file" in refusal(str(path))


@pytest.mark.parametrize("name", ["missing", "..", "a" * 5000, "nul\0byte"])
def test_a_recipe_that_is_not_there_is_one_line(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    refusal(name)


@settings(max_examples=60)
@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=5),
        lambda values: (
            st.lists(values, max_size=2) | st.dictionaries(st.text(max_size=5), values, max_size=2)
        ),
        max_leaves=5,
    ),
    st.sampled_from(["name", "corpora", "model", "optimization", "keeping", "seed", "compile"]),
)
def test_no_value_of_any_kind_breaks_the_reading(value, key):
    values = tomllib.loads(WRITTEN) | {key: value}
    message = ""
    try:
        recipe_from_dict(values)
    except RecipeError as error:
        message = str(error)
    assert len(message.splitlines()) <= 1


def test_the_values_given_are_not_changed():
    values = tomllib.loads(WRITTEN)
    recipe_from_dict(values)
    assert values == tomllib.loads(WRITTEN)


def rates(**settings: Any) -> list[float]:
    optimization = Optimization(learning_rate=8.0, **settings)
    return [optimization.learning_rate_at(step) for step in range(optimization.steps)]


def test_the_cosine_schedule_by_hand():
    found = rates(steps=8, warmup_steps=4, schedule="cosine")
    fall = [4 * (1 + math.cos(math.pi * quarter / 4)) for quarter in range(4)]
    assert found == pytest.approx([2, 4, 6, 8, *fall])
    assert found[4] == 8.0


def test_the_constant_schedule_by_hand():
    found = rates(steps=8, warmup_steps=2, schedule="constant", decay_steps=4)
    assert found == pytest.approx([4, 8, 8, 8, 8, 6, 4, 2])


def test_a_schedule_without_warmup_or_decay_is_constant():
    assert rates(steps=3, warmup_steps=0, schedule="constant") == [8.0] * 3


@given(st.integers(0, 20), st.integers(0, 20), st.integers(1, 20))
def test_constant_schedules_of_different_lengths_agree_before_their_decays(warmup, decay, more):
    steps = max(1, warmup + decay + 3)
    shared = {"warmup_steps": warmup, "schedule": "constant"}
    short = Optimization(steps=steps, decay_steps=decay, **shared)
    long = Optimization(steps=steps + more, decay_steps=decay, **shared)
    for step in range(short.decay_start):
        assert short.learning_rate_at(step) == long.learning_rate_at(step)


@given(st.integers(0, 30), st.integers(1, 30), st.sampled_from(["cosine", "constant"]))
def test_rates_lie_between_0_and_the_height(warmup, more, schedule):
    found = rates(steps=warmup + more, warmup_steps=warmup, schedule=schedule)
    assert all(0 < rate <= 8.0 for rate in found)
    assert max(found) == 8.0
