import pytest

from interp.extraction.increment_table import IncrementTable


@pytest.fixture
def text(tmp_path):
    path = tmp_path / "texts.jsonl"
    path.write_text(
        '{"text": "Some words,"}\n{"text": "and more"}\n{"text": "人工智能。"}\n', "utf-8"
    )
    return str(path)


def extract_shards(interp, tiny, text, count):
    for index in range(count):
        shard = ("--shard", f"{index}/{count}")
        done = interp("extract", "--ckpt", tiny, "--out", f"shard-{index}", *shard, text)
        assert done.status == 0
        assert f"shard {index}/{count}: " in done.err
    return [f"shard-{index}" for index in range(count)]


def test_merged_shards_say_and_hold_what_one_run_does(interp, tiny, text):
    shards = extract_shards(interp, tiny, text, 2)
    merged = interp("merge", *shards, "--out", "merged", "--csv")
    one_run = interp("extract", "--ckpt", tiny, "--out", "whole", "--csv", text)
    assert merged.status == 0
    assert merged.out == one_run.out
    assert merged.err == "increment: merged (3 texts, 34 bytes)\n"
    table = IncrementTable.open("merged")
    assert [d.content.decode() for d in table.read_documents()] == [
        "Some words,", "and more", "人工智能。"
    ]  # fmt: skip
    for command in ("byte-classes", "word-boundary-auc"):
        assert interp(command, "--increments", "merged", "--csv").status == 0
        assert interp(command, "--increments", shards[0], "--csv").status == 0
    kept = interp("extract", "--ckpt", tiny, "--out", "merged", "--csv", text)
    assert (kept.status, kept.out) == (0, one_run.out)


@pytest.mark.parametrize("shard", ["3/2", "-1/2", "a/b", "0/0", "1"])
def test_a_shard_that_cannot_be_is_one_line_and_status_2(interp, tiny, text, shard):
    done = interp("extract", "--ckpt", tiny, "--out", "kept", f"--shard={shard}", text)
    assert done.status == 2
    assert done.out == ""
    (line,) = done.err.splitlines()
    assert line.startswith("interp: extraction: shard must be I/N")


def test_more_shards_than_documents_are_one_line(interp, tiny, text, tmp_path):
    done = interp("extract", "--ckpt", tiny, "--out", "kept", "--shard", "3/4", text)
    assert done.status == 1
    assert "4 shards of a text of 3 documents: some would have none" in done.err
    assert not (tmp_path / "kept").exists()


def test_a_missing_shard_is_named(interp, tiny, text, tmp_path):
    shards = extract_shards(interp, tiny, text, 3)
    done = interp("merge", shards[2], shards[0], "--out", "merged")
    assert done.status == 1
    assert done.err.splitlines()[0] == "interp: merge: of 3 shards, 1/3 is missing"
    assert not (tmp_path / "merged").exists()


@pytest.mark.parametrize(
    ("arguments", "status"),
    [(("--out", "x"), 2), (("shard",), 2), (("nowhere", "--out", "x"), 1)],
)
def test_what_cannot_be_merged_is_one_line_and_a_hint(interp, arguments, status):
    done = interp("merge", *arguments)
    assert done.status == status
    assert len(done.err.splitlines()) == 2


def test_a_quiet_merge_says_nothing_on_standard_error(interp, tiny, text):
    shards = extract_shards(interp, tiny, text, 2)
    assert interp("merge", "-q", *shards, "--out", "merged").err == ""
