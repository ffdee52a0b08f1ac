"""Rankings of several methods side by side."""

from collections.abc import Mapping, Sequence

import numpy as np

from ilfs.ranking_table import RankingTable
from ilfs.report.terminal import Terminal
from ilfs.selector import RankingSelector
from ilfs.text_table import COLUMN_GAP, aligned
from ilfs.words import counted

MIN_NAME = 8  # terminal columns of the shortest name
MAX_NAME = 40


def side_by_side_screen(
    selectors: Mapping[str, RankingSelector], top: int = 20, terminal: Terminal | None = None
) -> str:
    """Format the best features of several methods in one table, a column for each method.

    Parameters
    ----------
    selectors : mapping of str to RankingSelector
        Selectors fitted on the same table, by the names of their methods.
    top : int, default=20
        Number of features of each method.
    terminal : Terminal, optional
        Width, colours and characters; by default 80 columns without colours.

    Returns
    -------
    str
        One line for each rank. A star marks features that are in the list of every method.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from ilfs import ILFS, FisherScore
    >>> from ilfs.report.side_by_side import side_by_side_screen
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> print(side_by_side_screen({"ilfs": ILFS().fit(X, y), "fisher": FisherScore().fit(X, y)}, top=2))
       ilfs                 fisher
    1  petal width (cm) *   petal length (cm) *
    2  petal length (cm) *  petal width (cm) *
    """
    terminal = Terminal() if terminal is None else terminal
    width = name_width(len(selectors), top, terminal.width)
    common = common_columns(selectors, top)
    lists = [
        [called(one, column, width, common, terminal) for column in one.order_[:top]] for one in selectors.values()
    ]
    rows = [["", *(terminal.name(name, width + 2) for name in selectors)]]
    rows += [[str(rank + 1), *names] for rank, names in enumerate(zip(*lists, strict=True))]

    def paint(row: int, column: int, word: str) -> str:
        if row == 0:
            return terminal.painted(word, "bold")
        return terminal.painted(word, "green") if column and word.rstrip().endswith(" *") else word

    return "\n".join(aligned(rows, [True] + [False] * len(selectors), paint))


def name_width(n_methods: int, top: int, width: int) -> int:
    """Return the terminal columns of a name, without the star behind it."""
    room = (width - len(str(top))) // n_methods - COLUMN_GAP - 2
    return min(max(room, MIN_NAME), MAX_NAME)


def called(selector: RankingSelector, column: int, width: int, common: set[int], terminal: Terminal) -> str:
    """Format the name of a feature, with a star if all methods list it."""
    name = terminal.name(selector._names(None)[column], width)
    return f"{name} *" if int(column) in common else name


def common_columns(selectors: Mapping[str, RankingSelector], top: int) -> set[int]:
    """Return the columns that are among the best of every method."""
    return set.intersection(*(set(one.order_[:top].tolist()) for one in selectors.values()))


def agreement_sentence(selectors: Mapping[str, RankingSelector], top: int) -> str:
    """Say how many features are among the best of every method.

    Parameters
    ----------
    selectors : mapping of str to RankingSelector
        Fitted selectors.
    top : int
        Number of best features to compare.

    Returns
    -------
    str
        A sentence without a full stop.
    """
    n_common, n_features = len(common_columns(selectors, top)), next(iter(selectors.values())).n_features_in_
    best = min(top, n_features)
    return f"{n_common} of the best {counted(best, 'feature')} (*) are the same for all {len(selectors)} methods"


def side_by_side_table(selectors: Mapping[str, RankingSelector]) -> RankingTable:
    """Join the rankings of several methods to one table, the best mean rank first.

    Parameters
    ----------
    selectors : mapping of str to RankingSelector
        Selectors fitted on the same table.

    Returns
    -------
    RankingTable
        ``feature``, ``column``, ``mean_rank``, and for each method ``rank_<name>``, ``score_<name>`` and
        ``selected_<name>``; ``q_value_<name>`` if it was tested.
    """
    one = next(iter(selectors.values()))
    names, columns = one._names(None), np.arange(one.n_features_in_)
    ranks = np.array([selector.ranking_ for selector in selectors.values()], dtype=np.float64)
    order = np.lexsort((columns, ranks[0], ranks.mean(axis=0)))
    found = {"rank": columns + 1, "feature": names[order], "column": order, "mean_rank": ranks.mean(axis=0)[order]}
    for name, selector in selectors.items():
        found |= columns_of_method(name, selector, order.tolist())
    return RankingTable(found)


def columns_of_method(name: str, selector: RankingSelector, order: Sequence[int]) -> dict[str, np.ndarray]:
    """Return the columns of one method in the joint table."""
    found = {f"rank_{name}": selector.ranking_, f"score_{name}": selector.scores_}
    if hasattr(selector, "q_values_"):
        found[f"q_value_{name}"] = selector.q_values_
    found[f"selected_{name}"] = selector.get_support()
    return {title: values[np.asarray(order)] for title, values in found.items()}
