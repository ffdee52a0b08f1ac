"""Files that are read by the workers of a Dask cluster."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ilfs.choices import PARQUET_ENDINGS
from ilfs.reading.paths import files_of
from ilfs.sources.dask import DaskSource, dask_source
from ilfs.sources.roles import find_column


def open_on_dask(
    path: str, target: str | None = None, drop: Sequence[str] = (), weight: str | None = None
) -> DaskSource:
    """Open Parquet files as a Dask data frame, whose partitions the workers read.

    Parameters
    ----------
    path : str
        A Parquet file, a folder or a pattern of them. All workers must find the files under this path.
    target : str, optional
        Column that holds the classes.
    drop : sequence of str, default=()
        Columns that are not features.
    weight : str, optional
        Column that holds the weights of the rows.

    Returns
    -------
    DaskSource
        The table.
    """
    frame = parquet_frame(path)
    names = list(frame.columns)
    for role, columns in (("target", [target]), ("drop", drop), ("weight", [weight])):
        for column in columns:
            if column is not None:
                find_column(role, column, names, len(names), path)
    weights = None if weight is None else frame[weight]
    aside = {*drop, *([] if weight is None else [weight])}
    features = frame[[name for name in names if name not in aside]]
    return dask_source(features, target, weights, reads_labels=target is not None)


def parquet_frame(path: str) -> Any:
    """Open Parquet files as a Dask data frame."""
    try:
        import dask.dataframe
    except ImportError:
        raise ImportError('a Dask cluster needs the package dask: pip install "ilfs[dask]"') from None
    if not Path(path).is_dir():
        files = [str(file) for file in files_of(path)]
        if not all(file.lower().endswith(PARQUET_ENDINGS) for file in files):
            raise ValueError(f"--engine dask reads Parquet files, got {path}")
        return dask.dataframe.read_parquet(files)
    return dask.dataframe.read_parquet(path)
