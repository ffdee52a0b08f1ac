"""Parquet files, and folders of them, larger than memory.

Parquet stores columns apart. A pass over all columns therefore reads them strip by strip: decoding keeps one page of
every column in memory, up to a megabyte each, so that thousands of columns at a time would take gigabytes.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import chain, pairwise
from pathlib import Path
from typing import Any

import numpy as np

from ilfs.arrays import VALUE_BYTES, Integers, zeros_in_pages
from ilfs.sources.arrow import ArrowReader, arranged, one_line_errors
from ilfs.sources.frames import EXACT_IN_FLOAT32, type_name
from ilfs.sources.reader import Batch
from ilfs.sources.roles import Column, Target

STRIP_COLUMNS = 256  # columns that are read at a time
WIDE_STRIP_COLUMNS = 64  # columns that are read at a time if many chosen ones must be in memory together
WHOLE_ROWS = 2**20  # rows of a batch if all columns are read at once
PAGE_BYTES = 2**20  # of decoded values that reading holds for each column
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
    memory_limit : int, optional
        Bytes that reading may take: a low limit makes strips narrower, which takes longer.
    """

    strip_columns: int

    def __init__(
        self,
        files: "Sequence[ParquetPart]",
        target: Target = None,
        drop: Sequence[Column] = (),
        weight: Column | None = None,
        *,
        name: str,
        memory_limit: int | None = None,
    ) -> None:
        self._files = list(files)
        # The file that was opened last. Not all of them: a footer takes about 1 kB for each column of each row group.
        self._opened: tuple[int, Any] | None = None
        if not self._files:
            raise ValueError(f"{name} must hold at least one Parquet file, got none")
        for part, file in enumerate(self._files):
            file.inspect(self._open_part(part))
        unify_types(self._files)
        super().__init__(
            self._files[0].schema,
            self._all_batches,
            target,
            drop,
            weight,
            name=name,
            n_rows=sum(file.n_rows for file in self._files),
            strip_columns=strip_width(memory_limit, max(file.n_rows for file in self._files)),
        )
        self.n_parts = len(self._files)

    def _all_batches(self, names: Sequence[str], max_rows: int) -> Iterator[Any]:
        return chain.from_iterable(self._record_batches(part, names, max_rows) for part in range(self.n_parts))

    def _record_batches(self, part: int, names: Sequence[str], max_rows: int) -> Iterator[Any]:
        return self._files[part].batches(self._open_part(part), names, max_rows)

    def _open_part(self, part: int) -> Any:
        """Open a file, unless it is the one that was opened last."""
        opened = self._opened
        if opened is None or opened[0] != part:
            self._opened = opened = None  # frees the footer before the next one is read
            self._opened = opened = part, self._files[part].opened()
        return opened[1]

    def part_batches(self, part: int, columns: Integers | None, max_rows: int) -> Iterator[Batch]:
        """Read the rows of one file."""
        if columns is None or columns.size <= self.strip_columns:
            return self._converted_batches(partial(self._record_batches, part), columns, max_rows)
        groups = range(self._open_part(part).num_row_groups)
        return chain.from_iterable(self._wide_batches(part, group, columns, max_rows) for group in groups)

    def _wide_batches(self, part: int, group: int, columns: Integers, max_rows: int) -> Iterator[Batch]:
        """Read a row group of more columns than a strip has: strip by strip, if each can be read whole."""
        file = self._open_part(part)
        read = partial(self._files[part].group_batches, file, group)
        if not is_read_whole(file, group):
            return self._converted_batches(read, columns, max_rows)
        width = min(self.strip_columns, WIDE_STRIP_COLUMNS)
        strips = np.split(columns, range(width, columns.size, width))
        read_strips = chain.from_iterable(self._converted_batches(read, strip, max_rows) for strip in strips)
        return side_by_side(read_strips, columns.size, self.dtype, max_rows, self._first_row(part, group))

    def _first_row(self, part: int, group: int) -> int:
        """Return the number of rows before a row group, in all files."""
        metadata = self._open_part(part).metadata
        in_file: int = sum(metadata.row_group(before).num_rows for before in range(group))
        return sum(file.n_rows for file in self._files[:part]) + in_file


