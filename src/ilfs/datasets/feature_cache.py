"""Rows of features that are kept in a folder, one file an image.

A file holds the SHA-256 of its numbers, then the numbers, and appears by rename: a process that is killed leaves whole
files or none, and two processes that compute the same row put the same file in its place. A file that does not fit its
checksum (a power cut, a full disk, a bad copy) counts as missing.
"""

import hashlib
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ilfs.files import write_atomically, writing_error
from ilfs.warn import warn

Row = NDArray[np.float32]
CHECKSUM_BYTES = hashlib.sha256().digest_size


class FeatureCache:
    """Rows by the content of the image they are of.

    Parameters
    ----------
    folder : Path
        Where; it is made if it is not there.
    key : str
        What is computed of an image, a name for a folder: rows of another key are not seen.
    """

    def __init__(self, folder: Path, key: str) -> None:
        self.folder, self.n_damaged = folder / key, 0
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise writing_error(folder, error) from None

    def get(self, image: bytes) -> Row | None:
        """The row of the image with this content, if there is one."""
        try:
            stored = self._file(image).read_bytes()
        except FileNotFoundError:
            return None
        checksum, numbers = stored[:CHECKSUM_BYTES], stored[CHECKSUM_BYTES:]
        if not numbers or hashlib.sha256(numbers).digest() != checksum:
            self.n_damaged += 1
            return None
        return np.frombuffer(numbers, dtype="<f4").astype(np.float32, copy=False)

    def put(self, image: bytes, row: Row) -> None:
        """Keep the row of the image with this content."""
        numbers = row.astype("<f4").tobytes()
        with write_atomically(self._file(image)) as opened:
            opened.write(hashlib.sha256(numbers).digest() + numbers)

    def warn_of_damage(self) -> None:
        """Say, once for all, how many files did not fit their checksum."""
        if self.n_damaged:
            warn(f"{self.n_damaged} damaged files in the cache {self.folder.parent} are computed again")

    def _file(self, image: bytes) -> Path:
        return self.folder / hashlib.sha256(image).hexdigest()
