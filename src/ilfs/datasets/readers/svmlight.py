"""The svmlight (libsvm) format, which stays sparse."""

import gzip
import zlib
from pathlib import Path

from scipy import sparse

from ilfs.datasets.readers.assemble import Drop, Target, assemble
from ilfs.datasets.table import Table


def read_svmlight(path: Path, target: Target, drop: Drop, name: str) -> Table:
    """Read an svmlight file; its features are counted from 0 or from 1, whichever fits."""
    from sklearn.datasets import load_svmlight_file

    if target is not None:
        raise ValueError(f"target must be None for {path}, whose rows begin with their class, got {target!r}")
    if drop:
        raise ValueError(f"drop must be empty for {path}, whose columns have no names, got {drop[0]!r}")
    opened = gzip.open if path.suffix.lower() == ".gz" else open
    try:
        with opened(path, "rb") as file:
            X, y = load_svmlight_file(file)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise ValueError(f"{path} must be a whole gzip file: {error}") from error
    except (ValueError, OverflowError) as error:
        raise ValueError(f"{path} must be in the svmlight format (class index:value ...): {error}") from error
    return assemble(path, name, sparse.csr_array(X), y)
