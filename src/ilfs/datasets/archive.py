"""Data sets as compressed NumPy archives, the format that registered data sets are kept in.

Dense: ``X``; sparse: the CSR parts ``data``, ``indices``, ``indptr``, ``shape``. Both: ``y`` (codes 0 to K-1),
``class_names`` and perhaps ``feature_names``; ``split`` may name a part for each row. Further arrays are left alone.
Nothing is ever unpickled.
"""

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Any

import numpy as np
from scipy import sparse

from ilfs.datasets.table import Table


def read_archive(path: Path, name: str, split: str = "") -> Table:
    """The table in an archive, or only the rows of one split of it, with the checksum of the file."""
    parts = read_arrays(path)
    needed = ["y", "class_names", *(["split"] if split else [])]
    if not parts.keys() >= set(needed):
        raise ValueError(f"{path} must have the arrays {', '.join(needed)}, got {', '.join(parts) or 'none'}")
    rows = parts["split"] == split if split else slice(None)
    return Table(
        name=name,
        X=matrix_of(parts, path)[rows],
        y=parts["y"][rows],
        class_names=tuple(map(str, parts["class_names"])),
        feature_names=distinct(parts["feature_names"].tolist()) if "feature_names" in parts else None,
        checksum=checksum_of(path),
    )


def write_archive(file: IO[bytes], table: Table) -> None:
    """Write a table as an archive."""
    X = table.X
    if sparse.issparse(X):
        arrays = {"data": X.data, "indices": X.indices, "indptr": X.indptr, "shape": np.array(X.shape)}
    else:
        arrays = {"X": X}
    if table.feature_names is not None:
        arrays["feature_names"] = np.array(table.feature_names)
    np.savez_compressed(file, y=table.y, class_names=np.array(table.class_names), **arrays)


def read_arrays(path: Path) -> dict[str, Any]:
    """All arrays of an ``.npz`` file; pickled objects are refused."""
    try:
        # opened here: np.load leaves a broken file open
        with path.open("rb") as file, np.load(file, allow_pickle=False) as archive:
            return {key: archive[key] for key in archive.files}
    except Exception as error:  # a damaged file makes zipfile and NumPy raise almost anything
        raise ValueError(f"{path} must be a whole .npz file without pickled objects: {error}") from error


def matrix_of(parts: Mapping[str, Any], path: Path) -> Any:
    """X of an archive: dense as it is, sparse put together from its CSR parts."""
    if "X" in parts:
        return parts["X"]
    missing = {"data", "indices", "indptr", "shape"} - parts.keys()
    if missing:
        raise ValueError(f"{path} must have an array X or data, indices, indptr and shape, got {', '.join(parts)}")
    try:
        matrix = sparse.csr_array((parts["data"], parts["indices"], parts["indptr"]), shape=tuple(parts["shape"]))
        matrix.check_format(full_check=True)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{path} must hold a valid CSR matrix: {error}") from error
    return matrix


def distinct(names: Sequence[Any]) -> tuple[str, ...]:
    """The names as they are, but those that repeat an earlier one with their number behind: a, b, a.2.

    Chips have several probes of one gene, and results must tell them apart.

    >>> distinct(["a", "b", "a"])
    ('a', 'b', 'a.2')
    """
    given, told = set(map(str, names)), list[str]()
    seen = set[str]()
    for name in map(str, names):
        new, number = name, 1
        while new in seen or (number > 1 and new in given):
            number += 1
            new = f"{name}.{number}"
        seen.add(new)
        told.append(new)
    return tuple(told)


def checksum_of(path: Path) -> str:
    """SHA-256 of a file, in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
