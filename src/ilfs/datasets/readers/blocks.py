"""Collection of the rows of a text file while it is read."""

from pathlib import Path

import numpy as np

from ilfs.arrays import Floats
from ilfs.datasets.limits import ReadLimits

STACKED_ROWS = 1024  # rows that are joined to one array


class RowBlocks:
    """Rows of numbers, stored in blocks: one array per short row would take ten times the memory.

    Parameters
    ----------
    path : Path
        The file that the rows come from.
    limits : ReadLimits
        Limits on their memory.
    """

    def __init__(self, path: Path, limits: ReadLimits) -> None:
        self.path, self.limits = path, limits
        self._allowed, self._n_bytes = limits.allowed_bytes(path), 0
        self._blocks: list[Floats] = []
        self._rows: list[Floats] = []

    def append(self, row: Floats) -> None:
        """Add a row."""
        self._rows.append(row)
        self._n_bytes += row.nbytes
        if self._n_bytes > self._allowed:
            raise self.limits.too_many_bytes(self._n_bytes, self.path)
        if len(self._rows) == STACKED_ROWS:
            self._close_block()

    def matrix(self) -> Floats:
        """Join all rows to a matrix."""
        self._close_block()
        return self._blocks[0] if len(self._blocks) == 1 else np.concatenate(self._blocks)

    def _close_block(self) -> None:
        if self._rows:
            self._blocks.append(np.stack(self._rows))
            self._rows = []
