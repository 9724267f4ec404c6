import dataclasses
import hashlib
import os
import re
from pathlib import Path

import pandas as pd
import pytest
from markdown_it import MarkdownIt

from interp import tables
from interp.corpus.sources import TextInput
from interp.reports.page import Section
from interp.reports.verdicts import Verdict
from interp.studies import text_files
from interp.studies.publishing import NOT_COMPARABLE, run_study
from interp.studies.registry import STUDIES
from interp.studies.study import Finding, Study
from interp.studies.study_input import MissingText, StudyInput
from interp.studies.text_files import text_record

ROOT = Path(__file__).parent.parent.parent

pytestmark = pytest.mark.usefixtures("cache")


def test_no_html_begins_in_the_readme(study_checkpoints, study_corpus, tmp_path):
    def with_tags(given: StudyInput) -> Finding:
        found = find(given)
        verdicts = [Verdict("a < b", "", "<b>", "<i>")]
        return dataclasses.replace(found, verdicts=verdicts, warnings=["<script>alert(1)</script>"])

    study = Study("so", "So or not", "Whether it is so.", with_tags)
    about = run_study(study, StudyInput(study_checkpoints, study_corpus), tmp_path)[1]
    rendered = MarkdownIt("commonmark").render(about.read_text("utf-8"))
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in rendered
    for shown in ("a &lt; b", "&lt;b&gt;", "&lt;i&gt;"):
        assert shown in rendered
    assert "<script" not in rendered


def find(given: StudyInput) -> Finding:
    increments = given.extraction(given.checkpoint("en-zh-shared"), "en")
    n_bytes = int(increments.documents["n_bytes"].sum())
    row = {"checkpoint": "en-zh-shared", "statistic": "size", "value": n_bytes, "group": "a <b>"}
    return Finding(
        question="Is it <so>?",
        verdicts=[Verdict("It is | so.", "0.97", "0.5", "Undecided: too few.")],
        tables={"sizes": tables.analysis_table([row])},
        sections=[Section("How", ["In words."])],
        limits=["It cannot show that."],
    )


STUDY = Study("so", "So or not", "Whether it is so.", find)


def test_a_study_leaves_its_tables_how_they_were_made_and_its_page(
    study_checkpoints, study_corpus, tmp_path
):
    heard = []
    given = StudyInput(study_checkpoints, study_corpus, warn=heard.append)
    written = run_study(STUDY, given, tmp_path)
    assert [path.relative_to(tmp_path).as_posix() for path in written] == [
        "analyses/so/sizes.csv",
        "analyses/so/README.md",
        "reports/so.html",
        "reports/index.html",
    ]
    about, page, index = (path.read_text("utf-8") for path in written[1:])
    assert 'href="so.html"' in index
    assert STUDY.sentence in index
    weights = hashlib.sha256(
        (study_checkpoints / "en-zh-shared" / "model.safetensors").read_bytes()
    ).hexdigest()
    english = Path(study_corpus[0].removeprefix("en="))
    n_rows = len(pd.read_parquet(english))
    digest = hashlib.sha256(english.read_bytes()).hexdigest()
    assert f"| en-zh-shared | not known | `{weights}` |" in about
    size = f"{english.stat().st_size:,}"
    assert f"| heldout.parquet | English | {size} | {n_rows} | `{digest}` |" in about
    assert "Chinese" not in about  # it was given, but not asked for
    found = "- It is \\| so. Published: 0.97. Here: 0.5. **Undecided: too few.**"
    assert found in about
    assert "torch" in about
    for words in (
        "Is it &lt;so&gt;?",
        "It is | so.",
        "Undecided: too few.",
        "It cannot show that.",
    ):
        assert words in page
    not_held_out = f"{n_rows} texts not known to be held out from the training of en-zh-shared"
    assert heard == [f"so: {NOT_COMPARABLE}", f"so: {not_held_out}"]
    for words in (NOT_COMPARABLE, not_held_out):
        assert words in page
        assert f"\nNote: {words}\n" in about


def test_verdicts_that_rest_on_few_texts_are_unreliable(study_checkpoints, study_corpus, tmp_path):
    def with_an_interval(given: StudyInput) -> Finding:
        found = find(given)
        found.tables["sizes"].loc[0, ["low", "high"]] = [0.0, 1e6]
        return found

    heard = []
    study = Study("so", "So or not", "Whether it is so.", with_an_interval)
    given = StudyInput(study_checkpoints, study_corpus, limit_bytes=5000, warn=heard.append)
    _, readme, page, _ = run_study(study, given, tmp_path)
    (n_texts,) = {len(table.documents) for table in given.used_tables.values()}
    assert 1 < n_texts < 20
    (few,) = [words.removeprefix("so: ") for words in heard if "unreliable" in words]
    assert few.startswith(f"English: intervals over {n_texts} texts. Below 20 they are unreliable")
    assert few in page.read_text("utf-8")
    assert f"\nNote: {few}\n" in readme.read_text("utf-8")


