"""Rankings as text and as CSV."""

import os
from collections.abc import Sequence
from pathlib import Path

from ilfs.selector import RankingSelector


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
    rank  feature             score  relevance  direction   effect  log2_fc  novelty  nearest           correlation
       1  petal width (cm)   1.0000     0.8512  lower in 0   -6.99    -2.77     1.00  -                           -
       2  petal length (cm)  0.3973     0.8512  lower in 0   -8.00    -1.75     0.07  petal width (cm)         0.96
    """
    return selector.table(top, input_features).to_text()


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
    >>> path.read_text().splitlines()[0].split(",")[:5]
    ['rank', 'feature', 'column', 'score', 'relevance']
    """
    return selector.table(top, input_features).to_csv(path, spreadsheet_safe=spreadsheet_safe)
