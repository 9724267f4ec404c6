import inspect
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from saved_checkpoint import N_CTX, save_tiny

import interp
from interp.checkpoints import save
from interp.corpus.documents import Document
from interp.errors import InputError
from interp.extraction.extract import extract
from interp.model import ModelConfig, Transformer
from interp.text import BYTE_CLASSES
from interp.tokenizer import CharacterTokenizer


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    return interp.load(save_tiny(tmp_path_factory.mktemp("checkpoints") / "tiny"))


def test_importing_interp_imports_nothing_else():
    script = "import sys, interp; sys.exit(any(m in sys.modules for m in ('torch', 'numpy')))"
    assert subprocess.run([sys.executable, "-c", script]).returncode == 0


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="nonsense"):
        _ = interp.nonsense
    assert {"load", "increments"} <= set(dir(interp))


@pytest.mark.parametrize("text", ["Two words. 两个词。👩‍👩‍👧", "ab " * 100, "字" * 100, "\x00"])
def test_increments_are_those_of_an_extraction(tiny, tmp_path, text):
    content = text.encode()
    table = extract(tiny, lambda: [Document("text", "", content)], tmp_path / "kept")
    (document,) = table.read_documents()
    found = interp.increments(tiny, text)
    assert found.columns == tuple(table.columns())
    assert np.array_equal(found.increments, document.values.T)


def test_a_model_alone_will_do(tiny):
    found = interp.increments(tiny.model, b"abc")
    assert np.array_equal(found.increments, interp.increments(tiny, "abc").increments)


def test_positions_are_the_inclusive_running_sum(tiny):
    found = interp.increments(tiny, "abcd")
    assert np.array_equal(found.positions[:, 0], [0, 0])
    assert np.allclose(np.diff(found.positions, axis=1), found.increments[:, 1:])


def test_spans_and_characters_are_those_a_reader_counts(tiny):
    found = interp.increments(tiny, "e\u0301词".encode() + b"\xff")
    assert found.characters == ("e\u0301", "词", "<FF>")
    assert found.spans.tolist() == [[0, 3], [3, 6], [6, 7]]


def test_the_table_has_a_row_for_every_byte(tiny):
    table = interp.increments(tiny, "A词").to_pandas()
    assert table["offset"].tolist() == [-1, 0, 1, 2, 3]
    assert table["byte"].tolist()[1:] == [65, *"词".encode()]
    assert table["byte"].isna().tolist() == [True, False, False, False, False]
    assert table["character"].tolist() == ["", "A", "词", "词", "词"]
    assert table["class"].tolist()[:3] == ["separator", "uppercase", "lead E4-E9"]
    assert set(table["class"]) <= set(BYTE_CLASSES)
    assert table.columns.tolist()[-2:] == ["L0", "L1"]


def test_a_notebook_shows_a_plot_with_everything_in_it(tiny):
    drawn = interp.increments(tiny, "<b>Two</b> words")._repr_html_()
    assert drawn.count("<figure") == 1
    assert "<style>" in drawn
    assert "http" not in drawn.replace("http://www.w3.org/2000/svg", "")
    assert "longer than one window" not in drawn
    assert "longer than one window" in interp.increments(tiny, "a" * N_CTX)._repr_html_()


def test_increments_per_head_are_drawn_layer_by_layer(tmp_path):
    checkpoint = interp.load(save_tiny(tmp_path / "heads", per_head=True))
    found = interp.increments(checkpoint, "text")
    assert found.columns == ("L0H0", "L0H1", "L1H0", "L1H1")
    assert found._repr_html_().count("<figure") == 2


def test_of_a_long_text_a_notebook_shows_the_beginning(tiny):
    drawn = interp.increments(tiny, "ab " * 1000)._repr_html_()
    assert "The first 2,000 characters are drawn, of 3,000 bytes of text." in drawn


def test_a_string_with_half_a_surrogate_pair_keeps_its_bytes(tiny):
    assert interp.increments(tiny, "a\ud83d").content == b"a\xed\xa0\xbd"
    assert interp.increments(tiny, "a\udcff").content == b"a\xff"


def test_an_empty_text_is_refused(tiny):
    with pytest.raises(InputError, match="empty"):
        interp.increments(tiny, "")


@pytest.mark.parametrize("text", [Path("novel.txt"), 5, [66, 67]])
def test_what_is_no_text_is_an_error(tiny, text):
    increments = inspect.unwrap(interp.increments)  # before the check of types in tests
    with pytest.raises(InputError, match=f"must be a string or bytes, not {type(text).__name__}"):
        increments(tiny, text)


@pytest.mark.parametrize("kind", [bytearray, memoryview])
def test_any_kind_of_bytes_is_a_text(tiny, kind):
    assert interp.increments(tiny, kind(b"two")).content == b"two"


def test_it_says_what_it_is(tiny):
    assert repr(interp.increments(tiny, "词")) == "Increments of 1 character (3 bytes), rows L0, L1"


def test_a_model_of_characters_is_read_as_one_of_bytes_is(tmp_path):
    tokenizer = CharacterTokenizer.of(["to be or not, né".encode()])
    sizes = {"d_model": 16, "n_heads": 2, "n_layers": 2, "d_mlp": 24, "n_ctx": 16}
    model = Transformer(ModelConfig(**sizes, d_vocab=tokenizer.d_vocab))
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.1)
    save(tmp_path / "model", model, name="characters", tokenizer=tokenizer)
    checkpoint = interp.load(tmp_path / "model")
    found = interp.increments(checkpoint, "to be")
    ids = torch.from_numpy(tokenizer.read(b"to be").ids(0, 5)).long()[None]
    _, cache = checkpoint.model.run_with_cache(ids)
    expected = cache["blocks.1.attn.hook_increment"][0, :, 0].numpy()
    np.testing.assert_allclose(found.increments[1, 1:], expected, atol=1e-5)
    assert np.isnan(found.increments[:, 0]).all()
    assert found.positions[1, -1] == pytest.approx(expected.sum(), abs=1e-4)
    assert "<svg" in found._repr_html_()
    for given, text, said in (
        (checkpoint, "né", "of several bytes"),
        (checkpoint, "xyz", "no token for 'x'"),
        (checkpoint.model, "to be", "are no bytes"),
    ):
        with pytest.raises(InputError, match=said):
            interp.increments(given, text)
