"""Arrays in ``.npz`` files that hold no Python objects: nothing is ever unpickled.

A header declares the shape of an array. It is compared with the size of the file before memory is used, so that a small
file cannot take much memory.
"""

import math
import os
import sys
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from ilfs.files import write_atomically


@dataclass(frozen=True)
class ArrayHeader:
    """Shape and type from the header of an array."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]

    @property
    def n_bytes(self) -> int:
        """Size of the array in memory."""
        return math.prod(self.shape) * self.dtype.itemsize


def read_header(file: IO[bytes], n_bytes: int) -> ArrayHeader:
    """Read the header of an array, and check that ``n_bytes``, the size of the file, can hold what it declares."""
    version = npy.read_magic(file)
    read = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
    shape, _, dtype = read(file)
    header = ArrayHeader(shape, dtype)
    if dtype.hasobject:
        raise ValueError("an array holds objects")
    if min(shape, default=0) < 0 or dtype.itemsize == 0 or header.n_bytes > n_bytes - file.tell():
        raise ValueError(f"an array declares the shape {shape} of {dtype}, which {n_bytes} bytes cannot hold")
    return header


def read_array(file: IO[bytes]) -> NDArray[Any]:
    """Read the array in an open file whose header has been checked; bytes become text."""
    array = npy.read_array(file, allow_pickle=False)
    if array.dtype.kind == "U":  # NumPy would raise a SystemError later, when such a value is used
        points = np.ascontiguousarray(array).view(np.dtype("u4").newbyteorder(array.dtype.byteorder))
        if points.max(initial=0) > sys.maxunicode:
            raise ValueError("an array holds text that is not Unicode")
    return np.strings.decode(array, "utf-8") if array.dtype.kind == "S" else np.asarray(array)


def reason_of(error: BaseException) -> str:
    """Return the message of an error in one line, or its type if it has none."""
    return " ".join(str(error).split())[:300].rstrip(".") or type(error).__name__


def write_arrays(path: str | os.PathLike[str], arrays: Mapping[str, NDArray[Any]]) -> None:
    """Write arrays to an ``.npz`` file without compression; the file appears complete or not at all.

    Parameters
    ----------
    path : path-like
        The file to write; its folder must exist.
    arrays : mapping of str to ndarray
        Arrays of numbers, booleans or text.
    """
    with write_atomically(path) as file, zipfile.ZipFile(file, "w", zipfile.ZIP_STORED, allowZip64=True) as archive:
        for name, array in arrays.items():
            # A fixed date: equal arrays make equal files.
            member = zipfile.ZipInfo(f"{name}.npy", date_time=(1980, 1, 1, 0, 0, 0))
            with archive.open(member, "w", force_zip64=True) as part:
                npy.write_array(part, np.asanyarray(array), allow_pickle=False)


def read_arrays(path: str | os.PathLike[str]) -> dict[str, NDArray[Any]]:
    """Read a file that `write_arrays` has written.

    Parameters
    ----------
    path : path-like
        The file.

    Returns
    -------
    dict of str to ndarray
        The arrays. A compressed member is an error, so they never take more memory than the file has bytes.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import numpy as np
    >>> from ilfs.npz import read_arrays, write_arrays
    >>> path = Path(tempfile.mkdtemp(), "numbers.npz")
    >>> write_arrays(path, {"odd": np.array([1, 3, 5])})
    >>> read_arrays(path)
    {'odd': array([1, 3, 5])}
    """
    # The file is opened here, since ZipFile leaves a damaged one open.
    with Path(path).open("rb") as file, zipfile.ZipFile(file) as archive:
        members = archive.infolist()
        if sum(member.file_size for member in members) > os.path.getsize(path):
            raise ValueError("its arrays must not be compressed")
        return {member.filename.removesuffix(".npy"): _read_member(archive, member) for member in members}


def _read_member(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> NDArray[Any]:
    if member.compress_type != zipfile.ZIP_STORED:
        raise ValueError("its arrays must not be compressed")
    with archive.open(member) as part:
        read_header(part, member.file_size)
    with archive.open(member) as part:
        return read_array(part)
