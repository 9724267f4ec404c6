from dataclasses import replace

import numpy as np
import pytest
import torch
from tiny import N_CTX, TinyCheckpoint, documents, tiny_model, tiny_rope

from interp.errors import InputError, OutputError, UsageError
from interp.extraction.extract import extract
from interp.extraction.increment_table import IncrementTable
from interp.extraction.interventions import Intervention, byte_increments, mean_increments
from interp.extraction.merge import merge
from interp.extraction.shards import Shard
from interp.model import RopeConfig, Transformer
from interp.text import encode, vocabulary_classes

TEXTS = (b"Marie Curie won two prizes. " * 3, "人工智能 and ".encode() * 4, b"", b"x", b"Hello")
NAMES = ("increment", "surprisal")

MODELS = {
    "per layer": tiny_model(),
    "shared": tiny_model(scope="shared", max_increment=None),
    "per head": tiny_model(per_head=True),
    "shared per head": tiny_model(scope="shared", per_head=True),
}
of_every_model = pytest.mark.parametrize("name", MODELS)


def table_of(model, folder, intervention=None, texts=TEXTS, **settings) -> IncrementTable:
    return extract(
        TinyCheckpoint(model),
        documents(*texts),
        folder,
        **({"signals": NAMES, "intervention": intervention} | settings),
    )


def values_of(table, signal="increment") -> np.ndarray:
    return np.concatenate([document.values for document in table.read_documents(signal)])


def assert_same(table, other, *signals) -> None:
    for signal in signals or NAMES:
        np.testing.assert_allclose(
            values_of(table, signal), values_of(other, signal), rtol=1e-5, atol=1e-5
        )


@pytest.fixture(scope="module")
def plain(tmp_path_factory) -> dict[str, IncrementTable]:
    """A table of every model without an intervention."""
    folder = tmp_path_factory.mktemp("plain")
    return {name: table_of(model, folder / name) for name, model in MODELS.items()}


def rope_of_the_same_weights(model: Transformer) -> Transformer:
    rope = Transformer(replace(model.config, position=RopeConfig()))
    weights = model.state_dict()
    rope.load_state_dict({name: weights[name] for name in rope.state_dict()})
    return rope.eval()


@of_every_model
def test_one_in_all_layers_is_the_same_weights_with_rope(tmp_path, name):
    model = MODELS[name]
    changed = table_of(model, tmp_path / "one", Intervention("one"))
    rope = table_of(rope_of_the_same_weights(model), tmp_path / "rope")
    assert_same(changed, rope, "surprisal")
    assert (values_of(changed) == 1).all()


def test_one_changes_nothing_in_a_rope_model(tmp_path):
    model = tiny_rope()
    plain = table_of(model, tmp_path / "plain")
    changed = table_of(model, tmp_path / "one", Intervention("one"))
    assert_same(changed, plain, "surprisal")


@of_every_model
@pytest.mark.parametrize(
    "intervention",
    [
        Intervention("scaled", factor=1.0),
        Intervention("layer", layers=(1,), source=1),
        Intervention("layer", layers=(0,), source=0),
    ],
    ids=["scaled by 1", "its own of layer 1", "its own of layer 0"],
)
def test_what_puts_back_the_same_increments_changes_nothing(tmp_path, plain, name, intervention):
    changed = table_of(MODELS[name], tmp_path / "t", intervention)
    assert_same(changed, plain[name], "surprisal")
    if "shared" not in name:
        assert_same(changed, plain[name], "increment")


@of_every_model
def test_the_table_of_the_bytes_changes_nothing_where_the_byte_decides(tmp_path, plain, name):
    by_token = byte_increments(plain[name])
    layers = None if "shared" in name else (0,)
    changed = table_of(
        MODELS[name], tmp_path / "t", Intervention("byte-table", layers=layers, values=by_token)
    )
    assert_same(changed, plain[name], "surprisal")


def test_the_table_of_the_bytes_is_the_mean_of_each_byte_in_each_layer(tmp_path, plain):
    frame = np.concatenate([encode(text) for text in TEXTS])
    increments = values_of(plain["per layer"])
    by_token = byte_increments(plain["per layer"])
    assert by_token.shape == (2, 257, 1)
    for token in set(frame.tolist()):
        np.testing.assert_allclose(
            by_token[:, token, 0], increments[frame == token].mean(0), rtol=1e-5
        )
    assert by_token[1, ord("Q"), 0] == pytest.approx(increments[:, 1].mean(), rel=1e-5)
    alone = MODELS["per layer"].token_increments()["increment"]
    assert by_token[0, ord("Q"), 0] == pytest.approx(alone[ord("Q"), 0].item(), rel=1e-5)

    changed = table_of(
        MODELS["per layer"], tmp_path / "t", Intervention("byte-table", values=by_token)
    )
    np.testing.assert_allclose(values_of(changed), by_token[:, frame, 0].T, rtol=1e-6)


