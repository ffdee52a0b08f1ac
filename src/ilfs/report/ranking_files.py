"""Rankings as files: CSV, TSV, JSON, Parquet, Feather and Excel workbooks."""

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from ilfs.files import check_writable, write_atomically, write_text_atomically
from ilfs.importing import check_installed
from ilfs.ranking_table import RankingTable, csv_text
from ilfs.report.ranking_json import as_json, json_text
from ilfs.report.workbook import check_size, write_workbook

TEXT = {".csv": ",", ".tsv": "\t", ".txt": "\t"}
ARROW = (".parquet", ".pq", ".feather", ".arrow")
RANKING_ENDINGS = (".csv", ".tsv", ".json", ".parquet", ".feather", ".xlsx")  # in messages


def check_ranking_path(path: str | os.PathLike[str], what: str = "a ranking is") -> None:
    """Raise an error if a table cannot be written to a path: wrong ending, no folder, no permission, no package.

    Parameters
    ----------
    path : path-like
        The file to write.
    what : str, default="a ranking is"
        What is written, with the verb, for the message.

    Examples
    --------
    >>> from ilfs.report.ranking_files import check_ranking_path
    >>> check_ranking_path("ranking.pdf")
    Traceback (most recent call last):
    ValueError: a ranking is written as .csv, .tsv, .json, .parquet, .feather or .xlsx, got 'ranking.pdf'
    """
    ending = output_ending(path)
    if ending not in (*TEXT, *ARROW, ".json", ".xlsx"):
        known = f"{', '.join(RANKING_ENDINGS[:-1])} or {RANKING_ENDINGS[-1]}"
        raise ValueError(f"{what} written as {known}, got {os.fspath(path)!r}")
    if ending in ARROW:
        check_installed("pyarrow", "parquet", f"writing {Path(path).name}")
    check_writable(path)


def write_ranking_table(
    table: RankingTable, path: str | os.PathLike[str], document: Callable[[], Mapping[str, Any]] | None = None
) -> Path:
    """Write all columns of a ranking in the format that the name of the file states.

    The file appears complete or not at all. Names that a spreadsheet would run as formulas are harmless: in CSV and TSV
    files they have an apostrophe before them, and in Excel files they are stored as text.

    Parameters
    ----------
    table : RankingTable
        The ranking.
    path : path-like
        The file; its folder must exist.
    document : callable, optional
        Returns what a JSON file holds; by default an object with one list for each column.

    Returns
    -------
    Path
        The file written.

    Examples
    --------
    >>> import tempfile
    >>> from sklearn.datasets import load_iris
    >>> from ilfs import ILFS
    >>> from ilfs.report.ranking_files import write_ranking_table
    >>> table = ILFS().fit(*load_iris(return_X_y=True, as_frame=True)).table()
    >>> write_ranking_table(table, tempfile.mkdtemp() + "/ranking.xlsx").stat().st_size > 1000
    True
    """
    check_ranking_path(path)
    path, ending = Path(path), output_ending(path)
    if ending in TEXT:
        write_text_atomically(path, csv_text(table, spreadsheet_safe=True, delimiter=TEXT[ending]))
    elif ending == ".json":
        write_text_atomically(path, json_text(as_json(table) if document is None else document()) + "\n")
    else:
        write_bytes(table, path, ending)
    return path


def write_bytes(table: RankingTable, path: Path, ending: str) -> None:
    """Write a Parquet, Feather or Excel file."""
    if ending == ".xlsx":
        check_size(len(next(iter(table.values()))), len(table))
        with write_atomically(path) as file:
            write_workbook(file, list(table), zip(*(values.tolist() for values in table.values()), strict=True))
        return
    from pyarrow import feather, parquet

    write = feather.write_feather if ending in (".feather", ".arrow") else parquet.write_table
    arrow = as_arrow(table)
    with write_atomically(path) as file:
        write(arrow, file)


def as_arrow(table: RankingTable) -> Any:
    """Convert a ranking to a table of Arrow."""
    import pyarrow

    return pyarrow.table({title: arrow_column(values) for title, values in table.items()})


def arrow_column(values: NDArray[Any]) -> Any:
    """Make a column of Arrow: objects become text, unless they are integers and missing values."""
    import pyarrow

    if values.dtype.kind not in "OU":
        return pyarrow.array(values)
    every = values.tolist()
    if every and all(one is None or type(one) is int for one in every):
        return pyarrow.array(every, pyarrow.int64())
    return pyarrow.array([None if one is None else str(one) for one in every], pyarrow.string())


def output_ending(path: str | os.PathLike[str]) -> str:
    """Return the ending of a path in small letters; a device such as /dev/stdout is written as CSV."""
    ending = Path(path).suffix.lower()
    return ".csv" if not ending and Path(path).exists() and not Path(path).is_file() else ending
