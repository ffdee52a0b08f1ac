"""Parquet files, and folders of them, larger than memory.

Parquet stores columns apart. A pass over all columns therefore reads them strip by strip: decoding keeps one page of
every column in memory, up to a megabyte each, so that thousands of columns at a time would take gigabytes.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from ilfs.cached import cached_property
from ilfs.sources.arrow import ArrowReader

STRIP_COLUMNS = 256  # columns that are read at a time
BUFFER_BYTES = 2**16  # of a column's compressed values that are read from the file at a time


class ParquetReader(ArrowReader):
    """Reader of Parquet files with the same columns, in the order of their names.

    Parameters
    ----------
    files : sequence of ParquetPart
        The files, in the order of their rows.
    target, drop, weight :
        As for `ArrowReader`.
    name : str
        Name of the table in messages.
    """

    def __init__(
        self,
        files: "Sequence[ParquetPart]",
        target: str | Sequence[str] | None = None,
        drop: Sequence[str] = (),
        weight: str | None = None,
        *,
        name: str,
    ) -> None:
        self._files = list(files)
        if not self._files:
            raise ValueError(f"{name} must hold at least one Parquet file, got none")
        for other in self._files[1:]:
            check_same_schema(self._files[0], other)
        super().__init__(
            self._files[0].schema,
            self._open_files,
            target,
            drop,
            weight,
            name=name,
            n_rows=sum(file.n_rows for file in self._files),
            strip_columns=STRIP_COLUMNS,
        )

    def _open_files(self, names: Sequence[str], max_rows: int) -> Iterator[Any]:
        for file in self._files:
            yield from file.batches(names, max_rows)


class ParquetPart:
    """One Parquet file, with the values of its partition columns.

    Parameters
    ----------
    path : path-like
        The file.
    keys : mapping, optional
        Names and values of columns that the names of folders state, such as ``year=2024``.
    """

    def __init__(self, path: Any, keys: dict[str, Any] | None = None) -> None:
        self.path, self.keys = Path(path), dict(keys or {})

    @cached_property
    def _file(self) -> Any:
        import pyarrow
        import pyarrow.parquet

        try:
            return pyarrow.parquet.ParquetFile(self.path, pre_buffer=False, buffer_size=BUFFER_BYTES)
        except (pyarrow.ArrowInvalid, OSError) as error:
            if isinstance(error, FileNotFoundError | PermissionError | IsADirectoryError):
                raise
            raise ValueError(f"{self.path} must be a Parquet file: {str(error).splitlines()[0]}") from None

    @cached_property
    def schema(self) -> Any:
        """Names and types of all columns, those of the folders last."""
        import pyarrow

        schema = self._file.schema_arrow
        for name, value in self.keys.items():
            schema = schema.append(pyarrow.field(name, pyarrow.scalar(value).type))
        return schema

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self._file.metadata.num_rows)

    def batches(self, names: Sequence[str], max_rows: int) -> Iterator[Any]:
        """Read some columns from the first row to the last."""
        import pyarrow

        stored = [name for name in names if name not in self.keys]
        try:
            for batch in self._file.iter_batches(batch_size=max_rows, columns=stored):
                yield self._arranged(batch, names)
        except (pyarrow.ArrowInvalid, OSError) as error:
            raise ValueError(f"{self.path} cannot be read: {str(error).splitlines()[0]}") from None

    def _arranged(self, batch: Any, names: Sequence[str]) -> Any:
        """Put the columns of a batch into the order that was asked for, with the constant columns of the folders."""
        import pyarrow

        columns = [
            pyarrow.repeat(pyarrow.scalar(self.keys[name]), batch.num_rows) if name in self.keys else batch.column(name)
            for name in names
        ]
        if not columns:  # neither labels nor features were asked for, only the number of rows
            return batch
        return pyarrow.record_batch(columns, names=list(names))


def check_same_schema(first: ParquetPart, other: ParquetPart) -> None:
    """Raise if two files differ in the names or types of their columns; the order may differ."""
    if first.schema.equals(other.schema):
        return
    of_first, of_other = ({field.name: field.type for field in part.schema} for part in (first, other))
    for name in [*of_first, *(name for name in of_other if name not in of_first)]:
        here, there = of_other.get(name), of_first.get(name)
        if here != there:
            raise ValueError(
                f"all files must have the same columns: {name!r} is {there or 'missing'} in {first.path} and "
                f"{here or 'missing'} in {other.path}"
            )
