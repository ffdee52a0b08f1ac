"""Reader of MATLAB files of version 4 to 7, independent of SciPy's.

SciPy's reader trusts the sizes in a file: one changed byte may crash the whole Python process. Here every size is
compared with the number of bytes that follow before it is used, and structs, objects and functions, which a table does
not need, are not decoded at all.

Version 5 to 7: a header of 128 bytes, then data elements. Each has a tag (type and size) and a body padded to 8 bytes;
an element of at most 4 bytes may share the 8 bytes of its tag. A variable is an element of type MATRIX, perhaps inside
one of type COMPRESSED, whose body is a sequence of elements: flags, dimensions, name, then the values. Version 4: for
each variable a header of five integers, its name and its values.
"""

import math
import sys
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ilfs.datasets.archive import checked_sparse
from ilfs.datasets.limits import ReadError, ReadLimits
from ilfs.datasets.npz import whole_file

HEADER_BYTES = 128
HEADER_BYTES_V4 = 20
MAX_HEAD_BYTES = 2**16  # decompressed bytes in which the flags, dimensions and name of a variable must be
VERSION_7_3 = (b"\x00\x02", b"\x02\x00")
MATRIX, COMPRESSED = 14, 15
NUMBERS = {1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4", 9: "f8", 12: "i8", 13: "u8"}
UTF_8, UTF_16 = 16, 17
NUMBERS_V4 = ("f8", "f4", "i4", "i2", "u2", "u1")
CODE_UNITS = {UTF_16: "u2", 18: "u4"}
CELL, CHARACTERS, SPARSE = 1, 4, 5
NUMERIC_CLASSES = {6: "f8", 7: "f4", 8: "i1", 9: "u1", 10: "i2", 11: "u2", 12: "i4", 13: "u4", 14: "i8", 15: "u8"}
OTHER_CLASSES = {2: "struct", 3: "object", 16: "function", 17: "string or other object", 18: "object"}
COMPLEX, LOGICAL = 0x0800, 0x0200
FULL_V4, CHARACTERS_V4, SPARSE_V4 = 0, 1, 2

Decode = Callable[[], Any]


class MatVariables(Mapping[str, Any]):
    """Variables of a MATLAB file by name, each decoded on access.

    Numbers are arrays, sparse matrices are ``csc_array``, rows of characters are texts, and a cell array of texts or
    numbers is an array of objects.

    Parameters
    ----------
    path : Path
        The file.
    limits : ReadLimits
        Limits on the decompressed size of a variable.
    """

    def __init__(self, path: Path, limits: ReadLimits) -> None:
        self.path = path
        content = path.read_bytes()
        if content[:19] == b"MATLAB 7.3 MAT-file" or (_is_new(content) and content[124:126] in VERSION_7_3):
            raise ValueError(f"{path} must have version 4 to 7, got 7.3: save it again with save(..., '-v7')")
        with whole_file(path, "MATLAB file"):
            scan = _scan if _is_new(content) else _scan_v4
            self._variables = dict(scan(memoryview(content), path, limits))

    def __getitem__(self, key: str) -> Any:
        decode = self._variables[key]
        with whole_file(self.path, "MATLAB file"):
            return decode()

    def __contains__(self, key: object) -> bool:
        return key in self._variables  # Mapping's own method would decode the variable

    def __iter__(self) -> Iterator[str]:
        return iter(self._variables)

    def __len__(self) -> int:
        return len(self._variables)


def _is_new(content: bytes) -> bool:
    """Return True for version 5 or later; in version 4 one of the first four bytes is 0."""
    return len(content) >= HEADER_BYTES and 0 not in content[:4] and content[126:128] in (b"IM", b"MI")


@dataclass(frozen=True)
class Element:
    """A data element: its type and its body, in a file of this byte order."""

    kind: int
    body: memoryview
    order: str

    def numbers(self) -> NDArray[Any]:
        """Read the body as a vector of numbers."""
        if self.kind not in NUMBERS:
            raise ValueError(f"numbers must have one of the types {', '.join(map(str, NUMBERS))}, got {self.kind}")
        return np.frombuffer(self.body, dtype=np.dtype(self.order + NUMBERS[self.kind]))

    def code_points(self) -> NDArray[Any]:
        """Read the body as code points, or as UTF-16 code units, of which a character may have two."""
        if self.kind == UTF_8:
            return np.frombuffer(bytes(self.body).decode().encode("utf-32-le"), dtype="<u4")
        if self.kind in CODE_UNITS:
            return np.frombuffer(self.body, dtype=np.dtype(self.order + CODE_UNITS[self.kind]))
        return self.numbers()

    def name(self) -> str:
        """Read the body as the name of a variable."""
        return bytes(self.body).decode("latin-1")

    def elements(self) -> Iterator["Element"]:
        """Yield the elements in the body."""
        at = 0
        while at < len(self.body):
            element, at = _element(self.body, at, self.order)
            yield element


def _element(content: memoryview, at: int, order: str) -> tuple[Element, int]:
    """Return the element at a position and the start of the next one."""
    if at + 8 > len(content):
        raise ValueError("it ends within the tag of an element")
    kind, size = (int(number) for number in np.frombuffer(content[at : at + 8], dtype=f"{order}u4"))
    if kind >> 16:  # small element: type and size in four bytes, the values in the other four
        kind, size, start, end = kind & 0xFFFF, kind >> 16, at + 4, at + 8
    else:
        start, end = at + 8, at + 8 + size
        end += -end % 8 if kind != COMPRESSED else 0
    if size > len(content) - start or (start == at + 4 and size > 4):
        raise ValueError(f"an element must have {size} bytes, but it has {min(len(content) - start, end - start)}")
    return Element(kind, content[start : start + size], order), end


def _scan(content: memoryview, path: Path, limits: ReadLimits) -> Iterator[tuple[str, Decode]]:
    order = "<" if bytes(content[126:128]) == b"IM" else ">"
    for element in Element(MATRIX, content[HEADER_BYTES:], order).elements():
        variable = Variable.read(_inflated(element, MAX_HEAD_BYTES) if element.kind == COMPRESSED else element)
        if variable.name:  # MATLAB stores data of objects in a variable without a name
            yield variable.name, _decoder(element, path, limits)


def _decoder(element: Element, path: Path, limits: ReadLimits) -> Decode:
    def decode() -> Any:
        if element.kind != COMPRESSED:
            return Variable.read(element).values(path)
        size = _tag(zlib.decompressobj().decompress(element.body, 8), element.order)[1]
        limits.check_bytes(size, path)
        return Variable.read(_inflated(element, size)).values(path)

    return decode


def _tag(content: bytes, order: str) -> tuple[int, int]:
    """Return type and size of the element that begins with these bytes."""
    kind, size = np.frombuffer(content[:8], dtype=f"{order}u4").tolist()
    return kind, size


def _inflated(element: Element, n_bytes: int) -> Element:
    """Decompress the variable in an element, or only its beginning if it is larger than ``n_bytes``."""
    stream = zlib.decompressobj()
    content = stream.decompress(element.body, n_bytes + 8)
    kind, size = _tag(content, element.order)
    if size <= n_bytes:
        stream.decompress(stream.unconsumed_tail, MAX_HEAD_BYTES)  # reads the padding, and zlib verifies the checksum
        if size > len(content) - 8 or not stream.eof:
            raise ValueError(f"a compressed variable must have {size} bytes when decompressed")
    return Element(kind, memoryview(content)[8 : 8 + size], element.order)


@dataclass(frozen=True)
class Variable:
    """A variable of version 5 to 7 with its flags, and the elements that hold its values."""

    name: str
    kind: int
    flags: int
    shape: tuple[int, ...]
    parts: Iterator[Element]

    @classmethod
    def read(cls, element: Element) -> "Variable":
        """Read the header of a variable from an element of type MATRIX."""
        if element.kind != MATRIX:
            raise ValueError(f"a variable must be an element of type {MATRIX}, got {element.kind}")
        parts = element.elements()
        flags = int(_next(parts).numbers()[0])
        kind = flags & 0xFF
        if kind in OTHER_CLASSES and kind > 15:  # these have no dimensions
            return cls(_next(parts).name(), kind, flags, (), parts)
        shape = tuple(_next(parts).numbers().tolist())
        if len(shape) < 2 or not all(isinstance(size, int) and size >= 0 for size in shape):
            raise ValueError(f"a variable must have two or more dimensions >= 0, got {shape[:5]}")
        return cls(_next(parts).name(), kind, flags, shape, parts)

    def values(self, path: Path) -> Any:
        """The values as an array, a sparse array, or an array of texts."""
        if self.kind in OTHER_CLASSES:
            got = OTHER_CLASSES[self.kind]
            raise ReadError(f"{self.name!r} of {path} must hold numbers, characters or cells of them, got a {got}")
        if self.flags & COMPLEX:
            raise ReadError(f"{self.name!r} of {path} must hold real numbers, got complex ones")
        if self.kind == SPARSE:
            return self._sparse(path)
        if self.kind == CHARACTERS:
            return _texts(_next(self.parts).code_points() if math.prod(self.shape) else np.empty(0), self.shape)
        return self._cells(path) if self.kind == CELL else self._full()

    def _full(self) -> NDArray[Any]:
        if self.kind not in NUMERIC_CLASSES:
            raise ValueError(f"{self.name!r} must have a class that MATLAB has, got {self.kind}")
        values = _next(self.parts).numbers() if math.prod(self.shape) else np.empty(0)
        dtype = np.dtype(bool if self.flags & LOGICAL else NUMERIC_CLASSES[self.kind])
        # MATLAB stores integers in the smallest type that holds them, whatever the class of the variable.
        converted = _shaped(values, self.shape).astype(dtype)
        if dtype.kind in "iu" and not np.array_equal(converted.ravel(order="F"), values):
            raise ValueError(f"{self.name!r} must hold values of the type {dtype}, got {values.dtype}")
        return converted

    def _sparse(self, path: Path) -> Any:
        if len(self.shape) != 2:
            raise ValueError(f"a sparse variable must have two dimensions, got {len(self.shape)}")
        indices, indptr, data = (_next(self.parts).numbers() for _ in range(3))
        if indices.dtype.kind not in "iu" or indptr.dtype.kind not in "iu":
            raise ValueError("indices of a sparse variable must be integers")
        indices, indptr = indices.astype(np.int64), indptr.astype(np.int64)
        data = data.astype(bool if self.flags & LOGICAL else np.float64)
        return checked_sparse(sparse.csc_array, data, indices, indptr, self.shape, path)

    def _cells(self, path: Path) -> NDArray[Any]:
        values = [_out_of_cell(element, path) for element in self.parts]
        cells = np.empty(len(values), dtype=object)
        cells[:] = values
        return _shaped(cells, self.shape)


def _next(parts: Iterator[Element]) -> Element:
    part = next(parts, None)
    if part is None:
        raise ValueError("a variable ends too early")
    return part


def _shaped(values: NDArray[Any], shape: tuple[int, ...]) -> NDArray[Any]:
    if math.prod(shape) != values.size:
        raise ValueError(f"a variable of shape {shape} must have {math.prod(shape)} values, got {values.size}")
    return values.reshape(shape, order="F")


def _texts(code_points: NDArray[Any], shape: tuple[int, ...]) -> NDArray[Any]:
    """Convert a matrix of characters to one text per row."""
    points = _shaped(code_points, shape)
    if not 0 <= points.min(initial=0) <= points.max(initial=0) <= sys.maxunicode:
        raise ValueError("text must be characters of Unicode")
    if not points.size:
        return np.array([""])
    rows = np.ascontiguousarray(points, dtype="=u4").view(f"=U{shape[-1]}")
    return np.array([_joined(row) for row in rows.ravel().tolist()]).reshape(shape[:-1])


def _joined(text: str) -> str:
    """Join UTF-16 surrogate pairs to one character each."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _out_of_cell(element: Element, path: Path) -> Any:
    """Return the single text or number in a cell of a cell array; None if the cell is empty."""
    if element.kind == MATRIX and not element.body:
        return None
    variable = Variable.read(element)
    if variable.kind != CHARACTERS and variable.kind not in NUMERIC_CLASSES:
        raise ReadError(f"a cell of a variable of {path} must hold one text or one number")
    values = variable.values(path)
    if values.size > 1:
        raise ReadError(f"a cell of a variable of {path} must hold one text or one number, got shape {variable.shape}")
    return values.ravel()[0] if values.size else None


def _scan_v4(content: memoryview, path: Path, limits: ReadLimits) -> Iterator[tuple[str, Decode]]:
    at = 0
    while at < len(content):
        variable, at = _variable_v4(content, at)
        yield variable.name, partial(variable.values, path, limits)


@dataclass(frozen=True)
class VariableV4:
    """A variable of version 4: its name, kind and values."""

    name: str
    kind: int
    is_complex: bool
    matrix: NDArray[Any]

    def values(self, path: Path, limits: ReadLimits) -> Any:
        """The values as an array, a sparse array, or an array of texts."""
        if self.is_complex:
            raise ReadError(f"{self.name!r} of {path} must hold real numbers, got complex ones")
        if self.kind == CHARACTERS_V4:
            return _texts(self.matrix.ravel(order="F"), self.matrix.shape)
        return _sparse_v4(self.matrix, path, limits) if self.kind == SPARSE_V4 else self.matrix


def _variable_v4(content: memoryview, at: int) -> tuple[VariableV4, int]:
    """Return the variable at a position and the start of the next one."""
    head = content[at : at + HEADER_BYTES_V4]
    if len(head) < HEADER_BYTES_V4:
        raise ValueError("it ends within the header of a variable")
    # The first integer has four decimal digits: byte order, 0, type of the numbers, kind of the matrix. It is below
    # 5000, so a larger number was written in the other byte order.
    order = "<" if 0 <= int(np.frombuffer(head[:4], dtype="<i4")[0]) < 5000 else ">"
    code, n_rows, n_columns, is_complex, n_letters = np.frombuffer(head, dtype=f"{order}i4").tolist()
    byte_order, type_code, kind = code // 1000, code // 10 % 10, code % 10
    if byte_order != (order == ">") or code // 100 % 10 or type_code >= len(NUMBERS_V4) or kind > SPARSE_V4 or code < 0:
        raise ValueError("it begins neither as a file of version 5 to 7 nor as one of version 4")
    dtype = np.dtype(order + NUMBERS_V4[type_code])
    start = at + HEADER_BYTES_V4 + n_letters
    n_bytes = n_rows * n_columns * dtype.itemsize
    end = start + n_bytes * (2 if is_complex else 1)
    if min(n_rows, n_columns, n_letters) < 0 or end > len(content):
        raise ValueError(f"a variable of {n_rows} x {n_columns} values must have {n_bytes} bytes, but the file ends")
    name = bytes(content[at + HEADER_BYTES_V4 : start]).split(b"\0")[0].decode("latin-1")
    matrix = np.frombuffer(content[start : start + n_bytes], dtype=dtype).reshape((n_rows, n_columns), order="F")
    return VariableV4(name, kind, bool(is_complex), matrix.astype(dtype.newbyteorder("="))), end


def _sparse_v4(triples: NDArray[Any], path: Path, limits: ReadLimits) -> Any:
    """Build a sparse matrix from rows of (row, column, value), counted from 1; the last row has the shape."""
    if triples.shape[0] < 1 or triples.shape[1] != 3 or not np.isfinite(triples).all():
        raise ValueError("a sparse variable must be rows of row, column and value")
    places = triples[:, :2].astype(np.int64)
    shape = places[-1].tolist()
    limits.check_columns(shape[1], path)
    if (places[:-1] < 1).any() or (places[:-1] > shape).any() or min(shape) < 0:
        raise ValueError(f"rows and columns of a sparse variable must be within its shape {shape}")
    rows, columns = places[:-1].T - 1
    by_column = np.lexsort((rows, columns))
    indptr = np.searchsorted(columns[by_column], np.arange(shape[1] + 1))
    return checked_sparse(sparse.csc_array, triples[by_column, 2], rows[by_column], indptr, shape, path)
