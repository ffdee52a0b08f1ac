"""Columns of files of delimited text, with the rules of `ilfs.datasets.readers.text`."""

from collections.abc import Iterator, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import Any

from ilfs.applying.columns import Columns, ColumnStream
from ilfs.applying.writers import delimiters_of
from ilfs.datasets.limits import DEFAULT_LIMITS
from ilfs.datasets.readers.text import Layout, body_rows, detect_layout, open_text, read_numbers


def open_text_columns(files: Sequence[Path], wanted: Columns, out: Path) -> ColumnStream:
    """Open the wanted columns of text files with the same columns."""
    opened = [TextColumns(file, wanted) for file in files]
    first = opened[0]
    for other in opened[1:]:
        if other.titles != first.titles:
            raise ValueError(f"all files must have the same columns, but {other.path} has others than {first.path}")
    copied = all(one.layout.delimiter in delimiters_of(out) for one in opened) and one_delimiter(opened)
    batches = chain.from_iterable(one.batches(as_text=copied) for one in opened)
    return ColumnStream(first.titles, batches, delimiter=first.layout.delimiter if copied else None)


def one_delimiter(opened: "Sequence[TextColumns]") -> bool:
    """Check if all files have the same delimiter."""
    return len({one.layout.delimiter for one in opened}) == 1


class TextColumns:
    """Wanted columns of one file of text.

    Parameters
    ----------
    path : Path
        The file.
    wanted : Columns
        The columns.
    """

    def __init__(self, path: Path, wanted: Columns) -> None:
        self.path = path
        if path.stat().st_size == 0:
            raise ValueError(f"{path} is empty")
        # A file must have a header if columns are found by name.
        named = wanted.choice.selected_names or list(wanted.keep) or [None]
        self.layout: Layout = detect_layout(path, named[:1], DEFAULT_LIMITS, wanted.choice.numbered)
        names, self._n_columns = self.layout.names, n_columns_of(path, self.layout)
        self._kept, self._selected = wanted.find(names, self._n_columns, str(path))
        columns = [*self._kept, *self._selected]
        self.titles = [f"x{j}" for j in columns] if names is None else [names[j] for j in columns]
        self._max_rows = wanted.max_rows(len(columns))

    def batches(self, *, as_text: bool) -> Iterator[list[Any]]:
        """Read the rows; the selected columns as they are, or as numbers."""
        with open_text(self.path, DEFAULT_LIMITS) as lines:
            numbered = enumerate(body_rows(lines, self.layout), start=1)
            convert = self._texts if as_text else self._values
            while rows := [
                convert(number, self._checked(number, row)) for number, row in islice(numbered, self._max_rows)
            ]:
                yield [list(column) for column in zip(*rows, strict=True)]

    def _checked(self, number: int, row: list[str]) -> list[str]:
        """Check the length of a row, and leave out the names of rows."""
        n_expected = self._n_columns + self.layout.n_skipped
        if len(row) != n_expected:
            raise ValueError(f"row {number} of {self.path} must have {n_expected} values, got {len(row)}")
        return row[self.layout.n_skipped :]

    def _texts(self, number: int, row: list[str]) -> list[Any]:  # noqa: ARG002
        return [row[j] for j in (*self._kept, *self._selected)]

    def _values(self, number: int, row: list[str]) -> list[Any]:
        values = read_numbers([row[j] for j in self._selected], self._selected, self.layout, number, self.path)
        return [*(row[j] for j in self._kept), *values.tolist()]


def n_columns_of(path: Path, layout: Layout) -> int:
    """Return the number of columns, without names of rows."""
    if layout.names is not None:
        return len(layout.names)
    with open_text(path, DEFAULT_LIMITS) as lines:
        first = next(body_rows(lines, layout), None)
    if first is None:
        raise ValueError(f"{path} must have at least one row, got none")
    return len(first) - layout.n_skipped
