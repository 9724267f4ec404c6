import pytest
from corpus_inputs import write_lines

from interp.corpus.documents import Document
from interp.corpus.sources import TextInput, corpus_fingerprint, documents_from_corpus
from interp.errors import InputError, UsageError


def test_a_limit_takes_whole_documents(tmp_path):
    path = str(write_lines(tmp_path / "a.jsonl", *[{"text": "1234"}] * 5))
    for limit_bytes, n_documents in [(1, 1), (4, 1), (7, 1), (8, 2), (19, 4), (20, 5), (99, 5)]:
        assert len(list(documents_from_corpus(path, limit_bytes=limit_bytes))) == n_documents


def test_a_limit_reads_no_further_than_it_must(tmp_path):
    path = write_lines(tmp_path / "a.jsonl", {"text": "1234"}, "broken")
    assert len(list(documents_from_corpus(str(path), limit_bytes=4))) == 1


class FakeHub:
    """Stands in for the Hub: what it was asked, and rows that count how many were taken."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, texts: list[object]) -> None:
        import datasets
        import huggingface_hub

        self.texts, self.n_taken, self.calls = texts, 0, []
        monkeypatch.setattr(datasets, "load_dataset", self.load_dataset)
        monkeypatch.setattr(huggingface_hub, "HfApi", lambda: self)

    def dataset_info(self, repo: str, *, timeout: float) -> "FakeHub":
        assert timeout
        self.repo = repo
        return self

    sha = "c0ffee"

    def load_dataset(self, *args: object, **kwargs: object):
        self.calls.append((args, kwargs))
        for text in self.texts:
            if isinstance(text, Exception):
                raise text
            self.n_taken += 1
            yield {"id": "9", "url": "u", "title": "t", "text": text}


def test_a_data_set_is_streamed_at_its_revision_until_the_limit(monkeypatch):
    hub = FakeHub(monkeypatch, ["汉", None, "字", "never read"])
    address = "hub:wikimedia/wikipedia/20231101.zh"
    documents = list(documents_from_corpus(address, limit_bytes=6))
    assert documents == [Document(address, "9", c.encode()) for c in "汉字"]
    options = {"split": "train", "streaming": True, "revision": "c0ffee"}
    assert hub.calls == [(("wikimedia/wikipedia", "20231101.zh"), options)]
    assert hub.n_taken == 3


def test_a_data_set_may_have_no_config(monkeypatch):
    hub = FakeHub(monkeypatch, ["a"])
    list(documents_from_corpus("hub:owner/name", limit_bytes=6))
    assert hub.calls[0][0] == ("owner/name", None)


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (ConnectionError("Couldn't reach it\nsecond line"), "Couldn't reach it"),
        (ValueError("Config name is missing.\nPick one of: ['zh']"), "Pick one of: ['zh']"),
    ],
)
def test_what_fails_on_the_hub_is_one_clear_line(error, words, monkeypatch):
    FakeHub(monkeypatch, ["a", error])
    with pytest.raises(InputError, match="hub:owner/name") as caught:
        list(documents_from_corpus("hub:owner/name", limit_bytes=100))
    assert words in str(caught.value)
    assert len(str(caught.value).splitlines()) == 1
    assert caught.value.hint


def test_without_a_network_the_hub_is_one_clear_line(monkeypatch):
    hub = FakeHub(monkeypatch, ["a"])

    def refuse(*_args: object, **_kwargs: object) -> None:
        raise OSError(-2, "Name or service not known")

    monkeypatch.setattr(hub, "dataset_info", refuse)
    with pytest.raises(InputError, match="Name or service not known") as caught:
        list(documents_from_corpus("hub:owner/name", limit_bytes=100))
    assert "network" in caught.value.hint
    assert not hub.calls


@pytest.mark.parametrize("spec", ["hub:", "hub:name", "hub:a/b/c/d", "hub:a/b c", "hub:a\n/b"])
def test_a_wrong_address_is_a_usage_error(spec):
    with pytest.raises(UsageError, match="not the address"):
        TextInput(corpora=(spec,), limit_bytes=9)


def test_the_hub_needs_a_limit():
    with pytest.raises(UsageError, match="needs a limit"):
        TextInput(corpora=("hub:owner/name",))
    with pytest.raises(UsageError, match="needs a limit"):
        list(documents_from_corpus("hub:owner/name"))


def test_a_fingerprint_of_the_hub_follows_its_revision(monkeypatch):
    hub = FakeHub(monkeypatch, [])
    before = corpus_fingerprint([], ["hub:owner/name"], 10)
    assert before == corpus_fingerprint([], ["hub:owner/name"], 10)
    hub.sha = "decaf"
    assert before != corpus_fingerprint([], ["hub:owner/name"], 10)


def test_an_input_reads_one_revision_of_a_data_set(monkeypatch):
    hub = FakeHub(monkeypatch, ["a"])
    text = TextInput(corpora=("hub:owner/name",), limit_bytes=10)
    before = text.fingerprint()
    hub.sha = "decaf"
    list(text.documents())
    assert hub.calls[0][1]["revision"] == "c0ffee"
    assert text.fingerprint() == before
    assert TextInput(corpora=("hub:owner/name",), limit_bytes=10).fingerprint() != before