def test_tables_of_a_run_that_found_more_go_and_other_files_stay(
    study_checkpoints, study_corpus, tmp_path
):
    folder = tmp_path / "analyses/so"
    folder.mkdir(parents=True)
    (folder / "old.csv").write_text(tables.to_csv(tables.analysis_table([])), "utf-8")
    (folder / "mine.csv").write_text("a,b\n1,2\n", "utf-8")
    others = {"folder.csv", "gone.csv", "mine.csv", "pipe.csv", "zero.csv"}
    (folder / "folder.csv").mkdir()
    (folder / "gone.csv").symlink_to("nowhere")
    (folder / "zero.csv").symlink_to("/dev/zero")
    os.mkfifo(folder / "pipe.csv")
    (tmp_path / "elsewhere").write_text("mine", "utf-8")
    (folder / "sizes.csv").symlink_to(tmp_path / "elsewhere")
    run_study(STUDY, StudyInput(study_checkpoints, study_corpus), tmp_path)
    assert {path.name for path in folder.glob("*.csv")} == {"sizes.csv", *others}
    assert not (folder / "sizes.csv").is_symlink()
    assert (tmp_path / "elsewhere").read_text("utf-8") == "mine"


@pytest.mark.parametrize("study", [each for each in STUDIES.values() if each.texts])
def test_missing_text_is_said_before_any_model_is_looked_for(study, tmp_path):
    with pytest.raises(MissingText) as refused:
        run_study(study, StudyInput(tmp_path / "no-models", ()), tmp_path / "out")
    assert f"--corpus {study.texts[0]}=" in refused.value.hint


def test_the_command_says_nothing_of_where_the_text_and_the_models_lie(
    study_checkpoints, study_corpus, tmp_path
):
    given = StudyInput(study_checkpoints, study_corpus, limit_bytes=3000)
    about = run_study(STUDY, given, tmp_path)[1].read_text("utf-8")
    assert (
        "    interp study so --checkpoints $CHECKPOINTS --corpus en=$TEXT/heldout.parquet "
        "--limit 3000 --out $OUT\n"
    ) in about
    assert str(tmp_path.parent) not in about


def test_relative_folders_stand_in_the_command(
    study_checkpoints, study_corpus, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    Path("models").symlink_to(study_checkpoints)
    about = run_study(STUDY, StudyInput(Path("models"), study_corpus), "made")[1].read_text("utf-8")
    assert "--checkpoints models --corpus en=$TEXT/heldout.parquet --out made\n" in about


def test_a_treebank_is_recorded_where_it_was_read(study_checkpoints, study_corpus, tmp_path):
    blank = "\t_" * 7
    lines = ["# text = 你好", f"1\t你{blank}\tSpaceAfter=No", f"2\t好{blank}\t_", "", ""]
    (tmp_path / "people.conllu").write_text("\n".join(lines), "utf-8")

    def with_people(given: StudyInput) -> Finding:
        assert len(given.treebanks()) == 1
        return find(given)

    given = StudyInput(
        study_checkpoints, study_corpus, references=(f"ud:{tmp_path / 'people.conllu'}",)
    )
    study = Study("so", "So or not", "Whether it is so.", with_people)
    about = run_study(study, given, tmp_path)[1].read_text("utf-8")
    assert "--reference ud:$TREEBANKS/people.conllu --out" in about
    assert "| people | words marked by people | | 1 |" in about

    def of_people_alone(given: StudyInput) -> Finding:
        given.treebanks()
        row = {"statistic": "size", "value": 1}
        return Finding("Q?", [], {"sizes": tables.analysis_table([row])}, [], [])

    given = StudyInput(study_checkpoints, (), references=given.references)
    study = Study("people", "People", "Of people.", of_people_alone)
    alone = run_study(study, given, tmp_path)[1].read_text("utf-8")
    assert "the licences are those that Universal Dependencies gives" in alone
    assert "MIT" not in alone
    assert str(tmp_path) not in about


def test_texts_of_two_folders_are_named_from_the_one_above_them(study_corpus):
    specs = dict(spec.split("=") for spec in study_corpus)
    texts = {language: TextInput(corpora=(spec,)) for language, spec in specs.items()}
    record = text_record(texts)
    assert record.arguments == (
        "--corpus en=$TEXT/en/heldout.parquet --corpus zh=$TEXT/zh/heldout.parquet"
    )
    assert [file.name for file in record.files] == ["en/heldout.parquet", "zh/heldout.parquet"]
    assert not record.is_recorded


def test_a_glob_is_recorded_file_by_file(tmp_path):
    for name in ("b.txt", "a.txt"):
        (tmp_path / name).write_text(name, "utf-8")
    record = text_record({"en": TextInput(corpora=(f"{tmp_path}/*.txt",))})
    assert record.arguments == "--corpus en=$TEXT/*.txt"
    assert [(file.name, file.n_bytes, file.n_rows) for file in record.files] == [
        ("a.txt", 5, 1),
        ("b.txt", 5, 1),
    ]


@pytest.mark.parametrize(("limit", "is_recorded"), [(None, True), (10**9, False)])
def test_numbers_compare_on_the_whole_recorded_text_alone(
    study_corpus, monkeypatch, limit, is_recorded
):
    path = study_corpus[0].removeprefix("en=")
    digest = hashlib.sha256(Path(path).read_bytes()).hexdigest()
    monkeypatch.setattr(text_files, "RECORDED", {digest: "en", "0" * 64: "zh"})
    one = TextInput(corpora=(path,), limit_bytes=limit)
    assert text_record({"en": one}).is_recorded == is_recorded
    assert not text_record({"zh": one}).is_recorded
    monkeypatch.setattr(text_files, "RECORDED", {digest: "zh"})  # in the other language
    assert not text_record({"en": one, "zh": one}).is_recorded
    twice = TextInput(corpora=(path, path))
    assert not text_record({"en": twice}).is_recorded


def test_the_guide_names_the_recorded_files():
    guide = (ROOT / "docs" / "text.md").read_text("utf-8")
    assert set(re.findall(r"\b[0-9a-f]{64}\b", guide)) == set(text_files.RECORDED)
