import numpy as np
import pytest
import torch
from tiny import N_CTX, TinyCheckpoint, documents, tiny_model, tiny_rope

from interp.errors import InputError, UsageError
from interp.extraction.extract import extract
from interp.extraction.increment_table import IncrementTable, layer_and_head
from interp.extraction.signal import Signal
from interp.extraction.signals import SIGNALS
from interp.text import encode, window_spans

ENGLISH = b"Marie Curie, a Polish-born physicist, won two Nobel Prizes. " * 5
CHINESE = "人工智能是计算机科学的一个分支。".encode() * 6
BROKEN = b"\xff\xe4\xb8 ok \xc3\x28" * 9
TEXTS = (ENGLISH, CHINESE, b"", b"x", BROKEN, b"short text")


def values_of(table: IncrementTable, signal: str) -> list[np.ndarray]:
    return [document.values for document in table.read_documents(signal)]


def test_the_values_are_those_of_run_with_cache_over_the_same_window(checkpoint, tmp_path):
    content = ENGLISH[: N_CTX - 1]
    names = ("increment", "increment_pre")
    table = extract(checkpoint, documents(content), tmp_path / "t", signals=names)
    _, cache = checkpoint.model.run_with_cache(torch.from_numpy(encode(content))[None])
    for name in names:
        expected = torch.cat([cache[f"blocks.{i}.attn.hook_{name}"] for i in (0, 1)], -1)[0]
        (values,) = values_of(table, name)
        np.testing.assert_allclose(values, expected.detach().numpy(), atol=1e-6)
        assert table.columns(name) == ["L0", "L1"]


def test_a_signal_of_ones_own_is_read_without_the_registry(checkpoint, tmp_path):
    own = Signal(
        name="residual_norm",
        units="length",
        sees="token",
        columns=lambda _config: ("value",),
        hooks=lambda _config: {
            "blocks.0.hook_resid_post": lambda residual: residual.norm(dim=-1, keepdim=True)
        },
    )
    content = ENGLISH[: N_CTX - 1]
    table = extract(checkpoint, documents(content), tmp_path / "t", signals=[own, "increment"])

    _, cache = checkpoint.model.run_with_cache(torch.from_numpy(encode(content))[None])
    expected = cache["resid_post", 0][0].norm(dim=-1, keepdim=True)
    (values,) = values_of(table, "residual_norm")
    np.testing.assert_allclose(values, expected.detach().numpy(), rtol=1e-5)
    assert table.signals == ("residual_norm", "increment")


def test_each_token_has_the_value_of_the_first_window_that_holds_it(checkpoint, tmp_path):
    table = extract(checkpoint, documents(ENGLISH), tmp_path / "t", stride=10)
    (document,) = table.read_documents()
    ids, expected = encode(ENGLISH), np.full((len(ENGLISH) + 1, 2), np.nan)
    for start, end in window_spans(ENGLISH, n_ctx=N_CTX, stride=10):
        _, cache = checkpoint.model.run_with_cache(torch.from_numpy(ids[start:end])[None])
        window = torch.cat([cache[f"blocks.{i}.attn.hook_increment"] for i in (0, 1)], -1)[0]
        new = np.isnan(expected[start:end, 0])
        expected[start:end][new] = window.detach().numpy()[new]
    np.testing.assert_allclose(document.values, expected, atol=1e-6)


def test_a_document_has_the_same_values_alone_and_among_others(checkpoint, tmp_path):
    names = ("increment", "surprisal")
    together = extract(checkpoint, documents(*TEXTS), tmp_path / "all", signals=names)
    for doc, content in enumerate(TEXTS):
        if not content:
            continue
        alone = extract(checkpoint, documents(content), tmp_path / str(doc), signals=names)
        for name in names:
            np.testing.assert_allclose(
                values_of(alone, name)[0], values_of(together, name)[doc], rtol=1e-6, atol=1e-6
            )


