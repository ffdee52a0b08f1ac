"""Copies of data sets on OpenML, whose server tells the address, the checksum and the target of a file in ARFF."""

import json
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from ilfs.datasets.archive import read_archive, write_archive
from ilfs.datasets.dataset import Dataset
from ilfs.datasets.fetching import NotFetchedError, Progress, exclusively, fetch
from ilfs.datasets.readers import read_table
from ilfs.datasets.spec import Spec
from ilfs.files import write_atomically
from ilfs.npz import reason_of

OPENML_ADDRESS = "https://www.openml.org/api/v1/json/data/{}"
MAX_DESCRIPTION_BYTES = 2**24


@dataclass(frozen=True)
class OpenmlFile:
    """Address and checksum of a file on OpenML, its target, and the columns that are not features."""

    url: str
    md5: str
    target: str
    ignored: tuple[str, ...] = ()


def openml_file(spec: Spec) -> str:
    """Return the file name for a copy from OpenML, which differs from that of the file with the known checksum."""
    return f"openml-{spec.openml}.npz"


def read_openml(path: Path, spec: Spec) -> Dataset:
    """Read a stored copy from OpenML."""
    # Without a file the checksum is that of the content. The bytes of the file depend on the compressor.
    return replace(read_archive(path, spec.name), file=None)


def fetch_openml_copy(path: Path, spec: Spec, progress: Progress | None = None) -> None:
    """Fetch a copy from OpenML and store it."""
    with exclusively(path):
        if not path.is_file():
            with tempfile.TemporaryDirectory(dir=path.parent, prefix=".openml-") as folder:
                table = download_openml(spec.openml or 0, Path(folder) / "table.arff", spec.name, progress)
            check_sizes(table, spec, spec.class_sizes, f"OpenML's data set {spec.openml}")
            with write_atomically(path) as file:
                write_archive(file, table)


def download_openml(number: int, path: Path, name: str, progress: Progress | None = None) -> Dataset:
    """Download a data set of OpenML to a file in ARFF and read it."""
    try:
        found = _described(number, path.with_suffix(".json"))
        fetch(path, [found.url], md5=found.md5, progress=progress)
        return in_float32(read_table(path, found.target, name, drop=found.ignored))
    except NotFetchedError as failure:
        raise NotFetchedError(f"data set {number} of OpenML could not be downloaded ({failure})") from failure
    except ValueError as failure:
        reason = str(failure).replace(str(path), "its file")
        raise NotFetchedError(f"data set {number} of OpenML could not be read ({reason})") from failure


def _described(number: int, path: Path) -> OpenmlFile:
    """Ask OpenML for the description of a data set."""
    fetch(path, [OPENML_ADDRESS.format(number)], max_bytes=MAX_DESCRIPTION_BYTES)
    try:
        found = json.loads(path.read_bytes())["data_set_description"]
        ignored = [found.get("row_id_attribute"), *_listed(found.get("ignore_attribute"))]
        target = str(found["default_target_attribute"])
        return OpenmlFile(str(found["url"]), str(found.get("md5_checksum") or ""), target, tuple(filter(None, ignored)))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"its description must have url and default_target_attribute: {reason_of(error)}") from error


def _listed(value: Any) -> list[str]:
    return [] if value is None else [value] if isinstance(value, str) else list(value)


def in_float32(table: Dataset) -> Dataset:
    """Return a table in the precision of the registered files."""
    X = table.X
    return replace(table, X=sparse.csr_array(X, dtype=np.float32) if sparse.issparse(X) else X.astype(np.float32))


def check_sizes(table: Dataset, spec: Spec, class_sizes: tuple[int, ...] | None, what: str) -> None:
    """Raise an error unless the sizes are those in the registry; a source may change or be something else."""
    expected = (spec.samples, spec.features, sorted(class_sizes or table.class_sizes))
    got = (table.n_samples, table.n_features, sorted(table.class_sizes))
    if got != expected:
        raise NotFetchedError(f"samples, features and class sizes of {what} must be {expected}, got {got}")