class ParquetPart:
    """One Parquet file, with the values of its partition columns.

    Parameters
    ----------
    path : path-like
        The file.
    keys : mapping, optional
        Names and values, as pyarrow scalars, of columns that the names of folders state, such as ``year=2024``. A
        column of the file with the same name is used instead.

    Attributes
    ----------
    schema : pyarrow.Schema
        Names and types of all columns, those of the folders last; known after `inspect`.
    n_rows : int
        Number of rows; known after `inspect`.
    """

    schema: Any
    n_rows: int

    def __init__(self, path: Any, keys: dict[str, Any] | None = None) -> None:
        self.path, self.keys = Path(path), dict(keys or {})
        self._wider: dict[str, Any] = {}  # types of columns that other files store in another type

    def widen(self, types: dict[str, Any]) -> None:
        """Let columns be converted to wider types when they are read."""
        import pyarrow

        self._wider = {field.name: types[field.name] for field in self.schema if types[field.name] != field.type}
        fields = [pyarrow.field(field.name, types[field.name]) for field in self.schema]
        self.schema = pyarrow.schema(fields, self.schema.metadata) if self._wider else self.schema

    def opened(self) -> Any:
        """Open the file, which reads its footer."""
        import pyarrow.parquet

        with one_line_errors(f"{self.path} must be a complete Parquet file"):
            return pyarrow.parquet.ParquetFile(self.path, pre_buffer=False, buffer_size=BUFFER_BYTES)

    def inspect(self, file: Any) -> None:
        """Take the schema and the number of rows from the opened file."""
        import pyarrow

        schema, self.n_rows = file.schema_arrow, int(file.metadata.num_rows)
        self.keys = {name: value for name, value in self.keys.items() if name not in schema.names}
        for name, value in self.keys.items():
            schema = schema.append(pyarrow.field(name, value.type))
        self.schema = schema

    def batches(self, file: Any, names: Sequence[str], max_rows: int) -> Iterator[Any]:
        """Read some columns of the opened file from the first row to the last."""
        groups = range(file.num_row_groups)
        return chain.from_iterable(self.group_batches(file, group, names, max_rows) for group in groups)

    def group_batches(self, file: Any, group: int, names: Sequence[str], max_rows: int) -> Iterator[Any]:
        """Read some columns of a row group of the opened file."""
        stored = [name for name in names if name not in self.keys]
        with one_line_errors(f"{self.path} cannot be read to its end"):
            yield from map(partial(self._arranged, names), group_batches(file, group, stored, max_rows))

    def _arranged(self, names: Sequence[str], batch: Any) -> Any:
        """Add the columns of the folders, which have the same value in all rows, and put all columns into order."""
        import pyarrow

        for name, value in self.keys.items():
            batch = batch.append_column(name, pyarrow.repeat(value, batch.num_rows))
        for j, name in enumerate(batch.schema.names if self._wider else ()):
            if name in self._wider:
                batch = batch.set_column(j, name, batch.column(j).cast(self._wider[name]))
        return arranged(batch, names)


def is_read_whole(file: Any, group: int) -> bool:
    """Check if a row group is read whole: if its columns are no longer than a page.

    Batches would hold a page of each column as well, and take twice the time.
    """
    return bool(file.metadata.row_group(group).num_rows * VALUE_BYTES <= PAGE_BYTES)


def group_batches(file: Any, group: int, names: Sequence[str], max_rows: int) -> Iterator[Any]:
    """Read a row group, in one batch if it is read whole."""
    if not is_read_whole(file, group):
        yield from file.iter_batches(batch_size=max_rows, row_groups=[group], columns=names)
        return
    batches = file.read_row_group(group, columns=names).combine_chunks().to_batches()
    while batches:
        yield batches.pop(0)  # not kept while the next row group is read


def side_by_side(
    strips: Iterable[Batch], n_columns: int, dtype: "np.dtype[Any]", height: int, first_row: int = 0
) -> Iterator[Batch]:
    """Put strips of columns of the same rows side by side, in batches of some rows.

    Only one strip is in memory beside the batches, and a batch is freed before the next one is taken. So this needs
    less memory than reading all columns at once.

    Parameters
    ----------
    strips : iterable of Batch
        The same rows of neighbouring columns, one array for each column. Labels and weights are those of the first.
    n_columns : int
        Number of columns of all strips.
    dtype : dtype
        Type of the values.
    height : int
        Most rows of a batch.
    first_row : int, default=0
        Number of the first row in the whole table. Batches end at multiples of ``height`` in the whole table, so that
        they are whole blocks, which are used without a copy.

    Yields
    ------
    Batch
        The next rows of all columns, in Fortran order.
    """
    batches: list[Batch] = []
    first_column = 0
    for strip in strips:
        rows = aligned_slices(strip.n_rows, height, first_row)
        batches = batches or [empty_batch(strip, part, n_columns, dtype) for part in rows]
        for part, batch in zip(rows, batches, strict=True):
            for j, column in enumerate(strip.X, first_column):
                batch.X[:, j] = column[part]
        first_column += len(strip.X)
        del strip  # before the next one is read
    while batches:
        yield batches.pop(0)


