import os

import pytest

from interp.errors import OutputError
from interp.files import check_writable
from interp.studies.writing import write_text


def test_what_cannot_be_written_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "page.html"
    write_text(path, "old")

    def fail(*_args):
        raise OSError(28, os.strerror(28))

    monkeypatch.setattr("pathlib.Path.write_bytes", fail)
    with pytest.raises(OutputError, match="no space left on device"):
        write_text(path, "new")
    assert path.read_text("utf-8") == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_what_is_no_regular_file_stays_what_it_is(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to("pipe")
    for name in ("pipe", "link"):
        with pytest.raises(OutputError, match="it is no regular file"):
            write_text(tmp_path / name, "text")
    assert (tmp_path / "pipe").is_fifo()
    assert (tmp_path / "link").is_symlink()
    with pytest.raises(OutputError, match="it is no regular file"):
        check_writable(tmp_path / os.devnull)


def test_a_link_stays_and_what_it_leads_to_is_written(tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to("folder/page.html")
    for content in ("first", "second"):
        write_text(tmp_path / "link", content)
        assert (tmp_path / "folder" / "page.html").read_text("utf-8") == content
    assert (tmp_path / "link").is_symlink()


@pytest.mark.parametrize("name", [".", "missing/page.html", "file/page.html", "n" * 300])
def test_a_file_that_has_no_place_is_one_line(tmp_path, name):
    (tmp_path / "file").touch()
    with pytest.raises(OutputError, match="cannot write") as caught:
        check_writable(tmp_path / name)
    assert "\n" not in str(caught.value)
