"""Cache of deep features in a folder, one file per image.

A file holds the SHA-256 of its numbers, then the numbers. It is written atomically: a killed process leaves complete
files or none, and two processes that compute the same row write the same file. A file that does not match its checksum
(after a power cut, a full disk or a bad copy) counts as missing.
"""

import hashlib
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ilfs.files import write_atomically, writing_error
from ilfs.warn import warn

FeatureRow = NDArray[np.float32]
CHECKSUM_BYTES = hashlib.sha256().digest_size


class FeatureCache:
    """Rows of features, looked up by the content of the image.

    Parameters
    ----------
    folder : Path
        Folder of the cache, which is created if it does not exist.
    key : str
        Name of a subfolder that identifies the network and the options; rows of other keys are not found.
    """

    def __init__(self, folder: Path, key: str) -> None:
        self.folder, self.n_damaged = folder / key, 0
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise writing_error(folder, error) from None

    def get(self, image: bytes) -> FeatureRow | None:
        """Return the row of the image with this content, or None."""
        try:
            stored = self._file(image).read_bytes()
        except FileNotFoundError:
            return None
        checksum, numbers = stored[:CHECKSUM_BYTES], stored[CHECKSUM_BYTES:]
        if not numbers or hashlib.sha256(numbers).digest() != checksum:
            self.n_damaged += 1
            return None
        return np.frombuffer(numbers, dtype="<f4").astype(np.float32, copy=False)

    def put(self, image: bytes, row: FeatureRow) -> None:
        """Store the row of the image with this content."""
        numbers = row.astype("<f4").tobytes()
        with write_atomically(self._file(image)) as opened:
            opened.write(hashlib.sha256(numbers).digest() + numbers)

    def warn_of_damage(self) -> None:
        """Warn once about all files that did not match their checksum."""
        if self.n_damaged:
            warn(f"{self.n_damaged} damaged files in the cache {self.folder.parent} are computed again")

    def _file(self, image: bytes) -> Path:
        return self.folder / hashlib.sha256(image).hexdigest()
