"""Reader for all supported formats, chosen by the ending of the file name."""

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from ilfs.choices import DELIMITED_ENDINGS
from ilfs.datasets.dataset import Dataset
from ilfs.datasets.limits import DEFAULT_LIMITS, ReadLimits
from ilfs.datasets.naming import Column
from ilfs.datasets.readers.arff import read_arff
from ilfs.datasets.readers.arrays import read_mat, read_npy, read_npz
from ilfs.datasets.readers.arrow import read_feather, read_parquet
from ilfs.datasets.readers.assemble import Reader
from ilfs.datasets.readers.c45 import read_c45
from ilfs.datasets.readers.compressed import PACKED_ENDINGS
from ilfs.datasets.readers.expression import read_gct, read_res
from ilfs.datasets.readers.idx import read_idx
from ilfs.datasets.readers.rdata import read_rdata
from ilfs.datasets.readers.svmlight import read_svmlight
from ilfs.datasets.readers.text import read_text

READERS: dict[str, Reader] = {
    ".csv": read_text,
    ".tsv": read_text,
    ".tab": read_text,
    ".txt": read_text,
    ".parquet": read_parquet,
    ".feather": read_feather,
    ".npz": read_npz,
    ".npy": read_npy,
    ".svmlight": read_svmlight,
    ".libsvm": read_svmlight,
    ".svm": read_svmlight,
    ".arff": read_arff,
    ".mat": read_mat,
    ".rdata": read_rdata,
    ".rda": read_rdata,
    ".rds": read_rdata,
    ".gct": read_gct,
    ".res": read_res,
    ".names": read_c45,
    ".data": read_c45,
}
TEXT_ENDINGS = (*DELIMITED_ENDINGS, ".svmlight", ".libsvm", ".svm", ".arff", ".gct", ".res")
IDX_ENDINGS = ("images-idx3-ubyte", "images.idx3-ubyte")  # files of MNIST have no ending after a dot

#: Endings of files that can be read.
ENDINGS = (
    *READERS,
    *IDX_ENDINGS,
    *(f"{ending}{packed}" for ending in TEXT_ENDINGS for packed in PACKED_ENDINGS),
    *(f"{ending}.gz" for ending in IDX_ENDINGS),
)


def read_table(
    path: str | os.PathLike[str],
    target: str | int | None = None,
    name: str | None = None,
    *,
    drop: Column | Sequence[Column] = (),
    limits: ReadLimits = DEFAULT_LIMITS,
) -> Dataset:
    r"""Read a data set from a file, whose ending determines the format.

    Rows are samples, and columns are features.

    Parameters
    ----------
    path : str or path
        A file that ends in ``.csv``, ``.tsv``, ``.tab`` or ``.txt`` (text; delimiter and header are detected; empty
        values, NA, NaN and ? are missing), ``.parquet`` or ``.feather`` (needs pyarrow), ``.npz``, ``.npy``,
        ``.svmlight``, ``.libsvm`` or ``.svm`` (sparse), ``.arff`` (dense or sparse), ``.mat`` (MATLAB up to
        version 7), ``.RData``, ``.rda`` or ``.rds`` (R; needs the package rdata), ``.gct`` or ``.res`` (gene
        expression; classes in a ``.cls`` file beside it), ``.names`` or ``.data`` (C4.5; both files), or
        ``images-idx3-ubyte`` (MNIST; its labels beside it). Text formats may be compressed (``.csv.gz``, ``.csv.bz2``,
        ``.csv.xz``) or the only file of a zip archive (``.csv.zip``).
    target : str or int, optional
        The column that holds the classes: its name, or its position from 0 (-1 is the last). By default a column named
        class, target, label or y in any case, otherwise the last column that is not dropped. In ``.npz`` and ``.mat``
        it is the name of a separate array, by default y, Y, target, labels, label or class.
    name : str, optional
        Name of the data set; by default that of the file.
    drop : str, int or a sequence of them, default=()
        Columns to leave out, by name or position: identifiers of samples, batches, other outcomes. In ``.npz`` and
        ``.mat`` these are columns of the features. Columns of svmlight files cannot be dropped.
    limits : ReadLimits, optional
        Limits on the length of lines, the memory and the number of columns; raise them for a file that you trust.

    Returns
    -------
    Dataset
        Features as numbers, sparse if the file is; classes as codes. The checksum is that of the content.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from ilfs.datasets import read_table
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "cells.csv"
    ...     _ = path.write_text("cell;kind;size;round\nc1;benign;3,5;NA\nc2;malignant;4,1;0\nc3;benign;3,9;1\n")
    ...     read_table(path, target="kind", drop="cell")
    <Dataset cells: 3 samples x 2 features; classes benign 2, malignant 1>
    """
    path = Path(path)
    stem, reader = _reader_of(path)
    if not path.is_file():
        what = "a folder" if path.is_dir() else "a device or a pipe"
        raise FileNotFoundError(
            f"{path} must be a file, not {what}" if path.exists() else f"there is no file {path.absolute()}"
        )
    if not isinstance(limits, ReadLimits):
        raise TypeError(f"limits must be a ReadLimits, got {limits!r}")
    if path.stat().st_size == 0:
        raise ValueError(f"{path} is empty")
    return reader(path, target, columns_of(drop), name or stem, limits)


def columns_of(drop: Column | Sequence[Column]) -> tuple[Column, ...]:
    """Return one column or several as a tuple."""
    return (drop,) if isinstance(drop, str) or not isinstance(drop, Iterable) else tuple(drop)


def _reader_of(path: Path) -> tuple[str, Reader]:
    """Return the name of the file without its ending, and the reader for the ending."""
    is_packed = path.suffix.lower() in PACKED_ENDINGS
    plain = path.with_suffix("") if is_packed else path
    if plain.name.lower().endswith(IDX_ENDINGS) and path.suffix.lower() != ".zip":
        return plain.name, read_idx
    ending = plain.suffix.lower()
    if ending not in READERS or (is_packed and ending not in TEXT_ENDINGS):
        known = ", ".join((*READERS, IDX_ENDINGS[0]))
        raise ValueError(f"the name of a data file must end in {known}, got {path.name!r}")
    return plain.stem, READERS[ending]
