"""Facts about a data set that jobs and tables need, collected so that it is loaded only once."""

import hashlib
from dataclasses import dataclass

from ilfs.benchmark.evaluation.splits import n_splits_of, n_test_of
from ilfs.datasets import Dataset
from ilfs.datasets.dataset import content_checksum


@dataclass(frozen=True)
class DatasetFacts:
    """Checksums, sizes and names of a data set.

    Parameters
    ----------
    n_splits : int
        Number of splits that it has.
    n_samples, n_features, n_test : int
        Numbers of rows, columns and test rows of a split.
    class_names, feature_names : tuple of str
        Names of classes and columns; columns without names are called x0, x1 and so on.
    checksum, content : str
        Checksum of the file, and of the values that were read from it: a new version of a reader may read other values.
    """

    n_splits: int
    n_samples: int = 0
    n_features: int = 0
    n_test: int = 0
    class_names: tuple[str, ...] = ()
    feature_names: tuple[str, ...] = ()
    checksum: str = ""
    content: str = ""

    @classmethod
    def from_table(cls, table: Dataset, n_splits: int, test_fraction: float) -> "DatasetFacts":
        """Facts of a table that is in memory."""
        return cls(
            n_splits=n_splits_of(table, n_splits),
            n_samples=table.n_samples,
            n_features=table.n_features,
            n_test=n_test_of(table, test_fraction),
            class_names=table.class_names,
            feature_names=table.feature_names or tuple(f"x{j}" for j in range(table.n_features)),
            checksum=table.checksum,
            content=checksum_of_content(table),
        )


def checksum_of_content(table: Dataset) -> str:
    """Checksum of the values of a table, with the rows that are for testing."""
    test_rows = b"" if table.test_rows is None else table.test_rows.tobytes()
    return hashlib.sha256(content_checksum(table).encode() + test_rows).hexdigest()
