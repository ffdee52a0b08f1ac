"""Delimited text, read in batches with the rules of `ilfs.datasets.readers.text`.

pyarrow parses plain text quickly. Where it refuses a value, or would round an integer, the rest of the file is parsed
by Python, which knows all the rules and names column, row and value in its errors.
"""

from collections.abc import Iterator, Sequence
from itertools import islice, product
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ilfs.arrays import Integers
from ilfs.datasets.checks import MAX_EXACT_INTEGER
from ilfs.datasets.limits import DEFAULT_LIMITS
from ilfs.datasets.readers.assemble import MISSING, TARGET_ADVICE, exact_number
from ilfs.datasets.readers.compressed import PACKED_ENDINGS
from ilfs.datasets.readers.text import Layout, body_rows, detect_layout, open_text, read_numbers, wrong_length
from ilfs.sources.arrow import column_values
from ilfs.sources.label_checks import warn_of_quantity
from ilfs.sources.reader import Batch, BatchReader, column_places
from ilfs.sources.roles import Request, find_roles

PARSED_BYTES = 2**23  # of text that pyarrow parses at a time, 8 MB; more if rows are very long
MIN_PARSED_BYTES = 2**16
BLOCKS_AHEAD = 64  # blocks of text that the memory limit must allow: pyarrow reads and parses many of them in advance
SAMPLE_ROWS = 20  # rows from which the length of a row is estimated
COMPRESSION = 5  # estimate of the size of a text in relation to the compressed file


class NotPlainError(Exception):
    """A text that pyarrow cannot parse by the rules of this package."""


class TextReader(BatchReader):
    """Reader of a file of delimited text.

    Parameters
    ----------
    path : Path
        The file.
    request : Request
        Target, weight and columns to drop, by name or position.
    """

    def __init__(self, path: Path, request: Request) -> None:
        self.path, self.name = path, str(path)
        if path.stat().st_size == 0:
            raise ValueError(f"{path} is empty")
        self._layout = detect_layout(path, chosen_columns(request), DEFAULT_LIMITS)
        lengths, n_columns = first_rows(path, self._layout)
        self._row_length, names = sum(lengths) / len(lengths), self._layout.names
        self._n_columns = n_columns if names is None else len(names)
        self._roles = find_roles(names, self._n_columns, request.target, request.drop, request.weight, self.name)
        self.n_features, self.has_labels = len(self._roles.features), bool(self._roles.targets)
        self.has_weights = self._roles.weight is not None
        self.feature_names = None if names is None else [names[j] for j in self._roles.features]
        self._is_plain = is_plain(path, self._layout)
        self._block_bytes = parsed_bytes(request.memory_limit, self._row_length)

    @property
    def n_bytes(self) -> int | None:
        """Estimate of the bytes that all values take in memory."""
        size = self.path.stat().st_size * (COMPRESSION if self.path.suffix.lower() in PACKED_ENDINGS else 1)
        return int(size / max(self._row_length, 1) * self.n_features * self.dtype.itemsize)

    def check_classes(self, labels: NDArray[Any], rows: NDArray[Any]) -> None:
        """Check the classes of all rows."""
        check_text_classes(labels, rows, self.name)

    def batches(self, columns: Integers | None, max_rows: int) -> Iterator[Batch]:
        """Read the rows from the first to the last."""
        wanted = [self._roles.features[j] for j in column_places(columns, self.n_features)]
        n_done = 0
        if self._is_plain:
            try:
                for batch in self._parsed_by_arrow(wanted, max_rows):
                    yield batch
                    n_done += batch.n_rows
                return
            except NotPlainError:
                self._is_plain = False
        yield from self._parsed_by_python(wanted, max_rows, n_done)

    def _parsed_by_arrow(self, wanted: Sequence[int], max_rows: int) -> Iterator[Batch]:
        """Parse the file with pyarrow."""
        roles = self._roles
        text = () if roles.is_indicator else roles.targets
        columns = [*wanted, *roles.aside]
        for batch in arrow_batches(
            self.path, self._layout, self._n_columns, columns, text, max_rows, self._block_bytes
        ):
            values = [checked_numbers(batch, j) for j in wanted]
            weight = None if roles.weight is None else checked_numbers(batch, roles.weight)
            if roles.is_indicator:
                y: Any = np.column_stack([checked_numbers(batch, j) for j in roles.targets])
            else:
                y = arrow_labels(batch.column(str(roles.targets[0]))) if roles.targets else None
            yield Batch(values, y, weight, batch.num_rows)

    def _parsed_by_python(self, wanted: Sequence[int], max_rows: int, n_done: int) -> Iterator[Batch]:
        """Parse the file with Python, from some row on."""
        with open_text(self.path, DEFAULT_LIMITS) as lines:
            rows = body_rows(lines, self._layout)
            start = sum(1 for _ in islice(rows, n_done))
            while some := [self._row(row, start + i) for i, row in enumerate(islice(rows, max_rows), start=1)]:
                yield self._batch(some, wanted, start)
                start += len(some)

    def _row(self, row: list[str], number: int) -> list[str]:
        """Check the length of a row, and leave out the names of rows."""
        n_expected = self._n_columns + self._layout.n_skipped
        if len(row) != n_expected:
            raise wrong_length(row, number, self.path, n_expected, len(row))
        return row[self._layout.n_skipped :]

    def _batch(self, rows: list[list[str]], wanted: Sequence[int], start: int) -> Batch:
        """Convert the texts of some rows."""
        roles = self._roles
        weight = None if roles.weight is None else self._numbers(rows, [roles.weight], start)[:, 0]
        y: Any = None
        if roles.is_indicator:
            y = self._numbers(rows, roles.targets, start)
        elif roles.targets:
            y = class_names([row[roles.targets[0]] for row in rows])
        return Batch(self._numbers(rows, wanted, start), y, weight, len(rows))

    def _numbers(self, rows: list[list[str]], columns: Sequence[int], start: int) -> NDArray[Any]:
        """Convert some columns to numbers."""
        return np.stack(
            [
                read_numbers([row[j] for j in columns], columns, self._layout, number, self.path)
                for number, row in enumerate(rows, start=start + 1)
            ]
        )


