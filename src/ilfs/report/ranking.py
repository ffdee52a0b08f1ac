"""The ranking as text and as CSV."""

import csv
import os
from pathlib import Path

from ilfs.selector import RankingSelector


def ranking_text(selector: RankingSelector, top: int = 10) -> str:
    """The best features as a table with aligned columns.

    Parameters
    ----------
    selector : RankingSelector
        A fitted selector.
    top : int, default=10
        How many features.

    Returns
    -------
    str
        One line a feature, under a line of titles.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from ilfs import ILFS
    >>> from ilfs.report import ranking_text
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> print(ranking_text(ILFS().fit(X, y), top=2))
    rank  feature            column   score  relevance
       1  petal length (cm)       2  10.193     0.8358
       2  petal width (cm)        3  10.171     0.8340
    """
    table = selector.ranking_table(top)
    columns = [[title, *(_cell(value) for value in values)] for title, values in table.items()]
    is_text = [values.dtype.kind in "OUST" for values in table.values()]
    widths = [max(map(len, column)) for column in columns]
    lines = []
    for row in zip(*columns, strict=True):
        cells = zip(row, widths, is_text, strict=True)
        lines.append(
            "  ".join(cell.ljust(width) if text else cell.rjust(width) for cell, width, text in cells).rstrip()
        )
    return "\n".join(lines)


def _cell(value: object) -> str:
    return f"{value:#.5g}" if isinstance(value, float) else str(value)


def write_ranking(selector: RankingSelector, path: str | os.PathLike[str], top: int | None = None) -> Path:
    """Write the ranking as CSV; the file appears whole or not at all.

    Parameters
    ----------
    selector : RankingSelector
        A fitted selector.
    path : path-like
        Where; its folder must exist.
    top : int, optional
        Only so many features.

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
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> path = write_ranking(ILFS().fit(X, y), tempfile.mkdtemp() + "/iris.csv")
    >>> path.read_text().splitlines()[0]
    'rank,feature,column,score,relevance'
    """
    table = selector.ranking_table(top)
    path = Path(path)
    unfinished = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with unfinished.open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(table)
            writer.writerows(zip(*(values.tolist() for values in table.values()), strict=True))
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)
    return path
