import errno
import io
import os
import shutil
import tarfile
import zipfile

import pytest

from ilfs.datasets.limits import ReadLimits
from ilfs.datasets.unpacking import unpack

MEMBERS = {"spls/data/a.RData": b"first", "spls/R/a.RData": b"second", "../../outside.txt": b"third"}


def tarred(path):
    with tarfile.open(path, "w:gz") as archive:
        for name, content in MEMBERS.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
        link = tarfile.TarInfo("spls/link.txt")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        archive.addfile(link)


def zipped(path):
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("spls/", "")
        for name, content in MEMBERS.items():
            archive.writestr(name, content)


@pytest.fixture(params=[tarred, zipped])
def archive(request, tmp_path):
    path = tmp_path / "archive"
    request.param(path)
    (tmp_path / "deep" / "into").mkdir(parents=True)
    return path, tmp_path / "deep" / "into"


def test_files_are_extracted_without_their_folders(archive, tmp_path):
    path, folder = archive
    found = unpack(path, folder)
    assert {name: one.read_bytes() for name, one in found.items()} == MEMBERS
    assert {one.parent for one in found.values()} == {folder}  # no path leads out of the folder
    assert not list(tmp_path.glob("outside.txt"))


def test_only_wanted_files_are_extracted(archive):
    path, folder = archive
    found = unpack(path, folder, lambda name: name == "spls/data/a.RData")
    assert [one.read_bytes() for one in found.values()] == [b"first"]
    assert len(list(folder.iterdir())) == 1


def test_damaged_archives_are_refused(archive):
    path, folder = archive
    content = path.read_bytes()
    for damaged in (content[: len(content) // 2], b"", b"no archive"):
        path.write_bytes(damaged)
        with pytest.raises(ValueError, match="archive must be a complete zip or tar archive: "):
            unpack(path, folder)


def test_an_archive_may_not_fill_the_disk(archive, monkeypatch):
    path, folder = archive
    monkeypatch.setattr("ilfs.datasets.unpacking.DEFAULT_LIMITS", ReadLimits(max_bytes=10, max_expansion=0.001))
    with pytest.raises(ValueError, match="archive must hold at most 10 bytes, got more"):
        unpack(path, folder)


def test_a_full_disk_is_not_a_damaged_archive(archive, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    path, folder = archive
    monkeypatch.setattr(shutil, "copyfileobj", full)
    with pytest.raises(
        OSError, match=r"into' cannot be written \(No space left on device\): free some space"
    ) as caught:
        unpack(path, folder)
    assert caught.value.errno == errno.ENOSPC