def chosen_columns(request: Request) -> list[Any]:
    """Return the columns that are named, the target last, from which a header is recognised."""
    targets = [request.target] if request.target is None or isinstance(request.target, str | int) else request.target
    return [*request.drop, *([] if request.weight is None else [request.weight]), *targets]


def first_rows(path: Path, layout: Layout) -> tuple[list[int], int]:
    """Return the lengths of the first rows, and the number of columns."""
    with open_text(path, DEFAULT_LIMITS) as lines:
        rows = list(islice(body_rows(lines, layout), SAMPLE_ROWS))
    if not rows:
        raise ValueError(f"{path} must have rows below its header, got none")
    return [sum(map(len, row)) + len(row) for row in rows], len(rows[0]) - layout.n_skipped


def is_plain(path: Path, layout: Layout) -> bool:
    """Check if pyarrow is installed and may be able to parse the file."""
    try:
        import pyarrow.csv  # noqa: F401
    except ImportError:
        return False
    return layout.delimiter != " " and path.suffix.lower() not in (".zip", ".xz")


def parsed_bytes(memory_limit: int | None, row_length: float) -> int:
    """Return the number of bytes that pyarrow parses at a time: at least four rows."""
    allowed = PARSED_BYTES if memory_limit is None else min(PARSED_BYTES, memory_limit // BLOCKS_AHEAD)
    return max(allowed, int(4 * row_length), MIN_PARSED_BYTES)


def arrow_batches(
    path: Path,
    layout: Layout,
    n_columns: int,
    columns: Sequence[int],
    text: Sequence[int],
    max_rows: int,
    block_bytes: int,
) -> Iterator[Any]:
    """Parse some columns of a file with pyarrow.

    Parameters
    ----------
    path : Path
        The file.
    layout : Layout
        Its delimiter and header.
    n_columns : int
        Number of its columns, without names of rows.
    columns, text : sequence of int
        Positions of the columns to read, and of those among them that hold text.
    max_rows : int
        Most rows of a batch.
    block_bytes : int
        Bytes to parse at a time.

    Yields
    ------
    pyarrow.RecordBatch
        Some rows; columns are named by their positions.
    """
    import pyarrow
    from pyarrow import csv

    chosen = columns or [0]  # pyarrow would read all columns if none is named
    kinds = {str(j): pyarrow.string() if j in text or not columns else pyarrow.float64() for j in chosen}
    names = [*(f"skipped {i}" for i in range(layout.n_skipped)), *map(str, range(n_columns))]
    n_header = int(layout.names is not None)
    try:
        reader = csv.open_csv(
            path,
            csv.ReadOptions(column_names=names, skip_rows_after_names=n_header, block_size=block_bytes),
            csv.ParseOptions(delimiter=layout.delimiter),
            csv.ConvertOptions(
                column_types=kinds,
                include_columns=list(kinds),
                null_values=missing_texts(),
                strings_can_be_null=True,
                decimal_point="," if layout.delimiter == ";" else ".",
            ),
        )
        for batch in reader:
            for start in range(0, batch.num_rows, max_rows):
                yield batch.slice(start, max_rows)
    except pyarrow.ArrowInvalid:
        raise NotPlainError from None


def missing_texts() -> list[str]:
    """Return all texts of a missing value, in upper and lower case."""
    return [
        "".join(letters)
        for text in MISSING
        for letters in product(*({letter.lower(), letter.upper()} for letter in text))
    ]


def checked_numbers(batch: Any, column: int) -> NDArray[Any]:
    """Convert a column of numbers, unless one of them may be an integer that was rounded."""
    values = column_values(batch.column(str(column)))
    if (np.abs(values) >= MAX_EXACT_INTEGER).any():
        raise NotPlainError
    return values


def arrow_labels(column: Any) -> NDArray[Any]:
    """Convert a column of labels."""
    encoded = column.dictionary_encode()
    names = class_names([*encoded.dictionary.to_pylist(), None])  # the last one is a missing label
    codes = encoded.indices.fill_null(len(names) - 1).to_numpy(zero_copy_only=False)
    is_complete = not column.null_count and None not in names[:-1].tolist()
    return np.asarray(names[codes], dtype=str if is_complete else object)


def class_names(texts: Sequence[str | None]) -> NDArray[Any]:
    """Convert texts to names of classes; a missing label is None."""
    known = {text: None if text is None else class_name(text) for text in set(texts)}
    return np.array([known[text] for text in texts], dtype=object)


def class_name(text: str) -> str | None:
    """Convert a text to the name of a class: numbers get a single format, so that 1 and 1.0 are one class."""
    text = text.strip()
    if text.lower() in MISSING:
        return None
    number = exact_number(text)
    if number is None or number != number.to_integral_value():
        return text
    return f"{number.to_integral_value():f}" if number else "0"


def check_text_classes(labels: NDArray[Any], rows: NDArray[Any], name: str) -> None:
    """Raise if all labels are numbers, not all of them integers; warn if integers look like a quantity."""
    numbers = [exact_number(label) for label in labels.tolist()]
    if any(number is None for number in numbers):
        return
    for label, number in zip(labels.tolist(), numbers, strict=True):
        if number is not None and number != number.to_integral_value():
            raise ValueError(
                f"the target of {name} must hold classes (text, booleans or integers), got {label}: bin a quantity "
                f"first; {TARGET_ADVICE}"
            )
    values = np.array([float(number or 0) for number in numbers])
    order = np.argsort(values)
    warn_of_quantity(values[order], rows[order])
