import threading

import pytest

from ilfs.kernels import _lock
from ilfs.kernels._lock import FolderLock, open_locked, unlock

pytest.importorskip("fcntl", reason="there are no file locks on this system")


def wait_in_a_thread(path):
    """Start to wait for a lock; return the thread, and a list that gets the locked file."""
    files = []
    thread = threading.Thread(target=lambda: files.append(open_locked(path)))
    thread.start()
    return thread, files


def test_a_second_holder_waits_until_the_lock_is_released(tmp_path):
    first = open_locked(tmp_path / "lock")
    thread, files = wait_in_a_thread(tmp_path / "lock")
    thread.join(0.2)
    assert thread.is_alive()
    unlock(first)
    thread.join(10)
    (second,) = files
    assert second is not None
    unlock(second)


def test_waiting_for_a_stuck_lock_ends_after_the_maximum_time(tmp_path, monkeypatch):
    monkeypatch.setattr(_lock, "MAX_WAIT_SECONDS", 0.05)
    stuck = open_locked(tmp_path / "lock")
    assert open_locked(tmp_path / "lock") is None
    unlock(stuck)


def test_a_thread_may_acquire_the_lock_again(tmp_path, monkeypatch):
    monkeypatch.setattr(_lock, "MAX_WAIT_SECONDS", 0.05)
    lock = FolderLock(tmp_path / "lock")
    lock.acquire()
    lock.acquire()
    lock.release()
    assert open_locked(tmp_path / "lock") is None  # released once, acquired twice
    lock.release()
    file = open_locked(tmp_path / "lock")
    assert file is not None
    unlock(file)


@pytest.mark.parametrize("missing", ["locks", "folder"])
def test_acquire_and_release_do_nothing_if_the_file_cannot_be_locked(tmp_path, monkeypatch, missing):
    if missing == "locks":
        monkeypatch.setattr(_lock, "fcntl", None)
    lock = FolderLock(tmp_path / "no folder" / "lock")
    lock.acquire()
    lock.release()
