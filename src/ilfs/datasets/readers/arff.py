"""Weka's ARFF, dense or sparse.

In a sparse row a cell that is left out is 0, and for a nominal attribute the first of its values: so says the format,
and so the target is read here. Nominal features are numbers if all their values are.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy import sparse

from ilfs.datasets.readers.assemble import Drop, Target, assemble, check_names, find_columns, number_in, what_to_do
from ilfs.datasets.readers.text import Layout, open_text, read_numbers
from ilfs.datasets.table import Table

QUOTED = r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\""
CELL = re.compile(rf"\s*((?:\d+\s+)?(?:{QUOTED})|[^,'\"][^,]*?|)\s*(,|$)")  # a number before: the column, if sparse
SPARSE_CELL = re.compile(rf"(\d+)\s+({QUOTED}|.*)")
ATTRIBUTE = re.compile(rf"@attribute\s+({QUOTED}|[^\s{{]+)\s*(\{{.*\}}|[a-z]\w*.*)", re.IGNORECASE)
NUMERIC = ("numeric", "real", "integer")


@dataclass(frozen=True)
class Attribute:
    """A column: its name and type, and its values if it is nominal."""

    name: str
    kind: str
    values: tuple[str, ...] = ()

    @property
    def holds_numbers(self) -> bool:
        """Whether it can be a feature."""
        return self.kind in NUMERIC or bool(self.values and all(number_in(value) is not None for value in self.values))

    @property
    def left_out(self) -> str:
        """What a sparse row means by leaving it out."""
        return self.values[0] if self.values else "0"


def read_arff(path: Path, target: Target, drop: Drop, name: str) -> Table:
    """Read an ARFF file."""
    with open_text(path) as file:
        lines = (line.strip() for line in file)
        content = (line for line in lines if line and not line.startswith("%"))
        attributes = _header(content, path)
        rows = list(content)
    if not rows:
        raise ValueError(f"{path} has a header but no rows")
    names = [attribute.name for attribute in attributes]
    check_names(names, path)
    at, features = find_columns(names, len(names), target, drop, path)
    _check_features(attributes, features, path)
    read_rows = _read_sparse if rows[0].startswith("{") else _read_dense
    X, labels = read_rows(rows, attributes, at, features, path)
    _check_labels(labels, attributes[at], path)
    return assemble(path, name, X, labels, [names[j] for j in features], attributes[at].values)


def _header(content: Iterator[str], path: Path) -> list[Attribute]:
    """The attributes, up to the line that begins the data."""
    attributes: list[Attribute] = []
    for line in content:
        keyword = line.split(maxsplit=1)[0].lower()
        if keyword == "@data" and attributes:
            return attributes
        if keyword == "@attribute":
            attributes.append(_attribute(line, path))
        elif keyword != "@relation":
            raise ValueError(f"{path} must begin with @relation, @attribute and @data, got {line[:60]!r}")
    raise ValueError(f"{path} must have lines @attribute and then @data")


def _attribute(line: str, path: Path) -> Attribute:
    match = ATTRIBUTE.fullmatch(line)
    if match is None:
        raise ValueError(f"an attribute of {path} must have a name and a type, got {line[:60]!r}")
    name, kind = _unquoted(match[1]), match[2]
    if kind.startswith("{"):
        return Attribute(name, "nominal", tuple(_cells(kind[1:-1], path)))
    return Attribute(name, kind.split()[0].lower())


def _check_features(attributes: Sequence[Attribute], features: Iterable[int], path: Path) -> None:
    for attribute in (attributes[j] for j in features):
        if not attribute.holds_numbers:
            got = f"one of {', '.join(attribute.values[:5])}" if attribute.values else attribute.kind
            advice = what_to_do([attribute.name], 0, path)
            raise ValueError(f"column {attribute.name!r} of {path} must hold numbers, got {got}; {advice}")


def _check_labels(labels: Iterable[str], attribute: Attribute, path: Path) -> None:
    for row, label in enumerate(labels, start=1):
        if attribute.values and label not in (*attribute.values, "?"):
            raise ValueError(
                f"{attribute.name!r} of {path} must be a value that it declares, got {label!r} in row {row}"
            )


def _read_dense(
    rows: Sequence[str], attributes: Sequence[Attribute], at: int, features: Sequence[int], path: Path
) -> tuple[object, list[str]]:
    layout = Layout(",", [attribute.name for attribute in attributes])
    labels, values = [], []
    for number, row in enumerate(rows, start=1):
        cells = _cells(row, path)
        if len(cells) != len(attributes):
            raise ValueError(f"row {number} of {path} must have {len(attributes)} cells, got {len(cells)}")
        labels.append(cells[at])
        values.append(read_numbers([cells[j] for j in features], features, layout, number, path))
    return np.array(values), labels


def _read_sparse(
    rows: Sequence[str], attributes: Sequence[Attribute], at: int, features: Sequence[int], path: Path
) -> tuple[object, list[str]]:
    _check_left_out(attributes, features, path)
    layout = Layout(",", [attribute.name for attribute in attributes])
    place = {j: k for k, j in enumerate(features)}
    labels, data, indices, indptr = [], list[float](), list[int](), [0]
    for number, row in enumerate(rows, start=1):
        cells = _sparse_cells(row, number, len(attributes), path)
        labels.append(cells.get(at, attributes[at].left_out))
        columns = [j for j in cells if j in place]
        data.extend(read_numbers([cells[j] for j in columns], columns, layout, number, path))
        indices.extend(place[j] for j in columns)
        indptr.append(len(indices))
    X = sparse.csr_array((np.array(data), indices, indptr), shape=(len(rows), len(features)))
    X.sort_indices()
    return X, labels


def _check_left_out(attributes: Sequence[Attribute], features: Iterable[int], path: Path) -> None:
    for attribute in (attributes[j] for j in features):
        if number_in(attribute.left_out) != 0:
            raise ValueError(
                f"the first value of {attribute.name!r} of {path} must be 0, as sparse rows leave it out, "
                f"got {attribute.left_out}"
            )


def _sparse_cells(row: str, number: int, n_attributes: int, path: Path) -> dict[int, str]:
    """Cells of a row such as {1 0.5, 7 'a b'} by their column."""
    if not (row.startswith("{") and row.endswith("}")):
        raise ValueError(f"row {number} of {path} must be in braces, as the first row is, got {row[:60]!r}")
    matches = [SPARSE_CELL.fullmatch(cell) for cell in _cells(row[1:-1], path) if cell]
    cells = {int(match[1]): _unquoted(match[2]) for match in matches if match}
    if len(cells) < len(matches) or (cells and max(cells) >= n_attributes):
        raise ValueError(
            f"row {number} of {path} must have cells 'column value' of different columns from 0 to {n_attributes - 1}, "
            f"got {row[:60]!r}"
        )
    return cells


def _cells(text: str, path: Path) -> list[str]:
    """What commas part, except commas in quotes."""
    if "'" not in text and '"' not in text:
        return [cell.strip() for cell in text.split(",")]
    cells, position, more = [], 0, True
    while more:
        match = CELL.match(text, position)
        if match is None:
            raise ValueError(f"{path} must close its quotes, got {text[position:][:60]!r}")
        cells.append(_unquoted(match[1]))
        position, more = match.end(), match[2] == ","
    return cells


def _unquoted(cell: str) -> str:
    return re.sub(r"\\(.)", r"\1", cell[1:-1]) if cell[:1] in ("'", '"') else cell
