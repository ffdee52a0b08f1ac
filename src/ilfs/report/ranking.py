"""Rankings as text and as CSV."""

import io
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ilfs.files import write_text_atomically
from ilfs.selector import RankingSelector
from ilfs.spreadsheet import CsvLines, neutralised
from ilfs.text_table import MISSING_TEXT, aligned, format_value

SCORE_DECIMALS = 4
OTHER_FORMATS = {".feather", ".gz", ".html", ".json", ".ods", ".parquet", ".pdf", ".xls", ".xlsx", ".zip"}


def ranking_text(selector: RankingSelector, top: int = 10, input_features: Sequence[str] | None = None) -> str:
    """Format the best features as a table with aligned columns.

    Parameters
    ----------
    selector : RankingSelector
        A fitted selector.
    top : int, default=10
        Number of features.
    input_features : sequence of str, optional
        Names of the columns, if ``fit`` received none.

    Returns
    -------
    str
        One line for each feature, below a line of titles.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from ilfs import ILFS
    >>> from ilfs.report import ranking_text
    >>> iris = load_iris()
    >>> print(ranking_text(ILFS().fit(iris.data, iris.target), top=2, input_features=iris.feature_names))
    rank  feature            column   score  relevance  novelty  nearest            correlation
       1  petal length (cm)       2  1.0000     0.8512   1.0000  -                            -
       2  petal width (cm)        3  0.3742     0.8512   0.0729  petal length (cm)       0.9629
    """
    table = selector.ranking_table(top, input_features)
    columns = [[title, *_formatted(values)] for title, values in table.items()]
    is_number = [values.dtype.kind not in "OUST" for values in table.values()]
    return "\n".join(aligned(list(zip(*columns, strict=True)), is_number))


def _formatted(values: NDArray[Any]) -> list[str]:
    """Format a column: floats with four decimals, with an exponent if fixed decimals would hide the largest."""
    if values.dtype.kind != "f":
        return [str(value) or MISSING_TEXT for value in values]
    largest = np.abs(values[np.isfinite(values)]).max(initial=0.0)
    exponent = largest != 0 and not 1e-2 <= largest < 1e6
    return [format_value(float(value), SCORE_DECIMALS, exponent=bool(exponent)) for value in values]


def write_ranking(
    selector: RankingSelector,
    path: str | os.PathLike[str],
    top: int | None = None,
    input_features: Sequence[str] | None = None,
    *,
    spreadsheet_safe: bool = False,
) -> Path:
    """Write the ranking as CSV, so that the file appears complete or not at all.

    Several threads or processes may write to one path: the file holds the ranking of one of them.

    Parameters
    ----------
    selector : RankingSelector
        A fitted selector.
    path : path-like
        The file; its folder must exist.
    top : int, optional
        Number of features; all by default.
    input_features : sequence of str, optional
        Names of the columns, if ``fit`` received none.
    spreadsheet_safe : bool, default=False
        Put an apostrophe before names that a spreadsheet would run as a formula: those that start with ``=``, ``+``,
        ``-``, ``@``, a tab or a line break.

    Returns
    -------
    Path
        The file written.

    Examples
    --------
    >>> import tempfile
    >>> from sklearn.datasets import load_iris
    >>> from ilfs import ILFS
    >>> from ilfs.report import write_ranking
    >>> iris = load_iris()
    >>> path = write_ranking(ILFS().fit(iris.data, iris.target), tempfile.mkdtemp() + "/iris.csv")
    >>> path.read_text().splitlines()[0]
    'rank,feature,column,score,relevance,novelty,nearest,correlation'
    """
    table = selector.ranking_table(top, input_features)
    if spreadsheet_safe:
        table = {title: _neutralised(values) for title, values in table.items()}
    path = Path(path)
    check_csv_path(path)
    write_text_atomically(path, _csv_of(table))
    return path


def check_csv_path(path: str | os.PathLike[str]) -> None:
    """Raise an error if a path is not that of a CSV file, or its folder does not exist.

    Parameters
    ----------
    path : path-like
        The file to write.
    """
    path = Path(path)
    if path.suffix.lower() in OTHER_FORMATS:
        raise ValueError(f"path must be that of a CSV file, the only format that is written, got {str(path)!r}")
    if not path.absolute().parent.is_dir():
        raise FileNotFoundError(f"the folder of {str(path)!r} does not exist: make it first")


def _neutralised(values: NDArray[Any]) -> NDArray[Any]:
    return values if values.dtype.kind in "biuf" else np.array([*map(neutralised, values.tolist())], dtype=object)


def _csv_of(table: dict[str, NDArray[Any]]) -> str:
    text = io.StringIO(newline="")
    writer = CsvLines(text)
    writer.writerow(table)
    # An empty value in place of NaN, which is the only value that does not equal itself.
    columns = [["" if value != value else value for value in values.tolist()] for values in table.values()]
    for row in zip(*columns, strict=True):
        writer.writerow(row)
    return text.getvalue()
