"""Copies of data sets on OpenML, fetched with scikit-learn and stored as archives of this package."""

from collections.abc import Iterable
from dataclasses import replace
from http.client import HTTPException
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from ilfs.datasets.archive import distinct, read_archive, write_archive
from ilfs.datasets.dataset import Dataset
from ilfs.datasets.fetching import NotFetchedError, exclusively
from ilfs.datasets.spec import Spec
from ilfs.files import write_atomically


def openml_file(spec: Spec) -> str:
    """Return the file name for a copy from OpenML, which differs from that of the file with the known checksum."""
    return f"openml-{spec.openml}.npz"


def read_openml(path: Path, spec: Spec) -> Dataset:
    """Read a stored copy from OpenML."""
    # Without a file the checksum is that of the content. The bytes of the file depend on the compressor.
    return replace(read_archive(path, spec.name), file=None)


def fetch_openml_copy(path: Path, spec: Spec) -> None:
    """Fetch a copy from OpenML and store it."""
    with exclusively(path):
        if not path.is_file():
            table = _downloaded(spec)
            _check_size(table, spec)
            with write_atomically(path) as file:
                write_archive(file, table)


def _downloaded(spec: Spec) -> Dataset:
    from sklearn.datasets import fetch_openml

    try:
        # liac-arff comes with scikit-learn and reads sparse files; the archive replaces scikit-learn's cache.
        bunch = fetch_openml(data_id=spec.openml, as_frame=False, parser="liac-arff", cache=False)
    except (OSError, HTTPException, ValueError) as error:
        raise NotFetchedError(f"data set {spec.openml} of OpenML could not be downloaded ({error})") from error
    return _table(spec.name, bunch.data, bunch.target, bunch.feature_names)


def _table(name: str, X: Any, target: Any, feature_names: Iterable[str]) -> Dataset:
    class_names, codes = np.unique(np.asarray(target).astype(str), return_inverse=True)
    X = sparse.csr_array(X, dtype=np.float32) if sparse.issparse(X) else np.asarray(X, dtype=np.float32)
    return Dataset(name, X, codes, tuple(map(str, class_names)), distinct(list(feature_names)))


def _check_size(table: Dataset, spec: Spec) -> None:
    """Raise an error unless the sizes are those in the registry; OpenML may change or deactivate a copy."""
    expected = (spec.samples, spec.features, sorted(spec.class_sizes or table.class_sizes))
    got = (table.n_samples, table.n_features, sorted(table.class_sizes))
    if got != expected:
        raise NotFetchedError(
            f"samples, features and class sizes of OpenML's data set {spec.openml} must be {expected}, got {got}"
        )