def aligned_slices(n_rows: int, height: int, first_row: int) -> list[slice]:
    """Cut rows at multiples of a height in the whole table, of which ``first_row`` rows come before.

    Examples
    --------
    >>> from ilfs.sources.parquet import aligned_slices
    >>> aligned_slices(10, 4, first_row=7)
    [slice(0, 1, None), slice(1, 5, None), slice(5, 9, None), slice(9, 10, None)]
    """
    cuts = [0, *range(height - first_row % height, n_rows, height), n_rows]
    return [slice(start, stop) for start, stop in pairwise(cuts)]


def empty_batch(strip: Batch, rows: slice, n_columns: int, dtype: "np.dtype[Any]") -> Batch:
    """Allocate a batch for some rows of a strip, with their labels and weights."""
    n_rows = rows.stop - rows.start
    return Batch(
        zeros_in_pages((n_rows, n_columns), dtype, "F"),
        None if strip.y is None else strip.y[rows],
        None if strip.weight is None else strip.weight[rows],
        n_rows,
    )


def strip_width(memory_limit: int | None, n_rows: int) -> int:
    """Return the number of columns to read at a time; half of the limit is for decoded pages.

    Parameters
    ----------
    memory_limit : int or None
        Bytes that reading may take.
    n_rows : int
        Rows of the largest file. A page of a small file is small, so that many columns can be read together.
    """
    if memory_limit is None:
        return STRIP_COLUMNS
    page_bytes = max(min(PAGE_BYTES, n_rows * VALUE_BYTES), 1)
    return max(min(STRIP_COLUMNS, memory_limit // (2 * page_bytes)), 1)


def unify_types(files: Sequence[ParquetPart]) -> None:
    """Give the columns of all files the same types, wider ones where files differ; raise if that is not possible.

    Files of one table often differ because a column has missing values in some of them: pandas then stores integers as
    floats. The order of the columns may differ too.
    """
    first = files[0]
    types = {field.name: field.type for field in first.schema}
    for other in files[1:]:
        if other.schema.equals(first.schema):
            continue
        of_other = {field.name: field.type for field in other.schema}
        for name in [*types, *(name for name in of_other if name not in types)]:
            wider = wider_type(types.get(name), of_other.get(name))
            if wider is None:
                raise ValueError(
                    f"all files must have the same columns: {name!r} is {types.get(name) or 'missing'} in {first.path} "
                    f"and {of_other.get(name) or 'missing'} in {other.path}"
                )
            types[name] = wider
    for file in files:
        file.widen(types)


def wider_type(one: Any, other: Any) -> Any:
    """Return an Arrow type that holds the values of two types exactly; None if there is none, or one is missing.

    Integers of 64 bits and floats become float64; reading then refuses integers that float64 would round.
    """
    import pyarrow
    from pyarrow import types

    if one == other or one is None or other is None:
        return one if one == other else None
    if types.is_null(one) or types.is_null(other):
        return other if types.is_null(one) else one
    if all(types.is_string(kind) or types.is_large_string(kind) for kind in (one, other)):
        return pyarrow.large_string()
    if not all(types.is_floating(kind) or types.is_integer(kind) for kind in (one, other)):
        return None
    if all(types.is_integer(kind) for kind in (one, other)):
        return None if pyarrow.uint64() in (one, other) else pyarrow.int64()
    is_narrow = all(type_name(kind) in EXACT_IN_FLOAT32 for kind in (one, other))
    return pyarrow.float32() if is_narrow else pyarrow.float64()


def parquet_table(files: Sequence[ParquetPart], name: str) -> Any:
    """Read whole Parquet files, with columns of any types.

    Parameters
    ----------
    files : sequence of ParquetPart
        The files, in the order of their rows.
    name : str
        Name of the table in messages.

    Returns
    -------
    pyarrow.Table
        All rows.
    """
    import pyarrow

    for file in files:
        file.inspect(file.opened())
    unify_types(files)
    schema = files[0].schema
    batches = [batch for file in files for batch in file.batches(file.opened(), schema.names, WHOLE_ROWS)]
    with one_line_errors(f"{name} must be complete Parquet files"):
        return pyarrow.Table.from_batches([batch.cast(schema) for batch in batches], schema)
