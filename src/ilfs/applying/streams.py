"""Columns of any table as a stream."""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from ilfs.applying.columns import OTHER_COLUMNS, Columns, ColumnStream
from ilfs.applying.text import open_text_columns
from ilfs.choices import DELIMITED_ENDINGS, PARQUET_ENDINGS
from ilfs.importing import check_installed
from ilfs.reading.files import open_files
from ilfs.reading.paths import ending_of, files_of, parquet_parts
from ilfs.selected_columns.sources import from_source
from ilfs.sources import BatchSource, Source, TableSource, stream_source, table_source
from ilfs.sources.anndata import open_anndata
from ilfs.sources.arrow import arranged, index_columns, one_line_errors
from ilfs.sources.lazy_frames import collected
from ilfs.sources.parquet import ParquetPart, unify_types
from ilfs.sources.recognise import is_in_memory, kinds_of
from ilfs.sources.roles import Request
from ilfs.sources.spooled import ipc_batches
from ilfs.validation import prepare_table

FEATHER_ENDINGS = (".feather", ".arrow")
OBS_NAMES = "obs_names"  # name of the column of the names of observations

OpenBatches = Callable[[list[str], int], Iterable[Any]]


def open_columns(source: Any, wanted: Columns, out: Path) -> ColumnStream:
    """Open the wanted columns of a file or a table; text is copied as it is if ``out`` is text of the same kind."""
    if isinstance(source, str | os.PathLike):
        return from_files(source, wanted, out)
    kinds = kinds_of(source)
    for kind, open_table in OPENERS.items():
        if kind in kinds:
            return open_table(source, wanted, "X")
    if hasattr(source, "__arrow_c_stream__") and not isinstance(source, Source):
        return from_arrow_stream(source, wanted, "X")
    if ("polars", "DataFrame") in kinds:  # before polars 1.3, data frames had no stream interface
        return from_arrow_stream(source.to_arrow(), wanted, "X")
    return from_rows(source, wanted)


def from_files(path: Any, wanted: Columns, out: Path) -> ColumnStream:
    """Open the wanted columns of a file, a folder or a pattern."""
    files, name = files_of(path), str(path)
    endings = {ending_of(file) for file in files}
    if endings <= set(DELIMITED_ENDINGS):
        return open_text_columns(files, wanted, out)
    if endings <= set(PARQUET_ENDINGS):
        check_installed("pyarrow", "parquet", f"reading {files[0].name}")
        return from_parquet(parquet_parts(files), wanted, name)
    if endings <= set(FEATHER_ENDINGS):
        check_installed("pyarrow", "parquet", f"reading {files[0].name}")
        return from_feather(files, wanted, name)
    if endings == {".h5ad"} and len(files) == 1:
        return from_h5ad(files[0], wanted, name)
    return from_source_columns(open_files(path, Request(name=name, memory_limit=wanted.memory_limit)), wanted, name)


# Tables of Arrow


def arrow_columns(schema: Any, open_batches: OpenBatches, wanted: Columns, name: str) -> ColumnStream:
    """Make a stream of a function that opens record batches with some columns."""
    import pyarrow

    index = set(index_columns(schema, wanted.keep if wanted.keep != OTHER_COLUMNS else ()))
    names = [one for one in schema.names if one not in index]
    kept, selected = wanted.find(names, len(names), name)
    chosen = [names[j] for j in (*kept, *selected)]
    batches = open_batches(chosen, wanted.max_rows(len(chosen)))
    columns = ([batch.column(j) for j in range(len(chosen))] for batch in batches)
    return ColumnStream(chosen, columns, pyarrow.schema([schema.field(one) for one in chosen]))


def from_parquet(parts: Sequence[ParquetPart], wanted: Columns, name: str) -> ColumnStream:
    """Open the wanted columns of Parquet files."""
    for part in parts:
        part.inspect(part.opened())
    unify_types(parts)

    def batches(names: list[str], max_rows: int) -> Iterator[Any]:
        return chain.from_iterable(part.batches(part.opened(), names, max_rows) for part in parts)

    return arrow_columns(parts[0].schema, batches, wanted, name)


