"""A table as it is in a file, before its columns get their roles."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ilfs.arrays import Integers
from ilfs.preparing.raw_columns import RawColumn, TextColumn, ValueColumn


@dataclass(frozen=True)
class RawTable:
    """A table in memory, whose columns may hold anything.

    Parameters
    ----------
    name : str
        Name in messages.
    names : list of str
        Names of the columns.
    columns : list of RawColumn
        The columns.
    n_rows : int
        Number of rows.
    row_names : list of str, optional
        Names of the rows, from a column without a name.
    has_header : bool, default=True
        False if the file has no names of columns, so that they were made up.
    notes : tuple of str, default=()
        Sentences on how the file was read.
    """

    name: str
    names: list[str]
    columns: list[RawColumn]
    n_rows: int
    row_names: list[str] | None = None
    has_header: bool = True
    notes: tuple[str, ...] = ()

    def column(self, name: str) -> RawColumn:
        """Return a column by its name."""
        return self.columns[self.names.index(name)]

    def take(self, rows: Integers) -> "RawTable":
        """Return the table with only these rows, in this order."""
        row_names = None if self.row_names is None else [self.row_names[i] for i in rows.tolist()]
        columns = [column.take(rows) for column in self.columns]
        return replace(self, columns=columns, n_rows=rows.size, row_names=row_names)

    def without(self, names: Sequence[str]) -> "RawTable":
        """Return the table without some columns."""
        left_out = set(names)
        kept = [j for j, name in enumerate(self.names) if name not in left_out]
        return replace(self, names=[self.names[j] for j in kept], columns=[self.columns[j] for j in kept])

    def transposed(self, names: Sequence[str]) -> "RawTable":
        """Return the table with its rows as columns, called by these names; names of columns become those of rows."""
        values = [column.numbers for column in self.columns]
        if all(value is not None for value in values):
            columns: list[RawColumn] = [ValueColumn(row) for row in np.column_stack(values)]  # type: ignore[arg-type]
        else:
            has_comma = any(column.has_comma for column in self.columns)
            rows = zip(*(column.texts for column in self.columns), strict=True)
            columns = [TextColumn(row, has_comma) for row in rows]
        return replace(
            self, names=list(names), columns=columns, n_rows=len(self.names), row_names=self.names, has_header=True
        )


def repeated_names(names: Sequence[str]) -> list[str]:
    """Return the names that occur more than once."""
    return [name for name, times in Counter(names).items() if times > 1]
