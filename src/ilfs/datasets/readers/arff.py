"""Reader of Weka's ARFF, dense or sparse.

In a sparse row, an omitted value is 0, or the first declared value of a nominal attribute. So a row that omits a
nominal target is of its first class. A nominal attribute can be a feature if all its values are numbers; in a sparse
file, the first of them must be 0.
"""

import re
from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

import numpy as np
from scipy import sparse

from ilfs.datasets.checks import MAX_QUOTED_LENGTH, column_called, quoted
from ilfs.datasets.dataset import Dataset
from ilfs.datasets.limits import ReadLimits
from ilfs.datasets.readers.assemble import Drop, Target, assemble, check_names, find_columns, number_in, what_to_do
from ilfs.datasets.readers.blocks import RowBlocks
from ilfs.datasets.readers.text import Layout, open_text, read_numbers

# Possessive quantifiers (a second +) never backtrack, so that no pattern takes more than linear time.
QUOTED = r"'(?:[^'\\]|\\.)*+'|\"(?:[^\"\\]|\\.)*+\""
QUOTED_VALUE = re.compile(rf"\s*+((?:[0-9]++\s++)?(?:{QUOTED}))\s*+(,|$)")  # a sparse value starts with its column
SPARSE_VALUE = re.compile(rf"([0-9]{{1,18}})\s++({QUOTED}|.*)", re.DOTALL)
ATTRIBUTE = re.compile(rf"@attribute\s++({QUOTED}|[^\s{{]++)\s*+(\{{.*\}}|[a-z].*)", re.IGNORECASE | re.DOTALL)
NUMERIC = ("numeric", "real", "integer")


@dataclass(frozen=True)
class Attribute:
    """A column: its name and type, and its values if it is nominal."""

    name: str
    kind: str
    values: tuple[str, ...] = ()

    @property
    def holds_numbers(self) -> bool:
        """True if the attribute can be a feature."""
        return self.kind in NUMERIC or bool(self.values and all(number_in(value) is not None for value in self.values))

    @property
    def left_out(self) -> str:
        """The value that a sparse row leaves out."""
        return self.values[0] if self.values else "0"


def read_arff(path: Path, target: Target, drop: Drop, name: str, limits: ReadLimits) -> Dataset:
    """Read an ARFF file."""
    with open_text(path, limits) as lines:
        stripped = (line.strip() for line in lines)
        content = (line for line in stripped if line and not line.startswith("%"))
        attributes = read_header(content, path)
        names = [attribute.name for attribute in attributes]
        check_names(names, path)
        at, features = find_columns(names, len(names), target, drop, path)
        _check_features(attributes, features, path)
        first = next(content, None)
        if first is None:
            raise ValueError(f"{path} must have rows below its header, got none")
        read_rows = _read_sparse if first.startswith("{") else _read_dense
        X, labels = read_rows(chain([first], content), attributes, at, features, path, limits)
    _check_labels(labels, attributes[at], path)
    return assemble(path, name, X, labels, limits, [names[j] for j in features], attributes[at].values)


def read_header(content: Iterator[str], path: Path) -> list[Attribute]:
    """Read the attributes, up to the line ``@data``."""
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
        return Attribute(name, "nominal", tuple(split_values(kind[1:-1], path)))
    return Attribute(name, kind.split()[0].lower())


def _check_features(attributes: Sequence[Attribute], features: Iterable[int], path: Path) -> None:
    for attribute in (attributes[j] for j in features):
        if not attribute.holds_numbers:
            values = ", ".join(value[:MAX_QUOTED_LENGTH] for value in attribute.values[:5])
            got = f"one of {values}" if values else attribute.kind[:MAX_QUOTED_LENGTH]
            advice = what_to_do([attribute.name], 0, path)
            raise ValueError(f"{column_called([attribute.name], 0)} of {path} must hold numbers, got {got}; {advice}")


def _check_labels(labels: Iterable[str], attribute: Attribute, path: Path) -> None:
    allowed = {*attribute.values, "?"}
    for row, label in enumerate(labels, start=1):
        if attribute.values and label not in allowed:
            raise ValueError(
                f"{quoted(attribute.name)} of {path} must be a value that it declares, got {quoted(label)} in row {row}"
            )


