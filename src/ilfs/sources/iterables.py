"""Blocks of rows from Python: a function that returns a new iterator, or an object that can be iterated repeatedly.

A block is ``(X, y)`` or ``(X, y, weight)``, or X alone if there are no labels. X is an array, a sparse matrix or a data
frame.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from scipy import sparse

from ilfs.arrays import Integers
from ilfs.sources.frames import FrameSource
from ilfs.sources.reader import Batch, BatchReader
from ilfs.sources.roles import Request, check_column_names, refuse_columns
from ilfs.sources.row_index import check_same_index

NUMBERS = "buif"  # kinds of NumPy's types
NOT_BLOCKS = (str, bytes, dict, set, frozenset, np.ndarray)


class BlocksReader(BatchReader):
    """Reader of blocks of rows.

    Parameters
    ----------
    start : callable
        Function that returns an iterator from the first block on.
    request : Request
        Its target and weight must be None: every block has its labels and weights.
    """

    def __init__(self, start: Callable[[], Iterable[Any]], request: Request) -> None:
        self._start, self.name = start, request.name
        refuse_column_names(request)
        first = next(iter(start()), None)
        if first is None:
            raise ValueError(f"{self.name} must give at least one block of rows, got none; can it be iterated again?")
        X, y, weight = parts_of(first, 0, self.name)
        self.n_features, self.has_labels, self.is_sparse = X.shape[1], y is not None, sparse.issparse(X)
        self.feature_names, self.has_weights = names_of(first), weight is not None
        if self.feature_names is not None:
            check_column_names([str(name) for name in self.feature_names], self.name)
        self.dtype = np.dtype(np.float32 if X.dtype == np.float32 else np.float64)

    def batches(self, columns: Integers | None, max_rows: int) -> Iterator[Batch]:  # noqa: ARG002
        """Read the blocks from the first to the last."""
        for number, block in enumerate(self._start()):
            X, y, weight = parts_of(block, number, self.name)
            self._check(X, y, block, number)
            yield Batch(X if columns is None else X[:, columns], y, weight, X.shape[0])

    def _check(self, X: Any, y: Any, block: Any, number: int) -> None:
        """Raise if a block differs from the first one in its columns or its type."""
        what = f"block {number} of {self.name}"
        if X.shape[1] != self.n_features:
            raise ValueError(f"{what} must have {self.n_features} columns, as the first has, got {X.shape[1]}")
        if names_of(block) not in (None, self.feature_names):
            raise ValueError(f"{what} must have the column names of the first block in the same order, got others")
        if sparse.issparse(X) != self.is_sparse:
            kind = "sparse" if self.is_sparse else "dense"
            raise ValueError(f"{what} must be {kind}, as the first is, got the other kind")
        if np.result_type(X.dtype, self.dtype) != self.dtype and X.dtype.kind == "f":
            raise ValueError(f"{what} must hold {self.dtype}, as the first does, got {X.dtype}: convert all of them")
        if (y is not None) != self.has_labels:
            raise ValueError(f"{what} must have labels if, and only if, the first has, got {type(y).__name__}")


def refuse_column_names(request: Request) -> None:
    """Raise if the target, weight or columns to drop are given by name."""
    for role, given in (("target", request.target), ("weight", request.weight), ("drop", request.drop or None)):
        if given is not None:
            raise ValueError(
                f"{role} must be None if {request.name} gives blocks of rows (X, y) or (X, y, weight), got {given!r}"
            )


def parts_of(block: Any, number: int, name: str) -> tuple[Any, Any, Any]:
    """Return values, labels and weights of a block, with values as an array or a CSR matrix."""
    parts = block if isinstance(block, tuple) else (block,)
    if not 1 <= len(parts) <= 3:
        raise ValueError(f"block {number} of {name} must be (X, y) or (X, y, weight), got {len(parts)} parts")
    X, y, weight = (*parts, None, None)[:3]
    check_same_index(X, y, "y", where=f"block {number} of {name}: ")
    check_same_index(X, weight, "weight", where=f"block {number} of {name}: ")
    X = values_of(X, f"block {number} of {name}")
    if y is not None:
        y = column_or_matrix(y)
        check_length("y", y, X, number, name)
    if weight is not None:
        weight = np.asarray(weight, dtype=np.float64)
        check_length("weight", weight, X, number, name)
    return X, y, weight


def column_or_matrix(y: Any) -> Any:
    """Convert labels to an array; a matrix of one column becomes a vector."""
    y = np.asarray(y.toarray() if sparse.issparse(y) else y)
    return y[:, 0] if y.ndim == 2 and y.shape[1] == 1 else y


def check_length(role: str, values: Any, X: Any, number: int, name: str) -> None:
    """Raise if labels or weights have another number of rows than their block."""
    if values.ndim == 0 or values.shape[0] != X.shape[0]:
        got = f"{X.shape[0]} and {values.shape[0] if values.ndim else 'a single value'}"
        raise ValueError(f"X and {role} of block {number} of {name} must have the same number of rows, got {got}")


def values_of(X: Any, what: str) -> Any:
    """Convert the values of a block to an array or a CSR matrix."""
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    if isinstance(frame, nw.DataFrame):
        kinds = frame.schema.items()
        refuse_columns([(k, v) for k, v in kinds if not (v.is_numeric() or isinstance(v, nw.Boolean))], what)
        return FrameSource(X).to_matrix()
    X = X.tocsr() if sparse.issparse(X) else np.asarray(X)
    if X.ndim != 2 or X.dtype.kind not in NUMBERS:
        raise ValueError(f"{what} must be a table of numbers, got shape {X.shape} of {X.dtype}")
    return X.astype(np.float64) if sparse.issparse(X) and X.dtype.kind != "f" else X


def names_of(block: Any) -> list[Any] | None:
    """Return the names of the columns of a block, if it is a data frame."""
    X = block[0] if isinstance(block, tuple) else block
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    return list(frame.columns) if isinstance(frame, nw.DataFrame) else None


def open_blocks(X: Any, request: Request) -> BlocksReader | None:
    """Make a reader of a function or an iterable of blocks; return None for anything else."""
    if callable(X) and not isinstance(X, type):
        return BlocksReader(fresh_iterator(X, request.name), request)
    if isinstance(X, NOT_BLOCKS) or hasattr(X, "__array__") or hasattr(X, "shape") or not hasattr(X, "__iter__"):
        return None
    if iter(X) is X:
        raise TypeError(one_shot(X, request.name))
    return BlocksReader(lambda: iter(X), request) if gives_blocks(X) else None


def fresh_iterator(function: Callable[[], Any], name: str) -> Callable[[], Iterable[Any]]:
    """Wrap a function so that it must return a new iterator whenever it is called."""
    last: list[Any] = []

    def start() -> Iterable[Any]:
        blocks: Any = function()
        if not hasattr(blocks, "__iter__"):
            raise TypeError(f"{name} must return an iterator of blocks of rows, got {type(blocks).__name__}")
        if last and last[0] is blocks and iter(blocks) is blocks:
            raise TypeError(one_shot(blocks, name))
        last[:] = [blocks]
        return blocks  # type: ignore[no-any-return]

    return start


def one_shot(X: Any, name: str) -> str:
    """Format the message for an iterator, which can be read only once."""
    return (
        f"{name} is read several times, but a {type(X).__name__} can be read only once: pass a function that returns a "
        "new iterator of blocks whenever it is called"
    )


def gives_blocks(X: Any) -> bool:
    """Check if an iterable gives blocks of rows; a list of rows is a table."""
    first = next(iter(X), None)
    is_list = isinstance(X, list | tuple)
    values = first[0] if isinstance(first, tuple) and 1 <= len(first) <= 3 else None if is_list else first
    return sparse.issparse(values) or getattr(values, "ndim", 2 if names_of(values) else 0) == 2
