"""Models whose tokens are characters: every row stands at its bytes, and nothing is guessed."""

import numpy as np
import pytest
import torch
from tiny import TinyCheckpoint, documents

from interp.errors import InputError, UsageError
from interp.extraction.extract import extract
from interp.extraction.interventions import Intervention
from interp.extraction.shards import Shard
from interp.model import IncrementsConfig, ModelConfig, Transformer
from interp.tokenizer import CharacterTokenizer

N_CTX = 16
ASCII = b"to be, or not to be: that is the question. " * 3
MIXED = "to be 或 not 🐱 to be ".encode() * 4


def checkpoint_for(*contents: bytes) -> TinyCheckpoint:
    tokenizer = CharacterTokenizer.of(contents)
    sizes = {"d_model": 32, "n_heads": 2, "n_layers": 2, "d_mlp": 48, "n_ctx": N_CTX}
    model = Transformer(
        ModelConfig(**sizes, d_vocab=tokenizer.d_vocab, position=IncrementsConfig(d_hidden=8))
    )
    return TinyCheckpoint(model, tokenizer=tokenizer)


def rows_of(table, signal):
    batches = [batch.to_pandas() for batch in table.batches(signal)]
    assert len(batches) == 1
    return batches[0]


@pytest.mark.parametrize("content", [ASCII, MIXED])
def test_surprisal_is_that_of_the_logits_over_the_same_window(content, tmp_path):
    checkpoint = checkpoint_for(content)
    table = extract(
        checkpoint, documents(content), tmp_path / "t", signals=["surprisal"], stride=N_CTX
    )
    rows = rows_of(table, "surprisal")
    text = content.decode()
    letters = sorted(set(text))
    ids = torch.tensor([letters.index(c) for c in text])
    assert rows["token"].tolist() == ids.tolist()
    assert rows["offset"].tolist() == [len(text[:i].encode()) for i in range(len(text))]
    assert np.isnan(rows["value"][0])
    for at in (1, 15, 16, 17, 33, len(ids) - 1):
        start = (at - 1) // N_CTX * N_CTX  # the window that ends before it, or holds it
        with torch.no_grad():
            predicted = checkpoint.model(ids[start:at][None])[0, -1].log_softmax(-1)
        assert rows["value"][at] == pytest.approx(-predicted[ids[at]].item(), abs=1e-5)
        assert rows["context"][at] == at - start
    assert table.manifest["signals"]["surprisal"]["n_rows"] == len(text)


def test_a_text_of_ascii_is_read_by_documents_as_bytes_are(tmp_path):
    table = extract(checkpoint_for(ASCII, MIXED), documents(ASCII, b""), tmp_path / "t")
    first, empty = table.read_documents()
    assert (first.content, empty.content) == (ASCII, b"")
    assert first.values.shape == (len(ASCII) + 1, 2)
    assert np.isnan(first.values[0]).all()
    assert np.isfinite(first.values[1:]).all()
    vocabulary = table.vocabulary()
    assert len(vocabulary) == table.tokenizer.d_vocab


def test_characters_of_several_bytes_are_not_taken_for_bytes(tmp_path):
    table = extract(checkpoint_for(MIXED), documents(MIXED), tmp_path / "t")
    assert rows_of(table, "increment")["L1"].notna().all()
    with pytest.raises(InputError, match="some characters here are of several bytes"):
        list(table.read_documents())


def test_a_character_that_is_no_token_is_refused_before_anything_is_written(tmp_path):
    with pytest.raises(InputError, match=r"^text-0.txt: no token for '或', .* at byte 6 "):
        extract(checkpoint_for(ASCII), documents(MIXED), tmp_path / "t")
    assert not (tmp_path / "t").exists()


def test_what_is_about_bytes_is_refused(tmp_path):
    checkpoint = checkpoint_for(ASCII)
    intervention = Intervention("shuffled-within-class")
    with pytest.raises(InputError, match="is for models of bytes"):
        extract(checkpoint, documents(ASCII), tmp_path / "i", intervention=intervention)
    with pytest.raises(UsageError, match="only shards of bytes can be merged"):
        extract(checkpoint, documents(ASCII, ASCII), tmp_path / "s", shard=Shard(0, 2))
