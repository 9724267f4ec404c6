"""A model stretched as it is loaded: what it is, what is refused, and what keeps it apart."""

import json

import pytest
import torch
from saved_checkpoint import N_CTX, N_LAYERS, save_tiny

from interp.checkpoints import load, save
from interp.cli import main
from interp.corpus.documents import Document
from interp.corpus.sources import TextInput
from interp.errors import CheckpointError, OutputError, UsageError
from interp.extraction.extract import extract
from interp.model import ModelConfig, RopeConfig, Transformer
from interp.model.config import AlibiConfig
from interp.studies.reading import increments_of

SPAN = [[90.5, 40.0], [12.0, 700.25]]
DOCUMENTS = [Document(source="", id="", content=b"How far apart are two words? " * 8)]


@pytest.fixture(scope="module")
def spanned(tmp_path_factory):
    """A checkpoint that knows how far its positions reached in training."""
    folder = save_tiny(tmp_path_factory.mktemp("checkpoints") / "spanned", per_head=True)
    change(folder, position_span=SPAN, held_out_loss={"en": {"nats_per_byte": 1.5}})
    return folder


def change(folder, **facts):
    path = folder / "config.json"
    path.write_text(json.dumps({**json.loads(path.read_text("utf-8")), **facts}), "utf-8")


def saved(folder, position):
    sizes = {"n_heads": 2, "n_layers": 2, "n_ctx": 64, "d_model": 32, "d_mlp": 48}
    save(folder, Transformer(ModelConfig(**sizes, position=position)), name=folder.name)
    return folder


def some_ids(n_pos):
    return torch.randint(0, 256, (1, n_pos), generator=torch.Generator().manual_seed(3))


@pytest.mark.parametrize("scaling", ["pi:2", "ntk:2", "yarn:2.5"])
def test_a_stretched_model_has_longer_windows_and_the_spans_of_its_training(spanned, scaling):
    checkpoint = load(spanned, rope_scaling=scaling)
    config = checkpoint.model.config
    assert config.n_ctx == int(N_CTX * float(scaling.partition(":")[2]))
    assert config.position.scaling == scaling
    assert config.position.trained_spans == (90.5, 700.25)
    assert checkpoint.config["architecture"] == config.to_dict()
    assert checkpoint.name == f"spanned ({scaling})"
    assert checkpoint.config["held_out_loss"] is None  # it is the unstretched model's
    ids = some_ids(config.n_ctx)
    assert checkpoint.model(ids).isfinite().all()
    assert not torch.allclose(checkpoint.model(ids), load(spanned).model(ids), atol=1e-3)


def test_the_training_length_serves_where_no_span_is_known(tmp_path):
    checkpoint = load(saved(tmp_path / "plain", RopeConfig()), rope_scaling="yarn:2")
    assert checkpoint.model.config.position.trained_spans == (64.0,)


def test_a_layer_without_positions_has_no_span(tmp_path):
    folder = saved(tmp_path / "plain", RopeConfig(unrotated_every=2))
    change(folder, position_span=[[64.0], [0.0]])
    checkpoint = load(folder, rope_scaling="yarn:2")
    assert checkpoint.model(some_ids(128)).isfinite().all()


def test_what_cannot_be_stretched_is_refused_in_one_line(spanned, tmp_path):
    with pytest.raises(CheckpointError, match="ntk:2: alibi has no rotary positions"):
        load(saved(tmp_path / "alibi", AlibiConfig()), rope_scaling="ntk:2")
    save(tmp_path / "stretched", load(spanned, rope_scaling="ntk:2").model, name="stretched")
    with pytest.raises(CheckpointError, match="stretched already, by ntk:2"):
        load(tmp_path / "stretched", rope_scaling="pi:2")
    for words in ("", "double", "ntk", "ntk:", "ntk:half", "ntk:0.5", "ntk:nan", "rope:2"):
        with pytest.raises(UsageError, match="must be one of pi:2, ntk:2, yarn:2"):
            load(spanned, rope_scaling=words)
    with pytest.raises(CheckpointError, match="n_ctx must be 8 to 1048576"):
        load(spanned, rope_scaling="pi:1000000")


