"""Activations of a network for the images of VOC, in one file with labels and official splits.

The file is a NumPy archive. ``X`` has a row of activations for each image; ``Y`` and ``difficult`` have a column of 0
and 1 for each of the ``class_names``. ``split`` has the position in ``split_names`` of the part that an image belongs
to: train, val or test. Other arrays, such as the names of the images, are ignored.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ilfs.datasets.checks import check_kind, check_matrix
from ilfs.datasets.dataset import Dataset
from ilfs.datasets.limits import DEFAULT_LIMITS, ReadLimits
from ilfs.datasets.npz import NpzArrays

ARRAYS = ("X", "Y", "difficult", "split", "split_names", "class_names")
OFFICIAL_PARTS = {  # for training and for testing; only the test labels of 2007 are public
    2007: (("train", "val"), ("test",)),
    2012: (("train",), ("val",)),
}


def read_voc_archive(path: Path, name: str, year: int, limits: ReadLimits = DEFAULT_LIMITS) -> Dataset:
    """Read activations of VOC images with the official training and test rows.

    Parameters
    ----------
    path : Path
        The file.
    name : str
        Name of the data set.
    year : {2007, 2012}
        Year of the challenge. 2007 is trained on train and val and tested on test, 2012 is trained on train and tested
        on val.
    limits : ReadLimits
        Limits on the memory that the file may ask for.

    Returns
    -------
    Dataset
        Labels are 1, 0 and -1 (difficult: the image shows the object only where it is hard to recognise).
    """
    if year not in OFFICIAL_PARTS:
        raise ValueError(f"year must be {' or '.join(map(str, OFFICIAL_PARTS))}, got {year!r}")
    parts = NpzArrays(path, limits)
    if lacking := [array for array in ARRAYS if array not in parts]:
        raise ValueError(f"{path} must have the arrays {', '.join(ARRAYS)}, got no {lacking[0]}")
    X = parts["X"]
    check_kind(path, X, None)
    X = X.astype(np.float32)
    check_matrix(path, X, None, limits)
    class_names = tuple(map(str, parts["class_names"].ravel()))
    labels = _labels(parts, (len(X), len(class_names)), path)
    of_rows = _part_of_rows(parts, len(X), path)
    train, test = (np.isin(of_rows, names) for names in OFFICIAL_PARTS[year])
    if not train.any() or not test.any():
        wanted = " and ".join("+".join(names) for names in OFFICIAL_PARTS[year])
        raise ValueError(f"{path} must have rows of {wanted}, got {', '.join(np.unique(of_rows).tolist())}")
    used = train | test
    return Dataset(name, X[used], labels[used], class_names, file=path, test_rows=test[used])


def _labels(parts: Mapping[str, Any], shape: tuple[int, int], path: Path) -> NDArray[np.int8]:
    """Read the labels: 1, 0 and -1. An image that also shows an object clearly is not difficult."""
    shown, difficult = parts["Y"], parts["difficult"]
    for name, array in (("Y", shown), ("difficult", difficult)):
        if array.shape != shape or not np.isin(array, (0, 1)).all():
            raise ValueError(f"{name} of {path} must be 0 and 1 of shape {shape}, got {array.dtype} {array.shape}")
    return np.where(shown == 1, 1, -(difficult == 1).astype(np.int8)).astype(np.int8)


def _part_of_rows(parts: Mapping[str, Any], n_rows: int, path: Path) -> NDArray[Any]:
    """Read the name of the part that each row belongs to."""
    codes, names = parts["split"], parts["split_names"].ravel()
    fits = codes.shape == (n_rows,) and codes.dtype.kind in "iu"
    if not fits or not 0 <= codes.min() <= codes.max() < len(names):
        raise ValueError(
            f"split of {path} must have a position in its {len(names)} split_names for each of {n_rows} rows, "
            f"got {codes.dtype} {codes.shape}"
        )
    return np.asarray(names[codes])
