r"""Reader of C4.5's pairs of files: ``x.names`` declares classes and attributes, ``x.data`` has the rows.

The first entry of a names file lists the classes; in the later dialect of C5.0 it may name the attribute that holds
them. Each further entry is ``attribute: type``, where the type is ``continuous``, ``ignore``, ``discrete N`` or a list
of values. An entry ends with a full stop or where the next one begins. ``|`` begins a comment; ``\`` escapes a mark.
The class is the last value of a row, and ``?`` is a missing value.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from ilfs.datasets.checks import MAX_QUOTED_LENGTH, column_called, quoted
from ilfs.datasets.dataset import Dataset
from ilfs.datasets.limits import ReadLimits
from ilfs.datasets.readers.assemble import Drop, Target, assemble, check_names, find_columns, number_in, what_to_do
from ilfs.datasets.readers.blocks import RowBlocks
from ilfs.datasets.readers.text import Layout, open_text, read_numbers

CLASS_COLUMN = "class"
COMMENT = re.compile(r"(?<!\\)\|.*")
UNESCAPED_COLON = re.compile(r"(?<!\\):")
UNESCAPED_COMMA = re.compile(r"(?<!\\),")


@dataclass(frozen=True)
class Names:
    """Content of a names file: classes, names and types of the columns, and the columns to leave out."""

    classes: tuple[str, ...]
    columns: tuple[str, ...]
    kinds: tuple[str, ...]

    @property
    def ignored(self) -> tuple[int, ...]:
        """Positions of the columns that the file says to ignore."""
        return tuple(j for j, kind in enumerate(self.kinds) if kind == "ignore")


def read_c45(path: Path, target: Target, drop: Drop, name: str, limits: ReadLimits) -> Dataset:
    """Read the pair of files that ``x.names`` or ``x.data`` is one of."""
    of_names, of_data = (_beside(path, suffix) for suffix in (".names", ".data"))
    names = read_names(of_names, limits)
    columns = list(names.columns)
    at, kept = find_columns(columns, len(columns), target, (*drop, *names.ignored), of_names)
    features = [j for j in kept if j != at]
    _check_features(names, features, of_names)
    labels, values, layout = list[str](), RowBlocks(of_data, limits), Layout(",", columns)
    with open_text(of_data, limits) as lines:
        for number, texts in enumerate(_rows(lines), start=1):
            if len(texts) != len(columns):
                raise ValueError(f"row {number} of {of_data} must have {len(columns)} values, got {len(texts)}")
            labels.append(texts[at])
            values.append(read_numbers([texts[j] for j in features], features, layout, number, of_data))
    if not labels:
        raise ValueError(f"{of_data} must have rows, got none")
    declared = names.classes if columns[at] == CLASS_COLUMN else ()
    _check_labels(labels, declared, of_data)
    return assemble(of_data, name, values.matrix(), labels, limits, [columns[j] for j in features], declared or None)


def _beside(path: Path, suffix: str) -> Path:
    other = path.with_suffix(suffix)
    if not other.is_file():
        raise FileNotFoundError(f"{path} must have {other.name} beside it, as C4.5 divides a table into two files")
    return other


def read_names(path: Path, limits: ReadLimits) -> Names:
    """Read a names file."""
    with open_text(path, limits) as lines:
        entries = list(_entries(lines))
    if not entries or UNESCAPED_COLON.search(entries[0]):
        raise ValueError(f"{path} must begin with its classes, got {quoted(entries[0]) if entries else 'no entry'}")
    pairs = [_attribute(entry, path) for entry in entries[1:]]
    columns, kinds = [name for name, _ in pairs], [kind for _, kind in pairs]
    classes = _values(entries[0])
    if len(classes) == 1 and classes[0] in columns:  # C5.0 names the attribute that holds the classes
        at = columns.index(classes[0])
        classes, columns[at] = _values(kinds[at]), CLASS_COLUMN
    else:
        columns, kinds = [*columns, CLASS_COLUMN], [*kinds, entries[0]]
    if len(classes) < 2:
        raise ValueError(f"{path} must declare at least two classes, got {quoted(', '.join(classes))}")
    check_names(columns, path)
    return Names(classes, tuple(columns), tuple(kinds))


def _entries(lines: Iterable[str]) -> Iterator[str]:
    """Join lines to entries and remove comments and the full stop at the end."""
    entry = ""
    for line in lines:
        text = COMMENT.sub("", line).strip()
        if entry and UNESCAPED_COLON.search(text):  # the entry before has no full stop
            yield entry
            entry = ""
        entry = f"{entry} {text}".strip()
        if entry.endswith("."):
            yield entry[:-1].strip()
            entry = ""
    if entry:
        yield entry


def _attribute(entry: str, path: Path) -> tuple[str, str]:
    name, *kind = UNESCAPED_COLON.split(entry, maxsplit=1)
    if not kind or not kind[0].strip():
        raise ValueError(f"an attribute of {path} must be 'name: type', got {quoted(entry)}")
    return _unescaped(name), kind[0].strip()


def _values(text: str) -> tuple[str, ...]:
    return tuple(_unescaped(value) for value in UNESCAPED_COMMA.split(text))


def _unescaped(text: str) -> str:
    return re.sub(r"\\(.)", r"\1", text).strip()


def _rows(lines: Iterable[str]) -> Iterator[list[str]]:
    """Split lines at commas; a row may end with a full stop."""
    for line in lines:
        text = COMMENT.sub("", line).strip()
        if text:
            yield [_unescaped(value) for value in UNESCAPED_COMMA.split(text.removesuffix("."))]


def _check_features(names: Names, features: Iterable[int], path: Path) -> None:
    for j in features:
        kind = names.kinds[j]
        is_number = kind == "continuous" or all(number_in(value) is not None for value in _values(kind))
        if not is_number and not kind.startswith("discrete"):
            advice = what_to_do(names.columns, j, path)
            raise ValueError(
                f"{column_called(names.columns, j)} of {path} must hold numbers, got {quoted(kind)}; {advice}"
            )


def _check_labels(labels: Sequence[str], declared: Sequence[str], path: Path) -> None:
    for row, label in enumerate(labels, start=1):
        if declared and label not in declared and label != "?":
            allowed = ", ".join(one[:MAX_QUOTED_LENGTH] for one in declared[:5])
            raise ValueError(f"the class of {path} must be declared ({allowed}), got {quoted(label)} in row {row}")
