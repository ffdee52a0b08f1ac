"""Values of chosen features from a table with features in rows or with a sample sheet, as `ilfs apply` needs them.

Unlike `prepare`, nothing is set aside: a feature that was selected elsewhere may well be constant in a few new samples.
"""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ilfs.preparing.arranging import arranged, genes_as_columns
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
    return chosen(genes_as_columns(raw, options, Account()), features)


@dataclass(frozen=True)
class SheetAndFeatures:
    """Chosen features of samples, and the columns of a sample sheet for the same samples.

    Parameters
    ----------
    source : TableSource
        A row for each sample and a column for each feature, without classes.
    samples : ndarray of str
        Names of the samples.
    sheet : dict of str to ndarray of str
        Columns of the sheet; missing values are empty.
    warnings : tuple of str
        Sentences on samples that are in one of the two tables only.
    """

    source: TableSource
    samples: NDArray[np.object_]
    sheet: dict[str, NDArray[np.object_]]
    warnings: tuple[str, ...]


def read_with_sheet(
    path: str | os.PathLike[str],
    sheet: str | os.PathLike[str],
    features: Sequence[str],
    transpose: bool | None = None,
) -> SheetAndFeatures:
    r"""Read some features of a table, and a sample sheet that is matched to it by the names of the samples.

    Parameters
    ----------
    path : str or path
        A table of text, Parquet, Feather or Excel.
    sheet : str or path
        A table with a row for each sample.
    features : sequence of str
        Names of the features.
    transpose : bool, optional
        True if features are in rows and samples in columns; by default this is recognised.

    Returns
    -------
    SheetAndFeatures
        The samples that both tables have, in the order of the first.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from ilfs.preparing.features_in_rows import read_with_sheet
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     counts, sheet = Path(folder) / "counts.tsv", Path(folder) / "sheet.csv"
    ...     _ = counts.write_text("gene\tS1\tS2\nTP53\t5\t7\nMYC\t1\t0\nEGFR\t2\t2\n")
    ...     _ = sheet.write_text("sample,kind\nS2,b\nS1,a\n")
    ...     found = read_with_sheet(counts, sheet, ["EGFR", "TP53"])
    >>> found.source.to_matrix().tolist(), found.samples.tolist(), found.sheet["kind"].tolist()
    ([[2.0, 5.0], [2.0, 7.0]], ['S1', 'S2'], ['a', 'b'])
    """
    options, account = Options(samples=os.fspath(sheet), transpose=transpose, needs_target=False), Account()
    raw, listed = read_raw_table(find_input(path), options), read_raw_table(find_input(sheet), options, is_sheet=True)
    if raw is None or listed is None:
        raise ValueError(f"{path} must not be sparse if its samples are in another table")
    both = arranged(raw, listed, options, account)
    source, samples = chosen(both.table, features)
    columns = {} if both.sheet is None else dict(zip(both.sheet.names, both.sheet.columns, strict=True))
    texts = {name: np.array([text or "" for text in one.texts], dtype=object) for name, one in columns.items()}
    return SheetAndFeatures(source, samples, texts, tuple(account.warnings))


def chosen(table: RawTable, features: Sequence[str]) -> tuple[TableSource, NDArray[np.object_]]:
    """Return some features of a table whose rows are samples, and the names of the samples."""
    places = found_by_name(features, table.names, table.name)
    values = np.column_stack([numbers(table, j) for j in places])
    return table_source(values, None, None, list(features)), np.array(table.row_names, dtype=object)


def numbers(table: RawTable, j: int) -> NDArray[Any]:
    """Return the values of a feature; raise if they are no numbers."""
    values = table.columns[j].numbers
    if values is None:
        raise ValueError(f"values of {table.names[j]!r} in {table.name} must be numbers, got other text")
    return values
