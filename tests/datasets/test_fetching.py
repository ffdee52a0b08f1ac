import errno
import hashlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from platforms import needs_posix
from server import CONTENT, serving

from ilfs.datasets.fetching import fetch
from ilfs.files import write_atomically

RIGHT = {"sha256": hashlib.sha256(CONTENT).hexdigest(), "size": len(CONTENT)}


@pytest.fixture(scope="module")
def running():
    with serving() as server:
        yield server


@pytest.fixture
def server(running):
    running.asked.clear()
    return running


def fetched(path, server, *behaviours, **options):
    fetch(path, [f"{server.address}/{behaviour}/toy.npz" for behaviour in behaviours], **RIGHT | options)


def visible(folder):
    return {path.name for path in folder.iterdir() if path.suffix != ".lock"}


def test_a_download_is_complete_and_reports_its_progress(tmp_path, server):
    reports = []
    fetched(tmp_path / "new" / "toy.npz", server, "good", progress=lambda done, total: reports.append((done, total)))
    assert (tmp_path / "new" / "toy.npz").read_bytes() == CONTENT
    assert visible(tmp_path / "new") == {"toy.npz"}
    assert reports == sorted(reports)
    assert reports[-1] == (len(CONTENT), len(CONTENT))


def test_a_file_with_the_right_checksum_is_not_downloaded(tmp_path, server):
    (tmp_path / "toy.npz").write_bytes(CONTENT)
    fetched(tmp_path / "toy.npz", server, "good")
    assert not server.asked


def test_a_file_with_a_wrong_checksum_is_replaced(tmp_path, server):
    (tmp_path / "toy.npz").write_bytes(CONTENT[:50])
    fetched(tmp_path / "toy.npz", server, "good")
    assert (tmp_path / "toy.npz").read_bytes() == CONTENT


@pytest.mark.parametrize(
    ("behaviour", "reason"),
    [
        ("truncated", "ended after 100000 of 256000 bytes"),
        ("short", "ended after 255999 of 256000 bytes"),
        ("long", "more than the 256000 bytes"),
        ("wrong", "its SHA-256 must be .*, got"),
        ("missing", "HTTP Error 404"),
        ("broken", "HTTP Error 500"),
        ("stalled", "no answer within 0.3 seconds"),
    ],
)
def test_the_error_names_a_bad_mirror_and_no_file_is_left(tmp_path, server, behaviour, reason):
    with pytest.raises(OSError, match=rf"toy\.npz could not be downloaded \(http://.*{reason}.*\)"):
        fetched(tmp_path / "toy.npz", server, behaviour, timeout=0.3)
    assert visible(tmp_path) == set()


def test_the_next_mirror_is_tried(tmp_path, server):
    fetched(tmp_path / "toy.npz", server, "missing", "wrong", "good", "broken")
    assert (tmp_path / "toy.npz").read_bytes() == CONTENT
    assert server.asked == {"missing": 1, "wrong": 1, "good": 1}


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("http://127.0.0.1:9/toy.npz", "refused"),
        ("file:///etc/hostname", "must start with http"),
        ("http://", "no host given"),
    ],
)
def test_an_unreachable_address_is_named(tmp_path, url, reason):
    with pytest.raises(OSError, match=reason):
        fetch(tmp_path / "toy.npz", [url], **RIGHT)


FETCH = """
import sys
from pathlib import Path
from ilfs.datasets.fetching import fetch
fetch(Path(sys.argv[1]), [sys.argv[2]], sha256=sys.argv[3], size=int(sys.argv[4]), timeout=20)
"""


def start_fetch(path, url):
    return subprocess.Popen([sys.executable, "-c", FETCH, str(path), url, RIGHT["sha256"], str(RIGHT["size"])])


def test_two_processes_at_once_download_once(tmp_path, server):
    both = [start_fetch(tmp_path / "toy.npz", f"{server.address}/slow/toy.npz") for _ in range(2)]
    assert [process.wait(30) for process in both] == [0, 0]
    assert server.asked["slow"] == 1
    assert visible(tmp_path) == {"toy.npz"}


@needs_posix
def test_a_killed_download_leaves_no_file_and_the_next_succeeds(tmp_path, server):
    path = tmp_path / "toy.npz"
    process = start_fetch(path, f"{server.address}/stalled/toy.npz")
    while not any(part.stat().st_size for part in tmp_path.glob(".toy.npz.*.part")):
        assert process.poll() is None
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert [path.suffix for path in tmp_path.iterdir() if path.name in visible(tmp_path)] == [".part"]
    fetched(path, server, "good")
    assert path.read_bytes() == CONTENT
    assert visible(tmp_path) == {"toy.npz"}


def test_a_full_disk_ends_the_download_without_another_mirror(tmp_path, server, monkeypatch):
    def full(descriptor):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match=r"toy\.npz' cannot be written \(No space left on device\): ") as caught:
        fetched(tmp_path / "toy.npz", server, "good", "good")
    assert caught.value.errno == errno.ENOSPC
    assert server.asked["good"] == 1  # another mirror would not help
    assert visible(tmp_path) == set()


def test_a_folder_without_write_permission_is_an_error(tmp_path, server, monkeypatch):
    def refuse(self, *args, **kwargs):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(self))

    monkeypatch.setattr(Path, "open", refuse)  # simulated, because the superuser may write anywhere
    with pytest.raises(PermissionError, match=r"toy\.npz' cannot be written \(Permission denied\)"):
        fetched(tmp_path / "toy.npz", server, "good")


def test_a_folder_that_is_a_file_is_an_error(tmp_path, server):
    (tmp_path / "cache").write_text("")
    with pytest.raises(OSError, match=r"toy\.npz' cannot be written"):
        fetched(tmp_path / "cache" / "toy.npz", server, "good")


def test_an_interrupted_download_leaves_no_file(tmp_path):
    def interrupted():
        with write_atomically(tmp_path / "toy.npz") as file:
            file.write(b"half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert visible(tmp_path) == set()
