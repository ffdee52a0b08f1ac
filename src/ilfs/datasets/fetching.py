"""Download of files: a file appears complete and verified under its name, or not at all.

The bytes go to a temporary file in the same folder and are counted and hashed on the way. The file gets its name only
if size and checksum match, as far as they are known. The downloading process holds a lock on ``<name>.lock``, which the
operating system releases even if the process is killed; a process that waited for the lock finds the file.
"""

import hashlib
import sys
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from http.client import HTTPException
from pathlib import Path
from typing import IO
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from ilfs.datasets.dataset import file_checksum
from ilfs.files import remove_leftovers, write_atomically, writing_error

CHUNK_BYTES = 1 << 16
MAX_DOWNLOAD_BYTES = 2**30  # of a file whose size is not known
HEADERS = {"User-Agent": "ilfs (feature selection; Python)"}  # some servers refuse the default of urllib
TIMEOUT_SECONDS = 30.0  # without a byte, after which the next mirror is tried

Progress = Callable[[int, int], None]


class NotFetchedError(OSError):
    """Error for a file that no mirror could provide."""


def fetch(
    path: Path,
    urls: Sequence[str],
    *,
    sha256: str = "",
    size: int = 0,
    md5: str = "",
    max_bytes: int = MAX_DOWNLOAD_BYTES,
    timeout: float = TIMEOUT_SECONDS,
    progress: Progress | None = None,
) -> None:
    """Download a file from the first mirror that has it with the right checksum.

    Parameters
    ----------
    path : Path
        The file to write. If it exists with the right SHA-256, nothing is downloaded.
    urls : sequence of str
        Its addresses, which are tried in this order.
    sha256, md5 : str
        Checksums of the file; empty if they are not known.
    size : int
        Size of the file in bytes; 0 if it is not known. Then the server's statement is used.
    max_bytes : int
        Bytes after which a download of unknown size is given up.
    timeout : float
        Seconds without a byte after which the next mirror is tried.
    progress : callable, optional
        Called with the number of bytes received and the size of the file, 0 if it is not known.
    """
    expected = Expected(sha256, md5, size, max_bytes)
    with exclusively(path):
        if sha256 and path.is_file() and file_checksum(path) == sha256:
            return
        failures = []
        for url in urls:
            try:
                _fetch_from(url, path, expected, timeout, progress)
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


@dataclass(frozen=True)
class Expected:
    """Checksums and size that a downloaded file must have; an empty string or 0 if unknown."""

    sha256: str
    md5: str
    size: int
    max_bytes: int

    def check_so_far(self, done: int) -> None:
        """Raise an error if more bytes have come than the file can have."""
        if self.size and done > self.size:
            raise _MirrorError(f"more than the {self.size} bytes that the file has")
        if done > self.max_bytes:
            raise _MirrorError(f"more than {self.max_bytes:,} bytes, the largest download that is expected")

    def check(self, done: int, stated: int, digests: "Mapping[str, hashlib._Hash]") -> None:
        """Raise an error unless the whole file has come and its checksums are right."""
        size = self.size or stated
        if size and done < size:
            raise _MirrorError(f"ended after {done} of {size} bytes")
        if not done:
            raise _MirrorError("the file is empty")
        for title, name in (("SHA-256", "sha256"), ("MD5", "md5")):
            right, got = getattr(self, name), digests[name].hexdigest()
            if right and got != right:
                raise _MirrorError(f"its {title} must be {right}, got {got}")


def _fetch_from(url: str, path: Path, expected: Expected, timeout: float, progress: Progress | None) -> None:
    digests = {"sha256": hashlib.sha256(), "md5": hashlib.md5(usedforsecurity=False)}
    done = 0
    with write_atomically(path) as file, closing(_chunks(url, timeout)) as chunks:
        stated = int(next(chunks) or 0)  # the first item is the length that the server states
        for chunk in chunks:
            file.write(chunk)
            for digest in digests.values():
                digest.update(chunk)
            done += len(chunk)
            if progress is not None:
                progress(done, expected.size or stated)
            expected.check_so_far(done)
        expected.check(done, stated, digests)


def _chunks(url: str, timeout: float) -> Generator[bytes, None, None]:
    """Yield the length that the server states, as digits, then the bytes at an address.

    Every network error becomes a `_MirrorError`.
    """
    if not url.startswith(("http://", "https://")):
        raise _MirrorError("an address must start with http:// or https://")
    try:
        with urlopen(Request(url, headers=HEADERS), timeout=timeout) as response:
            length = response.headers.get("Content-Length") or ""
            yield length.encode() if length.isdecimal() else b""
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