@pytest.mark.parametrize(
    "span",
    ["far", [[1.0]], [[1.0], []], [[1.0], ["far"]], [[1.0], [-1.0]], [[1.0], [True]], [1.0, 2.0]],
)
def test_a_span_of_another_kind_is_refused(folder, span):
    change(folder, position_span=span)
    with pytest.raises(CheckpointError, match="position_span must be a list of numbers"):
        load(folder)


def test_a_stretched_model_is_saved_and_loaded(spanned, tmp_path):
    stretched = load(spanned, rope_scaling="yarn:2")
    save(tmp_path / "saved", stretched.model, name=stretched.name)
    again, ids = load(tmp_path / "saved"), some_ids(128)
    assert again.name == "spanned (yarn:2)"
    assert again.model.config == stretched.model.config
    assert torch.equal(again.model(ids), stretched.model(ids))


def test_the_manifest_of_an_extraction_says_it(spanned, tmp_path):
    table = extract(load(spanned, rope_scaling="ntk:2"), lambda: DOCUMENTS, tmp_path / "kept")
    assert table.manifest["model"]["position"]["scaling"] == "ntk:2"
    assert table.manifest["model"]["n_ctx"] == table.manifest["window"] == 2 * N_CTX
    with pytest.raises(OutputError, match="model configuration"):
        extract(load(spanned, rope_scaling="pi:2"), lambda: DOCUMENTS, tmp_path / "kept")
    with pytest.raises(OutputError, match="model configuration"):
        extract(load(spanned), lambda: DOCUMENTS, tmp_path / "kept")


def test_what_is_kept_for_one_is_not_taken_for_the_other(spanned, tmp_path, monkeypatch):
    monkeypatch.setenv("INTERP_CACHE", str(tmp_path / "cache"))
    text = TextInput(literal=DOCUMENTS[0].content)
    read = {}
    for scaling in (None, "pi:2", "ntk:2", None, "pi:2"):
        checkpoint = load(spanned, rope_scaling=scaling)
        with increments_of(checkpoint, text, signals=["surprisal"]) as table:
            assert table.manifest["model"]["position"]["scaling"] == scaling
            (document,) = table.read_documents("surprisal")
            read.setdefault(scaling, document.values)
            assert (document.values[1:] == read[scaling][1:]).all()
    assert len({values[1:].tobytes() for values in read.values()}) == 3


def test_the_commands_take_it(spanned, tmp_path, capfd):
    def run(*arguments):
        capfd.readouterr()
        with pytest.raises(SystemExit) as stopped:
            main(arguments)
        return stopped.value.code, *capfd.readouterr()

    text, kept = tmp_path / "text.txt", tmp_path / "kept"
    text.write_bytes(DOCUMENTS[0].content)
    given = ("--ckpt", str(spanned), "--out", str(kept), str(text))
    assert run("extract", "--rope-scaling", "ntk:2", *given)[0] == 0
    manifest = json.loads((kept / "manifest.json").read_text("utf-8"))
    assert (manifest["checkpoint"], manifest["window"]) == ("spanned (ntk:2)", 2 * N_CTX)
    status, out, _ = run("inspect", str(spanned), "--rope-scaling", "yarn:2", "--json")
    shown = json.loads(out)
    assert status == 0
    assert shown["architecture"]["n_ctx"] == 2 * N_CTX
    assert len(shown["architecture"]["position"]["trained_spans"]) == N_LAYERS
    status, out, err = run("inspect", str(spanned), "--rope-scaling", "twice")
    assert (status, out) == (2, "")
    assert "must be one of pi:2, ntk:2, yarn:2" in err.splitlines()[0]
