"""Datasets and open Parquet files of pyarrow."""

from collections.abc import Iterator, Sequence
from typing import Any

from ilfs.sources.arrow import ArrowReader, arranged, one_line_errors
from ilfs.sources.roles import Request


def open_dataset(X: Any, request: Request) -> ArrowReader:
    """Make a reader of a pyarrow dataset; rows are in the order of its files."""

    def batches(names: Sequence[str], max_rows: int) -> Iterator[Any]:
        # Without reading ahead: pyarrow would hold many batches of every file that it reads in advance.
        options = {"batch_size": max_rows, "batch_readahead": 1, "fragment_readahead": 1}
        with one_line_errors(f"{request.name} cannot be read to its end"):
            for batch in X.to_batches(columns=list(names) or list(X.schema.names[:1]), **options):
                yield arranged(batch, names)

    return ArrowReader.from_request(X.schema, batches, request)


def open_parquet_file(X: Any, request: Request) -> ArrowReader:
    """Make a reader of a ``pyarrow.parquet.ParquetFile``."""

    def batches(names: Sequence[str], max_rows: int) -> Iterator[Any]:
        with one_line_errors(f"{request.name} cannot be read to its end"):
            for batch in X.iter_batches(batch_size=max_rows, columns=list(names)):
                yield arranged(batch, names)

    return ArrowReader.from_request(X.schema_arrow, batches, request, X.metadata.num_rows)
