"""Reader of the sparse files of the NIPS 2003 feature selection challenge: rows of ``index:value``, labels apart."""

import re
from array import array
from collections.abc import Iterable
from pathlib import Path

import numpy as np
from scipy import sparse

from ilfs.datasets.checks import quoted
from ilfs.datasets.dataset import Dataset
from ilfs.datasets.limits import ReadLimits
from ilfs.datasets.readers.assemble import assemble
from ilfs.datasets.readers.text import open_text

PAIR = re.compile(r"([0-9]{1,9}):(-?[0-9]{1,15})")


def read_challenge(parts: Iterable[tuple[Path, Path]], n_features: int, name: str, limits: ReadLimits) -> Dataset:
    """Read rows and labels of several parts, such as training and validation, one below the other.

    Parameters
    ----------
    parts : iterable of (Path, Path)
        The file of rows and the file of labels of each part.
    n_features : int
        Number of features; indices run from 1 to it.
    name : str
        Name of the data set.
    limits : ReadLimits
        Limits on the lines.

    Returns
    -------
    Dataset
        A sparse data set.
    """
    matrices, labels = list[sparse.csr_array](), list[str]()
    of_data = Path()
    for of_data, of_labels in parts:
        matrices.append(_rows(of_data, n_features, limits))
        with open_text(of_labels, limits) as lines:
            found = [line.strip() for line in lines if line.strip()]
        if len(found) != matrices[-1].shape[0]:
            raise ValueError(f"{of_labels} must have {matrices[-1].shape[0]} labels, one a row, got {len(found)}")
        labels += found
    return assemble(of_data, name, sparse.csr_array(sparse.vstack(matrices)), labels, limits)


def _rows(path: Path, n_features: int, limits: ReadLimits) -> sparse.csr_array:
    data, indices, indptr = array("d"), array("q"), array("q", [0])
    with open_text(path, limits) as lines:
        for number, line in enumerate((line for line in lines if line.strip()), start=1):
            pairs = [PAIR.fullmatch(word) for word in line.split()]
            if not all(pair and 1 <= int(pair[1]) <= n_features for pair in pairs):
                rule = f"pairs index:value with indices from 1 to {n_features}"
                raise ValueError(f"row {number} of {path} must have {rule}, got {quoted(line.strip())}")
            indices.extend(int(pair[1]) - 1 for pair in pairs if pair)
            data.extend(float(pair[2]) for pair in pairs if pair)
            indptr.append(len(indices))
    X = sparse.csr_array(tuple(map(np.array, (data, indices, indptr))), shape=(len(indptr) - 1, n_features))
    X.sum_duplicates()
    return X