def _read_dense(
    rows: Iterable[str],
    attributes: Sequence[Attribute],
    at: int,
    features: Sequence[int],
    path: Path,
    limits: ReadLimits,
) -> tuple[object, list[str]]:
    layout = Layout(",", [attribute.name for attribute in attributes])
    labels, values, known = list[str](), RowBlocks(path, limits), dict[str, str]()
    for number, row in enumerate(rows, start=1):
        texts = split_values(row, path)
        if len(texts) != len(attributes):
            raise ValueError(f"row {number} of {path} must have {len(attributes)} values, got {len(texts)}")
        labels.append(known.setdefault(texts[at], texts[at]))
        values.append(read_numbers([texts[j] for j in features], features, layout, number, path))
    return values.matrix(), labels


def _read_sparse(
    rows: Iterable[str],
    attributes: Sequence[Attribute],
    at: int,
    features: Sequence[int],
    path: Path,
    limits: ReadLimits,  # noqa: ARG001 a sparse row takes little more memory than its text
) -> tuple[object, list[str]]:
    _check_left_out(attributes, features, path)
    layout = Layout(",", [attribute.name for attribute in attributes])
    place = {j: k for k, j in enumerate(features)}
    labels, known = list[str](), dict[str, str]()
    data, indices, indptr = array("d"), array("q"), array("q", [0])
    for number, row in enumerate(rows, start=1):
        texts = _sparse_values(row, number, len(attributes), path)
        label = texts.get(at, attributes[at].left_out)
        labels.append(known.setdefault(label, label))
        columns = [j for j in texts if j in place]
        data.extend(read_numbers([texts[j] for j in columns], columns, layout, number, path).tolist())
        indices.extend(place[j] for j in columns)
        indptr.append(len(indices))
    X = sparse.csr_array(tuple(map(np.array, (data, indices, indptr))), shape=(len(labels), len(features)))
    X.sort_indices()
    return X, labels


def _check_left_out(attributes: Sequence[Attribute], features: Iterable[int], path: Path) -> None:
    for attribute in (attributes[j] for j in features):
        if number_in(attribute.left_out) != 0:
            raise ValueError(
                f"the first value of {quoted(attribute.name)} of {path} must be 0, as sparse rows leave it out, "
                f"got {attribute.left_out[:MAX_QUOTED_LENGTH]}"
            )


def _sparse_values(row: str, number: int, n_attributes: int, path: Path) -> dict[int, str]:
    """Split a row such as {1 0.5, 7 'a b'} into values by column."""
    if not (row.startswith("{") and row.endswith("}")):
        raise ValueError(f"row {number} of {path} must be in braces, as the first row is, got {row[:60]!r}")
    matches = [SPARSE_VALUE.fullmatch(text) for text in split_values(row[1:-1], path) if text]
    texts = {int(match[1]): _unquoted(match[2]) for match in matches if match}
    if len(texts) < len(matches) or (texts and max(texts) >= n_attributes):
        raise ValueError(
            f"row {number} of {path} must have pairs 'column value' of different columns from 0 to {n_attributes - 1}, "
            f"got {row[:60]!r}"
        )
    return texts


def split_values(line: str, path: Path) -> list[str]:
    """Split a line at commas outside of quotes."""
    if "'" not in line and '"' not in line:
        return [text.strip() for text in line.split(",")]
    texts, start = list[str](), 0
    while start <= len(line):
        text, start = _next_value(line, start, path)
        texts.append(text)
    return texts


def _next_value(line: str, start: int, path: Path) -> tuple[str, int]:
    """Return the value at a position and the start of the next value, which is beyond the end after the last one."""
    match = QUOTED_VALUE.match(line, start)
    if match:
        return _unquoted(match[1]), match.end() if match[2] else len(line) + 1
    comma = line.find(",", start)
    end = len(line) if comma < 0 else comma
    text = line[start:end].strip()
    if text[:1] in ("'", '"'):
        raise ValueError(f"{path} must close its quotes, got {line[start:][:60]!r}")
    return text, end + 1


def _unquoted(text: str) -> str:
    return re.sub(r"\\(.)", r"\1", text[1:-1]) if text[:1] in ("'", '"') else text