@of_every_model
def test_the_mean_is_that_of_every_layer_and_head(tmp_path, plain, name):
    means = mean_increments(plain[name])
    np.testing.assert_allclose(means.ravel(), values_of(plain[name]).mean(0), rtol=1e-5)
    changed = values_of(table_of(MODELS[name], tmp_path / "t", Intervention("mean", values=means)))
    n_each = 2 if "shared" in name else 1
    np.testing.assert_allclose(changed, np.tile(means.ravel(), (len(changed), n_each)), rtol=1e-6)


@of_every_model
def test_scaled_in_one_layer_leaves_what_comes_before_it(tmp_path, plain, name):
    changed = table_of(
        MODELS[name], tmp_path / "t", Intervention("scaled", layers=(1,), factor=2.0)
    )
    n_columns = len(changed.columns()) // 2
    before, after = np.split(values_of(changed), [n_columns], axis=1)
    first, last = values_of(plain[name])[:, :n_columns], values_of(plain[name])[:, -n_columns:]
    np.testing.assert_allclose(before, first, rtol=1e-5)
    np.testing.assert_allclose(after, 2 * last, rtol=1e-5)
    surprisals = values_of(changed, "surprisal"), values_of(plain[name], "surprisal")
    assert np.nanmax(np.abs(surprisals[0] - surprisals[1])) > 1e-4


def test_another_layers_are_those_of_a_pass_in_which_nothing_is_changed(tmp_path, plain):
    model, own = MODELS["per layer"], values_of(plain["per layer"])
    changed = values_of(
        table_of(model, tmp_path / "t", Intervention("layer", layers=(0,), source=1))
    )
    np.testing.assert_allclose(changed[:, 0], own[:, 1], rtol=1e-5)
    assert np.abs(changed[:, 1] - own[:, 1]).max() > 1e-4


SHUFFLES = [Intervention("shuffled"), Intervention("shuffled-within-class")]


@pytest.mark.parametrize("intervention", SHUFFLES, ids=lambda each: each.kind)
def test_a_shuffle_moves_increments_within_a_window_and_its_classes(tmp_path, intervention):
    text = TEXTS[0][: N_CTX - 1]
    model = MODELS["shared per head"]
    own = values_of(table_of(model, tmp_path / "own", texts=(text,)))
    changed = values_of(table_of(model, tmp_path / "t", intervention, texts=(text,)))
    np.testing.assert_array_equal(changed[:, :2], changed[:, 2:])  # alike in every layer
    changed = changed[:, :2]
    classes = vocabulary_classes()[encode(text)]
    if intervention.kind == "shuffled":
        classes = np.zeros_like(classes)
    assert np.abs(changed - own).max() > 1e-3
    for each in set(classes.tolist()):
        of_class = classes == each
        rows, expected = (sorted(map(tuple, x[of_class].round(4))) for x in (changed, own))
        np.testing.assert_allclose(rows, expected, atol=2e-4)


@pytest.mark.parametrize("intervention", SHUFFLES, ids=lambda each: each.kind)
def test_a_shuffle_depends_on_seed_document_and_window_alone(tmp_path, intervention):
    model = MODELS["per layer"]
    table = table_of(model, tmp_path / "t", intervention)
    in_other_batches = {"batch_tokens": 40, "part_tokens": 50}
    assert_same(table_of(model, tmp_path / "other", intervention, **in_other_batches), table)
    shards = [
        table_of(model, tmp_path / f"shard-{i}", intervention, shard=Shard(i, 2)).folder
        for i in range(2)
    ]
    assert_same(merge(shards, tmp_path / "merged"), table)
    other_seed = table_of(model, tmp_path / "seed", replace(intervention, seed=1))
    assert np.abs(values_of(other_seed) - values_of(table)).max() > 1e-3
    twice = table_of(model, tmp_path / "twice", intervention, texts=(TEXTS[0], TEXTS[0]))
    first, second = (document.values for document in twice.read_documents())
    assert np.abs(first - second).max() > 1e-3


