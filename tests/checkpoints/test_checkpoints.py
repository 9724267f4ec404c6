import hashlib
import resource
import shutil

import huggingface_hub
import numpy as np
import pytest
import torch
from huggingface_hub.errors import LocalEntryNotFoundError
from refused import refusal

from interp.checkpoints import load, save
from interp.checkpoints.card import model_card
from interp.corpus.split import Split, document_hash
from interp.errors import InputError, OutputError
from interp.model import IncrementsConfig, ModelConfig, RopeConfig, Transformer

IDS = torch.tensor([[256, 72, 105, 228, 189, 160]])
WIKIPEDIA = "hub:wikimedia/wikipedia/20231101.en"

HELD_OUT_LOSS = {
    "en": {"nats_per_byte": 1.5, "bits_per_byte": 2.164, "n_bytes": 2000, "n_documents": 3},
    "zh": {"nats_per_byte": 1.1, "bits_per_byte": 1.587, "n_bytes": 3000, "n_documents": 4},
}


def tiny(position: RopeConfig | None = None) -> Transformer:
    sizes = {"d_model": 16, "n_heads": 2, "n_layers": 1, "d_mlp": 8, "n_ctx": 16}
    return Transformer(ModelConfig(**sizes, position=position or IncrementsConfig(d_hidden=4)))


@pytest.mark.parametrize(
    "position",
    [
        RopeConfig(layout="interleaved", base=500.0),
        IncrementsConfig(d_hidden=4, scope="shared", per_head=True, max_increment=None),
        IncrementsConfig(d_hidden=4, norm_eps=1.19e-7),
    ],
)
def test_a_model_comes_back_as_it_was_saved(tmp_path, position):
    model = tiny(position)
    save(tmp_path / "saved", model, name="名字")
    checkpoint = load(tmp_path / "saved")
    assert checkpoint.name == "名字"
    assert checkpoint.model.config == model.config
    assert torch.equal(checkpoint.model(IDS), model(IDS))
    assert {p.dtype for p in checkpoint.model.parameters()} == {torch.float32}
    assert not any(p.requires_grad for p in checkpoint.model.parameters())


def test_bfloat16_weights_are_half_the_size_and_come_back_as_float32(tmp_path):
    model = tiny()
    save(tmp_path / "exact", model, name="m")
    save(tmp_path / "rounded", model, name="m", weights="bfloat16")
    sizes = [(tmp_path / f / "model.safetensors").stat().st_size for f in ("exact", "rounded")]
    assert sizes[1] < 0.7 * sizes[0]
    checkpoint = load(tmp_path / "rounded")
    assert checkpoint.config["weights"] == "bfloat16"
    for name, parameter in checkpoint.model.named_parameters():
        exact = dict(model.named_parameters())[name]
        assert torch.equal(parameter, exact.bfloat16().float())


def test_saving_again_gives_the_same_bytes(tmp_path):
    for name in ("one", "two"):
        save(tmp_path / name, tiny(), name="m")
    for file in ("config.json", "model.safetensors", "README.md"):
        contents = {(tmp_path / name / file).read_bytes() for name in ("one", "two")}
        assert len(contents) == 1, file


def test_the_fingerprint_is_the_sha256_of_the_weights(whole):
    expected = hashlib.sha256((whole / "model.safetensors").read_bytes()).hexdigest()
    assert load(whole).fingerprint == expected


def test_a_folder_has_three_files_that_others_may_read(whole):
    assert sorted(f.name for f in whole.iterdir()) == [
        "README.md",
        "config.json",
        "model.safetensors",
    ]
    assert len({f.stat().st_mode for f in whole.iterdir()}) == 1


def test_what_is_not_known_of_the_training_is_null(whole):
    config = load(whole).config
    for key in ("recipe", "corpora", "step", "held_out_loss", "token_counts", "position_span"):
        assert config[key] is None


def test_a_text_is_held_out_only_if_that_is_known(tmp_path):
    split = Split(hashes=frozenset({document_hash(b"kept back"), 3}))
    save(tmp_path / "m", tiny(), name="m", split=split)
    checkpoint = load(tmp_path / "m")
    assert checkpoint.split == split
    assert checkpoint.is_held_out(b"kept back") is True
    assert checkpoint.is_held_out(b"something else") is None


