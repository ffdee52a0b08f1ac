"""Finding a data set by its name."""

import os
from pathlib import Path

from ilfs.datasets.archive import read_archive
from ilfs.datasets.table import Table


def load(name: str) -> Table:
    """A data set by its name.

    The file ``<name>.npz`` is looked for in the folder that the environment variable ``ILFS_DATA`` names.

    Parameters
    ----------
    name : str
        Name of the data set, for example ``"colon"``.

    Returns
    -------
    Table
        The data set, with the SHA-256 of its file.
    """
    folder = os.environ.get("ILFS_DATA")
    if not folder:
        raise FileNotFoundError(f"no {name}.npz: the environment variable ILFS_DATA names no folder of data sets")
    path = Path(folder) / f"{name}.npz"
    if not path.is_file():
        raise FileNotFoundError(f"no {name}.npz in {folder}, the folder that ILFS_DATA names")
    return read_archive(path, name)
