"""Readers of NumPy's ``.npy`` and ``.npz`` files that check headers before they read arrays.

A header declares a shape, and a zip archive declares the decompressed size of its members. Both are compared with each
other and with the limits first, so that a small file cannot take much memory. Nothing is ever unpickled.
"""

import zipfile
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from ilfs.datasets.limits import ReadError, ReadLimits
from ilfs.npz import ArrayHeader, read_array, read_header, reason_of


class NpzArrays(Mapping[str, NDArray[Any]]):
    """Arrays of an ``.npz`` file by name, each decompressed on access.

    Parameters
    ----------
    path : Path
        The file. The headers of all its arrays are read and checked at once.
    limits : ReadLimits
        Limits on the decompressed size of an array.
    """

    def __init__(self, path: Path, limits: ReadLimits) -> None:
        self.path, self.limits = path, limits
        with _opened(path) as archive:
            members = {info.filename: info for info in archive.infolist() if info.filename.endswith(".npy")}
            self._headers = {name.removesuffix(".npy"): _member_header(archive, info) for name, info in members.items()}

    def shape(self, key: str) -> tuple[int, ...]:
        """Return the shape of an array from its header."""
        return self._headers[key].shape

    def __getitem__(self, key: str) -> NDArray[Any]:
        self.limits.check_bytes(self._headers[key].n_bytes, self.path)
        with _opened(self.path) as archive, archive.open(f"{key}.npy") as file:
            return read_array(file)

    def __contains__(self, key: object) -> bool:
        return key in self._headers  # Mapping's own method would decompress the array

    def __iter__(self) -> Iterator[str]:
        return iter(self._headers)

    def __len__(self) -> int:
        return len(self._headers)


def load_npy(path: Path) -> NDArray[Any]:
    """Read the array in an ``.npy`` file."""
    with whole_file(path, ".npy file without pickled objects"), path.open("rb") as file:
        read_header(file, path.stat().st_size)
        file.seek(0)
        return read_array(file)


@contextmanager
def whole_file(path: Path, kind: str) -> Generator[None, None, None]:
    """Turn any error that a damaged file causes in a library into a one-line ValueError."""
    try:
        yield
    except ReadError:
        raise
    except Exception as error:  # zipfile, zlib and NumPy raise almost anything, MemoryError included
        raise ValueError(f"{path} must be a complete {kind}: {reason_of(error)}") from error


@contextmanager
def _opened(path: Path) -> Generator[zipfile.ZipFile, None, None]:
    # The file is opened here, since ZipFile leaves a damaged one open.
    with (
        whole_file(path, ".npz file without pickled objects"),
        path.open("rb") as file,
        zipfile.ZipFile(file) as archive,
    ):
        yield archive


def _member_header(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> ArrayHeader:
    with archive.open(info) as file:
        return read_header(file, info.file_size)
