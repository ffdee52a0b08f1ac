"""Files in the svmlight (libsvm) format, read some lines at a time."""

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import IO, Any

from numpy.typing import NDArray
from scipy import sparse

from ilfs.arrays import Integers
from ilfs.cached import cached_property
from ilfs.datasets.limits import DEFAULT_LIMITS, ReadError
from ilfs.datasets.readers.compressed import open_bytes
from ilfs.datasets.readers.svmlight import CheckedLines
from ilfs.npz import reason_of
from ilfs.reading.text import check_text_classes, class_names
from ilfs.sources.reader import Batch, BatchReader
from ilfs.sources.roles import Request

COUNTED_ROWS = 4096  # rows that are parsed at a time to count rows and columns
STORED_BYTES = 12  # of a stored value in memory, with its index


class SvmlightReader(BatchReader):
    """Reader of an svmlight file. Opening it reads the whole file once, to count rows and columns.

    Parameters
    ----------
    path : Path
        The file.
    request : Request
        Its target, weight and drop must be empty: rows begin with their class, and columns have no names.
    """

    is_sparse = True

    def __init__(self, path: Path, request: Request) -> None:
        self.path, self.name, self.has_labels = path, str(path), True
        refuse_columns(path, request)
        if path.stat().st_size == 0:
            raise ValueError(f"{path} is empty")
        sizes = self._sizes
        self.n_rows, self.n_features = sizes["rows"], sizes["last"] + 1 - self._first_index
        if self.n_features < 1:
            raise ValueError(f"{path} must have at least one feature, got none")
        DEFAULT_LIMITS.check_columns(self.n_features, path)

    @cached_property
    def _sizes(self) -> dict[str, int]:
        """Numbers of rows and stored values, and the lowest and highest index."""
        sizes = {"rows": 0, "stored": 0, "first": 1, "last": -1}
        for X, _ in self._parsed(COUNTED_ROWS, None):
            sizes["rows"] += X.shape[0]
            sizes["stored"] += X.nnz
            if X.nnz:
                sizes["first"] = min(sizes["first"], int(X.indices.min()))
                sizes["last"] = max(sizes["last"], int(X.indices.max()))
        return sizes

    @property
    def _first_index(self) -> int:
        """Index of the first feature: 0 if it occurs, otherwise 1."""
        return int(self._sizes["first"] > 0)

    @property
    def n_bytes(self) -> int | None:
        """Estimate of the bytes that all values take in memory."""
        return STORED_BYTES * self._sizes["stored"]

    def check_classes(self, labels: NDArray[Any], rows: NDArray[Any]) -> None:
        """Check the classes of all rows."""
        check_text_classes(labels, rows, self.name)

    def batches(self, columns: Integers | None, max_rows: int) -> Iterator[Batch]:
        """Read the rows from the first to the last."""
        first = self._first_index
        for X, labels in self._parsed(max_rows, self.n_features + first):
            X = X[:, first:]
            yield Batch(X if columns is None else X[:, columns], class_names(labels).astype(str), None, X.shape[0])

    def _parsed(self, max_rows: int, n_columns: int | None) -> Iterator[tuple[Any, list[str]]]:
        """Parse some lines at a time; the first column has index 0."""
        with open_bytes(self.path) as file:
            lines = NumberedLines(file, self.path, DEFAULT_LIMITS)
            while True:
                X = self._matrix(lines.take(max_rows), n_columns)
                if not X.shape[0]:
                    return
                yield X, lines.taken_labels()

    def _matrix(self, lines: "NumberedLines", n_columns: int | None) -> Any:
        from sklearn.datasets import load_svmlight_file

        try:
            X, _ = load_svmlight_file(lines, n_features=n_columns, zero_based=True)
        except ReadError:
            raise
        except (ValueError, OverflowError) as error:
            what = f"{self.path} must be in the svmlight format (class index:value ...)"
            raise ValueError(f"{what}: {reason_of(error)}") from error
        return sparse.csr_array(X)


class NumberedLines(CheckedLines):
    """Lines for scikit-learn's reader, some at a time, with the classes stored separately.

    Parameters
    ----------
    file : binary file
        The open file.
    path : Path
        Its path, for messages.
    limits : ReadLimits
        Limits on the lines.
    """

    def __init__(self, file: IO[bytes], path: Path, limits: Any) -> None:
        super().__init__(file, path, limits)
        self._lines = super().__iter__()
        self._max_rows = 0

    def take(self, max_rows: int) -> "NumberedLines":
        """Let the next iteration give this many lines."""
        self._max_rows = max_rows
        return self

    def __iter__(self) -> Iterator[bytes]:
        """Iterate over the next lines that hold a row."""
        return islice((line for line in self._lines if line.strip()), self._max_rows)

    def taken_labels(self) -> list[str]:
        """Return the classes of the rows since the last call, and forget them: a stream may have any number of rows."""
        labels, self.labels = self.labels, []
        return labels


def refuse_columns(path: Path, request: Request) -> None:
    """Raise if columns are named, which an svmlight file does not have."""
    for role, given in (("target", request.target), ("weight", request.weight), ("drop", request.drop or None)):
        if given is not None:
            raise ValueError(
                f"{role} must be None for {path}, as svmlight rows start with their class and columns have no names, "
                f"got {given!r}"
            )
