"""Reader of R's data files (``.RData``, ``.rda`` and ``.rds``), decoded by the package rdata.

The table is a list, or several objects, with a matrix of features (``X``, ``x``, ...) and a vector of classes (``y``,
``Y``, ...); or a data frame with a column of classes. Only vectors of numbers, texts and factors are used; functions,
environments and other objects are ignored, and nothing in the file is run.
"""

import bz2
import lzma
import zlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ilfs.datasets.archive import distinct
from ilfs.datasets.checks import check_kind, column_called, quoted
from ilfs.datasets.dataset import Dataset
from ilfs.datasets.limits import ReadError, ReadLimits
from ilfs.datasets.npz import whole_file
from ilfs.datasets.readers.arrays import FEATURE_ARRAYS, TARGET_ARRAYS
from ilfs.datasets.readers.assemble import Drop, Target, assemble, check_names, find_columns, find_kept, what_to_do

GENE_NAMES = ("gene.names", "feature.names", "feature_names")  # names of columns, if the matrix has none itself
COMPRESSED_CHUNK_BYTES = 1 << 10  # compressed bytes at a time: a block of bzip2 may expand to 20,000 times its size
XZ_MEMORY_BYTES = 2**28  # memory that a stream of xz may ask for
DECOMPRESSORS: dict[bytes, Callable[[], Any]] = {
    b"\x1f\x8b": lambda: zlib.decompressobj(wbits=31),
    b"BZh": bz2.BZ2Decompressor,
    b"\xfd7zXZ\0": lambda: lzma.LZMADecompressor(memlimit=XZ_MEMORY_BYTES),
}
NUMBER_TYPES = ("INT", "LGL", "REAL")  # types of vectors in R
FRAME_MARK = "\0frame"  # key of the data frame itself among its columns; no column of R has this name


def read_rdata(path: Path, target: Target, drop: Drop, name: str, limits: ReadLimits) -> Dataset:
    """Read features and classes from an R data file."""
    with whole_file(path, "R data file"):
        found = _tables(_parsed(path, limits))
    if not found:
        raise ValueError(
            f"{path} must hold a list with a matrix X or x and a vector y or Y, or a data frame, got neither"
        )
    if len(found) > 1:
        raise ValueError(f"{path} must hold one table, got {', '.join(found)}")
    parts = next(iter(found.values()))
    return (_from_frame if _is_frame(parts) else _from_list)(parts, path, target, drop, name, limits)


def _parsed(path: Path, limits: ReadLimits) -> Any:
    """Decompress and decode a file to rdata's tree of R objects."""
    try:
        from rdata.parser import DEFAULT_ALTREP_MAP, parse_data
    except ImportError:
        raise ReadError(f"reading {path} needs the package rdata: pip install 'ilfs[rdata]'") from None
    content = _decompressed(path, limits)
    ending = ".rds" if path.suffix.lower() == ".rds" else ".rda"
    constructors = {name: _bounded(make, limits, path) for name, make in DEFAULT_ALTREP_MAP.items()}
    return parse_data(content, altrep_constructor_dict=constructors, extension=ending).object


def _decompressed(path: Path, limits: ReadLimits) -> bytes:
    """Read a file, decompressed if it is compressed, up to the limit on its size."""
    content = path.read_bytes()
    make = next((make for magic, make in DECOMPRESSORS.items() if content.startswith(magic)), None)
    if make is None:
        return content
    stream, parts, n_bytes = make(), list[bytes](), 0
    for start in range(0, len(content), COMPRESSED_CHUNK_BYTES):
        if stream.eof:
            break
        parts.append(stream.decompress(content[start : start + COMPRESSED_CHUNK_BYTES]))
        n_bytes += len(parts[-1])
        limits.check_bytes(n_bytes, path)
    if not stream.eof:
        raise ValueError("the compressed data end too early")
    return b"".join(parts)


def _bounded(make: Callable[[Any], Any], limits: ReadLimits, path: Path) -> Callable[[Any], Any]:
    """Check the length that a compact sequence declares before it is expanded."""

    def checked(state: Any) -> Any:
        first = np.ravel(state.value)[:1] if isinstance(state.value, np.ndarray) else [0]
        if len(first) and not abs(float(first[0])) * 8 <= limits.allowed_bytes(path):
            raise limits.too_many_bytes(limits.allowed_bytes(path) + 1, path)
        return make(state)

    return checked


def _tables(root: Any) -> dict[str, dict[str, Any]]:
    """Find the tables of a file by name: data frames, and lists or objects with features and classes."""
    objects = _objects(root)
    found = {name: parts for name, one in objects.items() if _is_table(parts := _components(one))}
    return found or ({"": objects} if _is_table(objects) else {})


def _objects(root: Any) -> dict[str, Any]:
    """Return the objects of a file by name; an ``.rds`` file has one, without a name."""
    if _kind(root) != "LIST":
        return {"": root}
    objects, node = dict[str, Any](), root
    while _kind(node) == "LIST":
        objects[_symbol(node.tag)] = node.value[0]
        node = node.value[1]
    return objects


def _components(one: Any) -> dict[str, Any]:
    """Return the named components of a list; those of a data frame are its columns."""
    names = _attribute(one, "names")
    if _kind(one) != "VEC" or names is None:
        return {}
    parts = dict(zip(_texts(names), one.value, strict=True))
    return {**parts, FRAME_MARK: one} if "data.frame" in _texts(_attribute(one, "class")) else parts


