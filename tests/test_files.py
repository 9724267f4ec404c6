import os
import threading

import pytest

from interp.errors import OutputError
from interp.files import (
    is_partial,
    locked,
    make_folder,
    own_file,
    own_folder,
    remove_partial,
    replacing,
)


def test_a_file_appears_whole_and_nothing_is_left_beside_it(tmp_path):
    path = tmp_path / "file"
    path.write_text("old", "utf-8")
    with replacing(path) as beside:
        beside.write_text("new", "utf-8")
        assert path.read_text("utf-8") == "old"
        assert is_partial(beside)
    assert path.read_text("utf-8") == "new"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("error", [OSError, KeyboardInterrupt])
def test_an_error_leaves_the_old_file_alone(tmp_path, error):
    path = tmp_path / "file"
    path.write_text("old", "utf-8")

    def fail() -> None:
        with replacing(path) as beside:
            beside.write_text("half", "utf-8")
            raise error

    with pytest.raises(error):
        fail()
    assert path.read_text("utf-8") == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_writers_of_one_file_do_not_meet(tmp_path):
    path, have_both_begun = tmp_path / "file", threading.Barrier(2, timeout=30)
    names = []

    def write(content: str) -> None:
        with replacing(path) as beside:
            beside.write_text(content, "utf-8")
            names.append(beside)
            have_both_begun.wait()

    writers = [threading.Thread(target=write, args=(content,)) for content in ("one", "two")]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert len(set(names)) == 2
    assert path.read_text("utf-8") in ("one", "two")
    assert list(tmp_path.iterdir()) == [path]


def test_the_longest_name_that_a_folder_takes_can_be_written(tmp_path):
    with replacing(tmp_path / ("n" * 255)) as beside:
        beside.write_text("text", "utf-8")
    assert (tmp_path / ("n" * 255)).is_file()


def test_what_a_kill_left_is_removed_and_nothing_else(tmp_path):
    killed = replacing(tmp_path / "file")
    killed.__enter__().write_text("half", "utf-8")
    (tmp_path / ".hidden").write_text("mine", "utf-8")
    (tmp_path / ".tmpa1B2c3").touch()  # where safetensors was writing
    remove_partial(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == [".hidden"]


def test_a_folder_that_cannot_be_made_is_one_line(tmp_path):
    make_folder(tmp_path / "a" / "b")
    (tmp_path / "file").touch()
    for folder in (tmp_path / "file", tmp_path / "file" / "b"):
        with pytest.raises(OutputError, match="cannot make the folder") as caught:
            make_folder(folder)
        assert "\n" not in str(caught.value)


def test_a_folder_is_kept_for_one_while_it_is_locked(tmp_path):
    out = tmp_path / "not" / "there"
    with locked(out):
        with (
            pytest.raises(OutputError, match="there: another process is writing to it"),
            locked(out),
        ):
            pass
        (out / "mine").write_text("written")
    with locked(out):
        pass
    assert [path.name for path in out.iterdir()] == ["mine"]


def test_a_folder_to_which_nothing_was_written_is_gone_again(tmp_path):
    with pytest.raises(KeyboardInterrupt), locked(tmp_path / "not" / "there"):
        raise KeyboardInterrupt
    assert list(tmp_path.iterdir()) == []


def test_what_a_folder_brought_along_is_no_link_and_no_pipe(tmp_path):
    (tmp_path / "file").touch()
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to("file")
    (tmp_path / "folder-link").symlink_to("folder")
    os.mkfifo(tmp_path / "pipe")
    assert own_file(tmp_path / "file") == tmp_path / "file"
    assert own_folder(tmp_path / "folder") == tmp_path / "folder"
    for name in ("link", "folder-link", "folder", "pipe"):
        with pytest.raises(OSError, match=r"link|no regular file"):
            own_file(tmp_path / name)
    for name in ("link", "folder-link", "file", "pipe"):
        with pytest.raises(OSError, match=r"link|no folder"):
            own_folder(tmp_path / name)
    for own in (own_file, own_folder):
        with pytest.raises(FileNotFoundError):
            own(tmp_path / "absent")