@pytest.mark.parametrize("stride", [N_CTX, N_CTX // 2])
def test_surprisal_is_minus_the_log_probability_of_the_byte(checkpoint, tmp_path, stride):
    table = extract(
        checkpoint, documents(CHINESE), tmp_path / "t", signals=["surprisal"], stride=stride
    )
    (document,) = table.read_documents("surprisal")
    ids, spans = encode(CHINESE), list(window_spans(CHINESE, n_ctx=N_CTX, stride=stride))
    assert np.isnan(document.values[0, 0])
    for t in range(1, len(ids)):
        start = next(start for start, end in spans if start < t <= end)
        logits = checkpoint.model(torch.from_numpy(ids[start:t])[None])[0, -1].double()
        probability = torch.softmax(logits, -1)[ids[t]].item()
        assert document.values[t, 0] == pytest.approx(-np.log(probability), abs=1e-5)
        assert document.context[t] == t - start


def test_every_byte_comes_back_and_the_separator_has_a_row(checkpoint, tmp_path):
    table = extract(
        checkpoint, documents(*TEXTS), tmp_path / "t", signals=["increment", "surprisal"]
    )
    for name in table.signals:
        read = list(table.read_documents(name))
        assert [document.content for document in read] == list(TEXTS)
        assert [len(document.values) for document in read] == [len(text) + 1 for text in TEXTS]
        for document in read:
            assert np.isfinite(document.values[1:]).all()
            assert document.context[0] == 0
    assert table.documents["n_bytes"].tolist() == [len(text) for text in TEXTS]
    assert table.documents["held_out"].isna().tolist() == [not text for text in TEXTS]


def refuse_to_run(*_args, **_kwargs):
    raise AssertionError("a forward pass was made")


@pytest.mark.parametrize(
    ("model", "columns"),
    [
        (tiny_model(scope="shared", max_increment=None), ["shared"]),
        (tiny_model(scope="shared", per_head=True), ["sharedH0", "sharedH1"]),
        (tiny_rope(), ["shared"]),
    ],
    ids=["shared", "shared per head", "rope"],
)
def test_what_the_token_decides_is_looked_up_without_a_pass(model, columns, tmp_path, monkeypatch):
    ids = torch.from_numpy(encode(ENGLISH[: N_CTX - 1]))[None]
    _, cache = model.run_with_cache(ids)
    monkeypatch.setattr(model, "forward", refuse_to_run)
    table = extract(TinyCheckpoint(model), documents(ENGLISH), tmp_path / "t")
    (document,) = table.read_documents()
    assert table.columns() == columns
    for layer in (0, 1):
        hooked = cache[f"blocks.{layer}.attn.hook_increment"][0].detach().numpy()
        np.testing.assert_allclose(document.values[:N_CTX], hooked, atol=1e-6)


def test_per_head_columns_are_in_the_order_of_layers_and_heads(tmp_path):
    model = tiny_model(per_head=True)
    content = ENGLISH[: N_CTX - 1]
    table = extract(TinyCheckpoint(model), documents(content), tmp_path / "t")
    _, cache = model.run_with_cache(torch.from_numpy(encode(content))[None])
    (values,) = values_of(table, "increment")
    assert table.columns() == ["L0H0", "L0H1", "L1H0", "L1H1"]
    for index, column in enumerate(table.columns()):
        layer, head = layer_and_head(column)
        hooked = cache[f"blocks.{layer}.attn.hook_increment"][0, :, head].detach().numpy()
        np.testing.assert_allclose(values[:, index], hooked, atol=1e-6)


def test_the_vocabulary_says_what_the_token_decides_and_what_training_saw(tmp_path):
    counts = list(range(257))
    checkpoint = TinyCheckpoint(tiny_model(), config={"token_counts": counts})
    table = extract(
        checkpoint, documents(ENGLISH), tmp_path / "t", signals=["increment", "surprisal"]
    )
    vocabulary = table.vocabulary("increment")
    (document,) = table.read_documents()
    assert vocabulary.columns.tolist() == ["token", "n_in_training", "L0"]
    assert vocabulary["n_in_training"].tolist() == counts
    by_token = vocabulary["L0"].to_numpy()
    np.testing.assert_array_equal(by_token[encode(ENGLISH)], document.values[:, 0])
    assert table.vocabulary("surprisal") is None


def test_one_pass_serves_all_signals_and_ends_at_the_last_hook(tmp_path, monkeypatch):
    checkpoint = TinyCheckpoint(tiny_model())
    passes, ended = [], []
    model = checkpoint.model
    model.embed.register_forward_hook(lambda *_: passes.append(1))
    model.blocks[1].mlp.register_forward_hook(lambda *_: ended.append(1))
    looked_up = model.token_increments()
    monkeypatch.setattr(model, "token_increments", lambda: looked_up)
    passes.clear()
    extract(checkpoint, documents(b"short"), tmp_path / "t", signals=["increment", "increment_pre"])
    assert (len(passes), len(ended)) == (1, 0)
    extract(checkpoint, documents(b"short"), tmp_path / "all", signals=list(SIGNALS))
    assert (len(passes), len(ended)) == (2, 1)


def test_bfloat16_stays_near_float32_and_keeps_float32_increments(checkpoint, tmp_path):
    exact = extract(checkpoint, documents(*TEXTS), tmp_path / "exact")
    table = extract(checkpoint, documents(*TEXTS), tmp_path / "t", dtype="bfloat16")
    values, expected = (np.concatenate(values_of(t, "increment")) for t in (table, exact))
    np.testing.assert_array_equal(values[:, 0], expected[:, 0])  # looked up
    np.testing.assert_allclose(values[:, 1], expected[:, 1], rtol=0.1)
    rounded = torch.from_numpy(values[:, 1]).bfloat16().float().numpy()
    assert (values[:, 1] != rounded).mean() > 0.9


def test_the_share_of_saturated_increments_is_counted_per_column(tmp_path):
    model = tiny_model()
    with torch.no_grad():
        model.position.layers[1][1].fc2.bias.fill_(50.0)
    manifest = extract(TinyCheckpoint(model), documents(ENGLISH), tmp_path / "t").manifest
    assert manifest["signals"]["increment"]["saturated"] == {"L0": 0.0, "L1": 1.0}
    unbounded = tiny_model(max_increment=None)
    manifest = extract(TinyCheckpoint(unbounded), documents(ENGLISH), tmp_path / "u").manifest
    assert manifest["signals"]["increment"]["saturated"] is None


def test_the_folder_of_a_signal_has_a_name_that_any_system_takes(checkpoint, tmp_path):
    own = Signal(
        name="How likely the byte was",
        units="probability",
        sees="token",
        columns=lambda _config: ("value",),
        of_logits=lambda logits, next_ids: logits.softmax(-1).gather(-1, next_ids[..., None]),
    )
    names = (own, "surprisal")
    table = extract(checkpoint, documents(ENGLISH), tmp_path / "t", signals=names)
    (values,), (surprisal,) = (values_of(table, name) for name in table.signals)
    np.testing.assert_allclose(-np.log(values[1:]), surprisal[1:], rtol=1e-4, atol=1e-5)
    assert (tmp_path / "t" / "_ow_likely_the_byte_was" / "part-00000.parquet").is_file()


def test_the_model_is_given_back_as_it_was(tmp_path):
    model = tiny_model().train()
    with pytest.raises(RuntimeError, match="stop"):
        extract(TinyCheckpoint(model), documents(ENGLISH), tmp_path / "t", progress=stop)
    assert model.training
    assert not any(point._forward_hooks for point in model.hook_dict.values())


def stop(_n_done, _n_bytes):
    raise RuntimeError("stop")


def test_progress_goes_up_to_all_bytes(checkpoint, tmp_path):
    heard = []
    extract(
        checkpoint,
        documents(*TEXTS),
        tmp_path / "t",
        batch_tokens=64,
        progress=lambda n_done, n_bytes: heard.append((n_done, n_bytes)),
    )
    n_bytes = sum(map(len, TEXTS))
    assert [done for done, _ in heard] == sorted(done for done, _ in heard)
    assert heard[-1] == (n_bytes, n_bytes)
    assert len(heard) > 5


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"signals": ["delta"]}, InputError, "no signal called 'delta'"),
        ({"signals": []}, InputError, "no signal asked for"),
        ({"dtype": "float16"}, UsageError, "dtype must be float32 or bfloat16"),
        ({"stride": 7}, UsageError, "stride must be 8 to 32"),
        ({"stride": 33}, UsageError, "stride must be 8 to 32"),
    ],
)
def test_what_cannot_be_is_one_line_and_writes_nothing(
    checkpoint, tmp_path, settings, error, message
):
    with pytest.raises(error, match=message) as caught:
        extract(checkpoint, documents(ENGLISH), tmp_path / "t", **settings)
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "t").exists()


def test_no_text_is_an_error_that_writes_nothing(checkpoint, tmp_path):
    for nothing in (documents(), documents(b"", b"")):
        with pytest.raises(InputError, match="extraction: "):
            extract(checkpoint, nothing, tmp_path / "t")
    assert not (tmp_path / "t").exists()
