"""Groups of cells: which cells belong to which group, which are left out, and which donor they are from."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ilfs.arrays import Floats, Integers
from ilfs.omics.cells import obs_values
from ilfs.sources.roles import MAX_NAMES_SHOWN
from ilfs.warn import warn
from ilfs.words import counted, listed

MIN_CELLS = 2  # of a group: the mean of its other cells is needed for each cell
MIN_MOVABLE = 0.1  # warn if a smaller fraction of the cells of a group can change places within donors
NO_GROUP = -1


@dataclass(frozen=True)
class Groups:
    """The groups that are ranked, each against all other cells.

    Parameters
    ----------
    names : list of str
        Names of the ranked groups.
    member : ndarray of int8 of shape (n_cells, n_groups)
        1 for a cell of the group, 0 for any other cell.
    labelled : ndarray of bool of shape (n_cells,)
        False for a cell that has no group, which is left out.
    """

    names: list[str]
    member: Integers
    labelled: NDArray[np.bool_]

    @property
    def labels(self) -> Integers:
        """Labels for ``fit``: an indicator matrix, or one column for one group."""
        return self.member if len(self.names) > 1 else self.member[:, 0]

    @property
    def weight(self) -> Floats | None:
        """Weights for ``fit``: 0 for a cell without a group; None if all cells have one."""
        return None if self.labelled.all() else self.labelled.astype(np.float64)

    @property
    def sizes(self) -> Integers:
        """Number of cells of each group."""
        return np.asarray(self.member[self.labelled].sum(axis=0, dtype=np.int64))


def groups_of(adata: Any, groupby: str, groups: Literal["all"] | Sequence[str]) -> Groups:
    """Find the groups of the cells.

    Parameters
    ----------
    adata : AnnData
        The cells.
    groupby : str
        Column of ``obs``.
    groups : "all" or sequence of str
        Groups to rank; the others are only part of the rest.

    Returns
    -------
    Groups
        The groups, in the order of their categories or in the given order.
    """
    names, codes = encoded(obs_values(adata, "groupby", groupby))
    check_several(groupby, names)
    n_without = int((codes == NO_GROUP).sum())
    if n_without:
        warn(f"{counted(n_without, 'cell')} without a value in adata.obs[{groupby!r}] are left out")
    chosen = chosen_groups(names, groups)
    check_sizes(groupby, names, codes, chosen)
    member = (codes[:, None] == chosen).astype(np.int8)
    return Groups([names[place] for place in chosen], member, codes != NO_GROUP)


def labelled_cells(adata: Any, groupby: str) -> NDArray[np.bool_]:
    """Return the mask of the cells that have a group."""
    return np.asarray(encoded(obs_values(adata, "groupby", groupby))[1] != NO_GROUP)


def encoded(values: Any) -> tuple[list[str], Integers]:
    """Number the groups: categories in their order without those that no cell has, otherwise sorted values."""
    import pandas as pd

    as_categories = values.astype("category").cat.remove_unused_categories()
    names = [str(name) for name in as_categories.cat.categories]
    if "" in names:
        raise ValueError("groups must have names, got an empty one: rename the category, or set it to missing")
    if len(set(names)) < len(names):
        raise ValueError(f"groups must have different names, got {names}")
    return names, np.asarray(pd.Series(as_categories).cat.codes, dtype=np.int64)


def check_several(groupby: str, names: list[str]) -> None:
    """Raise if there are fewer than two groups."""
    if len(names) < 2:
        got = f"one, {names[0]!r}" if names else "none"
        raise ValueError(f"adata.obs[{groupby!r}] must have at least two groups of cells, got {got}")


def chosen_groups(names: list[str], groups: Literal["all"] | Sequence[str]) -> Integers:
    """Return the numbers of the groups to rank."""
    if isinstance(groups, str) and groups == "all":
        return np.arange(len(names))
    if isinstance(groups, str) or not isinstance(groups, Sequence | np.ndarray) or not len(groups):
        raise ValueError(f"groups must be 'all' or a list of names, got {groups!r}")
    wanted = [str(name) for name in groups]
    unknown = [name for name in wanted if name not in names]
    if unknown:
        known = ", ".join(map(repr, names[:MAX_NAMES_SHOWN])) + (", ..." if len(names) > MAX_NAMES_SHOWN else "")
        raise ValueError(f"groups must be groups that have cells ({known}), got {unknown[0]!r}")
    return np.array([names.index(name) for name in dict.fromkeys(wanted)])


def check_sizes(groupby: str, names: list[str], codes: Integers, chosen: Integers) -> None:
    """Raise if a group that is ranked has too few cells."""
    sizes = np.bincount(codes[codes != NO_GROUP], minlength=len(names))
    small = [repr(names[place]) for place in chosen if sizes[place] < MIN_CELLS]
    if small:
        some = listed(small[:MAX_NAMES_SHOWN]) + (", ..." if len(small) > MAX_NAMES_SHOWN else "")
        raise ValueError(
            f"each group of adata.obs[{groupby!r}] must have at least {MIN_CELLS} cells, got fewer in {some}: "
            "leave them out of groups, or join them with another group"
        )
    alone = [repr(names[place]) for place in chosen if sizes.sum() - sizes[place] < MIN_CELLS]
    if alone:
        raise ValueError(
            f"a group of adata.obs[{groupby!r}] must have at least {MIN_CELLS} cells outside it, got fewer for "
            f"{listed(alone)}: leave it out of groups"
        )


def donors_of(adata: Any, donor_key: str | None, groups: Groups) -> NDArray[Any] | None:
    """Return the donor of each cell; warn of groups whose labels cannot move within donors.

    Parameters
    ----------
    adata : AnnData
        The cells.
    donor_key : str or None
        Column of ``obs``.
    groups : Groups
        The groups of the cells.

    Returns
    -------
    ndarray of shape (n_cells,) or None
        Numbers of the donors; None without ``donor_key``.
    """
    if donor_key is None:
        return None
    names, codes = encoded(obs_values(adata, "donor_key", donor_key))
    n_without = int((codes[groups.labelled] == NO_GROUP).sum())
    if n_without:
        raise ValueError(
            f"adata.obs[{donor_key!r}] must name the donor of each cell, got none for {counted(n_without, 'cell')}"
        )
    fixed = fixed_groups(groups, codes, len(names))
    if len(fixed) == len(groups.names):
        raise ValueError(
            f"adata.obs[{donor_key!r}] must have a donor with cells of a group and other cells, got none: labels are "
            "permuted within donors, so no label could move; sum the cells of each donor and compare donors"
        )
    if fixed:
        warn(
            f"no donor has both cells of {listed(list(map(repr, fixed)))} and other cells: labels cannot move within "
            "donors, so p-values of this group mean nothing and are set to 1"
        )
    warn_of_few_moves(groups, codes, len(names), fixed)
    return codes


def warn_of_few_moves(groups: Groups, donors: Integers, n_donors: int, fixed: list[str]) -> None:
    """Warn of groups whose cells are nearly all of donors without other cells, so that few labels can move."""
    movable = movable_cells(groups, donors, n_donors)
    smaller = np.minimum(groups.sizes, groups.labelled.sum() - groups.sizes)
    for name, n_movable, size in zip(groups.names, movable, smaller, strict=True):
        if name not in fixed and n_movable < MIN_MOVABLE * size:
            warn(
                f"hardly any donor has both cells of {name!r} and other cells: at most "
                f"{counted(int(n_movable), 'cell')} of {size} can change places within donors, so that hardly any gene "
                "can be significant"
            )


def movable_cells(groups: Groups, donors: Integers, n_donors: int) -> Integers:
    """Return, for each group, how many of its cells can change places with other cells of the same donor."""
    donor, member = donors[groups.labelled], groups.member[groups.labelled]
    inside = np.array([np.bincount(donor, column, minlength=n_donors) for column in member.T])
    total = np.bincount(donor, minlength=n_donors)
    return np.asarray(np.minimum(inside, total - inside).sum(axis=1).astype(np.int64))


def fixed_groups(groups: Groups, donors: Integers, n_donors: int) -> list[str]:
    """Return the groups of which every donor has all or none of its cells in the group."""
    movable = movable_cells(groups, donors, n_donors)
    return [name for name, n_movable in zip(groups.names, movable, strict=True) if n_movable == 0]