def from_feather(files: Sequence[Path], wanted: Columns, name: str) -> ColumnStream:
    """Open the wanted columns of files in Arrow's IPC format."""
    import pyarrow

    what = f"{name} must be complete Arrow or Feather (version 2) files"
    with one_line_errors(what), pyarrow.OSFile(str(files[0])) as file, pyarrow.ipc.open_file(file) as opened:
        schema = opened.schema

    def batches(names: list[str], max_rows: int) -> Iterator[Any]:
        for path in files:
            with one_line_errors(what), pyarrow.OSFile(str(path)) as file:
                yield from ipc_batches(file, names, max_rows)

    return arrow_columns(schema, batches, wanted, name)


def from_dataset(X: Any, wanted: Columns, name: str) -> ColumnStream:
    """Open the wanted columns of a pyarrow dataset."""

    def batches(names: list[str], max_rows: int) -> Iterator[Any]:
        options = {"batch_size": max_rows, "batch_readahead": 1, "fragment_readahead": 1}
        return (arranged(batch, names) for batch in X.to_batches(columns=names, **options))

    return arrow_columns(X.schema, batches, wanted, name)


def from_parquet_file(X: Any, wanted: Columns, name: str) -> ColumnStream:
    """Open the wanted columns of an open Parquet file."""

    def batches(names: list[str], max_rows: int) -> Iterator[Any]:
        return (arranged(batch, names) for batch in X.iter_batches(batch_size=max_rows, columns=names))

    return arrow_columns(X.schema_arrow, batches, wanted, name)


def from_scanner(X: Any, wanted: Columns, name: str) -> ColumnStream:
    """Open the wanted columns of a scanner."""
    return from_reader(X.to_reader(), wanted, name)


def from_arrow_stream(X: Any, wanted: Columns, name: str) -> ColumnStream:
    """Open the wanted columns of anything with Arrow's PyCapsule stream interface, also of data frames in memory."""
    check_installed("pyarrow", "parquet", f"reading {type(X).__name__}")
    import pyarrow

    return from_reader(pyarrow.RecordBatchReader.from_stream(X), wanted, name)


def from_reader(X: Any, wanted: Columns, name: str) -> ColumnStream:
    """Open the wanted columns of a stream of record batches."""

    def batches(names: list[str], max_rows: int) -> Iterator[Any]:
        for batch in X:
            chosen = arranged(batch, names)
            yield from (chosen.slice(start, max_rows) for start in range(0, chosen.num_rows, max_rows))

    return arrow_columns(X.schema, batches, wanted, name)


def from_lazy_frame(X: Any, wanted: Columns, name: str) -> ColumnStream:
    """Open the wanted columns of a polars LazyFrame."""
    check_installed("pyarrow", "parquet", "writing a LazyFrame")

    def batches(names: list[str], max_rows: int) -> Iterator[Any]:
        frames = collected(X.select(names), max_rows)
        return chain.from_iterable(frame.to_arrow().combine_chunks().to_batches() for frame in frames)

    return arrow_columns(X.head(0).collect().to_arrow().schema, batches, wanted, name)


def from_dask_frame(X: Any, wanted: Columns, name: str) -> ColumnStream:
    """Open the wanted columns of a Dask data frame; partitions are computed one after the other."""
    check_installed("pyarrow", "parquet", "writing a Dask data frame")
    import pyarrow

    schema = pyarrow.Schema.from_pandas(X.head(1, npartitions=-1), preserve_index=False)

    def batches(names: list[str], max_rows: int) -> Iterator[Any]:  # noqa: ARG001
        chosen = pyarrow.schema([schema.field(one) for one in names])
        for part in X[names].to_delayed():
            yield pyarrow.RecordBatch.from_pandas(part.compute(), chosen, preserve_index=False)

    return arrow_columns(schema, batches, wanted, name)


# Other tables


def from_h5ad(file: Path, wanted: Columns, name: str) -> ColumnStream:
    """Open the wanted variables and columns of the observations of an ``.h5ad`` file."""
    check_installed("anndata", "omics", f"reading {file.name}")
    import anndata

    try:
        adata = anndata.read_h5ad(file, backed="r")
    except Exception as error:  # h5py and anndata raise almost anything for a damaged file
        raise ValueError(f"{file} must be a complete .h5ad file: {str(error).splitlines()[0]}") from None
    return from_anndata(adata, wanted, name)


