"""Sources over files of the user, chosen by the ending of their names."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ilfs.arrays import Integers
from ilfs.datasets.readers import read_table
from ilfs.importing import check_installed
from ilfs.reading.npy import NpyReader
from ilfs.reading.paths import ending_of, files_of, parquet_parts
from ilfs.reading.svmlight import SvmlightReader
from ilfs.reading.text import TextReader
from ilfs.sources import BatchReader, Source, table_source
from ilfs.sources.anndata import open_anndata
from ilfs.sources.arrow import ArrowReader, one_line_errors
from ilfs.sources.parquet import ParquetReader
from ilfs.sources.reader import Batch
from ilfs.sources.recognise import batch_source
from ilfs.sources.roles import Request
from ilfs.sources.spooled import ipc_batches

OpenFiles = Callable[[Sequence[Path], Request], Source]


def open_files(path: Any, request: Request) -> Source:
    """Make a source of a file, a folder or a pattern."""
    files = files_of(path)
    request = replace(request, name=str(path))
    endings = sorted({ending_of(file) for file in files})
    if len(endings) > 1:
        raise ValueError(f"all files of {path} must have the same format, got {' and '.join(endings)}")
    return OPENERS.get(endings[0], open_whole)(files, request)


def open_parquet(files: Sequence[Path], request: Request) -> Source:
    """Make a source of Parquet files."""
    check_installed("pyarrow", "parquet", f"reading {files[0].name}")
    columns = (request.target, request.drop, request.weight)
    reader = ParquetReader(parquet_parts(files), *columns, name=request.name, memory_limit=request.memory_limit)
    return batch_source(reader, request)


def open_text_files(files: Sequence[Path], request: Request) -> Source:
    """Make a source of files of delimited text."""
    return batch_source(one_or_chain([TextReader(file, request) for file in files], request.name), request)


def open_feather(files: Sequence[Path], request: Request) -> Source:
    """Make a source of files in Arrow's IPC format."""
    check_installed("pyarrow", "parquet", f"reading {files[0].name}")
    return batch_source(one_or_chain([feather_reader(file, request) for file in files], request.name), request)


def feather_reader(file: Path, request: Request) -> ArrowReader:
    """Make a reader of one file in Arrow's IPC format."""
    import pyarrow

    what = f"{file} must be a complete Arrow or Feather (version 2) file"
    with one_line_errors(what), pyarrow.memory_map(str(file)) as mapped, pyarrow.ipc.open_file(mapped) as opened:
        schema = opened.schema

    def batches(names: Sequence[str], max_rows: int) -> Iterator[Any]:
        with one_line_errors(what), pyarrow.OSFile(str(file)) as opened:
            yield from ipc_batches(opened, names, max_rows)

    return ArrowReader.from_request(schema, batches, replace(request, name=str(file)))


def open_npy(files: Sequence[Path], request: Request) -> Source:
    """Make a source of a matrix in an ``.npy`` file."""
    return batch_source(NpyReader(only(files, request.name), request), request)


def open_svmlight(files: Sequence[Path], request: Request) -> Source:
    """Make a source of an svmlight file."""
    return batch_source(SvmlightReader(only(files, request.name), request), request)


def open_h5ad(files: Sequence[Path], request: Request) -> Source:
    """Make a source of an ``.h5ad`` file; its matrix stays on disk."""
    file = only(files, request.name)
    check_installed("anndata", "omics", f"reading {file.name}")
    import anndata

    try:
        adata = anndata.read_h5ad(file, backed="r")
    except Exception as error:  # h5py and anndata raise almost anything for a damaged file
        raise ValueError(f"{file} must be a complete .h5ad file: {str(error).splitlines()[0]}") from None
    return open_anndata(adata, request)


def open_whole(files: Sequence[Path], request: Request) -> Source:
    """Read a file of any other format as a whole."""
    file = only(files, request.name)
    if request.weight is not None or request.sample_weight is not None or request.y is not None:
        raise ValueError(f"target and weight of {file} must be columns of the file, and weights are not supported")
    if request.target is not None and not isinstance(request.target, str | int):
        raise ValueError(f"target of {file} must be one column, got {request.target!r}")
    table = read_table(file, request.target, drop=request.drop)
    y = table.y if table.is_multilabel else np.array(table.class_names)[table.y]
    return table_source(table.X, y, None, None if table.feature_names is None else list(table.feature_names))


def only(files: Sequence[Path], name: str) -> Path:
    """Return the only file, for formats of which several files cannot be read as one table."""
    if len(files) != 1:
        raise ValueError(f"{name} must be one file in this format ({files[0].suffix}), got {len(files)} files")
    return files[0]


def one_or_chain(readers: Sequence[BatchReader], name: str) -> BatchReader:
    """Return the only reader, or one that reads all files one after the other."""
    return readers[0] if len(readers) == 1 else ChainReader(readers, name)


class ChainReader(BatchReader):
    """Reader of several files with the same columns, one after the other.

    Parameters
    ----------
    readers : sequence of BatchReader
        Readers of the files, in the order of their rows.
    name : str
        Name of the table in messages.
    """

    def __init__(self, readers: Sequence[BatchReader], name: str) -> None:
        self._readers, self.name, first = list(readers), name, readers[0]
        for other in readers[1:]:
            check_same_columns(first, other)
        self.n_features, self.feature_names = first.n_features, first.feature_names
        self.has_labels, self.has_weights, self.by_column = first.has_labels, first.has_weights, first.by_column
        self.dtype = np.result_type(*(reader.dtype for reader in readers))
        self.check_classes = first.check_classes  # type: ignore[method-assign]

    @property
    def n_bytes(self) -> int | None:
        """Estimate of the bytes that all values take in memory."""
        sizes = [reader.n_bytes for reader in self._readers]
        return None if None in sizes else sum(size or 0 for size in sizes)

    def batches(self, columns: Integers | None, max_rows: int) -> Iterator[Batch]:
        """Read the rows of all files."""
        for reader in self._readers:
            yield from reader.batches(columns, max_rows)


def check_same_columns(first: BatchReader, other: BatchReader) -> None:
    """Raise if two files differ in the names or the number of their columns."""
    if first.n_features != other.n_features:
        raise ValueError(
            f"all files must have the same columns, got {first.n_features} features in {first.name} and "
            f"{other.n_features} in {other.name}"
        )
    for one, two in zip(first.feature_names or (), other.feature_names or (), strict=False):
        if one != two:
            raise ValueError(
                f"all files must have the same columns, got {one!r} in {first.name} and {two!r} in {other.name}"
            )


OPENERS: dict[str, OpenFiles] = {
    ".parquet": open_parquet,
    ".pq": open_parquet,
    ".csv": open_text_files,
    ".tsv": open_text_files,
    ".tab": open_text_files,
    ".txt": open_text_files,
    ".feather": open_feather,
    ".arrow": open_feather,
    ".npy": open_npy,
    ".svmlight": open_svmlight,
    ".libsvm": open_svmlight,
    ".svm": open_svmlight,
    ".h5ad": open_h5ad,
}
