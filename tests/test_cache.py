from pathlib import Path

import platformdirs

from interp.cache import cache_folder


def test_the_environment_chooses_the_cache_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("INTERP_CACHE", str(tmp_path / "not made"))
    assert cache_folder() == tmp_path / "not made"
    assert not cache_folder().exists()


def test_without_it_or_with_an_empty_one_the_users_cache_folder_is_taken(monkeypatch):
    expected = Path(platformdirs.user_cache_dir("interp"))
    monkeypatch.delenv("INTERP_CACHE", raising=False)
    assert cache_folder() == expected
    monkeypatch.setenv("INTERP_CACHE", "")
    assert cache_folder() == expected


def test_a_relative_folder_is_made_absolute_and_a_home_is_expanded(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("INTERP_CACHE", "here")
    assert cache_folder() == tmp_path / "here"
    monkeypatch.setenv("INTERP_CACHE", "~nobody-of-this-name/there")
    assert cache_folder() == tmp_path / "~nobody-of-this-name" / "there"
    monkeypatch.setenv("INTERP_CACHE", "~/there")
    assert cache_folder() == tmp_path / "home" / "there"
