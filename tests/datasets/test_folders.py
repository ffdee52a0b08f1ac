from pathlib import Path

import pytest

from ilfs.datasets import cache_folder, folders


@pytest.fixture(autouse=True)
def _unnamed(monkeypatch):
    monkeypatch.delenv("ILFS_CACHE")
    monkeypatch.setattr(Path, "home", lambda: Path("/home/anna"))


@pytest.mark.parametrize(
    ("platform", "variables", "expected"),
    [
        ("linux", {}, "/home/anna/.cache/ilfs"),
        ("linux", {"XDG_CACHE_HOME": "/scratch"}, "/scratch/ilfs"),
        ("linux", {"XDG_CACHE_HOME": "not/absolute"}, "/home/anna/.cache/ilfs"),
        ("darwin", {"XDG_CACHE_HOME": "/scratch"}, "/home/anna/Library/Caches/ilfs"),
        ("win32", {}, "/home/anna/AppData/Local/ilfs"),
        ("win32", {"LOCALAPPDATA": "/local"}, "/local/ilfs"),
        ("linux", {"ILFS_CACHE": "/mine"}, "/mine"),
    ],
)
def test_default_cache_folder_of_each_operating_system(monkeypatch, platform, variables, expected):
    for name in ("XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(folders.sys, "platform", platform)
    assert cache_folder() == Path(expected)
