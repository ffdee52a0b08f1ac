"""Choice of the engine for a source."""

from ilfs.execution.dask import OnDask
from ilfs.execution.fold import Fold
from ilfs.execution.memory import InMemory
from ilfs.execution.stream import Streamed
from ilfs.sources.dask import DaskSource
from ilfs.sources.source import Source
from ilfs.sources.tables import TableSource


def fold_of(source: Source, n_jobs: int | None = None) -> Fold:
    """Return the engine for a source.

    Parameters
    ----------
    source : Source
        Rows with their classes.
    n_jobs : int, optional
        Number of threads, as `joblib` counts them.

    Returns
    -------
    Fold
        Computes statistics over the source: in memory for a table, on the workers for a table of Dask,
        otherwise as a stream of blocks.
    """
    if isinstance(source, DaskSource):
        return OnDask(source, n_jobs)
    return InMemory(source, n_jobs) if isinstance(source, TableSource) else Streamed(source, n_jobs)