def test_padding_takes_no_part_in_a_shuffle(tmp_path):
    model = MODELS["shared"]
    texts = (TEXTS[0][: N_CTX - 1], b"ab")
    table = table_of(model, tmp_path / "t", Intervention("shuffled"), texts=texts)
    own = model.token_increments()["increment"][:, 0].numpy()
    _, short = (document.values for document in table.read_documents())
    np.testing.assert_allclose(sorted(short[:, 0]), sorted(own[[256, *b"ab"]]), rtol=1e-5)


def test_the_model_is_given_back_without_hooks(tmp_path):
    model = MODELS["per layer"]
    ids = torch.from_numpy(encode(TEXTS[0][:20]))[None]
    before = model(ids)
    table_of(model, tmp_path / "t", Intervention("layer", source=0))
    torch.testing.assert_close(model(ids), before, rtol=0, atol=0)


def test_the_manifest_says_which_intervention_it_was(tmp_path, plain):
    model = MODELS["per layer"]
    assert plain["per layer"].manifest["intervention"] is None
    shuffled = Intervention("shuffled", layers=(1, 0, 1), seed=3)
    assert table_of(model, tmp_path / "s", shuffled).manifest["intervention"] == {
        "kind": "shuffled", "layers": [0, 1], "factor": None, "source": None, "seed": 3,
        "values": None,
    }  # fmt: skip
    mean = Intervention("mean", values=mean_increments(plain["per layer"]))
    about = table_of(model, tmp_path / "m", mean).manifest["intervention"]
    assert (about["kind"], about["layers"], about["seed"]) == ("mean", None, None)
    assert len(about["values"]) == 64


def test_an_extraction_goes_on_only_with_the_same_intervention(tmp_path):
    model = MODELS["per layer"]
    means = np.ones((2, 1))
    same = lambda: Intervention("mean", values=means.copy())  # noqa: E731
    table = table_of(model, tmp_path / "t", same(), part_tokens=40)
    expected = values_of(table)
    table.parts()[1].unlink()
    again = table_of(model, tmp_path / "t", same(), part_tokens=40)
    np.testing.assert_array_equal(values_of(again), expected)
    others = [
        None,
        Intervention("one"),
        Intervention("mean", layers=(0,), values=means),
        Intervention("mean", values=means + 1),
    ]
    for other in others:
        with pytest.raises(OutputError, match="differs in intervention"):
            table_of(model, tmp_path / "t", other, part_tokens=40)


def test_increments_of_an_intervention_are_no_source_of_another(tmp_path):
    table = table_of(MODELS["per layer"], tmp_path / "t", Intervention("one"))
    for make in (mean_increments, byte_increments):
        with pytest.raises(InputError, match="are those of an intervention"):
            make(table)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"kind": "two"}, "no kind 'two'"),
        ({"kind": "scaled"}, "scaled needs factor"),
        ({"kind": "one", "factor": 2.0}, "one has no factor"),
        ({"kind": "layer"}, "layer needs source"),
        ({"kind": "mean"}, "mean needs values"),
        ({"kind": "scaled", "factor": float("nan")}, "factor must be finite"),
        ({"kind": "mean", "values": np.array([[np.nan]])}, "not finite"),
        ({"kind": "one", "layers": ()}, "no layer is given"),
        ({"kind": "shuffled", "seed": -1}, "seed must be 0 or more"),
    ],
)
def test_settings_that_do_not_go_together_are_one_line(settings, message):
    with pytest.raises(UsageError, match=message):
        Intervention(**settings)


@pytest.mark.parametrize(
    ("intervention", "message"),
    [
        (Intervention("one", layers=(2,)), "the model has no layer 2"),
        (Intervention("one", layers=(-1,)), "the model has no layer -1"),
        (Intervention("layer", layers=(0,), source=9), "the model has no layer 9"),
        (Intervention("mean", values=np.ones((3, 1))), r"shape \[3, 1\].*need \[2, 1\]"),
        (Intervention("byte-table", values=np.ones((2, 1))), r"need \[2, 257, 1\]"),
    ],
)
def test_what_the_model_has_no_place_for_writes_nothing(tmp_path, intervention, message):
    with pytest.raises(InputError, match=message):
        table_of(MODELS["per layer"], tmp_path / "t", intervention)
    assert not (tmp_path / "t").exists()
