import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from small_models import INCREMENTS, spread

from interp.model.loss import DocumentLoss, document_losses, surprisal_nats
from interp.text import encode, window_spans

N_CTX = 16
CPU = torch.device("cpu")


def uniform(ids):
    return torch.zeros(*ids.shape, 257)


def losses(forward, *contents, batch_size=4):
    found = document_losses(forward, contents, n_ctx=N_CTX, device=CPU, batch_size=batch_size)
    return list(found)


def slow_loss(forward, content):
    """Byte by byte, each from all that its window holds before it."""
    ids = torch.from_numpy(encode(content))
    total = 0.0
    for start, end in window_spans(content, n_ctx=N_CTX, stride=N_CTX):
        for last in range(start, end):
            if last + 1 < len(ids):
                predicted = forward(ids[start : last + 1].unsqueeze(0))[0, -1]
                total -= predicted.log_softmax(-1)[ids[last + 1]].item()
    return total


def test_surprisal_by_hand():
    logits = torch.tensor([[[0.0, math.log(3.0)], [5.0, 5.0]]])
    nats = surprisal_nats(logits, torch.tensor([[1, 0]]))
    assert nats[0].tolist() == pytest.approx([math.log(4 / 3), math.log(2)], abs=1e-6)


@pytest.mark.parametrize("target", [-1, -100, -5000])
def test_a_negative_target_costs_nothing(target):
    nats = surprisal_nats(torch.zeros(1, 2, 7), torch.tensor([[3, target]]))
    assert nats[0].tolist() == pytest.approx([math.log(7), 0.0])


def test_surprisal_of_bfloat16_logits_is_float32():
    logits = torch.randn(1, 3, 257).bfloat16()
    nats = surprisal_nats(logits, torch.tensor([[1, 2, 3]]))
    assert nats.dtype == torch.float32
    assert torch.equal(nats, surprisal_nats(logits.float(), torch.tensor([[1, 2, 3]])))


def test_a_uniform_model_loses_ln_257_per_byte():
    (loss,) = losses(uniform, b"x" * 1000)
    assert loss.n_bytes == 1000
    assert loss.total_nats == pytest.approx(1000 * math.log(257), rel=1e-5)


def test_an_empty_document_loses_nothing_and_takes_its_place():
    found = losses(uniform, b"", b"ab", b"")
    assert [loss.n_bytes for loss in found] == [0, 2, 0]
    assert found[0] == found[2] == DocumentLoss(0.0, 0)


def test_no_documents_have_no_losses():
    assert losses(uniform) == []


@pytest.fixture(scope="module")
def model():
    return spread(INCREMENTS["per_layer"], n_layers=1)


@pytest.mark.parametrize(
    "content",
    [
        b"one window",
        b"x" * N_CTX,
        b"y" * (N_CTX - 1),
        "字符不能被切开，一个也不能。".encode(),
        b"\x80" * 40,
    ],
)
def test_the_loss_equals_that_of_every_byte_by_itself(model, content):
    (loss,) = losses(model, content)
    assert loss.total_nats == pytest.approx(slow_loss(model, content), rel=1e-4)
    assert loss.n_bytes == len(content)


@settings(max_examples=15)
@given(st.lists(st.binary(max_size=40) | st.text(max_size=15).map(str.encode), max_size=5))
def test_a_loss_does_not_depend_on_the_other_documents_or_the_batch(model, contents):
    together = losses(model, *contents, batch_size=3)
    assert [loss.n_bytes for loss in together] == [len(content) for content in contents]
    for content, loss in zip(contents, together, strict=True):
        (alone,) = losses(model, content, batch_size=1)
        assert loss.total_nats == pytest.approx(alone.total_nats, rel=1e-4, abs=1e-4)


def test_the_model_is_always_called_with_the_same_shape():
    shapes = []

    def forward(ids):
        shapes.append(tuple(ids.shape))
        return uniform(ids)

    losses(forward, b"a", b"b" * 100, b"", b"c" * 17)
    assert set(shapes) == {(4, N_CTX)}


def test_losses_come_while_documents_are_still_being_read():
    read = []

    def contents():
        for number in range(40):
            read.append(number)
            yield b"z" * 20

    first = next(iter(document_losses(uniform, contents(), n_ctx=N_CTX, device=CPU, batch_size=4)))
    assert first.n_bytes == 20
    assert len(read) < 10
