import os
from dataclasses import replace

import pytest
from small_runs import config
from two_corpora import recipe_of_two

from interp.corpus.hub import HubCorpus
from interp.corpus.rows import Row
from interp.errors import InputError, RecipeError
from interp.training import train
from interp.training.recipe import CorpusRecipe
from interp.training.text import read_text


class FakeHub:
    """Stands in for a data set on the Hub; counts how often it is streamed."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.sha, self.n_streamed, self.n_asked = "c0ffee", 0, 0
        monkeypatch.setattr(HubCorpus, "revision", lambda _: self.revision())
        monkeypatch.setattr(HubCorpus, "rows", lambda _, revision: self.rows(revision))

    def revision(self) -> str:
        self.n_asked += 1
        return self.sha

    def rows(self, revision: str):
        self.n_streamed += 1
        for number in range(60):
            yield Row(f"row {number} at {revision}, and some more text".encode(), str(number))


HUB = {"en": {"train": ["hub:owner/name"], "limit_bytes": 10_000}}


@pytest.fixture(autouse=True)
def _own_cache(monkeypatch, tmp_path):
    monkeypatch.setenv("INTERP_CACHE", str(tmp_path / "cache"))


def test_a_run_goes_on_at_its_recorded_revision_of_a_data_set(monkeypatch, tmp_path):
    hub = FakeHub(monkeypatch)
    recipe = recipe_of_two(tmp_path, corpora=HUB)
    train(recipe, tmp_path / "run")
    recorded = config(tmp_path / "run")
    assert recorded["revisions"] == {"owner/name": "c0ffee"}
    hub.sha = "decaf"
    longer = recipe_of_two(tmp_path, corpora=HUB, optimization__steps=8)
    result = train(longer, tmp_path / "run")
    assert result.step == 8
    assert (
        config(tmp_path / "run")["corpora"]["en"]["fingerprint"]
        == (recorded["corpora"]["en"]["fingerprint"])
    )
    text = read_text(recipe, revisions=recorded["revisions"])
    assert all(b"at c0ffee" in content for content in text.held_out["en"]())
    loss = config(tmp_path / "run")["held_out_loss"]["en"]
    assert loss["n_bytes"] == sum(map(len, text.held_out["en"]()))
    assert hub.n_asked == 1


def test_a_run_whose_cache_is_gone_reads_its_revision_again(monkeypatch, tmp_path):
    hub = FakeHub(monkeypatch)
    train(recipe_of_two(tmp_path, corpora=HUB), tmp_path / "run")
    hub.sha = "decaf"
    monkeypatch.setenv("INTERP_CACHE", str(tmp_path / "other"))
    train(recipe_of_two(tmp_path, corpora=HUB, optimization__steps=8), tmp_path / "run")
    assert config(tmp_path / "run")["step"] == 8


def test_held_out_text_that_changes_during_a_run_is_said_at_its_end(tmp_path):
    recipe = recipe_of_two(tmp_path)
    given = tmp_path / "given.jsonl"
    given.write_text('{"text": "held out"}\n{"text": "as well"}\n', "utf-8")
    corpora = {"en": {"train": [str(tmp_path / "en.jsonl")], "held_out": [str(given)]}}
    for changed, words in (
        ({"corpora": corpora, "held_out_fraction": 0.0}, "text of corpus en has changed"),
        ({"held_out_last": 0.2, "held_out_fraction": 0.0}, "no held-out text of corpus en is left"),
    ):
        recipe, before = recipe_of_two(tmp_path, **changed), given.read_bytes()
        out = tmp_path / words.replace(" ", "-")

        def change(at, place=given if "corpora" in changed else tmp_path / "en.jsonl") -> None:
            if at.step == at.n_steps:
                place.write_text('{"text": "something else than before"}\n', "utf-8")

        with pytest.raises(InputError, match=words):
            train(recipe, out, progress=change)
        given.write_bytes(before)
        recipe_of_two(tmp_path)  # writes the text again
        assert train(recipe, out).step == 6


def test_held_out_documents_are_streamed_once_for_the_run_and_once_at_its_end(
    monkeypatch, tmp_path
):
    hub = FakeHub(monkeypatch)
    train(recipe_of_two(tmp_path, corpora=HUB, optimization__steps=12), tmp_path / "run")
    assert hub.n_streamed == 3  # to pack, for the subset, for the final loss
    assert hub.n_asked == 1


def test_the_subset_is_the_first_held_out_documents(tmp_path):
    text = read_text(recipe_of_two(tmp_path, keeping__held_out_bytes=60))
    for name, documents in text.subset.items():
        everything = list(text.held_out[name]())
        assert documents == everything[: len(documents)]
        assert len(documents) < len(everything)
        assert sum(map(len, documents)) <= 60 or len(documents) == 1


def test_a_pipe_is_refused_because_a_run_reads_its_text_again(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for part in ("train", "held_out"):
        corpora = {"en": {"train": [str(tmp_path / "en.jsonl")], part: [str(tmp_path / "pipe")]}}
        recipe = recipe_of_two(tmp_path, corpora=corpora)
        with pytest.raises(InputError, match="pipe"):
            read_text(recipe)


@pytest.mark.parametrize(
    ("corpus", "words"),
    [
        ({"train": ["-"]}, "standard input"),
        ({"train": ["a.txt"], "held_out": ["-"]}, "standard input"),
        ({"train": ["hub:owner/name"]}, "corpora.en: .*limit_bytes"),
        ({"train": ["a.txt"], "held_out": ["hub:owner/name"]}, "limit_bytes"),
        ({"train": ["a.txt"], "limit_bytes": 0}, "limit_bytes"),
    ],
)
def test_a_corpus_that_cannot_be_read_again_or_at_all_is_no_recipe(corpus, words, tmp_path):
    with pytest.raises(RecipeError, match=words):
        recipe_of_two(tmp_path, corpora={"en": corpus})


@pytest.mark.parametrize("step", [0, -1, 7])
def test_steps_to_keep_are_steps_of_the_run(step, tmp_path):
    with pytest.raises(RecipeError, match="keep_steps"):
        recipe_of_two(tmp_path, optimization__steps=6, keeping__keep_steps=[3, step])


@pytest.mark.parametrize(
    "changed",
    [
        {"name": "two\nlines"},
        {"seed": -1},
        {"corpora": {}},
        {"corpora": {"en": CorpusRecipe(("a.txt",))}, "held_out_fraction": 0.0},
        {"autocast": "float16"},
        {"held_out_fraction": 1.0},
    ],
)
def test_a_recipe_made_in_python_is_checked_too(changed, tmp_path):
    recipe = recipe_of_two(tmp_path)
    with pytest.raises(ValueError):  # noqa: PT011  (each has words of its own)
        replace(recipe, **changed)
