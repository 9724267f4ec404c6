"""What holds for every position encoding of the registry; a new one is tested by its line there."""

import pytest
import torch

from interp.checkpoints import load, save
from interp.corpus.documents import Document
from interp.errors import InputError
from interp.extraction.extract import extract
from interp.model import ModelConfig, Transformer
from interp.model.config import POSITION_CONFIGS
from interp.model.position_encodings import ENCODINGS
from interp.model.rotary import Rope
from interp.studies.facts import model_in_words

SIZES = {"d_model": 32, "n_heads": 4, "n_layers": 2, "d_mlp": 48, "n_ctx": 64}

any_encoding = pytest.mark.parametrize("encoding", POSITION_CONFIGS)


def made(encoding: str) -> Transformer:
    """A model whose weights are large enough to matter."""
    config = ModelConfig.from_dict({**SIZES, "position": {"encoding": encoding}})
    model = Transformer(config)
    generator = torch.Generator().manual_seed(5)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn(parameter.shape, generator=generator), alpha=0.25)
    return model


def some_ids() -> torch.Tensor:
    return torch.randint(0, 256, (2, 64), generator=torch.Generator().manual_seed(3))


def test_every_encoding_has_settings_and_a_class():
    assert set(ENCODINGS) == set(POSITION_CONFIGS)


@any_encoding
def test_its_settings_survive_being_written(encoding):
    config = made(encoding).config
    assert config.position.encoding == encoding
    assert ModelConfig.from_dict(config.to_dict()) == config


@any_encoding
def test_no_token_is_seen_before_its_turn(encoding):
    model, ids = made(encoding), some_ids()
    changed = ids.clone()
    changed[:, 40:] = 7
    with torch.no_grad():
        assert torch.allclose(model(ids)[:, :40], model(changed)[:, :40], atol=1e-4)


@any_encoding
def test_looking_at_the_scores_does_not_change_the_logits(encoding):
    model, ids = made(encoding), some_ids()
    names = [f"blocks.{layer}.attn.hook_pattern" for layer in range(2)]
    with torch.no_grad():
        looked_at, cache = model.run_with_cache(ids, names_filter=names, return_cache_object=False)
        assert torch.allclose(model(ids), looked_at, atol=1e-4)
    for name in names:
        assert torch.allclose(cache[name].sum(-1), torch.ones(2, 4, 64), atol=1e-5)


@any_encoding
def test_the_loss_reaches_all_its_weights(encoding):
    model, ids = made(encoding), some_ids()
    model(ids).float().logsumexp(-1).sum().backward()
    for name, parameter in model.named_parameters():
        assert parameter.grad is not None, name
        assert parameter.grad.isfinite().all(), name
        assert parameter.grad.abs().max() > 0, name


@any_encoding
def test_a_saved_model_is_the_same_when_it_is_loaded(encoding, tmp_path):
    model, ids = made(encoding), some_ids()
    save(tmp_path / "model", model, name="model")
    checkpoint = load(tmp_path / "model")
    with torch.no_grad():
        assert torch.equal(checkpoint.model(ids), model(ids))
    assert checkpoint.model.config == model.config


@any_encoding
def test_its_increments_are_extracted_or_refused_in_one_line(encoding, tmp_path):
    save(tmp_path / "model", made(encoding), name="model")
    checkpoint = load(tmp_path / "model")
    documents = [Document(source="", id="", content=b"How far apart?")]
    if issubclass(ENCODINGS[encoding], Rope):
        (found,) = extract(checkpoint, lambda: documents, tmp_path / "increments").read_documents()
        assert (found.values > 0).all()
    else:
        with pytest.raises(InputError, match=f"{encoding}.* has no increments"):
            extract(checkpoint, lambda: documents, tmp_path / "increments")
        assert not (tmp_path / "increments").exists()
    extract(checkpoint, lambda: documents, tmp_path / "surprisal", signals=["surprisal"])


@any_encoding
def test_the_card_and_the_facts_name_it(encoding, tmp_path):
    save(tmp_path / "model", made(encoding), name="model")
    words = {"rope": "plain rotary", "increments": "increments"}.get(encoding, encoding)
    assert words in (tmp_path / "model" / "README.md").read_text("utf-8")
    assert words in model_in_words(load(tmp_path / "model"))
