"""Engines that compute statistics over the rows of a source.

A *fold* is an engine over a source: given the description of a statistic, it computes the statistic of every block and
merges the results. `InMemory` does this in threads for a table in memory, `Streamed` for rows that are read in blocks,
`OnDask` for partitions on the workers of a cluster. A method is a *plan* of such requests, and so does not know where
the rows are. Methods that need all rows at once get `AllRows`.
"""

from ilfs.execution.dask import OnDask
from ilfs.execution.engines import fold_of
from ilfs.execution.fold import Fold, Read
from ilfs.execution.memory import InMemory
from ilfs.execution.plan import Plan, ask, at_once, both, run_plan, together, under_labelling
from ilfs.execution.rows import AllRows, LabelledRows, MissingValuesError, refuse_missing
from ilfs.execution.stream import Streamed
from ilfs.execution.threads import blocks, one_blas_thread, thread_map

__all__ = [
    "AllRows",
    "Fold",
    "InMemory",
    "LabelledRows",
    "MissingValuesError",
    "OnDask",
    "Plan",
    "Read",
    "Streamed",
    "ask",
    "at_once",
    "blocks",
    "both",
    "fold_of",
    "one_blas_thread",
    "refuse_missing",
    "run_plan",
    "thread_map",
    "together",
    "under_labelling",
]
