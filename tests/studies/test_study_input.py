import pytest

from interp.errors import CheckpointError, InputError, UsageError
from interp.extraction.interventions import Intervention
from interp.studies.study_input import MissingCheckpoint, MissingText, StudyInput


@pytest.mark.parametrize("spec", ["text.txt", "=text.txt", "en=", "fr=text.txt", "EN=text.txt"])
def test_a_corpus_that_does_not_say_its_language_is_refused(tmp_path, spec):
    with pytest.raises(UsageError, match="does not say which language") as refused:
        StudyInput(tmp_path, (spec,))
    ways = [f"--corpus {prefix}=SPEC" for prefix in ("en", "zh", "python", "characters")]
    assert refused.value.hint == f"Write {' or '.join(ways)}."


def test_a_missing_checkpoint_is_named(study_checkpoints):
    given = StudyInput(study_checkpoints, ())
    assert given.has_checkpoint("en-zh-shared")
    assert not given.has_checkpoint("en-zh-other")
    with pytest.raises(MissingCheckpoint, match="there is no checkpoint en-zh-other in"):
        given.checkpoint("en-zh-other")


def test_a_damaged_checkpoint_is_not_a_missing_one(tmp_path):
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "config.json").write_text("{", "utf-8")
    with pytest.raises(CheckpointError) as refused:
        StudyInput(tmp_path, ()).checkpoint("broken")
    assert not isinstance(refused.value, MissingCheckpoint)


def test_a_missing_language_is_named(study_checkpoints, study_corpus):
    given = StudyInput(study_checkpoints, study_corpus[:1])
    with pytest.raises(MissingText, match="there is no Chinese text") as refused:
        given.text("zh")
    assert refused.value.hint == "Give held-out text with --corpus zh=SPEC."


def test_a_file_that_is_not_there_is_said_to_be_missing(study_checkpoints):
    with pytest.raises(InputError, match=r"study: nofile\.parquet: no such file"):
        StudyInput(study_checkpoints, ("en=nofile.parquet",)).text("en")


def test_standard_input_cannot_be_read_again(study_checkpoints):
    given = StudyInput(study_checkpoints, ("en=-",))
    with pytest.raises(InputError, match="standard input is no file that can be read again"):
        given.text("en")


@pytest.mark.usefixtures("cache")
def test_each_language_is_read_apart_and_once(study_checkpoints, study_corpus):
    stages = []
    progress = lambda name, _n_done, _n_all: stages.append(name)  # noqa: E731
    with StudyInput(study_checkpoints, study_corpus, progress=progress) as given:
        checkpoint = given.checkpoint("en-zh-per-layer")
        english = given.extraction(checkpoint, "en")
        chinese = given.extraction(checkpoint, "zh", ("increment", "surprisal"), stride=64)
        n_stages = len(stages)
        assert given.extraction(checkpoint, "en") is english
        assert len(stages) == n_stages
        assert len(english.documents) == sum(1 for _ in given.documents("en"))
        assert (english.manifest["stride"], chinese.manifest["stride"]) == (32, 64)
        assert chinese.signals == ("increment", "surprisal")
        changed = given.extraction(checkpoint, "en", intervention=Intervention("one"))
        assert changed.manifest["intervention"]["kind"] == "one"
    assert list(given.used_texts) == ["en", "zh"]
    assert set(stages) == {"en-zh-per-layer on English", "en-zh-per-layer on Chinese"}


def test_a_second_study_finds_what_the_first_one_read(study_checkpoints, study_corpus, cache):
    def folder():
        with StudyInput(study_checkpoints, study_corpus) as given:
            table = given.extraction(given.checkpoint("en-zh-shared"), "en")
            return table.folder, (table.folder / "manifest.json").stat().st_mtime_ns

    first = folder()
    assert first == folder()
    assert cache in first[0].parents


@pytest.mark.usefixtures("cache")
def test_a_limit_holds_for_each_corpus(study_checkpoints, study_corpus):
    given = StudyInput(study_checkpoints, study_corpus, limit_bytes=2_000)
    for language in ("en", "zh"):
        sizes = [len(document.content) for document in given.documents(language)]
        assert 0 < sum(sizes) <= 2_000
