"""Selected columns of blocks of rows from Python: a function, an object that can be iterated, or an iterator."""

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from scipy import sparse

from ilfs.selected_columns.choice import ColumnChoice
from ilfs.sources.iterables import NOT_BLOCKS, gives_blocks


def from_blocks(X: Any, choice: ColumnChoice) -> Any:
    """Select columns of all blocks; the result is a function, an iterator or an iterable, as X is.

    Return None if X does not give blocks of rows.
    """
    if callable(X) and not isinstance(X, type):
        return selected_function(X, choice)
    if isinstance(X, NOT_BLOCKS) or hasattr(X, "__array__") or hasattr(X, "shape") or not hasattr(X, "__iter__"):
        return None
    if iter(X) is X:  # one pass is enough here, unlike in ``fit``
        return selected_blocks(X, choice)
    return SelectedBlocks(X, choice) if gives_blocks(X) else None


def selected_function(start: Callable[[], Iterable[Any]], choice: ColumnChoice) -> Callable[[], Iterator[Any]]:
    """Make a function that returns a new iterator of selected blocks whenever it is called."""
    return lambda: selected_blocks(start(), choice)


class SelectedBlocks:
    """Blocks of rows with selected columns, which can be iterated repeatedly.

    Parameters
    ----------
    blocks : iterable
        Blocks of rows, as ``fit`` takes them.
    choice : ColumnChoice
        The columns.
    """

    def __init__(self, blocks: Iterable[Any], choice: ColumnChoice) -> None:
        self._blocks, self._choice = blocks, choice

    def __iter__(self) -> Iterator[Any]:
        """Iterate over the blocks from the first one on."""
        return selected_blocks(self._blocks, self._choice)


def selected_blocks(blocks: Iterable[Any], choice: ColumnChoice) -> Iterator[Any]:
    """Select columns of one block after the other."""
    return map(partial(selected_block, choice), enumerate(blocks))


def selected_block(choice: ColumnChoice, numbered: tuple[int, Any]) -> Any:
    """Select columns of a block; labels and weights stay with it."""
    number, block = numbered
    X, *rest = block if isinstance(block, tuple) else (block,)
    selected = columns_of_table(X, choice, f"block {number} of X")
    return (selected, *rest) if isinstance(block, tuple) else selected


def columns_of_table(X: Any, choice: ColumnChoice, what: str) -> Any:
    """Select columns of a data frame, a sparse matrix or an array in memory; the result is of the same kind."""
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    if isinstance(frame, nw.DataFrame):
        return frame[:, choice.positions(frame.columns, len(frame.columns), what)].to_native()
    X = X.tocsr() if sparse.issparse(X) else np.asarray(X)
    if X.ndim != 2:
        raise ValueError(f"{what} must be a table, got shape {X.shape}")
    return X[:, choice.positions(None, X.shape[1], what)]
