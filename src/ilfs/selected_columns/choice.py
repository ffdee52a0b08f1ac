"""Which columns of a table are those that a selector has selected."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ilfs.arrays import Integers
from ilfs.sources.roles import MAX_NAME_LENGTH, MAX_NAMES_SHOWN


@dataclass(frozen=True)
class ColumnChoice:
    """The selected columns of the table of a fit.

    Parameters
    ----------
    columns : ndarray of int
        Selected columns, ascending.
    n_features : int
        Number of features of the fit.
    names : list of str or None
        Names of these features, if they had any.
    target : object, optional
        Name of the column of the labels, which was no feature.
    """

    columns: Integers
    n_features: int
    names: list[Any] | None = None
    target: Any = None

    @property
    def selected_names(self) -> list[Any] | None:
        """Names of the selected columns, if there are names."""
        return None if self.names is None else [self.names[j] for j in self.columns.tolist()]

    def numbered(self, names: list[str]) -> list[str]:
        """Number repeated names of a table (a, a.1, a.2), if those of the fit were numbered in the same way.

        Columns without a name, such as those of a comma at the end of all lines, get one: a fit does not use them.

        Parameters
        ----------
        names : list of str
            Names of the columns of the table.

        Returns
        -------
        list of str
            The numbered names; the names as they are, if a new one was no feature of the fit.

        Examples
        --------
        >>> import numpy as np
        >>> from ilfs.selected_columns import ColumnChoice
        >>> choice = ColumnChoice(np.array([2]), 3, ["TP53", "MYC", "TP53.1"])
        >>> choice.numbered(["TP53", "TP53", "MYC"]), choice.numbered(["MYC", "MYC"])
        (['TP53', 'TP53.1', 'MYC'], ['MYC', 'MYC'])
        """
        names = [name or f"column {place} without a name" for place, name in enumerate(names, start=1)]
        numbered, of_fit = distinct_names(names), set(self.names or ())
        changed = (new for new, name in zip(numbered, names, strict=True) if new != name)
        return numbered if all(new in of_fit for new in changed) else names

    def positions(self, names: Sequence[Any] | None, n_columns: int, table: str = "X") -> list[int]:
        """Find the selected columns in a table, in the order in which ``fit`` has seen them.

        If both have names, columns are found by name, and the table may have others beside them. Otherwise the table
        must have the columns of the fit, in their order; the column of the labels is left out.

        Parameters
        ----------
        names : sequence or None
            Names of the columns of the table, if they have any.
        n_columns : int
            Number of columns of the table.
        table : str, default="X"
            Name of the table in messages.

        Returns
        -------
        list of int
            Positions of the selected columns.

        Examples
        --------
        >>> import numpy as np
        >>> from ilfs.selected_columns import ColumnChoice
        >>> choice = ColumnChoice(np.array([0, 2]), 3, ["age", "height", "sex"])
        >>> choice.positions(["sex", "age"], 2)
        [1, 0]
        >>> choice.positions(None, 3)
        [0, 2]
        """
        if self.selected_names is not None and names is not None:
            return found_by_name(self.selected_names, names, table)
        features = [j for j in range(n_columns) if names is None or names[j] != self.target or self.target is None]
        if len(features) != self.n_features:
            raise ValueError(
                f"{table} must have {self.n_features} columns, as the table of fit had, got {len(features)}"
            )
        return [features[j] for j in self.columns.tolist()]


def distinct_names(names: Sequence[str]) -> list[str]:
    """Number repeated names, as R and pandas do: a, a.1, a.2.

    Examples
    --------
    >>> from ilfs.selected_columns.choice import distinct_names
    >>> distinct_names(["TP53", "MYC", "TP53", "TP53.1"])
    ['TP53', 'MYC', 'TP53.2', 'TP53.1']
    """
    taken, times, result = set(names), Counter[str](), list[str]()
    for name in names:
        chosen = name
        while times[name] and chosen in taken:
            chosen = f"{name}.{times[name]}"
            times[name] += 1
        times[name] = max(times[name], 1)
        taken.add(chosen)
        result.append(chosen)
    return result


def found_by_name(wanted: Sequence[Any], names: Sequence[Any], table: str, role: str = "selected") -> list[int]:
    """Find columns by their names; the error names those that are missing."""
    places = {name: j for j, name in enumerate(names)}
    missing = [name for name in wanted if name not in places]
    if missing:
        some, n_more = ", ".join(repr(one)[:MAX_NAME_LENGTH] for one in missing[:MAX_NAMES_SHOWN]), len(missing)
        more = f" and {n_more - MAX_NAMES_SHOWN} more" if n_more > MAX_NAMES_SHOWN else ""
        raise ValueError(f"{table} must have all {len(wanted)} {role} columns, but lacks {some}{more}")
    if len(places) < len(names):
        times = Counter(names)
        twice = [name for name in wanted if times[name] > 1]
        if twice:
            raise ValueError(
                f"columns of {table} must have different names, {twice[0]!r} occurs {times[twice[0]]} times"
            )
    return [places[name] for name in wanted]
