"""Download of files with a known checksum: a file appears complete and verified under its name, or not at all.

The bytes go to a temporary file in the same folder and are counted and hashed on the way. The file gets its name only
if both size and checksum match. The downloading process holds a lock on ``<name>.lock``, which the operating system
releases even if the process is killed; a process that waited for the lock finds the file.
"""

import hashlib
import sys
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing, contextmanager
from http.client import HTTPException
from pathlib import Path
from typing import IO
from urllib.error import HTTPError
from urllib.request import urlopen

from ilfs.datasets.dataset import file_checksum
from ilfs.files import remove_leftovers, write_atomically, writing_error

CHUNK_BYTES = 1 << 16
TIMEOUT_SECONDS = 30.0  # without a byte, after which the next mirror is tried

Progress = Callable[[int, int], None]


class NotFetchedError(OSError):
    """Error for a file that no mirror could provide."""


def fetch(
    path: Path,
    urls: Sequence[str],
    *,
    sha256: str,
    size: int,
    timeout: float = TIMEOUT_SECONDS,
    progress: Progress | None = None,
) -> None:
    """Download a file from the first mirror that has it with the right checksum.

    Parameters
    ----------
    path : Path
        The file to write. If it exists with the right checksum, nothing is downloaded.
    urls : sequence of str
        Its addresses, which are tried in this order.
    sha256 : str
        SHA-256 of the file.
    size : int
        Size of the file in bytes.
    timeout : float
        Seconds without a byte after which the next mirror is tried.
    progress : callable, optional
        Called with the number of bytes received and the size of the file.
    """
    with exclusively(path):
        if path.is_file() and file_checksum(path) == sha256:
            return
        failures = []
        for url in urls:
            try:
                _fetch_from(url, path, sha256, size, timeout, progress)
                return
            except _MirrorError as failure:
                failures.append(f"{url}: {failure}")
    raise NotFetchedError(f"{path.name} could not be downloaded ({'; '.join(failures) or 'no address is known'})")


@contextmanager
def exclusively(path: Path) -> Iterator[None]:
    """Hold the lock of a file, which only one process can hold at a time.

    The folder is created if necessary, and temporary files that a killed process has left are removed.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        lock = path.with_name(f"{path.name}.lock").open("ab")
    except OSError as error:
        raise writing_error(path, error) from error
    with lock:
        _wait_for(lock)
        remove_leftovers(path)
        yield


class _MirrorError(Exception):
    """Error of one mirror, after which the next one is tried."""


def _fetch_from(url: str, path: Path, sha256: str, size: int, timeout: float, progress: Progress | None) -> None:
    digest, done = hashlib.sha256(), 0
    with write_atomically(path) as file, closing(_chunks(url, timeout)) as chunks:
        for chunk in chunks:
            file.write(chunk)
            digest.update(chunk)
            done += len(chunk)
            if progress is not None:
                progress(done, size)
            if done > size:
                raise _MirrorError(f"more than the {size} bytes that the file has")
        if done < size:
            raise _MirrorError(f"ended after {done} of {size} bytes")
        if digest.hexdigest() != sha256:
            raise _MirrorError(f"its SHA-256 must be {sha256}, got {digest.hexdigest()}")


def _chunks(url: str, timeout: float) -> Generator[bytes, None, None]:
    """Yield the bytes at an address; every network error becomes a `_MirrorError`."""
    if not url.startswith(("http://", "https://")):
        raise _MirrorError("an address must start with http:// or https://")
    try:
        with urlopen(url, timeout=timeout) as response:
            while chunk := response.read(CHUNK_BYTES):
                yield chunk
    except HTTPError as error:
        with error:  # the error holds the connection; close it
            raise _MirrorError(str(error)) from error
    except TimeoutError as error:
        raise _MirrorError(f"no answer within {timeout:g} seconds") from error
    except (OSError, HTTPException, ValueError) as error:
        raise _MirrorError(str(getattr(error, "reason", error)) or type(error).__name__) from error


if sys.platform == "win32":
    import msvcrt

    def _wait_for(lock: IO[bytes]) -> None:
        while True:
            try:
                return msvcrt.locking(lock.fileno(), msvcrt.LK_LOCK, 1)
            except OSError:  # Windows gives up after ten seconds; try again
                continue

else:
    import fcntl

    def _wait_for(lock: IO[bytes]) -> None:
        fcntl.flock(lock, fcntl.LOCK_EX)
