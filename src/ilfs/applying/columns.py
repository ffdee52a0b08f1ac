"""Which columns are written, and a stream of them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from ilfs.selected_columns import ColumnChoice
from ilfs.selected_columns.choice import found_by_name

OTHER_COLUMNS = "others"
MAX_STREAMED_ROWS = 2**16  # rows that are read at a time
STREAMED_VALUE_BYTES = 100  # of a value while it is read, converted and written; text takes most


@dataclass(frozen=True)
class Columns:
    """The selected columns and those to keep beside them.

    Parameters
    ----------
    choice : ColumnChoice
        The selected columns.
    keep : "others" or tuple of str
        Names of further columns; ``"others"`` for all that were no features.
    memory_limit : int
        Bytes that the rows may take.
    """

    choice: ColumnChoice
    keep: Any
    memory_limit: int

    def find(self, names: Sequence[str] | None, n_columns: int, table: str) -> tuple[list[int], list[int]]:
        """Find the columns of a table: positions of those to keep, and of the selected ones."""
        kept = self._kept(names, table)
        # Columns to keep are no features, which matters if features are counted.
        left = [j for j in range(n_columns) if j not in set(kept)] if self.choice.names is None else range(n_columns)
        chosen = self.choice.positions(None if names is None else [names[j] for j in left], len(left), table)
        selected = [left[j] for j in chosen]
        return [j for j in kept if j not in set(selected)], selected

    def _kept(self, names: Sequence[str] | None, table: str) -> list[int]:
        if not self.keep:
            return []
        if names is None:
            raise ValueError(f"keep must be empty, as {table} has no names of columns, got {self.keep!r}")
        if self.keep != OTHER_COLUMNS:
            return found_by_name(self.keep, names, table, "kept")
        features = set(self.choice.names or ()) or set(names) - {self.choice.target}
        return [j for j, name in enumerate(names) if name not in features]

    def max_rows(self, n_columns: int) -> int:
        """Return the number of rows to read at a time."""
        return max(1, min(MAX_STREAMED_ROWS, self.memory_limit // (STREAMED_VALUE_BYTES * max(n_columns, 1))))


@dataclass(frozen=True)
class ColumnStream:
    """Columns of a table, some rows at a time.

    Parameters
    ----------
    names : list of str
        Names of the columns.
    batches : iterable of list
        One array or list of values for each column.
    schema : pyarrow.Schema, optional
        Types of the columns, if they are those of Arrow.
    delimiter : str, optional
        Delimiter of the text, if values are copied from text to text.
    """

    names: list[str]
    batches: Iterable[list[Any]]
    schema: Any = None
    delimiter: str | None = None
