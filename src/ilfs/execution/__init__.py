"""How rows reach a statistic.

A *fold* holds the rows. Called with ``from_block``, it gives every block of them to it and merges what comes back, so
a method that asks a fold for its statistics runs the same in memory, from disk and on a cluster. Methods that need all
rows at once get `Rows`.
"""

from ilfs.execution.fold import Fold, Statistic
from ilfs.execution.memory import InMemory
from ilfs.execution.rows import MissingCellsError, Rows, refuse_missing
from ilfs.execution.target import Target
from ilfs.execution.threads import blocks, one_blas_thread, thread_map

__all__ = [
    "Fold",
    "InMemory",
    "MissingCellsError",
    "Rows",
    "Statistic",
    "Target",
    "blocks",
    "one_blas_thread",
    "refuse_missing",
    "thread_map",
]
