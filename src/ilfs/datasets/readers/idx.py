"""Reader of MNIST's IDX format: images in ``...images-idx3-ubyte``, their classes in ``...labels-idx1-ubyte``.

A file begins with two zero bytes, the type of its values, the number of axes, and the length of each axis as a
big-endian integer; then come the values, row by row. Both files may be gzipped.
"""

import math
import re
import struct
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ilfs.datasets.checks import FLOAT_BYTES
from ilfs.datasets.dataset import Dataset
from ilfs.datasets.limits import ReadError, ReadLimits
from ilfs.datasets.readers.assemble import Drop, Target, assemble, find_kept
from ilfs.datasets.readers.compressed import open_bytes

IDX_TYPES = {8: ">u1", 9: ">i1", 11: ">i2", 12: ">i4", 13: ">f4", 14: ">f8"}
IMAGES = re.compile(r"(.*)images([-.])idx3-ubyte((?:\.gz)?)", re.IGNORECASE)


def read_idx(path: Path, target: Target, drop: Drop, name: str, limits: ReadLimits) -> Dataset:
    """Read images and their classes; the pixels of an image, row by row, are its features."""
    match = IMAGES.fullmatch(path.name)
    if match is None:
        raise ValueError(f"the name of a file of images must end in images-idx3-ubyte, got {path.name!r}")
    if target is not None:
        raise ValueError(f"target must be None for {path}, as its classes are in another file, got {target!r}")
    images = read_idx_array(path, limits)
    if images.ndim != 3:
        raise ValueError(f"{path} must hold images, an array of 3 axes, got {images.ndim}")
    labels = read_idx_array(_labels_beside(path, match), limits)
    if labels.shape != images.shape[:1]:
        raise ValueError(f"{path} must have one label per image, got {len(images)} images and labels {labels.shape}")
    names = [f"r{i}_c{j}" for i in range(images.shape[1]) for j in range(images.shape[2])]
    kept = find_kept(names, len(names), drop, path) if names else []
    X = images.reshape(len(images), -1)[:, kept]
    return assemble(path, name, X, labels, limits, [names[j] for j in kept])


def _labels_beside(path: Path, match: re.Match[str]) -> Path:
    stems = (f"{match[1]}labels{match[2]}idx1-ubyte{ending}" for ending in (match[3], "", ".gz"))
    found = next((path.with_name(stem) for stem in stems if path.with_name(stem).is_file()), None)
    if found is None:
        raise FileNotFoundError(f"{path} must have {match[1]}labels{match[2]}idx1-ubyte{match[3]} beside it")
    return found


def read_idx_array(path: Path, limits: ReadLimits) -> NDArray[Any]:
    """Read the array in an IDX file; its size is checked before it is read."""
    with open_bytes(path) as file:
        head = file.read(4)
        if len(head) < 4 or head[:2] != b"\0\0" or head[2] not in IDX_TYPES or head[3] == 0:
            raise ReadError(f"{path} must be an IDX file, which begins with 0, 0, a type and a number of axes")
        dtype, lengths = np.dtype(IDX_TYPES[head[2]]), file.read(4 * head[3])
        if len(lengths) < 4 * head[3]:
            raise ReadError(f"{path} must have the lengths of {head[3]} axes, but it ends before")
        shape = struct.unpack(f">{head[3]}I", lengths)
        limits.check_bytes(FLOAT_BYTES * math.prod(shape), path)
        n_bytes = math.prod(shape) * dtype.itemsize
        content = file.read(n_bytes + 1)
    if len(content) != n_bytes:
        got = "more" if len(content) > n_bytes else f"{len(content):,}"
        raise ReadError(f"{path} must have {n_bytes:,} bytes of values, as it declares {shape}, got {got}")
    return np.frombuffer(content, dtype).reshape(shape)
