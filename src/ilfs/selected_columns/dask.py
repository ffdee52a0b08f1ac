"""Selected columns of Dask's tables; nothing is computed."""

from typing import Any

from ilfs.selected_columns.blocks import selected_block
from ilfs.selected_columns.choice import ColumnChoice
from ilfs.sources.cluster import delayed


def from_array(X: Any, choice: ColumnChoice) -> Any:
    """Select columns of a Dask array."""
    return X[:, choice.positions(None, X.shape[1])]


def from_frame(X: Any, choice: ColumnChoice) -> Any:
    """Select columns of a Dask data frame."""
    names = list(X.columns)
    return X[[names[j] for j in choice.positions(names, len(names))]]


def from_delayed(X: Any, choice: ColumnChoice) -> Any:
    """Select columns of a delayed partition, with its labels and weights if it has any."""
    return delayed(selected_block)(choice, (0, X))