def from_anndata(X: Any, wanted: Columns, name: str) -> ColumnStream:
    """Open the wanted variables and columns of the observations of an AnnData."""
    without = Columns(wanted.choice, (), wanted.memory_limit)
    request = Request(name=name, memory_limit=wanted.memory_limit)
    values = from_source_columns(open_anndata(X, request), without, f"{name}.var_names")
    obs = observations(X, wanted.keep, name)

    def batches() -> Iterator[list[Any]]:
        start = 0
        for columns in values.batches:
            stop = start + len(columns[0])
            yield [*(column[start:stop] for column in obs.values()), *columns]
            start = stop

    return ColumnStream([*obs, *values.names], batches())


def observations(X: Any, keep: Any, name: str) -> dict[str, Any]:
    """Return the columns of the observations to keep."""
    known = [OBS_NAMES, *map(str, X.obs.columns)]
    unknown = [one for one in keep if one not in known] if keep != OTHER_COLUMNS else []
    if unknown:
        raise ValueError(f"keep must hold {OBS_NAMES!r} or columns of {name}.obs, got {unknown[0]!r}")
    wanted = known if keep == OTHER_COLUMNS else keep
    return {one: obs_values(X.obs_names if one == OBS_NAMES else X.obs[one]) for one in wanted}


def obs_values(column: Any) -> Any:
    """Return a column of the observations: numbers, or text in which a missing value is None."""
    if column.dtype.kind in "biuf":
        return column.to_numpy()
    values = column.astype(object)
    return values.where(values.notna(), None).to_numpy(dtype=object)


def from_rows(X: Any, wanted: Columns) -> ColumnStream:
    """Open the wanted columns of arrays, sparse matrices, sources, Dask arrays and blocks of rows."""
    source = stream_source(X, None, None, reads_labels=False)
    if source is None:
        table = prepare_table(X)
        if not is_in_memory(table):
            raise TypeError(f"source must be a path or a table that fit takes, got {type(X).__name__}")
        source = table_source(table)
    return from_source_columns(source, wanted, "X")


def from_source_columns(source: Source, wanted: Columns, name: str) -> ColumnStream:
    """Open the selected columns of a source, which does not give any others."""
    if wanted.keep:
        raise ValueError(
            f"keep must be empty for {name}, of which only the features are read, got {wanted.keep!r}: for other "
            "columns pass a path, a data frame or a table of Arrow"
        )
    selected = from_source(source, wanted.choice)
    names = selected.feature_names or wanted.choice.selected_names
    titles = [f"x{j}" for j in wanted.choice.columns.tolist()] if names is None else [str(one) for one in names]
    max_rows = wanted.max_rows(len(titles))
    return ColumnStream(titles, chain.from_iterable(map(partial(cut_columns, max_rows), values_of(selected))))


def values_of(source: Source) -> Iterator[Any]:
    """Read the values of a source in blocks."""
    if isinstance(source, BatchSource):  # without a pass over the labels
        return (X for X, _, _ in source.pieces())
    if isinstance(source, TableSource):
        return iter([source.to_matrix()])
    return (block.X for block in source.blocks())


def cut_columns(max_rows: int, X: Any) -> Iterator[list[Any]]:
    """Cut a block into columns of at most some rows."""
    X = X.tocsr() if sparse.issparse(X) else X
    for start in range(0, X.shape[0], max_rows):
        rows = X[start : start + max_rows]
        yield list((rows.toarray() if sparse.issparse(rows) else np.asarray(rows)).T)


OPENERS: dict[tuple[str, str], Callable[[Any, Columns, str], ColumnStream]] = {
    ("polars", "LazyFrame"): from_lazy_frame,
    ("pyarrow", "Dataset"): from_dataset,
    ("pyarrow", "ParquetFile"): from_parquet_file,
    ("pyarrow", "Scanner"): from_scanner,
    ("anndata", "AnnData"): from_anndata,
    ("dask", "DataFrame"): from_dask_frame,
}
