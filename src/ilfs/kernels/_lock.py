"""A lock that lets one process at a time compile kernels, while the others wait for its files."""

import os
import threading
import time
from pathlib import Path
from types import ModuleType

fcntl: ModuleType | None
try:
    import fcntl
except ImportError:  # Windows
    fcntl = None

MAX_WAIT_SECONDS = 120.0  # the slowest kernel takes some seconds: a process that holds the lock for longer is stuck
LOCK_POLL_SECONDS = 0.02


class FolderLock:
    """Lock on a folder, held by one thread of one process at a time.

    The thread that holds it may acquire it again: if a kernel calls another kernel, that one is compiled while the lock
    is held for the first. The operating system releases the lock when the process ends. Without file locks (on Windows,
    on some network file systems) or after `MAX_WAIT_SECONDS` the lock is skipped: some kernels are then compiled twice,
    at the cost of time.

    Parameters
    ----------
    path : Path
        Empty file to lock; it is made if it does not exist, and stays.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._held = threading.local()

    def acquire(self) -> None:
        """Wait for the lock."""
        depth = getattr(self._held, "depth", 0)
        if depth == 0:
            self._held.file = open_locked(self._path)
        self._held.depth = depth + 1

    def release(self) -> None:
        """Undo one call of `acquire`; the last one releases the lock."""
        self._held.depth -= 1
        if self._held.depth == 0 and self._held.file is not None:
            unlock(self._held.file)


def open_locked(path: Path) -> int | None:
    """Open a file and lock it; None if it cannot be locked."""
    if fcntl is None:
        return None
    try:
        file = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    except OSError:
        return None
    if wait_for_lock(file):
        return file
    os.close(file)
    return None


def wait_for_lock(file: int) -> bool:
    """Try to lock an open file until it succeeds, fails for good or takes too long; return whether it succeeded."""
    assert fcntl is not None
    give_up = time.monotonic() + MAX_WAIT_SECONDS
    while True:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:  # another process holds it
            if time.monotonic() > give_up:
                return False
            time.sleep(LOCK_POLL_SECONDS)
        except OSError:  # this file system has no locks
            return False
        else:
            return True


def unlock(file: int) -> None:
    """Unlock and close a file."""
    assert fcntl is not None
    # Closing the file is not enough: a process that was forked meanwhile has it open, too.
    fcntl.flock(file, fcntl.LOCK_UN)
    os.close(file)