def _is_frame(parts: Mapping[str, Any]) -> bool:
    return FRAME_MARK in parts


def _is_table(parts: Mapping[str, Any]) -> bool:
    has_both = all(any(key in parts for key in usual) for usual in (FEATURE_ARRAYS, TARGET_ARRAYS))
    return _is_frame(parts) or has_both


def _from_list(
    parts: Mapping[str, Any], path: Path, target: Target, drop: Drop, name: str, limits: ReadLimits
) -> Dataset:
    of_features = next(key for key in FEATURE_ARRAYS if key in parts)
    of_target = next(key for key in TARGET_ARRAYS if key in parts) if target is None else target
    if not isinstance(of_target, str) or of_target not in parts:
        raise ValueError(f"target must be a component of {path} ({', '.join(parts)}), got {target!r}")
    with whole_file(path, "R data file"):
        X, names = _matrix(parts[of_features])
        labels = _labels(parts[of_target])
        given = next((_texts(parts[key]) for key in GENE_NAMES if key in parts), None)
    names = given if names is None and given is not None and len(given) == X.shape[1] else names
    check_kind(path, X, names)
    columns = None if names is None else distinct(names)
    kept = find_kept(columns, X.shape[1], drop, path) if X.shape[1] else []
    return assemble(path, name, X[:, kept], labels, limits, None if columns is None else [columns[j] for j in kept])


def _from_frame(
    parts: Mapping[str, Any], path: Path, target: Target, drop: Drop, name: str, limits: ReadLimits
) -> Dataset:
    columns = [key for key in parts if key != FRAME_MARK]
    if not columns:
        raise ValueError(f"the data frame of {path} must have columns, got none")
    check_names(columns, path)
    at, features = find_columns(columns, len(columns), target, drop, path)
    with whole_file(path, "R data file"):
        labels = _labels(parts[columns[at]])
        values = [_numbers(parts[columns[j]], columns, j, path) for j in features]
    if any(len(column) != len(labels) for column in values):
        raise ValueError(f"the columns of {path} must have {len(labels)} values each, as the classes do")
    X = np.column_stack(values) if values else np.empty((len(labels), 0))
    return assemble(path, name, X, labels, limits, [columns[j] for j in features])


def _matrix(one: Any) -> tuple[Any, list[str] | None]:
    """Return a matrix and the names of its columns; a data frame is a matrix whose columns are its components."""
    frame = _components(one)
    if _is_frame(frame):
        columns = [key for key in frame if key != FRAME_MARK]
        return np.column_stack([_vector(frame[key]) for key in columns]), columns
    shape = [int(n) for n in _vector(_attribute(one, "dim"))]
    # R stores a matrix column by column.
    X = np.asarray(_vector(one)).reshape(shape, order="F")
    names = _attribute(one, "dimnames")
    of_columns = None if names is None else names.value[1]
    return np.ascontiguousarray(X), None if _kind(of_columns) != "STR" else _texts(of_columns)


def _numbers(one: Any, columns: Sequence[str], j: int, path: Path) -> Any:
    if _kind(one) not in NUMBER_TYPES or _attribute(one, "levels") is not None:
        advice = what_to_do(columns, j, path)
        raise ReadError(f"{column_called(columns, j)} of {path} must hold numbers, got {_kind_words(one)}; {advice}")
    return _vector(one)


def _kind_words(one: Any) -> str:
    return {"STR": "text", "INT": "a factor", "VEC": "a list"}.get(_kind(one), quoted(_kind(one)))


def _vector(one: Any) -> Any:
    """Return the numbers of a vector; integers that R marks as missing become NaN."""
    if _kind(one) not in NUMBER_TYPES:
        raise ValueError(f"a vector of numbers was expected, got {_kind_words(one)}")
    values: Any = np.ma.asarray(one.value)
    return values.astype(np.float64).filled(np.nan) if np.ma.is_masked(values) else np.asarray(one.value)


def _labels(one: Any) -> list[Any]:
    """Return the classes as a list: texts, numbers, or the levels of a factor."""
    if _kind(one) == "STR":
        return _texts(one)
    values, levels = _vector(one).ravel(), _attribute(one, "levels")
    if levels is None:
        return [float(value) for value in values]
    texts = _texts(levels)
    return [texts[int(code) - 1] if code == code and 1 <= code <= len(texts) else None for code in values]


def _texts(one: Any) -> list[str]:
    if _kind(one) != "STR":
        return []
    return ["NA" if text.value is None else _decoded(text.value) for text in one.value]


def _decoded(text: bytes) -> str:
    try:
        return text.decode("utf-8")
    except UnicodeDecodeError:
        return text.decode("latin-1")


def _attribute(one: Any, name: str) -> Any:
    """Return an attribute of an R object, or None; attributes are a linked list."""
    node: Any = getattr(one, "attributes", None)
    while _kind(node) == "LIST":
        if _symbol(node.tag) == name:
            return node.value[0]
        node = node.value[1]
    return None


def _symbol(tag: Any) -> str:
    """Return the text of a symbol, which may be a reference to an earlier one."""
    tag = getattr(tag, "referenced_object", None) or tag
    content = getattr(getattr(tag, "value", None), "value", None)
    return _decoded(content) if isinstance(content, bytes) else ""


def _kind(one: Any) -> str:
    """Return the name of the type of an R object, such as REAL or STR."""
    info = getattr(one, "info", None)
    return "" if info is None else str(info.type.name)
