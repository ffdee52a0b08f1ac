"""Values of chosen features from a table whose features are in rows, as `ilfs apply --transpose` needs them.

Unlike `prepare`, nothing is set aside: a feature that was selected elsewhere may well be constant in a few new samples.
"""

import os
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ilfs.preparing.arranging import genes_as_columns
from ilfs.preparing.inputs import find_input
from ilfs.preparing.options import Account, Options
from ilfs.preparing.raw_files import read_raw_table
from ilfs.preparing.raw_table import RawTable
from ilfs.selected_columns.choice import found_by_name
from ilfs.sources import TableSource, table_source


def read_features_in_rows(
    path: str | os.PathLike[str], features: Sequence[str]
) -> tuple[TableSource, NDArray[np.object_]]:
    r"""Read some features of a table that has its features in rows and its samples in columns.

    Parameters
    ----------
    path : str or path
        A table of text, Parquet, Feather or Excel. Its first column names the features.
    features : sequence of str
        Names of the features.

    Returns
    -------
    source : TableSource
        A row for each sample and a column for each of the features, without classes.
    samples : ndarray of str
        Names of the samples.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from ilfs.preparing.features_in_rows import read_features_in_rows
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "counts.tsv"
    ...     _ = path.write_text("gene\tS1\tS2\nTP53\t5\t7\nMYC\t1\t0\nEGFR\t2\t2\n")
    ...     source, samples = read_features_in_rows(path, ["EGFR", "TP53"])
    >>> source.to_matrix().tolist(), samples.tolist()
    ([[2.0, 5.0], [2.0, 7.0]], ['S1', 'S2'])
    """
    options = Options(transpose=True, needs_target=False)
    raw = read_raw_table(find_input(path), options)
    if raw is None:
        raise ValueError(f"{path} must not be sparse if its features are in rows")
    table = genes_as_columns(raw, options, Account())
    places = found_by_name(features, table.names, table.name)
    values = np.column_stack([numbers(table, j) for j in places])
    return table_source(values, None, None, list(features)), np.array(table.row_names, dtype=object)


def numbers(table: RawTable, j: int) -> NDArray[Any]:
    """Return the values of a feature; raise if they are no numbers."""
    values = table.columns[j].numbers
    if values is None:
        raise ValueError(f"values of {table.names[j]!r} in {table.name} must be numbers, got other text")
    return values