def test_the_card_says_what_is_known(tmp_path):
    facts = {
        "recipe": {
            "seed": 0,
            "corpora": {"en": {"train": ["hub:wikimedia/wikipedia/20231101.en"]}},
        },
        "step": 500,
        "n_steps": 1000,
        "n_bytes_seen": 2_048_000,
        "held_out_loss": HELD_OUT_LOSS,
        "baselines": {"en": {"xz -9e": 2.5, "5-gram": 2.83}, "zh": {"5-gram": 2.41}},
    }
    save(tmp_path / "m", tiny(), name="my model", facts=facts)
    card = (tmp_path / "m" / "README.md").read_text("utf-8")
    assert card.startswith("# my model\n")
    assert "500 of 1,000" in card
    table = [[cell.strip() for cell in row.split("|")] for row in card.splitlines() if "|" in row]
    rows = {row[1]: row[2:-1] for row in table}
    assert rows["en"] == ["3", "2,000", "1.5000", "2.164", "2.500", "2.830"]
    assert rows["zh"] == ["4", "3,000", "1.1000", "1.587", "", "2.410"]
    assert "CC BY-SA 4.0" in card
    assert "PSF" not in card


@pytest.mark.parametrize("address", ["/home/me/not-from-wikipedia.txt", "wikipedia/en/*.parquet"])
def test_the_card_claims_a_licence_only_where_it_is_known_or_given(tmp_path, address):
    recipe = {"seed": 0, "corpora": {"en": {"train": [address]}}}
    save(tmp_path / "m", tiny(), name="m", facts={"recipe": recipe})
    assert "Licence" not in (tmp_path / "m" / "README.md").read_text("utf-8")
    words = "Weights and text: CC0."
    save(tmp_path / "n", tiny(), name="n", facts={"recipe": recipe | {"licence": words}})
    assert f"## Licence\n\n{words}" in (tmp_path / "n" / "README.md").read_text("utf-8")


@pytest.mark.parametrize(
    "facts",
    [
        {},
        {"step": 3},
        {"step": 3, "n_steps": 5},
        {"step": 3, "n_bytes_seen": 10**6},
        {"step": 3, "wall_seconds": 60.0},
        {"held_out_loss": HELD_OUT_LOSS},
    ],
)
def test_a_card_needs_no_fact(tmp_path, facts):
    save(tmp_path / "m", tiny(), name="m", facts=facts)
    assert "None" not in (tmp_path / "m" / "README.md").read_text("utf-8")
    load(tmp_path / "m")


def test_the_card_can_be_made_again_from_the_config(whole):
    card = (whole / "README.md").read_text("utf-8")
    assert model_card(load(whole).config) == card


def test_a_save_that_fails_leaves_the_checkpoint_before_it(folder):
    before = {f.name: f.read_bytes() for f in folder.iterdir()}
    with pytest.raises(ValueError, match="JSON"):
        save(folder, tiny(), name="m", facts={"wall_seconds": float("nan")})
    assert {f.name: f.read_bytes() for f in folder.iterdir()} == before


def test_a_full_disk_is_one_line_and_leaves_the_checkpoint_before_it(folder):
    before = {f.name: f.read_bytes() for f in folder.iterdir()}
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, limits[1]))
    try:
        with pytest.raises(OutputError) as caught:
            save(folder, load(folder).model, name="m")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert "file too large" in str(caught.value)
    assert {f.name: f.read_bytes() for f in folder.iterdir()} == before


def test_a_file_in_the_way_is_one_line(tmp_path):
    (tmp_path / "m").write_text("in the way")
    with pytest.raises(OutputError) as caught:
        save(tmp_path / "m", tiny(), name="m")
    assert len(str(caught.value).splitlines()) == 1


def test_an_unknown_device_is_refused(whole):
    for device in ("nonsense", "meta"):
        with pytest.raises(InputError, match=device) as caught:
            load(whole, device=device)
        assert len(str(caught.value).splitlines()) == 1


def test_a_hub_id_is_downloaded_without_anything_but_the_three_files(whole, monkeypatch):
    asked = {}

    def snapshot_download(repo_id, **settings):
        asked.update(repo_id=repo_id, **settings)
        return str(whole)

    monkeypatch.setattr(huggingface_hub, "snapshot_download", snapshot_download)
    assert load("someone/model").name == "whole"
    assert asked["repo_id"] == "someone/model"
    assert sorted(asked["allow_patterns"]) == ["README.md", "config.json", "model.safetensors"]


@pytest.mark.parametrize(
    "error",
    [
        LocalEntryNotFoundError("no network\nand more lines"),
        ConnectionError("Name or service not known"),
        OSError("disk"),
        huggingface_hub.errors.HFValidationError("bad name"),
    ],
)
def test_without_a_network_a_hub_id_is_one_line(error, monkeypatch):
    def fail(*_args, **_settings):
        raise error

    monkeypatch.setattr(huggingface_hub, "snapshot_download", fail)
    assert "someone/model" in refusal("someone/model")


def test_a_folder_comes_before_a_hub_id_of_that_name(whole, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shutil.copytree(whole, tmp_path / "someone" / "model")
    assert load("someone/model").name == "whole"


def test_increments_differ_from_byte_to_byte_in_what_the_tests_load(whole):
    increments = load(whole).model.token_increments()["increment"]
    assert np.unique(increments.numpy()).size > 250
