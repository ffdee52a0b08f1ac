"""The function `prepare`."""

import os
from collections.abc import Sequence
from pathlib import Path

from ilfs.preparing.prepared import PreparedTable
from ilfs.reading.dask_files import open_on_dask
from ilfs.reading.entry import open_table
from ilfs.sources import Source


def prepare(
    path: str | os.PathLike[str],
    *,
    target: str | None = None,
    samples: str | os.PathLike[str] | None = None,
    transpose: bool | None = None,
    drop: str | Sequence[str] = (),
    only: str | Sequence[str] = (),
    id: str | None = None,
    weight: str | None = None,
    groups: str | None = None,
    encode: bool = False,
    input_format: str | None = None,
    engine: str = "auto",
    memory_limit: int | str | None = None,
) -> PreparedTable:
    """Make a file ready for ``fit``."""
    columns = [drop] if isinstance(drop, str) else list(drop)
    if engine == "dask":
        source: Source = open_on_dask(os.fspath(path), target, columns, weight)
    else:
        source = open_table(path, target, columns, memory_limit, weight=weight, engine=engine)  # type: ignore[arg-type]
    return PreparedTable(source, Path(path).name, target)
