"""Keep these tests from finding the user's files or using the network, unless a test allows it."""

import pytest


@pytest.fixture(autouse=True)
def alone(tmp_path, monkeypatch):
    monkeypatch.delenv("ILFS_DATA", raising=False)
    monkeypatch.delenv("ILFS_MIRROR", raising=False)
    monkeypatch.setenv("ILFS_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("ILFS_OFFLINE", "1")
